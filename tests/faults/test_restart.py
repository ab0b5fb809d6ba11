"""What is left when nacre, its warden or a runner is killed: jobs go on, commands end, nothing turns into success."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from outside import Program, alive, eventually, nacre, with_argument

from nacre import Exited, Lost, Tool, run
from nacre.contracts.modes import Modes
from nacre.engine.background import start_in_background
from nacre.engine.engine import from_environment
from nacre.jobs.job import Job
from nacre.jobs.table import JobTable
from nacre.request import ShellRequest
from nacre.warden import children

LINE = "[background process "


def ended(home: Path, job_id: str) -> Job:
    """The job, once its final status and completion line are on disk."""

    def final() -> Job | None:
        job = JobTable(home).get(job_id)
        return job if not job.running and job.record.get("closed") else None

    return eventually(final, f"the end of {job_id}")


def completion(job: Job) -> str:
    """What the one completion line at the end of the file says."""
    text = job.output_file.read_text(encoding="utf-8")
    assert text.count(LINE) == 1, text
    assert text.endswith("]\n")
    return text[text.index(LINE) + len(LINE) :].removesuffix("]\n")


HOST_OF_JOBS = """
import asyncio, json, sys
import nacre

async def main():
    async with nacre.Tool("modes") as tool:
        for command in sys.argv[1:]:
            reply = await tool.call({"command": command, "mode": "background"})
            print(json.dumps(reply.details), flush=True)
        print("all started", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def test_sigkill_of_nacre_lets_three_jobs_finish_and_a_new_nacre_lists_them(home: Path, tmp_path: Path) -> None:
    go = tmp_path / "go"
    wait = f"until [ -e {go} ]; do sleep 0.01; done; echo after"
    commands = [f"echo one; {wait}", f"echo two; {wait}; exit 3", f"echo three; {wait}; kill -USR1 $$"]
    host = Program(HOST_OF_JOBS, *commands)
    started = [host.json() for _ in commands]
    assert host.line() == "all started"
    host.kill()
    assert all(alive(job["pid"]) for job in started)
    go.touch()
    jobs = [ended(home, job["jobId"]) for job in started]
    assert [completion(job) for job in jobs] == [
        "completed",
        "failed: exit code 3",
        "failed: killed by SIGUSR1 (138)",
    ]
    for job, word in zip(jobs, ("one", "two", "three"), strict=True):
        assert job.output_file.read_text(encoding="utf-8").startswith(f"{word}\nafter\n")
    listed = json.loads(nacre("jobs", "list", "--json").succeed())
    assert [(job["id"], job["state"], job["exitCode"], job["signal"]) for job in listed] == [
        (started[0]["jobId"], "exited", 0, None),
        (started[1]["jobId"], "exited", 3, None),
        (started[2]["jobId"], "signalled", None, "SIGUSR1"),
    ]
    # Looking does not complete them a second time.
    assert [completion(job) for job in jobs]


def test_sigkill_of_nacre_and_its_warden_lets_a_job_finish(home: Path, tmp_path: Path) -> None:
    go = tmp_path / "go"
    host = Program(HOST_OF_JOBS, f"until [ -e {go} ]; do sleep 0.01; done; exit 4")
    started = host.json()
    runner = JobTable(home).get(started["jobId"]).record["runnerPid"]
    zygote = int(children.stat_fields(runner)[1])
    os.kill(zygote, signal.SIGKILL)
    host.kill()
    go.touch()
    job = ended(home, started["jobId"])
    assert (job.record["exitCode"], completion(job)) == (4, "failed: exit code 4")


def test_nacre_that_ends_normally_keeps_its_jobs(home: Path, tmp_path: Path) -> None:
    go = tmp_path / "go"
    arguments = {"command": f"until [ -e {go} ]; do sleep 0.01; done; echo after", "mode": "background"}
    details = json.loads(nacre("call", "modes", json.dumps(arguments)).succeed())["details"]
    assert alive(details["pid"])
    go.touch()
    assert completion(ended(home, details["jobId"])) == "completed"


async def start_job(command: str) -> dict[str, Any]:
    async with Tool("modes") as tool:
        reply = await tool.call({"command": command, "mode": "background"})
    assert not reply.is_error, reply.text
    return dict(reply.details)


async def test_case_79_kill_of_the_group_is_recorded_and_completed_once(home: Path, sleeper: str) -> None:
    details = await start_job(f"echo up; sleep {sleeper}")
    await asyncio.to_thread(
        eventually, lambda: Path(details["outputFile"]).read_text(encoding="utf-8") == "up\n", "output"
    )
    assert nacre("run", "--", f"kill -9 -{details['pid']}").finish()[0] == 0
    job = await asyncio.to_thread(ended, home, details["jobId"])
    assert (job.state, job.record["signalName"]) == ("killed", "SIGKILL")
    assert completion(job) == "failed: killed by SIGKILL (137)"
    await asyncio.to_thread(eventually, lambda: not with_argument(sleeper), "the end of the group")


async def test_case_82_limit_of_a_job_is_enforced_on_everything_it_started(home: Path, sleeper: str) -> None:
    """The same path as the 24 h limit of a background job, with a short one."""
    request = ShellRequest(command=f"setsid sleep {sleeper} & echo up; sleep {sleeper}", timeout=0.3, mode="background")
    job_id = (await start_in_background(from_environment(), request, Modes.profile, cwd="/")).job_id
    job = await asyncio.to_thread(ended, home, job_id)
    assert (job.state, completion(job)) == ("timed_out", "failed: timed out after 0.3s")
    assert with_argument(sleeper) == []
    assert Modes().decode({"command": "x", "mode": "background"}).timeout == 24 * 3600


HOST_OF_A_COMMAND = """
import sys
import nacre
nacre.run_sync(sys.argv[1])
"""


@pytest.mark.parametrize("surface", ["library", "run", "call"])
def test_case_70_sigkill_of_nacre_ends_its_foreground_command(surface: str, sleeper: str, tmp_path: Path) -> None:
    script = f"setsid sleep {sleeper} & touch {tmp_path}/up; sleep {sleeper}"
    if surface == "library":
        host = Program(HOST_OF_A_COMMAND, script)
    elif surface == "run":
        host = nacre("run", "--", script)
    else:
        host = nacre("call", "basic", json.dumps({"command": script}))
    eventually((tmp_path / "up").exists, "the command")
    # Both: bash goes on to the second while the first is still on its way to its program.
    eventually(lambda: len(with_argument(sleeper)) == 2, "the two sleepers")
    host.kill()
    eventually(lambda: not with_argument(sleeper), "the end of the command")


async def runner_of(script: str, tmp_path: Path) -> tuple[asyncio.Task[Any], int]:
    """A running command, and the runner that answers for it."""
    task = asyncio.create_task(run(f"echo $PPID >{tmp_path}/.new && mv {tmp_path}/.new {tmp_path}/runner; {script}"))
    file = tmp_path / "runner"
    await asyncio.to_thread(eventually, file.exists, "the command")
    return task, int(file.read_text(encoding="ascii"))


async def test_runner_killed_in_mid_command_is_lost_and_never_success(sleeper: str, tmp_path: Path) -> None:
    task, runner = await runner_of(f"echo seen; sleep {sleeper}", tmp_path)
    await asyncio.to_thread(eventually, lambda: with_argument(sleeper), "the sleeper")
    os.kill(runner, signal.SIGKILL)
    async with asyncio.timeout(30):
        result = await task
    assert isinstance(result.outcome, Lost)
    assert (result.ok, result.exit_code, result.text) == (False, None, "seen\n")
    await asyncio.to_thread(eventually, lambda: not with_argument(sleeper), "the end of the command")
    assert (await run("echo next")).outcome == Exited(0)


@pytest.mark.parametrize("contract", ["basic", "modes"])
async def test_runner_killed_in_mid_command_reads_as_an_error(contract: str, sleeper: str, tmp_path: Path) -> None:
    async with Tool(contract) as tool:
        task = asyncio.create_task(tool.call({"command": f"echo $PPID >{tmp_path}/runner; sleep {sleeper}"}))
        await asyncio.to_thread(eventually, lambda: with_argument(sleeper), "the sleeper")
        os.kill(int((tmp_path / "runner").read_text(encoding="ascii")), signal.SIGKILL)
        async with asyncio.timeout(30):
            reply = await task
    assert reply.is_error
    assert "how the command ended is not known" in reply.text
    await asyncio.to_thread(eventually, lambda: not with_argument(sleeper), "the end of the command")


@pytest.mark.parametrize(("contract", "how"), [("modes", {"mode": "background"}), ("workspace", {"async": True})])
async def test_case_73_a_job_whose_runner_dies_before_it_starts_was_not_started(
    contract: str, how: dict[str, Any], home: Path, tmp_path: Path
) -> None:
    """The soak found it: the answer named a job with pid 0, which had neither a record nor an end."""
    runner = int((await run("echo $PPID", cwd=tmp_path)).text)
    zygote = int(children.stat_fields(runner)[1])
    guardian = int(children.stat_fields(zygote)[1])
    # Neither continues the other: the request for the job stays unread.
    os.kill(guardian, signal.SIGSTOP)
    os.kill(zygote, signal.SIGSTOP)
    async with Tool(contract, cwd=tmp_path) as tool:
        call = asyncio.ensure_future(tool.call({"command": "touch ran", **how}))
        asked = asyncio.get_running_loop().run_in_executor(None, eventually, (home / "jobs" / "bg_1").exists, "the job")
        await asked
        os.kill(zygote, signal.SIGKILL)
        os.kill(guardian, signal.SIGCONT)
        reply = await call
    assert reply.is_error
    assert "the job was not started: its runner was killed meanwhile" in reply.text
    assert JobTable(home).list().jobs == ()
    assert not (tmp_path / "ran").exists()


async def test_case_73_runner_of_a_job_killed_makes_the_job_lost(home: Path, sleeper: str) -> None:
    details = await start_job(f"echo up; sleep {sleeper}")
    await asyncio.to_thread(eventually, lambda: with_argument(sleeper), "the sleeper")
    os.kill(JobTable(home).get(details["jobId"]).record["runnerPid"], signal.SIGKILL)
    job = await asyncio.to_thread(ended, home, details["jobId"])
    assert job.state == "lost"
    assert completion(job) == "error: lost: its runner was killed, its exit status is unknown"
    JobTable(home).list()
    assert completion(job)
    await asyncio.to_thread(eventually, lambda: not with_argument(sleeper), "the end of the job")


async def test_warden_killed_between_calls_is_replaced(sleeper: str) -> None:
    runner = int((await run("echo $PPID")).text)
    zygote = int(children.stat_fields(runner)[1])
    os.kill(zygote, signal.SIGKILL)
    await asyncio.to_thread(eventually, lambda: not alive(zygote), "the end of the warden")
    results = await asyncio.gather(*(run(f"echo {number}") for number in range(6)))
    assert [result.text for result in results] == [f"{number}\n" for number in range(6)]


async def test_warden_killed_in_mid_command_does_not_disturb_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    task, runner = await runner_of(f"read line <{tmp_path}/go; echo $line; exit 6", tmp_path)
    zygote = int(children.stat_fields(runner)[1])
    os.kill(zygote, signal.SIGKILL)
    await asyncio.to_thread(eventually, lambda: not alive(zygote), "the end of the warden")
    assert (await run("echo other")).text == "other\n"
    await asyncio.to_thread((tmp_path / "go").write_text, "went\n", encoding="ascii")
    result = await task
    assert (result.outcome, result.text) == (Exited(6), "went\n")


async def test_idle_runner_killed_between_calls_is_not_used_again() -> None:
    runner = int((await run("echo $PPID")).text)
    os.kill(runner, signal.SIGKILL)
    await asyncio.to_thread(eventually, lambda: not alive(runner), "the end of the runner")
    assert (await run("echo next")).text == "next\n"
