"""Commands that stop or kill the processes that contain them: the call comes back, and nothing of them lives on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from outside import Program, alive, end, eventually, nacre, with_argument

from nacre import Lost, Session, Tool, run
from nacre.backends.spare_shells import spares
from nacre.engine.run import WATCHDOG_SECONDS
from nacre.jobs.job import Job
from nacre.jobs.table import JobTable
from nacre.sandbox.probing import probe
from nacre.warden import children, record

GRACE_SECONDS = 0.3


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_GRACE_SECONDS", str(GRACE_SECONDS))


@pytest.fixture(autouse=True)
def no_stopped_process() -> Iterator[None]:
    """No process below the test is left stopped."""
    yield
    stopped = [pid for pid in children.descendants(os.getpid()) if children.state(pid) == "T"]
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    assert not stopped


def ended(home: Path, job_id: str) -> Job:
    def final() -> Job | None:
        job = JobTable(home).get(job_id)
        return job if not job.running and job.record.get("closed") else None

    return eventually(final, f"the end of {job_id}")


async def gone(sleeper: str) -> None:
    await asyncio.to_thread(eventually, lambda: not with_argument(sleeper), "the end of the command")


async def one_shot(command: str, timeout: float) -> tuple[str, str]:
    result = await run(command, timeout=timeout)
    return type(result.outcome).__name__, result.text


async def with_spare(command: str, timeout: float) -> tuple[str, str]:
    for _ in range(3):
        await run("true")
    await asyncio.to_thread(eventually, lambda: spares._shelf, "a spare")
    return await one_shot(command, timeout)


async def in_session(command: str, timeout: float) -> tuple[str, str]:
    async with Session() as session:
        await session.run("true")
        result = await session.run(command, timeout=timeout)
        assert (await session.run("echo next")).text == "next\n"
    return type(result.outcome).__name__, result.text


FOREGROUND = {"one-shot": one_shot, "spare": with_spare, "session": in_session}


@pytest.mark.parametrize("how", FOREGROUND)
async def test_stopped_runner_goes_on_and_keeps_the_time_limit(how: str, sleeper: str) -> None:
    async with asyncio.timeout(30):
        outcome = await FOREGROUND[how](f"echo up; kill -STOP $PPID; sleep {sleeper}", 1)
    assert outcome == ("TimedOut", "up\n")
    assert with_argument(sleeper) == []


@pytest.mark.parametrize("how", FOREGROUND)
async def test_far_side_that_is_stopped_as_a_whole_goes_on_and_keeps_the_time_limit(how: str, sleeper: str) -> None:
    """No process of it is left to see that another is stopped: the caller sees to it when the limit is over."""
    parents = "w=$(cut -d' ' -f4 /proc/$PPID/stat); g=$(cut -d' ' -f4 /proc/$w/stat)"
    async with asyncio.timeout(30):
        outcome = await FOREGROUND[how](f"{parents}; trap '' TERM; kill -STOP $g $w $PPID; sleep {sleeper}", 1)
        assert (await run("echo next")).text == "next\n"
    assert outcome == ("TimedOut", "")
    # The answer came when all of it had ended, and not for want of an answer.
    assert with_argument(sleeper) == []


@pytest.mark.parametrize("how", FOREGROUND)
async def test_stopped_runner_goes_on_when_those_that_would_continue_it_are_killed(how: str, sleeper: str) -> None:
    """The soak found it: guardian and warden stopped too, then killed, left a runner that no process continued."""
    parents = "w=$(cut -d' ' -f4 /proc/$PPID/stat); g=$(cut -d' ' -f4 /proc/$w/stat)"
    async with asyncio.timeout(30):
        outcome = await FOREGROUND[how](
            f"{parents}; echo up; trap '' TERM; kill -STOP $g $w $PPID; kill -KILL $w $g; sleep {sleeper}", 1
        )
    assert outcome[1] == "up\n"
    await gone(sleeper)


@pytest.mark.parametrize("how", FOREGROUND)
async def test_stopped_runner_goes_on_and_tells_the_exit_code(how: str) -> None:
    async with asyncio.timeout(30):
        assert await FOREGROUND[how]("echo up; kill -STOP $PPID; sleep 0.1; echo end; exit 3", 10) == (
            "Exited",
            "up\nend\n",
        )


@pytest.mark.parametrize("how", FOREGROUND)
@pytest.mark.parametrize("detached", [False, True])
async def test_killed_runner_is_lost_with_its_output_and_its_command_ends(
    how: str, sleeper: str, *, detached: bool
) -> None:
    daemon = f"(setsid sleep {sleeper} &); sleep 0.2; " if detached else ""
    async with asyncio.timeout(30):
        outcome = await FOREGROUND[how](f"echo up; {daemon}kill -9 $PPID; sleep {sleeper}", 60)
    assert outcome == ("Lost", "up\n")
    await gone(sleeper)


async def test_warden_goes_on_after_words_of_a_command_in_the_pipes_of_its_runner(sleeper: str) -> None:
    """Root may open the descriptors of any process: what comes there is not the word of a runner."""
    words = r"printf 'garbage\0x y\0' >"
    script = f'for f in /proc/$PPID/fd/*; do timeout 0.1 bash -c "{words} $f"; done 2>/dev/null; kill -9 $PPID; sleep'
    async with asyncio.timeout(30):
        assert isinstance((await run(f"{script} {sleeper}", timeout=20)).outcome, Lost)
        pid = int((await run("echo $PPID")).text)
        zygote = int(children.stat_fields(pid)[1])
        assert isinstance((await run(f"{script} {sleeper}", timeout=20)).outcome, Lost)
        await gone(sleeper)
    assert children.command_line(zygote) == ["nacre-warden"]
    assert alive(zygote)


async def started(contract: str, command: str, **arguments: Any) -> str:
    """The id of a job."""
    async with Tool(contract) as tool:
        reply = await tool.call({"command": command, **arguments})
    assert not reply.is_error, reply.text
    details = reply.details
    return str(details["async"]["jobId"] if "async" in details else details["jobId"])


JOBS: dict[str, tuple[str, dict[str, Any]]] = {
    "async": ("workspace", {"async": True}),
    "modes": ("modes", {"mode": "background"}),
}


async def test_stopped_runner_of_a_job_goes_on_and_keeps_the_time_limit(home: Path, sleeper: str) -> None:
    job_id = await started("workspace", f"echo up; kill -STOP $PPID; sleep {sleeper}", **JOBS["async"][1], timeout=2)
    job = await asyncio.to_thread(ended, home, job_id)
    assert (job.state, job.output_file.read_text(encoding="ascii")) == ("timed_out", "up\n")
    assert with_argument(sleeper) == []


@pytest.mark.parametrize("how", JOBS)
async def test_stopped_runner_of_a_job_goes_on_and_records_the_exit_code(how: str, home: Path) -> None:
    contract, arguments = JOBS[how]
    job_id = await started(contract, "echo up; kill -STOP $PPID; sleep 0.1; exit 3", **arguments)
    job = await asyncio.to_thread(ended, home, job_id)
    assert (job.state, job.record["exitCode"]) == ("exited", 3)


@pytest.mark.parametrize("how", JOBS)
async def test_killed_runner_of_a_job_makes_it_lost_with_its_output_and_ends_it(
    how: str, home: Path, sleeper: str
) -> None:
    contract, arguments = JOBS[how]
    # What is still in the pipe is lost with the runner.
    copied = f"until grep -q up {home}/jobs/bg_1/output && [ -e {home}/go ]; do sleep 0.01; done"
    script = f"echo up; (setsid sleep {sleeper} &); {copied}; kill -9 $PPID; sleep {sleeper}"
    job_id = await started(contract, script, **arguments)
    (home / "go").touch()
    job = await asyncio.to_thread(ended, home, job_id)
    assert job.state == "lost"
    await gone(sleeper)
    text = job.output_file.read_text(encoding="utf-8")
    assert text.startswith("up\n")
    assert text.count("[background process ") == (contract == "modes")


async def test_killed_runner_of_a_job_is_told_in_its_file_without_any_nacre_that_looks(
    home: Path, sleeper: str
) -> None:
    """An agent reads the file of a `modes` job with `cat`."""
    job_id = await started("modes", f"echo up; sleep {sleeper}", mode="background")
    job = JobTable(home).get(job_id)
    # What is still in the pipe is lost with the runner.
    await asyncio.to_thread(eventually, lambda: job.output_file.read_bytes() == b"up\n", "the job's output")
    os.kill(job.record["runnerPid"], signal.SIGKILL)
    line = "[background process error: lost: its runner was killed, its exit status is unknown]\n"
    text = await asyncio.to_thread(
        eventually, lambda: (text := job.output_file.read_text(encoding="utf-8")).endswith("]\n") and text, "the line"
    )
    assert text == f"up\n\n\n{line}"
    assert (await asyncio.to_thread(ended, home, job_id)).state == "lost"
    assert job.output_file.read_text(encoding="utf-8") == text


def test_job_without_a_caller_ends_with_its_killed_runner(home: Path, sleeper: str) -> None:
    """The warden stays for the jobs of a caller that is gone."""
    nacre(
        "call", "modes", f'{{"command": "(setsid sleep {sleeper} &); sleep {sleeper}", "mode": "background"}}'
    ).succeed()
    eventually(lambda: len(with_argument(sleeper)) == 2, "the job")
    runner = JobTable(home).get("bg_1").record["runnerPid"]
    os.kill(runner, signal.SIGSTOP)
    eventually(lambda: children.state(runner) != "T", "the runner to go on")
    os.kill(runner, signal.SIGKILL)
    eventually(lambda: not with_argument(sleeper), "the end of the job")
    assert ended(home, "bg_1").state == "lost"


def test_stop_of_a_job_that_nothing_answers_for_ends_its_whole_tree(home: Path, sleeper: str) -> None:
    """All processes of nacre were killed, and the job lives."""
    script = f"sleep {sleeper} & (setsid bash -c 'sleep {sleeper}; true' & sleep {sleeper})"
    with subprocess.Popen(["bash", "-c", f"{script}; true"], start_new_session=True) as shell:
        eventually(lambda: len(with_argument(sleeper)) == 3, "the job")
        directory = home / "jobs" / "bg_1"
        directory.mkdir(parents=True)
        facts = {"id": "bg_1", "version": record.VERSION, "state": "running", "command": "x", "startedAt": 0.0}
        identity = {"pid": shell.pid, "pidStart": children.start_time(shell.pid), "bootId": children.boot_id()}
        record.write(str(directory), facts | identity)
        assert JobTable(home).stop("bg_1").note is not None
        eventually(lambda: not with_argument(sleeper), "the end of the job")
    assert ended(home, "bg_1").state == "lost"


HOST = """
import asyncio, sys
import nacre

