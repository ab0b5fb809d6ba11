"""The MCP server: `nacre mcp`, over stdio on a machine of its own, over streamable HTTP on the official SDK.

A surface: it translates a request, calls the tool, and translates the answer. It judges and runs nothing itself.

machine · jsonrpc     the protocol of both eras, without input or output
stdio_server          one client on two descriptors
sdk_server · http     many clients over HTTP
handlers              the requests that a client may make
toolbox               the tools of one server
catalogue             the description of the server and of each tool
call · answer         one call: its progress, its cancellation, its result
elicitation           asks the client's user about a command
resources             kept outputs and jobs by address
tasks                 a long call as a task of the extension, backed by a durable job
job_notices           reports each ended job once

stdio describes its tools before it loads the engine. Importing the SDK takes most of a second: only sdk_server and http
import it.
"""
