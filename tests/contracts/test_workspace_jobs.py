"""Commands that outlive their call: moved by the window, by an event, on request, or left running and adopted."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
import time
from pathlib import Path

import pytest
from workbench import Workbench, details, gone, layout, quick, timeless, until

from nacre.backends.contained import ContainedBackend
from nacre.backends.inline_wait import use_of
from nacre.command import Command, NewJob
from nacre.engine.run import Run, Sink
from nacre.jobs.job import Job
from nacre.jobs.notices import is_claimed
from nacre.planning.terminal_variables import SWITCHED_OFF
from nacre.settings import ExecutionSettings, Settings, TerminalSettings
from nacre.tool import Tool
from nacre.tool_events import Notice
from nacre.warden import children

# Holds a command until the test has made the file.
WAIT = "until [ -e go ]; do sleep 0.01; done"


def go(bench: Workbench) -> None:
    (bench.cwd / "go").touch()


def state(job: Job) -> tuple[str, int | None]:
    return job.state, job.record.get("exitCode")


async def notices(tool: Tool, count: int) -> list[Notice]:
    found: list[Notice] = []
    async with asyncio.timeout(30):
        async for notice in tool.notices():
            found.append(notice)
            if len(found) == count:
                break
    return found


# D9: the window.


async def test_a_command_that_outlives_the_window_goes_on_as_a_job_and_is_told_of_once(bench: Workbench) -> None:
    tool = bench.tool(quick())
    reply = await tool.call({"command": f"echo before; {WAIT}; echo after; exit 3"})
    # It came back although the command cannot have ended.
    assert (reply.is_error, details(reply)) == (
        False,
        {"timeoutSeconds": 300, "async": {"state": "running", "jobId": "bg_1", "type": "bash"}},
    )
    assert reply.text.startswith("before\n\nBackground job bg_1 started: ")
    go(bench)
    assert state(await bench.ended("bg_1")) == ("exited", 3)
    assert bench.output("bg_1") == "before\nafter\n"
    # The end of a second job is the mark behind which nothing more can come of the first.
    await tool.call({"command": "sleep 0.1; echo second", "async": True})
    first, second = await notices(tool, 2)
    assert [(one.job_id, one.details["async"]["state"], one.details["exitCode"]) for one in (first, second)] == [
        ("bg_1", "failed", 3),
        ("bg_2", "completed", 0),
    ]
    assert first.text.endswith("\nbefore\nafter")


async def test_nothing_is_lost_or_doubled_where_the_reading_changes_hands(bench: Workbench) -> None:
    command = "i=0; until [ -e go ]; do echo $((i+=1)); done; echo end"
    reply = await bench.call({"command": command}, quick(0.2))
    assert "Output so far" in reply.text or reply.text.startswith("1\n2\n")
    go(bench)
    await bench.ended("bg_1")
    *lines, end = bench.output("bg_1").splitlines()
    assert end == "end"
    assert lines == [str(n) for n in range(1, len(lines) + 1)]


async def test_output_beyond_the_window_s_memory_is_handed_over_whole(bench: Workbench) -> None:
    """What was spilled to an artifact becomes the job's file, and the artifact is gone."""
    await bench.call({"command": f"seq 200000; {WAIT}; echo end"}, quick(0.5))
    go(bench)
    await bench.ended("bg_1")
    assert bench.output("bg_1") == "".join(f"{n}\n" for n in range(1, 200001)) + "end\n"
    assert bench.tool().engine.artifacts.list() == ()


async def test_the_preview_is_bounded_and_says_so(bench: Workbench) -> None:
    reply = await bench.call({"command": "seq 100000; echo last; sleep 100"}, quick(0.5))
    preview, _, rest = reply.text.partition("\n\n")
    assert preview.endswith("\n100000\nlast")
    assert len(preview) <= 50 * 1024
    assert rest.startswith("Output so far: 575.1KB, of which the newest lines are shown\nBackground job bg_1")