async def main(how, command):
    if how == "session":
        async with nacre.Session() as session:
            await session.run(command)
    else:
        await nacre.run(command)

asyncio.run(main(*sys.argv[1:]))
"""


def kill_at_once(*pids: int) -> None:
    for pid in pids:
        # A runner may have seen the end of the host, and ended by itself.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def ours(sleeper: str) -> tuple[int, int, int]:
    """The guardian, the zygote and the runner above a command that sleeps, from the top down."""
    pid = with_argument(sleeper)[0]
    found = []
    while len(found) < 3:
        pid = int(children.stat_fields(pid)[1])
        if children.command_line(pid)[0].startswith("nacre-"):
            found.append(pid)
    runner, zygote, guardian = found
    return guardian, zygote, runner


@pytest.mark.parametrize("how", ["one-shot", "session"])
def test_host_warden_and_runner_killed_at_once_leave_nothing(how: str, sleeper: str) -> None:
    with Program(HOST, how, f"(setsid sleep {sleeper} &); sleep {sleeper}; true") as host:
        eventually(lambda: len(with_argument(sleeper)) == 2, "the command")
        _, zygote, runner = ours(sleeper)
        kill_at_once(host.pid, zygote, runner)
        eventually(lambda: not with_argument(sleeper), "the end of the command")


def test_shell_of_a_session_dies_with_the_last_of_our_processes(sleeper: str) -> None:
    """The kernel's parent-death signal: the script goes on under no circumstances."""
    with Program(HOST, "session", f"sleep {sleeper}; true") as host:
        (pid,) = eventually(lambda: with_argument(sleeper), "the command")
        shell = int(children.stat_fields(pid)[1])
        kill_at_once(host.pid, *ours(sleeper))
        eventually(lambda: not alive(shell), "the end of the shell")
        # A program that the shell had started is out of reach without any process of ours.
        end(pid)


