"""Shells started in advance: nobody can tell the difference, and they are as contained as any other."""

from __future__ import annotations

import asyncio
import os
import re
import select
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from places import Attended

from nacre.backend import Ending
from nacre.backends.contained import ContainedBackend, refill
from nacre.backends.spare_shells import MOST_SPARES, Spare, Spares, is_suited, missing_reason, spares
from nacre.backends.spare_trial import DIFFERS, DOES_NOT_WAIT
from nacre.command import Command
from nacre.engine.run import Run
from nacre.testing.backend_contract import Collected
from nacre.warden import children

ENV = dict(os.environ)


def _command(script: str, *, cwd: str = "/", timeout: float = 8.0) -> Command:
    return Command(script=script, cwd=cwd, env=ENV, timeout=timeout, grace=1.0)


def _shelve(command: Command) -> None:
    """Put a spare on the shelf, and wait until it can be used; the first call of a program makes none."""
    refill(command, 1)
    refill(command, 1)
    while not spares.ready(command):
        # This loop blocks the one that would go on with the trial of a bash.
        if spares.meet():
            refill(command, 1)
        os.sched_yield()


async def _run(command: Command, *, with_spare: bool, inline: bool = False) -> tuple[Ending, bytes]:
    if with_spare:
        _shelve(command)
    sink = Collected()
    place = ContainedBackend(spares=1 if with_spare else 0)
    run = Run.start(place if inline else Attended(place), command, sink)
    try:
        ending = await run.wait()
        await run.settle()
    finally:
        run.release()
    return ending, sink.streams[1]


SCRIPTS = [
    "true",
    "false",
    "",
    "echo one two",
    "pwd",
    "exit 37",
    "no-such-program-anywhere",
    "echo a\n\nno-such-program-anywhere; echo $LINENO",
    "/bin/echo external",
    "/etc",
    "ls -d /proc/self/fd/*",
    "cat",
    "X=1 printenv X",
    "declare -p __nacre_room BASH_ENV",
    "umask",
    "return 3",
    "set -o",
    "shopt",
    "printenv PWD OLDPWD SHLVL",
    "env | sort | grep -v ^_=",
    "echo $0 $# $- $SHLVL $SECONDS [$!] [$?] $BASH_SUBSHELL",
    "echo $BASH_EXECUTION_STRING 'quo''ted'",
    "kill -9 $$",
    "sh -c 'kill -9 $$'",
    "sh -c 'kill -TERM $$'; echo after",
    "sh -c 'kill -11 $$' && echo never",
    "false | true | sh -c 'exit 3'; echo ${PIPESTATUS[@]}",
    "echo 'a",
    "echo )",
    "if true",
    "done",
    "cat <<E\n$HOME `echo hi`\nE",
    "cat <<E\nno end",
    "[[ x",
    "f() { echo $FUNCNAME ${BASH_SOURCE[0]} $BASH_LINENO; }; f",
    "x=(1 2 3); echo ${x[@]: -1} ${#x[@]}",
    "trap 'echo bye $?' EXIT; false",
    "trap 'echo bye' EXIT; exec echo last",
    "trap",
    "set -euo pipefail; echo $undefined; echo never",
    "exec 3>&1; echo three >&3",
    "(exit 5); echo $?; (echo sub; exit 6)",
    "printf 'a\\0b\\xff'",
    "echo \u00e9 \U0001f600 ${#HOME}",
    "read x; echo $? [$x]",
    "alias ll=ls; ll /; shopt -s expand_aliases; alias q='echo q'; q",
    "echo $BASHPID$$ | awk '{print length($0) > 1}'",
    "ps -o args= -p $$; true",
    "set -x; echo traced",
    "set -v\necho verbose",
    "jobs; sleep 0 & wait; echo $?",
    "diff <(echo a) <(echo b)",
    "compgen -v | grep -iE 'nacre|bash_env'",
    "times | wc -l",
    "\x01\x02",
    "# only a comment",
    "\n\n  \n",
    "echo 'bytes \udcff\udcfe'",
    "echo " + "word " * 2000,
]


def _without_pids(output: bytes) -> bytes:
    return re.sub(rb"\b[0-9]{2,}(?= (Killed|Segm|Term))", b"PID", output)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("stages", [False, True])
@pytest.mark.parametrize("inline", [False, True], ids=["attended", "inline"])
async def test_a_spare_gives_what_a_new_shell_gives(script: str, stages: bool, inline: bool) -> None:
    # A script with traps of its own that gives stage codes gets a last line, and no spare.
    command = replace(_command(script), stages=stages and "trap" not in script)
    assert is_suited(command)
    new, new_output = await _run(command, with_spare=False)
    spare, spare_output = await _run(command, with_spare=True, inline=inline)
    assert (spare.code, spare.signal, spare.stages) == (new.code, new.signal, new.stages)
    assert _without_pids(spare_output) == _without_pids(new_output)


