"""The MCP server: `nacre mcp`, over stdio and streamable HTTP, on the official SDK.

A surface: it translates a request, calls the tool, and translates the answer. It judges and runs nothing itself.

stdio_server · http   the transports
handlers              the requests that a client may make
toolbox               the tools of one server
catalogue             the description of each tool
call · answer         one call: its progress, its cancellation, its result
elicitation           asks the client's user about a command
resources             kept outputs and jobs by address
tasks                 a long call as a task of the extension, backed by a durable job
job_notices           reports each ended job once

Importing the SDK takes most of a second: nothing outside this folder imports it, and this folder only when it serves.
"""
