"""A follower learns what every nacre on the state directory does, each event once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.feed.viewing import following, kinds, text_of, until, until_ends

import nacre
from nacre.errors import NacreError
from nacre.feed import directory_of
from nacre.feed.follower import Follower
from nacre.tool import Tool


async def test_a_call_is_told_from_its_start_to_its_end(home: Path) -> None:
    async with following(home) as feed:
        result = await nacre.run("echo hi; exit 3", timeout=7)
        start, output, end = await until_ends(feed)
    assert result.exit_code == 3
    assert [event["seq"] for event in (start, output, end)] == [1, 2, 3]
    assert {event["v"] for event in (start, output, end)} == {1}
    assert {event["call"] for event in (start, output, end)} == {_logged(home)[0]["call"]}
    assert (start["event"], start["command"], start["timeout"], start["surface"]) == (
        "start",
        "echo hi; exit 3",
        7,
        "library",
    )
    assert (output["event"], output["text"]) == ("output", "hi\n")
    assert (end["event"], end["outcome"], end["exitCode"], end["stdoutBytes"]) == ("end", "exited", 3, 3)
    assert {event["pid"] for event in (start, output, end)} == {os.getpid()}


async def test_a_denied_call_and_a_refused_one_are_told_with_their_reasons(home: Path) -> None:
    async with following(home) as feed, Tool("workspace") as tool:
        with pytest.raises(NacreError):
            await nacre.run("rm -rf /")
        await tool.call({"command": "ls", "wrong": 1})
        events = await until_ends(feed, 2)
    assert kinds(events) == ["start", "end", "start", "end"]
    assert (events[1]["outcome"], events[1]["rule"]) == ("denied", "no_dangerous_rm")
    assert "this rm could delete" in events[1]["error"]
    assert (events[3]["outcome"], events[2]["command"]) == ("notStarted", "ls")
    assert "wrong" in events[3]["error"]


async def test_a_follower_that_comes_late_begins_with_the_running_call_and_its_newest_output(home: Path) -> None:
    marker = home.parent / "go"
    os.mkfifo(marker)
    async with Tool("workspace", cwd=home.parent) as tool:
        seen = asyncio.Event()
        call = asyncio.create_task(_stream(tool, f"echo before; cat {marker}; echo after", seen))
        await seen.wait()
        async with following(home) as feed:
            first = await until(feed, lambda event: event["event"] == "output")
            marker.write_text("")
            rest = await until_ends(feed)
        await call
    assert kinds(first) == ["start", "output"]
    assert text_of(first + rest) == "before\nafter\n"
    assert rest[-1]["exitCode"] == 0


async def _stream(tool: Tool, command: str, seen: asyncio.Event) -> None:
    async for _ in tool.stream({"command": command}):
        seen.set()


async def test_a_command_that_becomes_a_job_is_told_on_without_a_gap_or_a_repeat(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_AUTO_BACKGROUND_SECONDS", "0.3")
    script = "for i in $(seq 40); do echo line $i; sleep 0.02; done; exit 5"
    async with following(home) as feed, Tool("workspace") as tool:
        reply = await tool.call({"command": script})
        events = await until_ends(feed)
    assert reply.details["async"]["jobId"] == "bg_1"
    assert text_of(events) == "".join(f"line {i}\n" for i in range(1, 41))
    assert kinds(events).count("job") == kinds(events).count("start") == 1
    assert (events[-1]["exitCode"], events[-1]["jobId"], events[-1]["outcome"]) == (5, "bg_1", "exited")
    assert len({event["call"] for event in events}) == 1
    assert {entry["call"] for entry in _logged(home)} == {events[0]["call"]}


async def test_a_job_that_outlives_its_program_is_followed_by_its_file(home: Path) -> None:
    go = home.parent / "go"
    os.mkfifo(go)
    arguments = json.dumps({"command": f"echo one; cat {go}; echo two", "async": True})
    subprocess.run([sys.executable, "-m", "nacre", "call", "workspace", arguments], check=True, capture_output=True)
    async with following(home) as feed:
        first = await until(feed, lambda event: event["event"] == "output")
        go.write_text("")
        rest = await until_ends(feed)
    assert kinds(first) == ["start", "job", "output"]
    assert text_of(first + rest) == "one\ntwo\n"
    assert (rest[-1]["outcome"], rest[-1]["jobId"]) == ("exited", "bg_1")


async def test_a_viewer_stops_a_foreground_call_and_a_job(home: Path) -> None:
    async with following(home) as feed, Tool("workspace") as tool:
        await tool.call({"command": "echo job; exec sleep 1000", "async": True})
        job = await until(feed, lambda event: event["event"] == "output")
        assert feed.stop(job[0]["call"])
        ended = await until_ends(feed)
        running = asyncio.create_task(tool.call({"command": "echo call; exec sleep 1000"}))
        call = await until(feed, lambda event: event["event"] == "output")
        assert feed.stop(call[0]["call"])
        stopped = await until_ends(feed)
        await running
        assert not feed.stop(call[0]["call"])
    assert ended[-1]["outcome"] == stopped[-1]["outcome"] == "stopped"


async def test_an_mcp_server_and_a_library_host_are_followed_at_once(home: Path) -> None:
    async with following(home) as feed:
        server = await _start_mcp()
        host = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "import nacre; nacre.run_sync('echo from the host; sleep 0.2')"
        )
        events = await until_ends(feed, 2)
        assert server.stdin is not None
        server.stdin.close()
        await asyncio.gather(server.wait(), host.wait())
    told = {event["surface"]: event for event in events if event["event"] == "start"}
    assert set(told) == {"mcp", "library"}
    by_call = {name: [e for e in events if e["call"] == start["call"]] for name, start in told.items()}
    assert {name: text_of(found) for name, found in by_call.items()} == {
        "mcp": "from the server\n",
        "library": "from the host\n",
    }
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


async def _start_mcp() -> asyncio.subprocess.Process:
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "nacre", "mcp", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    call = {"name": "bash", "arguments": {"command": "echo from the server; sleep 0.2"}}
    assert server.stdin is not None
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ):
        server.stdin.write(json.dumps(message).encode() + b"\n")
    return server


async def test_a_program_that_is_killed_ends_its_calls_as_lost(home: Path) -> None:
    async with following(home) as feed:
        host = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "import nacre; nacre.run_sync('echo up; exec sleep 1000')"
        )
        await until(feed, lambda event: event["event"] == "output")
        host.send_signal(signal.SIGKILL)
        await host.wait()
        (end,) = await until_ends(feed)
    assert (end["outcome"], end["error"]) == ("lost", "the program that ran it is gone")


@pytest.mark.parametrize("connected", [True, False])
async def test_a_killed_viewer_disturbs_no_call_and_its_socket_is_removed(home: Path, connected: bool) -> None:
    viewer = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "nacre", "events", "--follow", stdout=subprocess.PIPE
    )
    feed_dir = Path(directory_of(str(home)))
    await asyncio.to_thread(_appears, feed_dir)
    if connected:
        await nacre.run("true")
        assert viewer.stdout is not None
        assert json.loads(await viewer.stdout.readline())["event"] == "start"
    viewer.send_signal(signal.SIGKILL)
    await viewer.wait()
    # A program that was connected may have removed the socket already.
    assert connected or list(feed_dir.iterdir()) != []
    assert (await nacre.run("echo on")).text == "on\n"
    assert not feed_dir.exists()


def _appears(directory: Path) -> None:
    """Wait for a socket that can be connected to: one that is being made has a hidden name."""
    subprocess.run(["bash", "-c", 'until [ -n "$(ls "$0" 2>/dev/null)" ]; do sleep 0.02; done', directory], check=True)


async def test_only_the_user_can_reach_the_socket(home: Path) -> None:
    feed_dir = Path(directory_of(str(home)))
    async with following(home):
        (socket_file,) = feed_dir.iterdir()
        assert stat.S_IMODE(feed_dir.stat().st_mode) == 0o700
        assert stat.S_IMODE(socket_file.stat().st_mode) == 0o600
    assert not feed_dir.exists()


async def test_a_directory_that_others_can_write_is_no_feed(home: Path) -> None:
    feed_dir = Path(directory_of(str(home)))
    feed_dir.mkdir(parents=True)
    feed_dir.chmod(0o777)
    with pytest.raises(NacreError, match="is not a directory of this user alone"):
        async with Follower(str(home)):
            pass
    assert (await nacre.run("echo hi")).text == "hi\n"


async def test_a_path_longer_than_a_sockets_address_is_no_hindrance(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = home / ("d" * 100) / ("e" * 100)
    monkeypatch.setenv("NACRE_HOME", str(deep))
    async with following(deep) as feed:
        await nacre.run("echo hi")
        assert kinds(await until_ends(feed)) == ["start", "output", "end"]


async def test_hidden_values_never_leave_the_program(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "hunter2-hunter2-hunter2"
    monkeypatch.setenv("API_TOKEN", secret)
    script = f"printf 'hunter2-\\033[1mhunter2-hunter2\\n'; echo {secret}"
    async with following(home) as feed:
        await nacre.run(script, env={"COPY": secret})
        events = await until_ends(feed)
    assert secret not in json.dumps(events)
    assert text_of(events) == "[redacted:API_TOKEN]\n[redacted:API_TOKEN]\n"


async def test_a_follower_that_does_not_read_holds_up_no_call(home: Path) -> None:
    async with following(home) as feed:
        result = await nacre.run("yes | head -c 30000000; echo; echo last")
        events = await until_ends(feed)
    assert result.output.total_bytes == 30_000_006
    assert text_of(events).endswith("last\n")
    shown = len(text_of(events))
    dropped = sum(event.get("droppedBytes", 0) for event in events)
    assert shown + dropped == 30_000_006


def _logged(home: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (home / "log.jsonl").read_text().splitlines()]


async def test_a_follower_that_comes_late_learns_what_a_job_waits_for(home: Path, tmp_path: Path) -> None:
    async with Tool("workspace", cwd=tmp_path) as tool:
        reply = await tool.call({"command": "read -p 'Sure? ' x", "pty": True, "async": True})
        job_id = reply.details["async"]["jobId"]
        answer = await Tool("job").call({"poll": [job_id], "wait": 20})
        assert answer.details["waitingFor"]["prompt"] == "Sure?"
        async with following(home) as feed:
            events = await until(feed, lambda event: event["event"] == "waiting")
            # Output ends a wait, so that the prompt itself must come before.
            assert kinds(events) == ["start", "job", "output", "waiting"]
            await Tool("job").call({"write": job_id, "text": "yes\n"})
            assert text_of(await until_ends(feed)) == "yes\r\n"


async def test_a_viewer_that_comes_when_all_others_have_left_is_told_of_a_running_call(
    home: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with following(home) as feed:
        call = asyncio.create_task(nacre.run(f"echo before; cat {gate}; echo after"))
        await until(feed, lambda event: event["event"] == "output")
    async with following(home) as feed:
        events = await until(feed, lambda event: event["event"] == "output")
        await asyncio.to_thread(gate.write_text, "")
        await call
        events += await until_ends(feed)
    assert (kinds(events)[0], text_of(events)) == ("start", "before\nafter\n")
