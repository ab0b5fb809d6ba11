"""Records what real clients and `nacre mcp` say to each other on stdio, for test_recorded_traffic.py.

`python -m mcp_server.record_traffic` (in tests/) runs the SDK's client in both eras, and the Inspector where it is
installed. As a server (`record_traffic.py FILE`) it stands between a client and `nacre mcp` and writes down each line.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO

TRAFFIC = Path(__file__).parent / "traffic"
ME = [sys.executable, str(Path(__file__).resolve())]


def between(file: Path) -> int:
    """Pass lines on in both directions, and write them down in the order in which they came."""
    server = subprocess.Popen([sys.executable, "-m", "nacre", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    lock = threading.Lock()
    with file.open("a", encoding="utf-8") as written:

        def carry(source: IO[bytes], target: IO[bytes], who: str) -> None:
            for line in source:
                with lock:
                    written.write(json.dumps({who: json.loads(line)}, ensure_ascii=False) + "\n")
                target.write(line)
                target.flush()

        back = threading.Thread(target=carry, args=(server.stdout, sys.stdout.buffer, "server"))
        back.start()
        carry(sys.stdin.buffer, server.stdin, "client")
        server.stdin.close()
        back.join()
    return server.wait()


async def sdk(era: str, file: Path) -> None:
    from mcp import Client, StdioServerParameters

    command, *arguments = [*ME, str(file)]
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ), cwd=os.getcwd())
    async with Client(server, mode=era) as client:
        await client.list_tools()
        await client.call_tool("bash", {"command": "echo hello; seq 3"})
        await client.call_tool("bash", {"command": "exit 3"})
        await client.call_tool("bash", {"cmd": "ls"})
        await client.call_tool("bash", {"command": "seq 200", "tail": 2})
        await client.call_tool("job", {"list": True})
        await client.list_resources()
        await client.list_resource_templates()
        await client.read_resource("artifact://1")


def inspector(era: str, file: Path, home: str) -> None:
    from mcp_server.test_independent_clients import INSPECTOR, node

    methods = (
        ("--method", "tools/list"),
        ("--method", "tools/call", "--tool-name", "bash", "--tool-arg", "command=echo hello"),
        ("--method", "resources/templates/list"),
    )
    for method in methods:
        line = [node(), str(INSPECTOR), "--cli", *ME, str(file), "--protocol-era", era, *method]
        subprocess.run(line, env=os.environ | {"HOME": home}, stdout=subprocess.DEVNULL, check=True, timeout=120)


def record() -> None:
    TRAFFIC.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        for name in ("sdk-legacy", "sdk-auto", "inspector-legacy", "inspector-modern"):
            os.environ.update(NACRE_HOME=f"{home}/{name}", NACRE_SNAPSHOT="false")
            file = TRAFFIC / f"{name}.jsonl"
            file.unlink(missing_ok=True)
            client, _, era = name.partition("-")
            os.chdir(home)
            if client == "sdk":
                asyncio.run(sdk(era, file))
            else:
                inspector(era, file, home)
            # A temporary place means nothing elsewhere.
            file.write_text(file.read_text(encoding="utf-8").replace(home, "/home/a"), encoding="utf-8")
            print(name, len(file.read_text(encoding="utf-8").splitlines()))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(between(Path(sys.argv[1])))
    record()
