"""Shells started in advance: used only where nobody could tell the difference, and as contained as any other."""

from __future__ import annotations

import asyncio
import os
import select
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from nacre.backends.contained import ContainedBackend
from nacre.backends.spares import Spare, is_suited, refill, spares
from nacre.command import Command
from nacre.execution.run import Run
from nacre.process import Ending
from nacre.testing.contract import Collected
from nacre.warden import children

ENV = dict(os.environ)


def _command(script: str, *, cwd: str = "/", timeout: float = 8.0) -> Command:
    return Command(script=script, cwd=cwd, env=ENV, timeout=timeout, grace=1.0)


def _shelve(command: Command) -> None:
    """Put a spare on the shelf; the first call of a program makes none."""
    refill(command, 1)
    refill(command, 1)


async def _run(command: Command, *, with_spare: bool) -> tuple[Ending, bytes]:
    if with_spare:
        _shelve(command)
    sink = Collected()
    run = Run.start(ContainedBackend(spares=1 if with_spare else 0), command, sink)
    try:
        ending = await run.wait()
        await run.settle()
    finally:
        run.release()
    return ending, sink.streams[1]


@pytest.mark.parametrize(
    "script",
    [
        "true",
        "false",
        "echo one two",
        "pwd",
        "exit 37",
        "no-such-program-anywhere",
        "/bin/echo external",
        "/etc",
        "ls -d /proc/self/fd/3",
        "cat",
        "X=1 printenv X",
        "declare -p NACRE",
        "umask",
        "return 3",
        "set -o",
        "shopt",
        "printenv PWD OLDPWD",
    ],
)
async def test_a_spare_gives_what_a_new_shell_gives(script: str) -> None:
    command = _command(script)
    assert is_suited(command)
    new, new_output = await _run(command, with_spare=False)
    spare, spare_output = await _run(command, with_spare=True)
    assert (spare.code, spare.signal, spare_output) == (new.code, new.signal, new_output)


@pytest.mark.parametrize(
    "script",
    [
        "echo )",
        "echo 'a",
        "if true",
        "done",
        "a | b",
        "echo $HOME",
        "cat <<E",
        "[[ x",
        "echo a; echo b",
        "x=(1)",
        "f() {",
    ],
)
def test_what_might_be_told_apart_starts_as_usual(script: str) -> None:
    assert not is_suited(_command(script))


def test_what_a_spare_was_not_made_for_starts_as_usual() -> None:
    plain = _command("true")
    assert is_suited(plain)
    for other in (
        replace(plain, prologue="x=1"),
        replace(plain, stages=True),
        replace(plain, side=True),
        replace(plain, stdin="/tmp/fifo"),
        replace(plain, env={**ENV, "BASH_ENV": "/etc/profile"}),
    ):
        assert not is_suited(other)


async def test_a_spare_serves_its_own_surroundings_only(tmp_path: Path) -> None:
    here = _command("true", cwd=str(tmp_path))
    _shelve(here)
    assert spares.take(replace(here, cwd="/")) is None
    assert spares.take(replace(here, env=dict(ENV))) is None
    assert spares.take(replace(here, streams="split")) is None
    found = spares.take(here)
    assert isinstance(found, Spare)
    found.close()


async def test_a_directory_that_was_replaced_is_not_run_in(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    command = _command("pwd", cwd=str(place))
    _shelve(command)
    place.rename(tmp_path / "moved")
    place.mkdir()
    assert spares.take(command) is None


async def test_a_spare_whose_runner_is_gone_is_not_used() -> None:
    command = _command("echo hi")
    _shelve(command)
    runner = os.pidfd_open(_runner_of_the_spare())
    signal.pidfd_send_signal(runner, signal.SIGKILL)
    select.select([runner], [], [], 5)
    os.close(runner)
    sink = Collected()
    run = Run.start(ContainedBackend(spares=1), command, sink)
    try:
        assert (await run.wait()).code == 0
    finally:
        run.release()
    assert sink.streams[1] == b"hi\n"


def _runner_of_the_spare() -> int:
    """The runner: parent of the one shell below us that waits for its script."""
    while True:
        for pid in children.descendants(os.getpid()):
            if any("mapfile" in word for word in children.command_line(pid)):
                return int(children.stat_fields(pid)[1])


async def test_a_timeout_ends_what_runs_on_a_spare() -> None:
    ending, _ = await _run(_command("sleep 1000", timeout=0.3), with_spare=True)
    assert (ending.why, ending.left) == ("timeout", False)


async def test_a_cancel_before_the_limits_were_told_ends_it_too() -> None:
    command = _command("sleep 1000")
    _shelve(command)
    run = Run.start(ContainedBackend(spares=1), command, Collected())
    try:
        waiting = asyncio.ensure_future(run.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        ending = await run.wait()
        assert (ending.why, ending.left) == ("stop", False)
    finally:
        run.release()


async def test_a_script_longer_than_a_pipe_goes_to_a_spare_whole() -> None:
    words = " ".join(f"word{number}" for number in range(40_000))
    ending, output = await _run(_command(f"echo {words}"), with_spare=True)
    assert (ending.code, output.decode()) == (0, f"{words}\n")