async def test_a_secret_that_the_hand_over_cuts_in_two_is_still_hidden(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UPLOAD_TOKEN", "tok-1029384756-qwertz")
    reply = await bench.call({"command": f"printf tok-1029384; {WAIT}; echo 756-qwertz"}, quick())
    go(bench)
    await bench.ended("bg_1")
    written = bench.output("bg_1")
    # The command itself may be quoted; what it wrote may not be shown.
    assert reply.text.startswith("Background job bg_1 started: ")
    assert "1029384" not in written
    assert "qwertz" not in written


async def test_the_timeout_goes_on_for_a_command_that_became_a_job(bench: Workbench) -> None:
    await bench.call({"command": "echo $$; sleep 100", "timeout": 1.5}, quick())
    job = await bench.ended("bg_1")
    assert (job.state, job.record["timeout"]) == ("timed_out", 1.5)
    await gone(int(bench.output("bg_1")))


async def test_a_job_s_record_has_the_timeout_that_was_asked_for_however_long_it_waited(bench: Workbench) -> None:
    tool = bench.tool(quick(0.2))
    # The second waits for the session until the first has gone on in the background.
    await asyncio.gather(tool.call({"command": WAIT}), tool.call({"command": "sleep 100", "timeout": 1.5}))
    go(bench)
    job = await bench.ended("bg_2")
    assert (job.state, job.record["timeout"]) == ("timed_out", 1.5)


async def test_without_the_window_a_command_is_waited_for(bench: Workbench) -> None:
    reply = await bench.call({"command": "sleep 0.4; echo end"}, quick(0.0))
    assert timeless(reply.text) == layout("end")


async def test_when_no_more_jobs_may_run_the_call_waits_and_says_why(bench: Workbench) -> None:
    await bench.call({"command": "sleep 100", "async": True})
    reply = await bench.call({"command": "sleep 0.6; echo end"}, quick(max_jobs=1))
    assert timeless(reply.text) == layout(
        "end",
        "it could not go on in the background: 1 job runs already (setting jobs.max_jobs): bg_1; stop one",
    )


async def test_a_call_that_is_cancelled_leaves_nothing_alive(bench: Workbench) -> None:
    command = "echo $$ > pid; setsid -f sleep 1000; (trap '' TERM; sleep 1000 & echo $! > deep; wait) & sleep 1000"
    settings = Settings(execution=ExecutionSettings(grace_seconds=0.2))
    call = asyncio.create_task(bench.tool(settings).call({"command": command}))
    deep = bench.cwd / "deep"
    pids = [
        int(await until(lambda: deep.exists() and deep.read_text(encoding="ascii").strip(), "the grandchild")),
        int((bench.cwd / "pid").read_text(encoding="ascii")),
    ]
    tree = [*children.descendants(pids[1]), *pids]
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await gone(*tree)
    assert bench.jobs.list().jobs == ()


# D4 and D9: a lifted pipeline that becomes a job.


async def test_a_job_of_a_lifted_pipeline_keeps_the_selection_and_the_producer_s_status(bench: Workbench) -> None:
    tool = bench.tool(quick())
    reply = await tool.call({"command": f"{{ seq 100; {WAIT}; seq 101 105; exit 4; }} | tail -n 2"})
    assert "The job keeps what `| tail -n 2` selects; all output until now is artifact://1\n" in reply.text
    go(bench)
    assert state(await bench.ended("bg_1")) == ("exited", 4)
    assert bench.output("bg_1") == "104\n105\n"
    until_now = Path(tool.engine.artifacts.plain_path(1)).read_text(encoding="ascii")
    assert until_now == "".join(f"{n}\n" for n in range(1, 101))


async def test_a_producer_that_head_cut_off_in_a_job_has_not_failed(bench: Workbench) -> None:
    await bench.call({"command": f"{{ echo 1; {WAIT}; yes; }} | head -n 2"}, quick())
    go(bench)
    assert state(await bench.ended("bg_1")) == ("exited", 0)
    assert bench.output("bg_1") == "1\ny\n"


# Between the end of a command and the word to keep it.


def command(script: str, cwd: Path) -> Command:
    return Command(script=script, cwd=str(cwd), env={"PATH": os.environ["PATH"]}, timeout=60.0, grace=1.0)


class _Text:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.text = b""

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        self.text += bytes(buffer[:size])


def new_job(bench: Workbench) -> NewJob:
    job_id, directory = bench.jobs.allot()
    facts = {"id": job_id, "command": "x", "startedAt": 0.0}
    return NewJob(directory=str(directory), head_bytes=1 << 20, cap_bytes=1 << 24, hidden=(), record=facts)


def attended(script: str, bench: Workbench, sink: Sink) -> Run:
    """Start a command beside others, so that its end is not waited for inline."""
    use = use_of(asyncio.get_running_loop())
    use.calls += 2
    try:
        return Run.start(ContainedBackend(), command(script, bench.cwd), sink)
    finally:
        use.calls -= 2


def block_until_gone(file: Path) -> None:
    """Until the process that wrote its pid there is gone and collected; the event loop hears nothing meanwhile."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if file.exists() and (text := file.read_text(encoding="ascii").strip()) and not children.stat_fields(int(text)):
            return
        os.sched_yield()
    raise AssertionError("it did not end")


async def test_a_command_that_ends_while_it_is_handed_over_is_a_job_with_its_end(bench: Workbench) -> None:
    sink = _Text()
    run = attended("echo $$ > pid; echo out; exit 5", bench, sink)
    try:
        block_until_gone(bench.cwd / "pid")
        run.pause()
        await run.keep(new_job(bench))
    finally:
        run.release()
    assert state(await bench.ended("bg_1")) == ("exited", 5)
    assert sink.text == b""
    assert bench.output("bg_1") == "out\n"


async def test_a_command_whose_shell_ends_while_it_is_handed_over_leaves_a_job_with_its_end(bench: Workbench) -> None:
    """The same when something of it lives on: its runner is still at work."""
    script = f"({WAIT}; echo late) & echo $$ > pid; echo out; exit 6"
    run = attended(script, bench, _Text())
    try:
        block_until_gone(bench.cwd / "pid")
        run.pause()
        await run.keep(new_job(bench))
    finally:
        run.release()
    assert state(await bench.ended("bg_1")) == ("exited", 6)
    assert bench.output("bg_1") == "out\n"
    go(bench)


async def test_a_survivor_that_ends_while_it_is_adopted_is_a_job_with_its_end(bench: Workbench) -> None:
    sink = _Text()
    script = f"(echo $BASHPID > pid; {WAIT}; echo late; exit 7) & echo now"
    run = attended(script, bench, sink)
    try:
        await run.wait()
        await run.settle()
        assert run.survivors
        go(bench)
        block_until_gone(bench.cwd / "pid")
        await run.adopt(new_job(bench))
    finally:
        run.release()
    assert state(await bench.ended("bg_1")) == ("exited", 7)
    assert (sink.text, bench.output("bg_1")) == (b"now\n", "late\n")


# D10: survivors.


async def test_what_a_command_leaves_running_is_adopted_and_its_output_captured(bench: Workbench) -> None:
    tool = bench.tool()
    reply = await tool.call({"command": f"({WAIT}; echo late; exit 3) & echo now"})
    assert reply.text.startswith("now\n\nWall time: ")
    assert re.search(r"\nstill running: pid \d+ \(.*\)", reply.text)
    assert reply.text.endswith("\nit goes on as background job bg_1")
    assert details(reply) == {"timeoutSeconds": 300, "async": {"state": "running", "jobId": "bg_1", "type": "bash"}}
    assert reply.details["survivors"][0]["pid"] == bench.jobs.get("bg_1").record["pid"]
    go(bench)
    (notice,) = await notices(tool, 1)
    assert (notice.job_id, notice.details["exitCode"]) == ("bg_1", 3)
    assert bench.output("bg_1") == "late\n"


@pytest.mark.slow
async def test_the_output_of_a_survivor_goes_on_at_the_very_byte(bench: Workbench) -> None:
    reply = await bench.call({"command": "(i=0; until [ -e go ]; do echo $((i+=1)); sleep 0.001; done) & true"})
    go(bench)
    await bench.ended("bg_1")
    numbers = [*reply.text.split("\n\nWall time")[0].split("\n"), *bench.output("bg_1").split()]
    assert numbers == [str(n) for n in range(1, len(numbers) + 1)]


async def test_a_survivor_without_the_pipe_is_adopted_too_and_can_be_stopped(bench: Workbench) -> None:
    reply = await bench.call({"command": "nohup setsid sleep 1000 >/dev/null 2>&1 & echo on"})
    (survivor,) = reply.details["survivors"]
    assert reply.details["async"]["jobId"] == "bg_1"
    cancelled = await bench.job({"cancel": ["bg_1"]})
    assert cancelled.details["cancelled"] == [{"id": "bg_1", "status": "cancelled"}]
    await gone(survivor["pid"])


async def test_a_survivor_of_a_lifted_pipeline_is_adopted(bench: Workbench) -> None:
    """It holds the side stream too, which nobody reads into the job's file."""
    reply = await bench.call({"command": f"( ({WAIT}; echo late >&2) >/dev/null & seq 5) | tail -n 1"})
    assert reply.text.startswith("5\n\nWall time: ")
    go(bench)
    await bench.ended(reply.details["async"]["jobId"])
    assert bench.output("bg_1") == "late\n"


# until.


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


SERVER = """
import socket, signal
with socket.create_server(("127.0.0.1", {port})):
    signal.pause()
"""


async def test_until_a_line_matches(bench: Workbench) -> None:
    reply = await bench.call({"command": "echo one; echo server is ready; sleep 100", "until": {"regex": "is rea?dy$"}})
    assert re.fullmatch(
        r"one\nserver is ready\n\n"
        r"Happened after \d+\.\d\d seconds: a line matches /is rea\?dy\$/\n"
        r"Background job bg_1 started: .*\n.*",
        reply.text,
    )
    assert bench.jobs.get("bg_1").running


async def test_until_a_prompt_without_a_line_end_matches(bench: Workbench) -> None:
    reply = await bench.call({"command": "printf 'login: '; sleep 100", "until": {"regex": "login: $"}})
    assert reply.details["async"]["jobId"] == "bg_1"


async def test_until_a_port_is_open(bench: Workbench, port: int) -> None:
    (bench.cwd / "server.py").write_text(SERVER.format(port=port), encoding="utf-8")
    reply = await bench.call({"command": f"{sys.executable} server.py", "until": {"port": port}})
    assert f": port {port} is open\n" in reply.text
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass


async def test_until_a_file_exists_in_the_command_s_directory(bench: Workbench) -> None:
    (bench.cwd / "sub").mkdir()
    reply = await bench.call(
        {"command": "cd sub && sleep 0.1 && mkdir out && touch out/done && sleep 100", "until": {"file": "out/done"}}
    )
    assert ": out/done exists\n" in reply.text


async def test_until_it_is_quiet(bench: Workbench) -> None:
    command = "for i in 1 2 3 4 5; do echo $i; sleep 0.05; done; sleep 100"
    reply = await bench.call({"command": command, "until": {"quiet": 0.5}})
    assert reply.text.startswith("1\n2\n3\n4\n5\n\nHappened after ")
    assert ": no output for 0.5 s\n" in reply.text


async def test_a_command_that_ends_first_is_an_ordinary_result_that_says_so(bench: Workbench) -> None:
    reply = await bench.call({"command": "echo bye; exit 2", "until": {"regex": "ready"}})
    assert timeless(reply.text) == layout(
        "bye", "the command ended before this happened: a line matches /ready/", status="Command exited with code 2"
    )


@pytest.mark.parametrize(
    ("last_act", "event"),
    [("echo ready", {"regex": "ready"}), ("printf ready", {"regex": "ready$"}), ("touch it", {"file": "it"})],
)
async def test_what_happens_in_the_last_moment_has_happened(
    last_act: str, event: dict[str, str], bench: Workbench
) -> None:
    reply = await bench.call({"command": last_act, "until": event})
    assert "ended before" not in reply.text
    assert not reply.is_error


async def test_the_window_ends_the_wait_for_an_event_that_does_not_come(bench: Workbench) -> None:
    reply = await bench.call({"command": "sleep 100", "until": {"regex": "never"}}, quick())
    assert reply.text.startswith("This has not happened yet: a line matches /never/\nBackground job bg_1 started: ")


async def test_waiting_for_an_event_needs_jobs(bench: Workbench) -> None:
    reply = await bench.call({"command": "touch x", "until": {"quiet": 1}}, quick(async_enabled=False))
    assert reply.text == "Async bash execution is disabled (setting jobs.async_enabled); run it without until"
    assert not (bench.cwd / "x").exists()


# async.


async def test_jobs_beyond_the_limit_are_refused_with_the_list_of_live_ones(bench: Workbench) -> None:
    few = quick(max_jobs=2)
    await bench.call({"command": "true", "async": True}, few)
    await bench.ended("bg_1")
    for _ in range(2):
        await bench.call({"command": "sleep 100", "async": True}, few)
    reply = await bench.call({"command": "touch started", "async": True}, few)
    assert reply.json() == {
        "text": "2 jobs run already (setting jobs.max_jobs): bg_2, bg_3; stop one",
        "is_error": True,
        "details": {"cause": "limit", "clock": "jobs"},
    }
    assert not (bench.cwd / "started").exists()
    assert len(list((bench.home / "jobs").glob("bg_*"))) == 3


async def test_jobs_that_are_started_at_once_do_not_pass_the_limit_together(bench: Workbench) -> None:
    tool = bench.tool(quick(max_jobs=3))
    replies = await asyncio.gather(*(tool.call({"command": "sleep 100", "async": True}) for _ in range(8)))
    assert sorted(reply.is_error for reply in replies) == [False] * 3 + [True] * 5


async def test_without_terminals_a_job_that_asked_for_one_has_an_open_stdin(bench: Workbench) -> None:
    reply = await bench.call(
        {"command": "read line; echo got $line; read more; echo $more", "async": True, "pty": True},
        Settings(pty=TerminalSettings(no_pty=True)),
    )
    assert reply.text.startswith(f"{SWITCHED_OFF}\n")
    assert (await bench.job({"write": "bg_1", "text": "hello\n"})).text == "Wrote 6 bytes to bg_1."
    seen = await bench.job({"poll": ["bg_1"], "until": {"regex": "got hello"}, "wait": 30})
    assert (seen.details["reason"], seen.details["jobs"][0]["status"]) == ("matched", "running")
    await bench.job({"write": "bg_1", "text": "bye\n"})
    await bench.ended("bg_1")
    assert bench.output("bg_1") == "got hello\nbye\n"


@pytest.mark.parametrize(
    ("command", "code", "state"), [("nosuchcommand", 127, "failed"), ("echo done", 0, "completed")]
)
async def test_a_job_that_ends_at_once_is_told_with_its_start_and_not_again(
    command: str, code: int, state: str, bench: Workbench
) -> None:
    """Within a moment, that is: on a busy machine the notice tells it."""
    tool = bench.tool()
    reply = await tool.call({"command": command, "async": True})
    await bench.ended("bg_1")
    if reply.details["async"]["state"] == "running":
        (notice,) = await notices(tool, 1)
        assert notice.details["exitCode"] == code
        return
    assert reply.is_error == (code != 0)
    assert details(reply)["async"] == {"state": state, "jobId": "bg_1", "type": "bash"}
    assert reply.text.endswith(f"\n\nBackground job bg_1 has ended already, exit code {code}: {command}")
    assert is_claimed(bench.jobs.get("bg_1"))


async def test_a_job_that_did_not_ask_for_one_has_no_input(bench: Workbench) -> None:
    await bench.call({"command": "read line; echo $?; sleep 100", "async": True})
    await bench.job({"poll": ["bg_1"], "until": {"regex": "1"}, "wait": 30})
    assert (await bench.job({"write": "bg_1", "text": "x\n"})).text == (
        "bg_1: stdin is closed; start the command with pty: true to keep it open"
    )


async def test_the_limit_of_a_job_is_its_timeout(bench: Workbench) -> None:
    await bench.call({"command": "sleep 100 & sleep 100", "async": True, "timeout": 1})
    job = await bench.ended("bg_1")
    assert (job.state, job.record["timeout"]) == ("timed_out", 1.0)


async def test_a_job_in_a_missing_directory_is_refused_and_leaves_no_directory_of_its_own(bench: Workbench) -> None:
    reply = await bench.call({"command": "true", "async": True, "cwd": "missing"})
    assert reply.text == f"Working directory does not exist: {bench.cwd}/missing"
    assert list((bench.home / "jobs").glob("bg_*")) == []


async def test_a_job_runs_where_and_with_what_it_was_told_to(bench: Workbench) -> None:
    (bench.cwd / "sub").mkdir()
    await bench.call({"command": "cd sub && echo $PWD $WHAT", "async": True, "env": {"WHAT": "told"}})
    await bench.ended("bg_1")
    assert bench.output("bg_1") == f"{bench.cwd}/sub told\n"


async def test_a_label_is_the_command_on_one_line_and_cut(bench: Workbench) -> None:
    reply = await bench.call({"command": "sleep 100 #\n\n" + "x" * 200, "async": True})
    label = "sleep 100 # " + "x" * 105 + "..."
    assert reply.text.splitlines()[0] == f"Background job bg_1 started: {label}"
    assert len(label) == 120
