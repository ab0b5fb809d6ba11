"""`nacre web`: one page for a browser and a phone with the agents' calls, jobs, questions and terminals, live.

The only folder that imports Starlette. The server keeps the state and a browser gets what has changed since it last
looked, so a browser that is slow, killed or comes again costs a bounded amount of memory and disturbs nothing. In
reading order: board (what has changed), event_stream (server-sent events), page_cards (a call as JSON), past_calls
(the log), page_calls (the feed), page_jobs, shared_terminal (screens), output_pages (whole outputs), person_presence,
activity (the chart), page_gate (token, origin, headers), page_state, page_routes, page_server. What the browser loads
is in static/.
"""
