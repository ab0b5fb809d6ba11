"""The pipe itself: protocol and nothing else on stdout, out of reach of commands, and no line that ends the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from mcp_server.test_endings import HELLO, PATIENCE_SECONDS, process, request
from nacre.mcp.stdio_server import MOST_LINE_BYTES
from nacre.warden import children


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    """One that has shaken hands."""
    argv = (sys.executable, "-m", "nacre", "mcp")
    with process(*argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        tell(started, HELLO + b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        assert hear(started)["id"] == 0
        yield started


def tell(server: subprocess.Popen[bytes], data: bytes) -> None:
    assert server.stdin is not None
    server.stdin.write(data)
    server.stdin.flush()


def hear(server: subprocess.Popen[bytes]) -> Any:
    assert server.stdout is not None
    return json.loads(server.stdout.readline())


def call(number: int, command: str) -> bytes:
    return request(number, "tools/call", {"name": "bash", "arguments": {"command": command}})


def test_a_line_that_is_no_message_is_answered_and_survived(server: subprocess.Popen[bytes]) -> None:
    codes = []
    for line in (b"no json", b"{", b"[1, 2]", b'{"jsonrpc": "1.0"}', b"\xff\xfe", b"[" * 100_000, b"null"):
        tell(server, line + b"\n")
        answer = hear(server)
        assert answer["id"] is None
        codes.append(answer["error"]["code"])
    assert codes == [-32700, -32700, -32600, -32600, -32700, -32700, -32600]
    tell(server, b"\n  \n" + call(1, "echo alive"))
    assert hear(server)["result"]["content"][0]["text"].startswith("alive\n")
    # One without an end is not kept either.
    for _ in range(3 * MOST_LINE_BYTES // 65536):
        tell(server, b"x" * 65536)
    tell(server, b"the rest of it\n")
    assert "is longer than" in hear(server)["error"]["message"]
    tell(server, call(2, "echo alive"))
    assert hear(server)["result"]["content"][0]["text"].startswith("alive\n")


def test_messages_may_come_in_pieces_and_wait_to_be_read(server: subprocess.Popen[bytes]) -> None:
    sent = call(1, "echo one") + call(2, "echo two")
    for start in range(0, len(sent), 7):
        tell(server, sent[start : start + 7])
    found = {answer["id"]: answer["result"]["content"][0]["text"] for answer in (hear(server), hear(server))}
    assert {number: text.splitlines()[0] for number, text in found.items()} == {1: "one", 2: "two"}
    # Far more than a pipe holds is waiting; every frame arrives whole once it is read.
    for number in range(1, 41):
        tell(server, call(number, "seq 1 6000"))
    answers = [hear(server) for _ in range(40)]
    assert sorted(answer["id"] for answer in answers) == list(range(1, 41))
    assert all(answer["result"]["content"][0]["text"].startswith("1\n2\n") for answer in answers)
    # … also when some that are being written are cancelled: what was begun is finished.
    for number in range(101, 141):
        tell(server, call(number, "seq 1 6000"))
    for number in range(101, 140):
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
        tell(server, json.dumps(cancel).encode() + b"\n")
    while hear(server)["id"] != 140:
        pass


def test_no_process_below_the_server_has_its_pipes(server: subprocess.Popen[bytes]) -> None:
    """A command can neither read what the client sends nor write into what it reads."""
    assert server.stdin is not None
    assert server.stdout is not None
    wires = {f"pipe:[{os.fstat(end.fileno()).st_ino}]" for end in (server.stdin, server.stdout)}
    tell(server, call(1, "sleep 600 & echo $$; cat; readlink /proc/$$/fd/0; echo not protocol >&2"))
    text = hear(server)["result"]["content"][0]["text"]
    # stdin is empty.
    assert text.splitlines()[1] == "/dev/null"
    below = [pid for pid in children.descendants(os.getpid()) if pid != server.pid]
    held = {link for pid in below for link in links(pid)}
    assert held
    assert not held & wires
    tell(server, request(2, "tools/call", {"name": "job", "arguments": {"cancel": ["bg_1"]}}))
    assert "bg_1: cancelled" in hear(server)["result"]["content"][0]["text"]
    # It ends with its client, and has said nothing else.
    out, err = server.communicate(timeout=PATIENCE_SECONDS)
    assert (server.returncode, out, err) == (0, b"", b"")


def links(pid: int) -> list[str]:
    try:
        return [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return []


# What may be loaded before the list of tools is answered: command line, wire, settings and schemas, 45 modules; the
# warden is started early, so that the first call finds it.
LISTING = ("cli", "contracts", "feed", "json_lines", "mcp", "warden", "warden_client")
MOST_LISTING = 50
# Above all folders but these: the way of a call.
CALLING = {"nacre.api", "nacre.tool", "nacre.series"}


def test_the_list_of_tools_is_answered_before_the_engine_is_loaded() -> None:
    """Python writes one line per import to the stream that carries the answers, so their order is known."""
    argv = (sys.executable, "-X", "importtime", "-m", "nacre", "mcp")
    with process(*argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as server:
        tell(server, HELLO + b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        tell(server, request(1, "tools/list", {}))
        assert server.stdout is not None
        loaded, line = set(), ""
        while '"id":1' not in line.replace(" ", ""):
            line = server.stdout.readline().decode()
            assert line
            if line.startswith("import time:"):
                loaded.add(line.rpartition("|")[2].strip())
    assert {"asyncio", "nacre.mcp.machine"} <= loaded
    third_party = {name for name in loaded if name.partition(".")[0] in {"mcp", "pydantic", "tree_sitter", "anyio"}}
    assert third_party == set()
    ours = {name for name in loaded if name.partition(".")[0] == "nacre"}
    folders = {name.split(".")[1] for name in ours if name.count(".") > 1}
    assert folders <= set(LISTING)
    assert ours & CALLING == set()
    assert len(ours) <= MOST_LISTING