@pytest.mark.skipif(
    probe(os.environ.get("PATH", os.defpath)).backend != "bubblewrap", reason="bubblewrap cannot make a sandbox here"
)
@pytest.mark.parametrize("how", ["one-shot", "session"])
def test_in_a_sandbox_nothing_goes_on_when_all_our_processes_are_killed(how: str, sleeper: str, tmp_path: Path) -> None:
    """Its pid namespace ends with the runner, by the kernel, and takes along what has left the tree."""
    script = f"(setsid -f sleep {sleeper} >/dev/null 2>&1 </dev/null); sleep {sleeper} & sleep {sleeper}; true"
    with Program(HOST, how, script, env={"NACRE_SANDBOX": "required"}, cwd=tmp_path) as host:
        eventually(lambda: len(with_argument(sleeper)) == 3, "the command")
        kill_at_once(host.pid, *ours(sleeper))
        eventually(lambda: not with_argument(sleeper), "the end of the command")


@pytest.mark.parametrize("ending", ["exits", "is killed"])
def test_guardian_and_warden_that_a_command_has_stopped_end_with_the_program(ending: str, sleeper: str) -> None:
    """The runner, which is not stopped, sees to it."""
    parents = "w=$(cut -d' ' -f4 /proc/$PPID/stat); g=$(cut -d' ' -f4 /proc/$w/stat)"
    after = f"sleep {sleeper}" if ending == "is killed" else "true"
    with Program(HOST, "one-shot", f"{parents}; sleep {sleeper} & kill -STOP $g $w; {after}") as host:
        guardian, zygote, _ = eventually(lambda: with_argument(sleeper) and ours(sleeper), "the command")
        if ending == "is killed":
            eventually(lambda: children.state(guardian) + children.state(zygote) == "TT", "both to be stopped")
            host.kill()
        else:
            host.succeed()
        eventually(lambda: "T" not in children.state(guardian) + children.state(zygote), "both to go on")
        # What a finished command has left keeps its runner, and both of them.
        end(*with_argument(sleeper))
        eventually(lambda: not alive(guardian) and not alive(zygote), "the end of both")