async def test_the_last_word_of_the_shell_before_is_that_of_a_new_shell() -> None:
    command = _command("echo $_")
    assert (await _run(command, with_spare=True))[1] == (await _run(command, with_spare=False))[1]


async def test_a_prologue_works_in_a_spare_too() -> None:
    prologue = 'f() { @notes@ builtin printf "refused %s\\n" "$1"; }'
    ending, output = await _run(replace(_command("f this; echo on"), prologue=prologue), with_spare=True)
    assert (ending.refused, output) == (("this",), b"on\n")


def test_what_a_spare_was_not_made_for_starts_as_usual() -> None:
    plain = _command("true")
    assert is_suited(plain)
    for other in (
        replace(plain, side=True),
        replace(plain, script="trap : EXIT; true | true", stages=True),
        replace(plain, stdin="/tmp/fifo"),
        replace(plain, env={**ENV, "BASH_ENV": "/etc/profile"}),
        replace(plain, script="echo " + "é" * 10_000),
    ):
        assert not is_suited(other)


async def test_a_spare_serves_its_own_surroundings_only(tmp_path: Path) -> None:
    here = _command("true", cwd=str(tmp_path))
    _shelve(here)
    assert spares.take(replace(here, cwd="/")) is None
    assert spares.take(replace(here, env={**ENV, "OTHER": "1"})) is None
    assert spares.take(replace(here, streams="split")) is None
    found = spares.take(here)
    assert isinstance(found, Spare)
    found.close()


async def test_surroundings_that_alternate_share_the_room(tmp_path: Path) -> None:
    places = [tmp_path / str(number) for number in range(MOST_SPARES + 1)]
    for place in places:
        place.mkdir()
    commands = [_command("true", cwd=str(place)) for place in places]
    refill(commands[0], 2)
    for _ in range(2):
        for command in commands:
            refill(command, 2)
    first = list(spares._shelf)
    assert len(first) == MOST_SPARES
    # From here on each keeps what it has: nobody's shell is ended for another's.
    for command in commands:
        refill(command, 2)
    assert spares._shelf == first


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
            if children.command_line(pid) == ["bash", "-c", ":"]:
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


async def test_a_shell_that_is_no_bash_has_no_spares(tmp_path: Path) -> None:
    shell = tmp_path / "bash"
    shell.symlink_to("/bin/dash")
    command = replace(_command("echo hi"), shell=str(shell))
    assert missing_reason(command) == DOES_NOT_WAIT


def trial_command(shell: str) -> Command:
    return Command(script="true", cwd="/", env=dict(os.environ), timeout=20, grace=1, shell=shell)


async def tried(shelf: Spares, command: Command) -> None:
    """Have the shelf try the bash of a command, as two calls do."""
    for _ in range(2):
        shelf.refill(command, 1)
    assert shelf.on_trial
    while shelf.on_trial:
        shelf.meet()
        await asyncio.sleep(0)


async def test_a_bash_is_tried_before_its_first_spare() -> None:
    shelf, command = Spares(), trial_command("/bin/bash")
    await tried(shelf, command)
    assert shelf.ready(command) == 0
    shelf.refill(command, 1)
    assert not shelf.on_trial
    while not shelf.ready(command):
        await asyncio.sleep(0)
    shelf.close()


async def test_a_bash_that_has_copied_its_script_gets_no_spares(tmp_path: Path) -> None:
    """It waits like any other, and then runs what stood after -c when it was started."""
    shell = tmp_path / "bash"
    shell.write_text('#!/bin/bash\nexec /bin/bash -c "$2"\n', encoding="ascii")
    shell.chmod(0o755)
    shelf, command = Spares(), trial_command(str(shell))
    await tried(shelf, command)
    shelf.refill(command, 1)
    assert not shelf.on_trial
    assert shelf._shelf == []
    assert missing_reason(command) == DIFFERS
    shelf.close()


class FailingSink:
    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        raise ValueError("the sink fails")


async def test_a_sink_that_fails_costs_no_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine too, the output is read before `start` returns.
    monkeypatch.setattr("nacre.backends.contained.INLINE_MILLISECONDS", 5000)
    command = _command("echo x")
    await _run(command, with_spare=False)
    _shelve(command)
    before = os.listdir("/proc/self/fd")
    with pytest.raises(ValueError, match="the sink fails"):
        Run.start(ContainedBackend(spares=1), command, FailingSink())
    # Those of the spare are closed.
    assert len(os.listdir("/proc/self/fd")) < len(before)
