"""A state directory on a file system that stops answering: the call comes back and says what it lost.

The file system is real (FUSE) and lives in a mount namespace of its own, so that it goes when its last process does.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from outside import Program, end

PROGRAM = """
import asyncio, json, os, signal, sys
import fuse_mirror, nacre, nacre.state_worker
from nacre.settings import JobSettings, Settings

async def at_once(hang):
    hang()
    result = await nacre.run("echo one; seq 100000")
    again = await nacre.run("echo two")
    async with nacre.Tool("workspace") as tool, nacre.Tool("job") as jobs, nacre.Tool("modes") as modes:
        shown = await tool.call({"command": "seq 100000"})
        job = await tool.call({"command": "touch started", "async": True})
        background = await modes.call({"command": "touch started", "mode": "background"})
        listed = await jobs.call({"list": True})
        url = await tool.call({"command": "cat local://notes"})
    return {
        "text": result.text[:4], "notices": result.notices, "again": again.notices, "shown": shown.text,
        "job": [job.is_error, job.text], "background": [background.is_error, background.text],
        "listed": [listed.is_error, listed.text], "url": [url.is_error, url.text],
    }

async def while_it_writes(hang):
    # The command goes on when the artifact has its first bytes.
    async def run():
        return await nacre.run("seq 100000; until [ -e go ]; do sleep 0.01; done; seq 100000 110000")
    running = asyncio.create_task(run())
    while not os.path.exists("backing/home/artifacts/1.output.log"):
        await asyncio.sleep(0.01)
    hang()
    open("go", "w").close()
    result = await running
    return {"text": result.text[-7:], "notices": result.notices}

async def with_a_job(hang):
    settings = Settings(jobs=JobSettings(auto_background_seconds=0.2))
    async with nacre.Tool("workspace", settings=settings) as tool, nacre.Tool("job") as jobs:
        started = await tool.call({"command": "sleep 50", "async": True})
        polling = asyncio.create_task(jobs.call({"poll": ["bg_1"], "wait": 1}))
        await asyncio.sleep(0)
        hang()
        polled = await polling
        # There is no room for a job: it stays in the foreground to its end.
        stayed = await tool.call({"command": "sleep 0.5; echo stayed"})
        os.kill(started.details["pid"], signal.SIGKILL)
    return {"polled": polled.text, "stayed": stayed.text}

async def to_the_end(hang):
    async with nacre.Tool("workspace") as tool, nacre.Tool("job") as jobs, nacre.Tool("read") as read:
        shown = await tool.call({"command": "seq 100000"})
        uri = "artifact://" + shown.details["meta"]["truncation"]["artifactId"]
        found = await read.call({"uri": uri, "grep": "^77777$"})
        copied = await tool.call({"command": "cp " + uri + " local://copy; tail -n 1 local://copy"})
        await tool.call({"command": "read line; echo got $line; exit 3", "async": True, "pty": True})
        await jobs.call({"write": "bg_1", "text": "word\\n"})
        polled = await jobs.call({"poll": ["bg_1"], "wait": 30})
        listed = await jobs.call({"list": True})
    from nacre import audit
    log = [entry.get("outcome") for entry in audit.entries("hung/home")]
    return {
        "found": found.text, "copied": copied.text, "polled": polled.text, "listed": listed.text, "log": log,
        "workers": [open(f"/proc/{pid}/comm").read() for pid in children()],
    }

def children():
    return open(f"/proc/self/task/{os.getpid()}/children").read().split()

async def main(how):
    server = fuse_mirror.mount("hung", "backing")
    # On a busy machine a file system that answers may take longer than one that hangs is waited for.
    limit, nacre.state_worker.ANSWER_SECONDS = nacre.state_worker.ANSWER_SECONDS, 20.0

    def hang():
        nacre.state_worker.ANSWER_SECONDS = limit
        os.kill(server, signal.SIGUSR1)

    facts = await globals()[how](hang)
    print(json.dumps({**facts, "server": server}))

asyncio.run(main(sys.argv[1]))
"""

SILENT = "its file system did not answer within 0.5 s"
UNUSABLE = f"the state directory cannot be used: {SILENT}; set NACRE_HOME to a directory that can be used"


def facts_of(how: str, tmp_path: Path) -> dict[str, Any]:
    """What a program said whose state directory hangs; the program has ended before the file system answers."""
    if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK) or shutil.which("unshare") is None:
        pytest.skip("a hung file system needs root, /dev/fuse and unshare")
    for name in ("hung", "backing"):
        (tmp_path / name).mkdir()
    program = Program(
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n{PROGRAM}",
        how,
        before=["unshare", "--mount", "--propagation", "private", "env", "--chdir", str(tmp_path)],
        env={"NACRE_GRACE_SECONDS": "0.2", "NACRE_HOME": str(tmp_path / "hung" / "home")},
    )
    facts: dict[str, Any] = program.json()
    program.succeed()
    end(facts["server"])
    return facts


def test_calls_come_back_and_say_what_they_lost(tmp_path: Path) -> None:
    facts = facts_of("at_once", tmp_path)
    assert facts["text"] == "one\n"
    assert facts["notices"] == [
        f"the full output could not be kept: {UNUSABLE}",
        f"the audit log could not be written: {SILENT}",
    ]
    assert facts["again"] == [f"the audit log could not be written: {SILENT}"]
    assert f"the full output could not be kept: {UNUSABLE}" in facts["shown"]
    assert facts["job"] == [True, UNUSABLE]
    assert facts["background"] == [True, f"[could not run: {UNUSABLE}]"]
    assert facts["listed"] == [True, UNUSABLE]
    assert facts["url"][0]
    assert UNUSABLE in facts["url"][1]
    assert not (tmp_path / "started").exists()


def test_a_command_goes_on_when_its_artifact_can_no_longer_be_written(tmp_path: Path) -> None:
    facts = facts_of("while_it_writes", tmp_path)
    assert facts["text"] == "110000\n"
    path = tmp_path / "hung" / "home" / "artifacts" / "1.output.log"
    assert facts["notices"] == [
        f"the full output could not be kept: {SILENT} ({path})",
        f"the audit log could not be written: {SILENT}",
    ]


def test_a_poll_ends_and_a_command_that_cannot_become_a_job_stays_in_the_foreground(tmp_path: Path) -> None:
    facts = facts_of("with_a_job", tmp_path)
    polled, stayed = facts["polled"], facts["stayed"]
    assert polled.startswith("None has ended within 1 s.")
    assert f"[the output of bg_1 cannot be read: {SILENT}]" in polled
    assert stayed.startswith("stayed\n")
    assert f"it could not go on in the background: {UNUSABLE}" in stayed


def test_a_file_system_that_answers_serves_as_any_other(tmp_path: Path) -> None:
    facts = facts_of("to_the_end", tmp_path)
    assert facts["found"].splitlines()[0].endswith(":77777")
    assert facts["copied"].startswith("100000\n")
    assert "got word" in facts["polled"]
    assert "bg_1 [bash] failed, exit code 3" in facts["listed"]
    assert facts["log"] == ["exited", "exited", "background", "exited"]
    # The calls went through a worker.
    assert "nacre-state\n" in facts["workers"]
