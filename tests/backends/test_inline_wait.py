"""Commands that end at once are waited for inline; any other is attended, and nothing is lost in between."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from places import Counting

import nacre
from nacre.backend import Backend, Ending
from nacre.backends.contained import ContainedBackend
from nacre.backends.direct import DirectBackend
from nacre.backends.inline_wait import can_block_briefly, tell_output, use_of
from nacre.backends.spare_shells import wait_status
from nacre.command import Command
from nacre.engine.run import EndWatch, Run
from nacre.settings import ExecutionSettings, Settings
from nacre.testing.backend_contract import Collected

ENV = dict(os.environ)
PLACES: dict[str, Callable[[], Backend]] = {"contained": ContainedBackend, "direct": DirectBackend}


def _command(script: str, *, timeout: float = 8.0) -> Command:
    return Command(script=script, cwd="/", env=ENV, timeout=timeout, grace=1.0, stages="|" in script)


async def _run(place: Counting, command: Command) -> tuple[Ending, bytes]:
    sink = Collected()
    run = Run.start(place, command, sink)
    try:
        ending = await run.wait()
        await run.settle()
    finally:
        run.release()
    return ending, sink.streams[1]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not make a short command a long one: what is told apart here is plain from not plain."""
    for name in ("contained", "direct"):
        monkeypatch.setattr(f"nacre.backends.{name}.INLINE_MILLISECONDS", 5000)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("script", "code", "stages", "output"),
    [
        ("true", 0, (), b""),
        ("exit 41", 41, (), b""),
        ("echo out; echo err >&2", 0, (), b"out\nerr\n"),
        ("false | true", 0, (1, 0), b""),
        ("printf 'a\\0\\xff'", 0, (), b"a\0\xff"),
        ("head -c 65536 /dev/zero", 0, (), bytes(65536)),
        ("no-such-program-anywhere", 127, (), b"bash: line 1: no-such-program-anywhere: command not found\n"),
    ],
)
async def test_what_is_plain_is_known_at_once(
    place: str, script: str, code: int, stages: tuple[int, ...], output: bytes
) -> None:
    backend = Counting(PLACES[place]())
    # On a busy machine a shell may take so long that its runner announces it, which is not plain any more.
    for _ in range(20):
        ending, seen = await _run(backend, _command(script))
        assert (ending.code, ending.stages, seen) == (code, stages, output)
        if backend.inline:
            return
    pytest.fail("it was attended each time")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("script", "code", "signal", "output"),
    [
        ("echo before; kill -KILL $$", None, 9, b"before\n"),
        ("echo early; sleep 0.5; echo late", 0, None, b"early\nlate\n"),
        ("head -c 200000 /dev/zero", 0, None, bytes(200_000)),
    ],
)
async def test_what_is_not_plain_goes_on_and_loses_nothing(
    place: str, script: str, code: int | None, signal: int | None, output: bytes
) -> None:
    backend = Counting(PLACES[place]())
    ending, seen = await _run(backend, _command(script))
    assert (backend.inline, ending.code, ending.signal, seen) == (0, code, signal, output)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("place", "script"),
    [
        ("contained", "sleep 1000 & echo on"),
        ("direct", "sleep 1000 & echo on"),
        # Only the warden sees what has left the session and the pipe.
        ("contained", "setsid sleep 1000 >/dev/null 2>&1 & echo on"),
    ],
)
async def test_what_leaves_something_is_not_plain(place: str, script: str) -> None:
    sink = Collected()
    backend = Counting(PLACES[place]())
    run = Run.start(backend, _command(script), sink)
    try:
        ending = await run.wait()
        await run.settle()
        assert (backend.inline, ending.left, sink.streams[1]) == (0, True, b"on\n")
        # Which may not have become the program yet.
        assert len(run.survivors) == 1
        await run.sweep()
    finally:
        run.release()


async def test_nothing_waits_inline_beside_another_call() -> None:
    loop = asyncio.get_running_loop()
    use = use_of(loop)
    use.calls += 1
    assert can_block_briefly(loop)
    use.calls += 1
    assert not can_block_briefly(loop)
    use.calls -= 2