@pytest.mark.parametrize("name", ["TERM", "USR1"])
async def test_runner_that_is_sent_a_signal_says_so_and_not_that_it_was_asked(sleeper: str, name: str) -> None:
    result = await run(f"echo up; kill -{name} $PPID; sleep {sleeper}", timeout=20)
    assert result.outcome == Lost(f"another process sent SIG{name} to its runner, which stopped the command")
    assert result.text == "up\n"
    assert with_argument(sleeper) == []


async def test_terminated_runner_of_a_job_says_so_in_the_record(home: Path, sleeper: str) -> None:
    job_id = await started("modes", f"echo up; sleep {sleeper}", mode="background")
    job = JobTable(home).get(job_id)
    await asyncio.to_thread(eventually, lambda: job.output_file.read_bytes() == b"up\n", "the job's output")
    os.kill(job.record["runnerPid"], signal.SIGTERM)
    job = await asyncio.to_thread(ended, home, job_id)
    reason = "lost: another process sent SIGTERM to its runner, which stopped the command"
    assert (job.state, job.record["reason"]) == ("lost", reason)
    text = job.output_file.read_text(encoding="utf-8")
    assert text == f"up\n\n\n[background process error: {reason}]\n"


async def test_stop_of_a_job_is_still_told_as_a_request(home: Path, sleeper: str) -> None:
    job_id = await started("modes", f"sleep {sleeper}", mode="background")
    JobTable(home).stop(job_id)
    assert (await asyncio.to_thread(ended, home, job_id)).state == "stopped"


async def test_term_to_every_python_below_reaches_none_of_ours(home: Path, sleeper: str) -> None:
    """What `pkill python` does, to the processes of this test alone."""
    job_id = await started("workspace", f"sleep {sleeper}", **{"async": True})
    async with Session() as session:
        task = asyncio.create_task(session.run(f"echo up; sleep {sleeper}; exit 3"))
        await asyncio.to_thread(eventually, lambda: len(with_argument(sleeper)) == 2, "both commands")
        below = children.descendants(os.getpid())
        names = {pid: [children.read_bytes(f"/proc/{pid}/comm").decode(), *children.command_line(pid)] for pid in below}
        assert not [words for words in names.values() if "python" in " ".join(words)]
        ours = [words for words in names.values() if words[0].startswith("nacre-")]
        assert sorted({words[0].strip() for words in ours}) == ["nacre-guardian", "nacre-runner", "nacre-warden"]
        assert all(words[1:] == [words[0].strip()] for words in ours)
        for pid in with_argument(sleeper):
            if int(children.stat_fields(pid)[3]) != JobTable(home).get(job_id).record["pid"]:
                os.kill(pid, signal.SIGKILL)
        assert (await task).exit_code == 3
    JobTable(home).stop(job_id)
    assert (await asyncio.to_thread(ended, home, job_id)).state == "stopped"


STOPPED_HOST = """
import asyncio, sys
import nacre

async def main(how, command):
    async with nacre.Session() as session:
        await session.run("true")
        call = session.run(command, timeout=0.5) if how == "session" else nacre.run(command, timeout=0.5)
        result = await call
    print(type(result.outcome).__name__, result.notices, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("how", ["one-shot", "session"])
def test_host_that_is_stopped_beyond_the_limit_hears_how_its_command_ended(
    how: str, sleeper: str, tmp_path: Path
) -> None:
    with Program(STOPPED_HOST, how, f"sleep 0.1; touch {tmp_path}/up; sleep {sleeper}") as host:
        eventually((tmp_path / "up").exists, "the start of the command")
        os.kill(host.pid, signal.SIGSTOP)
        eventually(lambda: not with_argument(sleeper), "the end of the command")
        # Beyond the moment at which the host gives up waiting.
        select.select([], [], [], 0.5 + GRACE_SECONDS + WATCHDOG_SECONDS)
        os.kill(host.pid, signal.SIGCONT)
        assert host.line() == "TimedOut ()"
        host.succeed()
