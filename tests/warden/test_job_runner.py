"""A job under a runner that stays small: what ends the watch, and what does not."""

from __future__ import annotations

import json
import os
import shlex
import signal
from pathlib import Path

import pytest

from nacre.backends.contained import ContainedBackend
from nacre.command import Command, NewJob
from nacre.engine.capture import Nowhere
from nacre.engine.run import Run
from nacre.errors import StartError
from nacre.jobs.job import Job
from nacre.jobs.notices import text_of
from nacre.jobs.polling import poll
from nacre.jobs.table import JobTable
from nacre.settings import Settings
from nacre.tool import Tool
from nacre.until import Until
from nacre.warden import children, record


async def started(command: str, **arguments: object) -> tuple[Job, JobTable]:
    tool = Tool("workspace", settings=Settings())
    reply = await tool.call({"command": command, "async": True, **arguments})
    assert not reply.is_error, reply.text
    return tool.engine.jobs.get(reply.details["async"]["jobId"]), tool.engine.jobs


async def ended(job: Job, table: JobTable) -> Job:
    assert (await poll(table, [job.id], wait=30)).reason == "ended"
    return table.get(job.id)


async def test_the_shell_is_the_runners_own_child_and_leads_a_session(home: Path) -> None:
    job, table = await started("echo $PPID $$; cut -d' ' -f6 /proc/$$/stat; echo ready; sleep 1000")
    assert (await poll(table, [job.id], until=Until(regex="ready"), wait=30)).reason == "matched"
    parent, shell, session, _ = job.output_file.read_text().split()
    assert (int(parent), int(shell), int(session)) == (job.record["runnerPid"], job.record["pid"], job.record["pid"])
    table.stop(job.id)
    assert (await ended(job, table)).record["state"] == "stopped"


async def test_a_flood_of_output_does_not_keep_a_job_past_its_limit(home: Path) -> None:
    job, table = await started("exec yes", timeout=1)
    assert (await ended(job, table)).record["state"] == "timed_out"


async def test_orphans_that_end_are_collected_while_the_job_runs(home: Path) -> None:
    job, table = await started("sh -c 'sleep 0.05 & echo $!'; echo ready; exec sleep 1000")
    assert (await poll(table, [job.id], until=Until(regex="ready"), wait=30)).reason == "matched"
    orphan = int(job.output_file.read_text().split()[0])
    runner = job.record["runnerPid"]
    while orphan in (children.children_of(runner) or []):
        os.sched_yield()
    assert children.children_of(runner) == [job.record["pid"]]
    os.kill(job.record["pid"], signal.SIGUSR1)
    assert (await ended(job, table)).record["signalName"] == "SIGUSR1"


async def test_what_a_job_wrote_before_and_at_its_end_is_all_there(home: Path) -> None:
    job, table = await started("seq 1 50000; (sleep 0.02; echo late) & seq 50001 60000; wait; exit 3")
    assert (await ended(job, table)).record["exitCode"] == 3
    lines = job.output_file.read_text().splitlines()
    assert [line for line in lines if line.isdigit()] == [str(n) for n in range(1, 60001)]
    assert "late" in lines


async def test_what_a_job_leaves_running_is_named_without_secrets_and_its_output_is_kept(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D10; it is no job of its own: only a nacre allots ids, and a runner may be alone when its shell ends."""
    monkeypatch.setenv("MY_API_TOKEN", "correct-horse-battery")
    os.mkfifo(tmp_path / "gate")
    # The shell ends only when what it leaves is the other bash, and that one starts nothing that could be seen too.
    left = f": up; read -r <{tmp_path / 'gate'}; echo later correct-horse-battery"
    job, table = await started(
        f"bash -c {shlex.quote(left)} & until grep -q -a '^bash.-c.: up' /proc/$!/cmdline; do :; done"
    )
    found = await ended(job, table)
    (survivor,) = found.record["survivors"]
    assert "correct-horse-battery" not in json.dumps(found.record)
    assert f"still running: pid {survivor['pid']} (bash -c ': up; read -r <" in text_of(found)
    (tmp_path / "gate").write_text("\n")
    while children.start_time(survivor["pid"]) is not None:
        os.sched_yield()
    while "later" not in job.output_file.read_text():
        os.sched_yield()
    assert "correct-horse-battery" not in job.output_file.read_text()


async def test_what_a_moved_call_leaves_running_is_named_by_its_command(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_AUTO_BACKGROUND_SECONDS", "0.1")
    # The shell ends only when what it leaves has become sleep.
    ready = 'until grep -qs ^sleep "/proc/$(cat pid)/cmdline"; do :; done'
    command = f"until [ -e go ]; do sleep 0.01; done; (sleep 1000 & echo $! >pid; wait) & {ready}"
    async with Tool("workspace", cwd=tmp_path) as tool:
        reply = await tool.call({"command": command})
        (tmp_path / "go").touch()
        job = tool.engine.jobs.get(reply.details["async"]["jobId"])
        survivors = (await ended(job, tool.engine.jobs)).record["survivors"]
    try:
        assert [one["argv"] for one in survivors] == [["bash", "-c", command], ["sleep", "1000"]]
    finally:
        for one in survivors:
            os.kill(one["pid"], signal.SIGKILL)


async def test_a_shell_that_cannot_start_is_named_and_nobody_holds_its_job(tmp_path: Path) -> None:
    shell = tmp_path / "bash"
    shell.write_bytes(b"nothing that runs")
    shell.chmod(0o755)
    directory = tmp_path / "job"
    directory.mkdir()
    job = NewJob(directory=str(directory), record={"id": "bg_1"}, head_bytes=1024, cap_bytes=4096, hidden=())
    command = Command(script="true", cwd="/", env=dict(os.environ), timeout=20, grace=1, shell=str(shell))
    running = Run.start(ContainedBackend(), command, Nowhere(), job=job)
    try:
        with pytest.raises(StartError, match=f"cannot start the shell {shell}: "):
            await running.wait()
    finally:
        running.release()
    # Nobody answers for a job that never was.
    os.close(record.lock(str(directory)))


@pytest.mark.parametrize("value", ["not-a-real-token", "ends-with-a-mark!"])
async def test_a_value_that_is_taken_out_is_not_in_the_output_however_it_is_cut(
    home: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", value)
    job, table = await started(f"printf {value[:5]}; sleep 0.05; printf %s {value[5:]!r}; echo; echo end")
    await ended(job, table)
    assert job.output_file.read_text().startswith("[redacted:SERVICE_TOKEN]\nend\n")


@pytest.mark.parametrize(("contract", "arguments"), [("workspace", {"async": True}), ("modes", {"mode": "background"})])
async def test_the_record_of_a_job_has_the_stage_codes_of_its_last_pipeline(
    home: Path, contract: str, arguments: dict[str, object]
) -> None:
    async with Tool(contract, settings=Settings()) as tool:
        await tool.call({"command": "true; false | true", **arguments})
        (job,) = tool.engine.jobs.list().jobs
        found = (await ended(job, tool.engine.jobs)).record
    assert (found["state"], found["exitCode"], found["stages"]) == ("exited", 0, [1, 0])
