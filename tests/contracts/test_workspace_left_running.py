"""A shell goes on after a command that leaves something running (D10, D11); what is left is a job of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from workbench import PATIENCE_SECONDS, Workbench, gone, layout, quick, timeless, until

from nacre.contracts.contract import Reply
from nacre.jobs.table import JobTable
from nacre.settings import ExecutionSettings, JobSettings, SessionSettings, Settings
from nacre.tool import Tool
from nacre.warden import children


def new_shell(why: str) -> str:
    return f"new shell: {why}; directory, variables and functions as before; $!, jobs and wait start empty"


def shown(reply: Reply) -> str:
    """What the command itself printed."""
    return reply.text.partition("\n\nWall time: ")[0]


async def say(tool: Tool, command: str, **arguments: object) -> str:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return shown(await tool.call({"command": command, **arguments}))


def is_alive(pid: int) -> bool:
    return not children.is_zombie(pid)


async def test_the_same_shell_knows_what_the_call_before_left(bench: Workbench) -> None:
    async with bench.tool() as tool:
        reply = await tool.call({"command": "sleep 300 & echo $! $$"})
        assert reply.details["async"]["jobId"] == "bg_1"
        pid, shell = shown(reply).split()
        after = await tool.call({"command": "echo $! $$; jobs; kill %1; wait %1; echo $?"})
        assert timeless(after.text) == layout(f"{pid} {shell}\n[1]+  Running                 sleep 300 &\n143")
        job = await bench.ended("bg_1")
        assert (job.record["pid"], job.state) == (int(pid), "killed")
        assert job.record["signalName"] == "SIGTERM"


@pytest.mark.parametrize("wait", ["wait $!", "wait %1", "wait -n"])
async def test_wait_in_a_later_call_has_the_right_code(bench: Workbench, wait: str) -> None:
    async with bench.tool() as tool:
        await say(tool, "while [ ! -e go ]; do sleep 0.01; done && exit 7 &")
        assert await say(tool, f": >go; {wait}; echo $?") == "7"
        job = await bench.ended("bg_1")
        assert (job.state, job.record["exitCode"]) == ("exited", 7)


async def test_a_job_that_ends_between_two_calls_has_its_code_and_the_shell_has_it_too(bench: Workbench) -> None:
    async with bench.tool() as tool:
        await say(tool, "(while [ ! -e go ]; do sleep 0.01; done; exit 5) &")
        (bench.cwd / "go").touch()
        assert (await bench.ended("bg_1")).record["exitCode"] == 5
        assert await say(tool, "wait $!; echo $?") == "5"


async def test_a_server_goes_on_writing_to_its_job_alone(bench: Workbench) -> None:
    async with bench.tool() as tool:
        server = "n=0; while :; do echo line $((n++)); sleep 0.02; done"
        told = (await say(tool, f"({server}) &")).splitlines()
        assert await say(tool, "echo one; sleep 0.2; echo two") == "one\ntwo"
        # A script that can change nothing takes a shorter way.
        assert await say(tool, "echo three") == "three"
        assert await say(tool, "sh -c 'echo four >&2'") == "four"
        await until(lambda: bench.output("bg_1").count("\n") > 20, "the job's output")
        lines = bench.output("bg_1").splitlines()
        begun = len(told)
        assert told == [f"line {n}" for n in range(begun)]
        assert lines == [f"line {n}" for n in range(begun, begun + len(lines))]


async def test_a_later_timeout_ends_its_own_command_and_says_what_was_lost(bench: Workbench) -> None:
    async with bench.tool() as tool:
        kept = int(await say(tool, "x=1; sleep 300 & echo $!"))
        late = await tool.call(
            {
                "command": "sleep 301 & echo $!; (setsid sleep 302 & echo $!); "
                "(env -i setsid sleep 303 </dev/null >/dev/null 2>&1 & echo $!); wait",
                "timeout": 1,
            }
        )
        assert "timed out" in late.text
        await gone(*map(int, shown(late).split()))
        assert is_alive(kept)
        after = await tool.call({"command": "echo $x [$!]; jobs"})
        lost = new_shell("the timeout ended the last one")
        assert timeless(after.text) == layout("1 []", lost)
        assert bench.jobs.get("bg_1").running
        # It is an orphan now, and its status is known all the same.
        os.kill(kept, signal.SIGKILL)
        assert (await bench.ended("bg_1")).record["signalName"] == "SIGKILL"


async def test_a_cancelled_call_leaves_earlier_jobs(bench: Workbench) -> None:
    async with bench.tool() as tool:
        kept = int(await say(tool, "sleep 300 & echo $!"))
        running = asyncio.create_task(tool.call({"command": "sleep 301 & echo $! >pid; touch here; wait"}))
        await until((bench.cwd / "here").exists, "the second command")
        running.cancel()
        await asyncio.wait([running])
        await gone(int((bench.cwd / "pid").read_text()))
        assert is_alive(kept)
        assert await say(tool, "echo on") == "on"


async def test_two_jobs_of_one_shell_end_one_by_one(bench: Workbench) -> None:
    async with bench.tool() as tool:
        one, shell = map(int, (await say(tool, "sleep 300 & echo $! $$")).split())
        two = int(await say(tool, "sleep 301 & echo $!"))
        assert await say(tool, "jobs -p; echo $$") == f"{one}\n{two}\n{shell}"
        assert [job.record["pid"] for job in bench.jobs.list().jobs] == [one, two]
        await bench.job({"cancel": ["bg_1"]})
        await gone(one)
        assert (await bench.ended("bg_1")).state == "stopped"
        assert is_alive(two)
        assert bench.jobs.get("bg_2").running
        # The shell that started them goes on, and has heard of it.
        assert await say(tool, f"echo $$; wait {one}; echo $?; kill -0 %2 && echo runs") == f"{shell}\n143\nruns"


async def test_what_a_job_starts_later_is_the_job_s(bench: Workbench) -> None:
    async with bench.tool() as tool:
        worker = "(env -i setsid sleep 304 </dev/null >/dev/null 2>&1 & echo $! >worker)"
        first = int(await say(tool, f"(while [ ! -e go ]; do sleep 0.01; done; {worker}; exec sleep 303) & echo $!"))
        late = asyncio.create_task(tool.call({"command": "touch go; sleep 305", "timeout": 1}))
        await until(lambda: (bench.cwd / "worker").exists() and (bench.cwd / "worker").read_text(), "the worker")
        second = int((bench.cwd / "worker").read_text())
        assert "timed out" in (await late).text
        assert is_alive(first)
        assert is_alive(second)
        await bench.job({"cancel": ["bg_1"]})
        await gone(first, second)
        assert (await bench.ended("bg_1")).state == "stopped"


@pytest.mark.parametrize(
    "left",
    [
        "(setsid sleep 300 & echo $!)",
        "sleep 300 </dev/null >/dev/null 2>&1 & echo $!",
        "exec 3>&1; (env -i setsid sleep 300 <&- >&- 2>&- 3>&- & echo $! >&3); exec 3>&-",
        "nohup sleep 300 >nohup.out & echo $!",
        "trap '' TERM HUP; sleep 300 & echo $!; trap - TERM HUP",
    ],
)
async def test_however_it_detaches_it_is_a_job_and_the_shell_goes_on(bench: Workbench, left: str) -> None:
    # A job that ignores TERM is killed after this grace when the test ends.
    settings = Settings(execution=ExecutionSettings(grace_seconds=0.3))
    async with bench.tool(settings) as tool:
        shell = await say(tool, "echo $$")
        pid = int(await say(tool, left))
        assert (await say(tool, "echo $$"), await say(tool, "echo $$ | cat")) == (shell, shell)
        assert [job.record["pid"] for job in bench.jobs.list().jobs] == [pid]
        await say(tool, "sleep 10", timeout=1)
        assert is_alive(pid)


async def test_a_killed_keeper_costs_its_job_alone(bench: Workbench) -> None:
    async with bench.tool() as tool:
        one, shell = map(int, (await say(tool, "(sleep 300; :) & echo $! $$")).split())
        below = children.descendants(one)
        two = int(await say(tool, "sleep 301 & echo $!"))
        os.kill(bench.jobs.get("bg_1").record["runnerPid"], signal.SIGKILL)
        await gone(one, *below)
        job = await bench.ended("bg_1")
        assert (job.state, job.record["reason"]) == ("lost", "lost: its runner was killed, its exit status is unknown")
        assert is_alive(two)
        assert bench.jobs.get("bg_2").running
        assert await say(tool, "echo $$") == str(shell)


async def test_a_stopped_keeper_goes_on(bench: Workbench) -> None:
    async with bench.tool() as tool:
        pid = int(await say(tool, "sleep 300 & echo $!"))
        keeper = bench.jobs.get("bg_1").record["runnerPid"]
        os.kill(keeper, signal.SIGSTOP)
        await until(lambda: children.state(keeper) != "T", "the keeper to go on")
        bench.jobs.stop("bg_1")
        assert (await bench.ended("bg_1")).state == "stopped"
        await gone(pid)


async def test_a_killed_runner_of_a_session_makes_what_it_ends_lost(bench: Workbench) -> None:
    """The warden kills what the runner was the subreaper of; no exit status of the job's own is known."""
    async with bench.tool() as tool:
        shell = int(await say(tool, "echo $$"))
        pid = int(await say(tool, "sleep 300 & echo $!"))
        runner, keeper = int(children.stat_fields(shell)[1]), bench.jobs.get("bg_1").record["runnerPid"]
        assert int(children.stat_fields(keeper)[1]) == runner
        os.kill(runner, signal.SIGKILL)
        await gone(pid, shell)
        job = await bench.ended("bg_1")
        assert (job.state, job.record["reason"]) == ("lost", "lost: its runner was killed, its exit status is unknown")
        assert (job.record["exitCode"], job.record["signal"]) == (None, None)
        await gone(keeper)


