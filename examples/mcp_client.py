"""Start `nacre mcp` as a client does, list its tools and call one.

    python examples/mcp_client.py

The client here is the official SDK's (`pip install mcp`); any other client speaks the same protocol.
"""

from __future__ import annotations

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters


async def main() -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "nacre", "mcp"], env=dict(os.environ))
    async with Client(server) as client:
        listed = await client.list_tools()
        print("tools:", ", ".join(tool.name for tool in listed.tools))
        result = await client.call_tool(listed.tools[0].name, {"command": "echo hello from MCP"})
        print(result.content[0].text)


if __name__ == "__main__":
    asyncio.run(main())