async def test_nothing_waits_inline_beside_a_command_that_is_attended() -> None:
    loop = asyncio.get_running_loop()
    backend = Counting(ContainedBackend())
    attended = Run.start(backend, _command("sleep 1000"), Collected())
    use_of(loop).calls += 1
    try:
        ending, _ = await _run(backend, _command("true"))
        assert (backend.inline, ending.code) == (0, 0)
        await attended.end()
    finally:
        use_of(loop).calls -= 1
        attended.release()


async def test_calls_that_are_made_together_run_together() -> None:
    results = await asyncio.gather(*(nacre.run("sleep 0.3; date +%s%N") for _ in range(4)))
    ends = [int(result.text) for result in results]
    # One after another, the last would end a second after the first.
    assert max(ends) - min(ends) < 800_000_000


@pytest.mark.parametrize("containment", ["off", "required"])
async def test_others_have_their_turn_while_short_commands_follow_each_other(containment: str) -> None:
    settings = Settings(execution=ExecutionSettings(containment=containment, spares=0))
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    task = asyncio.create_task(other())
    for _ in range(5):
        await nacre.run("true", settings=settings)
    task.cancel()
    assert turns >= 3


async def test_others_have_their_turn_during_a_session_too() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with nacre.Session() as session:
        await session.run("x=1")
        task = asyncio.create_task(other())
        for _ in range(5):
            await session.run("true")
        task.cancel()
    assert turns >= 3


async def test_a_hidden_value_stays_hidden_in_what_ended_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "q8Zr4TnV0pLs7WxE")
    result = await nacre.run("echo begin; echo q8Zr4TnV0pLs7WxE")
    assert "q8Zr4TnV0pLs7WxE" not in result.text
    assert result.text.startswith("begin\n")


async def test_a_view_that_cuts_keeps_the_rest_in_an_artifact() -> None:
    result = await nacre.run("seq 1 12000")
    assert result.output.artifact is not None
    assert Path(result.output.artifact.path).stat().st_size == len("".join(f"{n}\n" for n in range(1, 12001)))


async def test_a_pipe_is_whole_once_no_process_holds_its_other_end() -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    watch = EndWatch(_command("true"), sink := Collected(), asyncio.get_running_loop())
    os.write(writer, b"some")
    assert not tell_output(watch, [reader])
    os.write(writer, b"more")
    os.close(writer)
    assert tell_output(watch, [reader])
    assert sink.streams[1] == b"somemore"
    os.close(reader)


def test_a_status_is_told_of_what_has_ended_only() -> None:
    child = subprocess.Popen(["bash", "-c", "read; exit 3"], stdin=subprocess.PIPE)
    state = os.open(f"/proc/{child.pid}/stat", os.O_RDONLY)
    try:
        assert wait_status(state) is None
        assert child.stdin is not None
        child.stdin.close()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert os.waitstatus_to_exitcode(wait_status(state) or 0) == 3
        child.wait()
        assert wait_status(state) is None
    finally:
        os.close(state)


OTHER_USER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from nacre.backends.spare_shells import wait_status
# Only now: another user may not be able to read the interpreter's own modules.
os.setgid(65534); os.setuid(65534)
pid = os.posix_spawn(sys.argv[2], [sys.argv[2], "-p", "-c", "exit 3"], {})
state = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
print(wait_status(state), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_a_status_that_the_kernel_does_not_show_is_not_taken_for_zero(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a program that runs as another user")
    # A shell that becomes a program with other rights: to its starter the kernel shows 0 as the status.
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent.stat().st_mode & 0o005 != 0o005:
            parent.chmod(parent.stat().st_mode | 0o005)
        if parent == Path("/tmp"):
            break
    shell = tmp_path / "shell"
    shell.write_bytes(Path("/bin/bash").read_bytes())
    shell.chmod(0o755 | stat.S_ISUID)
    source = Path(nacre.__file__).parents[1]
    said = subprocess.run(
        ["python3", "-I", "-S", "-c", OTHER_USER, str(source), str(shell)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.stdout.split() == ["None", "3"], said.stderr