async def test_a_job_names_its_process_when_the_window_ends_with_the_shell(bench: Workbench) -> None:
    """The shell has ended and what it left holds the pipe: the call moves to the background in that moment."""
    async with bench.tool(quick()) as tool:
        reply = await tool.call({"command": "sleep 300 & echo $!"})
        pid = int(reply.text.split()[0])
        assert bench.jobs.get("bg_1").record["pid"] == pid
        bench.jobs.stop("bg_1")
        assert (await bench.ended("bg_1")).state == "stopped"
        await gone(pid)


async def test_where_no_job_can_be_had_the_process_and_the_shell_go_on(bench: Workbench) -> None:
    async with bench.tool(Settings(jobs=JobSettings(max_jobs=1))) as tool:
        one, shell = map(int, (await say(tool, "sleep 300 & echo $! $$")).split())
        reply = await tool.call({"command": "sleep 301 & echo $!"})
        assert "what it left running could not be kept as a job: 1 job runs already" in reply.text
        two = int(shown(reply))
        assert await say(tool, "echo $$") == str(shell)
        await say(tool, "sleep 10", timeout=1)
        assert is_alive(one)
        assert is_alive(two)
        os.kill(two, signal.SIGKILL)
        await gone(two)


async def test_the_end_of_a_session_leaves_its_jobs(bench: Workbench) -> None:
    async with bench.tool() as tool:
        pid, shell = map(int, (await say(tool, "sleep 300 & echo $! $$")).split())
    await gone(shell)
    assert is_alive(pid)
    assert bench.jobs.get("bg_1").running


