"""Processes that /proc shows otherwise than most: without their first thread, or in a pid namespace of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from outside import Program, alive, end, eventually, with_argument

from nacre import TimedOut, run
from nacre.settings import ExecutionSettings, Settings

# Its first thread ends, another sleeps: /proc/PID/stat says Z, and /proc/PID/cmdline is empty.
HEADLESS = """
import ctypes, pathlib, sys, threading, time
def stay():
    while "Z" not in pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()[0]:
        time.sleep(0.01)
    pathlib.Path(sys.argv[2]).touch()
    time.sleep(float(sys.argv[1]))
threading.Thread(target=stay).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def headless(sleeper: str, directory: Path) -> str:
    script = directory / "headless.py"
    script.write_text(HEADLESS, encoding="ascii")
    ready = directory / "ready"
    return f"{sys.executable} {script} {sleeper} {ready} & until [ -e {ready} ]; do sleep 0.01; done; echo up"


def settings(containment: str) -> Settings:
    return Settings(execution=ExecutionSettings(grace_seconds=0.2, containment=containment))  # type: ignore[arg-type]


@pytest.mark.parametrize("containment", ["auto", "off"])
async def test_survivor_without_its_first_thread_is_named(containment: str, sleeper: str, tmp_path: Path) -> None:
    result = await run(headless(sleeper, tmp_path), settings=settings(containment))
    (survivor,) = result.survivors
    assert sleeper in survivor.argv
    assert alive(survivor.pid)
    end(survivor.pid)


@pytest.mark.parametrize("containment", ["auto", "off"])
async def test_process_without_its_first_thread_ends_with_the_time_limit(
    containment: str, sleeper: str, tmp_path: Path
) -> None:
    command = f"{headless(sleeper, tmp_path)}; sleep {sleeper}"
    result = await run(command, timeout=2, settings=settings(containment))
    assert isinstance(result.outcome, TimedOut)
    assert (result.text, with_argument(sleeper)) == ("up\n", [])


@cache
def _can_unshare() -> bool:
    unshare = shutil.which("unshare")
    return unshare is not None and subprocess.run([unshare, "--pid", "--fork", "true"], check=False).returncode == 0


needs_namespaces = pytest.mark.skipif(not _can_unshare(), reason="a pid namespace needs root and unshare")


@needs_namespaces
@pytest.mark.parametrize("own_proc", ["", "--mount-proc"])
async def test_command_that_makes_a_pid_namespace_ends_with_the_time_limit(own_proc: str, sleeper: str) -> None:
    inner = f"setsid sleep {sleeper} & sleep {sleeper}"
    result = await run(
        f"echo up; unshare --pid --fork {own_proc} bash -c '{inner}'", timeout=2, settings=settings("auto")
    )
    assert isinstance(result.outcome, TimedOut)
    # The inner shell may say that its sleep was terminated.
    assert result.text.startswith("up\n")
    assert with_argument(sleeper) == []


HOST = """
import asyncio, json, os, sys
import nacre
from nacre.jobs.table import JobTable

async def main(sleeper):
    result = await nacre.run(f"echo up; sleep {sleeper}", timeout=2)
    async with nacre.Tool("workspace") as tool:
        reply = await tool.call({"command": "true", "async": True})
    try:
        JobTable(os.environ["NACRE_HOME"]).stop("bg_1")
        stopped = "stopped"
    except nacre.NacreError as error:
        stopped = str(error)
    left = (await nacre.run("sleep 0.5 & echo done")).survivors
    print(json.dumps([repr(result.outcome), result.text, result.notices, reply.text, stopped, left]))

asyncio.run(main(*sys.argv[1:]))
"""
JOB = """
import asyncio, sys
import nacre

async def main(sleeper):
    async with nacre.Tool("workspace") as tool:
        await tool.call({"command": f"sleep {sleeper}", "async": True})

asyncio.run(main(*sys.argv[1:]))
"""


@needs_namespaces
def test_without_a_proc_of_its_own_the_loss_is_stated_and_no_number_from_there_is_signalled(
    home: Path, sleeper: str
) -> None:
    Program(JOB, sleeper).succeed()
    (job,) = eventually(lambda: with_argument(sleeper), "the job")
    host = Program(HOST, f"{sleeper}1", before=["unshare", "--pid", "--fork"], env={"NACRE_GRACE_SECONDS": "0.2"})
    outcome, text, notices, refusal, stopped, left = json.loads(host.succeed())
    assert (outcome, text) == ("TimedOut(limit=2, ended_by='SIGTERM')", "up\n")
    loss = "containment is off (/proc is that of another pid namespace): a daemon started by the command may outlive"
    assert any(notice.startswith(loss) for notice in notices)
    assert "background jobs need the warden" in refusal
    assert stopped == "jobs cannot be stopped from here: /proc is that of another pid namespace"
    assert left == []
    assert with_argument(f"{sleeper}1") == []
    assert alive(job)
    assert os.path.isdir(home)
    end(job)
