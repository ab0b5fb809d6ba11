"""The MCP server: `nacre mcp`, over stdio and streamable HTTP, on the official SDK.

A surface: it translates what a client asks, calls the tool, and translates back. It judges and runs nothing itself.

stdio · http    where the frames come from
server          what a client may ask, and who answers
toolbox         the tools of one server
catalogue       how a tool is offered
call · answer   one call: its progress, its cancellation, its result
approval        a rule that says to ask, asked of the client's person
resources       kept outputs and jobs, to be read by their address
tasks           a long call, as the extension's task on a durable job
notices         jobs that have ended, told once

Importing the SDK takes most of a second: nothing outside this folder imports it, and this folder only when it serves.
"""
