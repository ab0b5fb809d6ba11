"""A call in a session comes back in its own time, whatever keeps the shell from answering."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import nacre
from nacre.api import PROFILE
from nacre.engine import engine as engines
from nacre.engine.execute import enter
from nacre.request import ShellRequest
from nacre.settings import ShellSettings

SETTINGS = nacre.Settings(shell=ShellSettings(snapshot=False))


# The same on this machine and on another place.
anywhere = pytest.mark.usefixtures("anywhere")


def session(tmp_path: Path) -> nacre.Session:
    return nacre.Session(cwd=tmp_path, settings=SETTINGS)


async def test_a_state_that_takes_long_to_write_down_does_not_hold_the_next_call(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=kept")
        many = await shell.run('for i in {1..60000}; do eval "v$i=$i"; done; f() { echo f; }; cd /', timeout=100)
        assert many.ok
        # Bash needs some 20 s for that list.
        async with asyncio.timeout(30):
            after = await shell.run("echo $x; f; pwd", timeout=2)
        assert after.text == "kept\nf\n/\n"
        (notice,) = after.notices
        assert notice == (
            "new shell: the last one took too long to write its state down; "
            "directory and functions as before, variables as before its last command"
        )


async def test_a_debug_trap_that_sleeps_costs_its_own_call_alone(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=kept")
        async with asyncio.timeout(60):
            slow = await shell.run("trap 'sleep 100' DEBUG", timeout=0.5)
            assert slow.outcome == nacre.TimedOut(0.5, "SIGTERM")
            assert (await shell.run("echo $x", timeout=20)).text == "kept\n"


@anywhere
async def test_a_debug_trap_stays_and_sees_the_scripts(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("trap 'echo \"at $BASH_COMMAND\" >>seen' DEBUG")
        await shell.run("echo one")
        assert (await shell.run("trap -p DEBUG")).text == "trap -- 'echo \"at $BASH_COMMAND\" >>seen' DEBUG\n"
        await shell.run("kill -9 $$")
        await shell.run("echo two")
        seen = (tmp_path / "seen").read_text()
        assert seen.count("at echo one\n") == seen.count("at echo two\n") == 1
        # The state is written down and restored without it.
        assert "declare -p" not in seen


@pytest.mark.parametrize("broken", ["echo $(", "cat <(echo a", "eval 'echo $('", 'y=2\necho "$(ls'])
async def test_a_substitution_without_an_end_does_not_damage_later_commands(tmp_path: Path, broken: str) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=kept; cd /")
        assert (await shell.run(broken)).exit_code == 2
        await shell.run("z=later")
        # Bash 5.2 aborts here, if it is the one that met the error.
        left = await shell.run("exit 4")
        assert left.outcome == nacre.Exited(4)
        assert left.text == ""
        assert left.notices == ()
        assert (await shell.run("echo $x $z; pwd")).text == "kept later\n/\n"


# Answers the greeting of the kernel and nothing else.
HUNG = """
import asyncio, ctypes, json, os, select, struct, sys, time
import nacre
INIT, FORGET, INTERRUPT = 26, 2, 36
path = sys.argv[1]
fd = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={fd},rootmode=40000,user_id=0,group_id=0".encode()
if ctypes.CDLL(None, use_errno=True).mount(b"nacre-hung", path.encode(), b"fuse", 0, options) != 0:
    sys.exit("mount")
server = os.fork()
if not server:
    os.dup2(os.open("/dev/null", os.O_RDWR), 1)
    os.dup2(1, 2)
    # Ends by itself in any case, and with it all that waits.
    latest = time.monotonic() + 50
    while (left := latest - time.monotonic()) > 0 and select.select([fd], [], [], left)[0]:
        _, opcode, unique = struct.unpack_from("<IIQ", os.read(fd, 1 << 18))
        if opcode == INIT:
            body = struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0)
            os.write(fd, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
    os._exit(0)
os.close(fd)

async def main():
    facts = {"server": server}
    async with nacre.Session(cwd=path) as session:
        try:
            await session.run("echo hi", timeout=1)
        except nacre.NacreError as error:
            facts["session"] = str(error)
    async with nacre.Tool("workspace", cwd=path) as tool:
        reply = await tool.call({"command": "echo hi", "timeout": 1})
        facts["tool"] = reply.text if reply.is_error else ""
    async with nacre.Session(cwd="/") as session:
        await session.run("x=1")
        try:
            await session.run("echo hi", timeout=1, cwd=path)
            facts["cwd"] = ""
        except nacre.NacreError as error:
            facts["cwd"] = str(error)
    facts["ended"] = os.waitpid(server, os.WNOHANG)[0]
    print(json.dumps(facts))

asyncio.run(main())
"""


def test_a_session_in_a_directory_that_does_not_answer_is_an_error_in_time(tmp_path: Path) -> None:
    if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK) or shutil.which("unshare") is None:
        pytest.skip("a hung file system needs root, /dev/fuse and unshare")
    hung = tmp_path / "hung"
    hung.mkdir()
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", sys.executable, "-c", HUNG, str(hung)],
        env={**os.environ, "NACRE_GRACE_SECONDS": "0.2"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
        text=True,
    )
    facts = json.loads(done.stdout)
    os.kill(facts["server"], 9)
    assert "did not start within 1 s" in facts["session"]
    assert "did not start within 1 s" in facts["tool"]
    # None of the calls waited until the file system gave up.
    assert facts["ended"] == 0


async def test_the_limit_holds_while_the_host_blocks_its_loop_from_the_start_on(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("true")
        # What a host must not do, and does.
        asyncio.get_running_loop().call_later(0.02, time.sleep, 2.5)
        result = await shell.run("sleep 2; touch late; sleep 100", timeout=0.3)
        assert result.outcome == nacre.TimedOut(0.3, "SIGTERM")
        assert not [notice for notice in result.notices if "did not answer" in notice]
        assert not (tmp_path / "late").exists()


async def test_waiting_for_the_turn_is_taken_off_the_time_that_a_dead_runner_may_take(tmp_path: Path) -> None:
    """What the caller waits for beyond the end of the far side is counted from the call's beginning."""
    engine = engines.from_environment(settings=SETTINGS)
    held = engine.session("held", cwd=str(tmp_path))
    try:
        request = ShellRequest(command="sleep 100", timeout=30.0)
        planned = engine.planner.plan(request, PROFILE, cwd=str(tmp_path))
        first, _ = await enter(engine, "first", held, planned, PROFILE)
        waiting = asyncio.create_task(enter(engine, "second", held, planned, PROFILE))
        await asyncio.sleep(0.2)
        first.close()
        second, reviewed = await waiting
        second.close()
        assert reviewed.limit == 30.0
        assert reviewed.command.timeout is not None
        assert reviewed.command.timeout <= 29.9
    finally:
        engine.end_session("held")