async def test_a_shell_that_is_ended_while_it_is_idle_says_what_was_lost(bench: Workbench) -> None:
    async with bench.tool(Settings(sessions=SessionSettings(idle_seconds=0.05))) as tool:
        pid, shell = map(int, (await say(tool, "x=1; sleep 300 & echo $! $$")).split())
        await gone(shell)
        assert is_alive(pid)
        after = await tool.call({"command": "echo $x [$!]"})
        lost = new_shell("the last one was ended while it was not used")
        assert timeless(after.text) == layout("1 []", lost)


async def test_a_shell_that_cannot_be_marked_ends_and_says_so(bench: Workbench) -> None:
    async with bench.tool() as tool:
        # The limit that tells one turn's processes from another's cannot be lowered any more.
        await say(tool, "x=1; ulimit -x 0")
        pid = int(await say(tool, "sleep 300 & echo $!"))
        after = await tool.call({"command": "echo $x [$!]"})
        lost = new_shell("the last one stayed with what it left running")
        assert timeless(after.text) == layout("1 []", lost)
        assert is_alive(pid)
        assert bench.jobs.get("bg_1").running


async def test_a_program_of_a_later_call_has_no_descriptor_of_ours(bench: Workbench) -> None:
    async with bench.tool() as tool:
        for _ in range(3):
            await say(tool, "sleep 300 &")
            # The fourth is the listing's own.
            assert await say(tool, "ls /proc/self/fd") == "0\n1\n2\n3"


