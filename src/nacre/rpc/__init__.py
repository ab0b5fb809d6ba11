"""JSON lines for programs in any language: the tools over stdin and stdout.

line_reader cuts bytes into lines · json_messages decodes and encodes them · outbox orders outgoing lines ·
stdio_transport carries bytes · connection joins these · session_tools has the shells · server answers. The first three
are pure.
"""