async def test_an_exit_after_a_job_has_ended_keeps_its_status(bench: Workbench) -> None:
    async with bench.tool() as tool:
        await say(tool, "while [ ! -e go ]; do sleep 0.01; done &")
        (bench.cwd / "go").touch()
        await bench.ended("bg_1")
        reply = await tool.call({"command": "trap 'echo bye' EXIT; echo hello; exit 3"})
        assert shown(reply).startswith("hello")
        assert reply.details["exitCode"] == 3


async def test_a_command_that_becomes_a_job_after_a_job_is_another_one(bench: Workbench) -> None:
    async with bench.tool() as tool:
        pid = int(await say(tool, "sleep 300 & echo $!"))
        await tool.call(
            {
                "command": "echo ready; while [ ! -e go ]; do sleep 0.01; done; echo end; exit 4",
                "until": {"regex": "ready"},
            }
        )
        (bench.cwd / "go").touch()
        assert (await bench.ended("bg_2")).record["exitCode"] == 4
        assert bench.output("bg_2") == "ready\nend\n"
        assert is_alive(pid)
        assert bench.jobs.get("bg_1").running


@pytest.mark.parametrize("how", [signal.SIGKILL, None])
def test_the_end_of_the_program_leaves_the_job_with_one_final_status(
    tmp_path: Path, home: Path, how: signal.Signals | None
) -> None:
    script = f"""
import asyncio, sys, nacre
async def main():
    async with nacre.Tool("workspace", cwd={str(tmp_path)!r}) as tool:
        loop = "while [ ! -e go ]; do echo tick; sleep 0.05; done"
        await tool.call({{"command": f"({{loop}}; exit 6) >&2 & echo $! $$ >pids"}})
        print("left", flush=True)
        sys.stdin.read()
asyncio.run(main())
"""
    host = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    assert host.stdin is not None
    assert host.stdout.readline() == "left\n"
    pid, shell = map(int, (tmp_path / "pids").read_text().split())
    jobs = JobTable(home)
    if how is not None:
        host.send_signal(how)
    host.communicate()
    end = time.monotonic() + PATIENCE_SECONDS

    def wait_for(fact: object, what: str) -> None:
        assert callable(fact)
        while not fact():
            assert time.monotonic() < end, what
            time.sleep(0.01)

    wait_for(lambda: not is_alive(shell), "the end of the shell")
    assert is_alive(pid)
    before = jobs.get("bg_1").output_file.stat().st_size
    wait_for(lambda: jobs.get("bg_1").output_file.stat().st_size > before, "more output")
    assert jobs.get("bg_1").running
    (tmp_path / "go").touch()
    wait_for(lambda: not jobs.get("bg_1").running, "the final status")
    assert (jobs.get("bg_1").state, jobs.get("bg_1").record["exitCode"]) == ("exited", 6)
