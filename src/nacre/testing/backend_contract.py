"""The contract of a backend: what each must do, as checks that any implementation can be put through.

A behaviour has two spellings, a bash script for a real backend and a play for the scripted one; a check knows neither.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial

from nacre.backend import Backend, Ending, Survivor
from nacre.command import Command, Streams, TerminalSize
from nacre.engine.run import EndWatch, Run
from nacre.errors import BackendError, StartError, WorkingDirectoryError
from nacre.testing.scripted import Play

# Everything here ends long before this; a backend that does not is broken, not slow.
PATIENCE_SECONDS = 10.0
# The timeouts that are checked: a shell on a busy machine or far away has printed its line by then.
LIMIT_SECONDS = 1.0
MISSING_DIRECTORY = "/nonexistent-nacre-directory"


@dataclass(frozen=True, slots=True)
class Behaviour:
    script: str
    play: Play


BEHAVIOURS = {
    "writes in order": Behaviour(
        "echo one; echo two >&2; echo three",
        Play(writes=((1, b"one\n"), (2, b"two\n"), (1, b"three\n"))),
    ),
    "exits with 37": Behaviour("exit 37", Play(code=37)),
    "dies of SIGKILL": Behaviour("kill -KILL $$", Play(code=None, signal=9)),
    "hides a failure": Behaviour("false | true", Play(stages=(1, 0))),
    "never ends": Behaviour("echo ready; sleep 1000", Play(writes=((1, b"ready\n"),), code=None)),
    "ignores TERM": Behaviour(
        "trap '' TERM; echo ready; while :; do sleep 1000; done",
        Play(writes=((1, b"ready\n"),), code=None, ignores_term=True),
    ),
    "leaves a survivor": Behaviour(
        "sleep 1000 & echo done",
        Play(writes=((1, b"done\n"),), survivors=(Survivor(4243, ("sleep", "1000")),)),
    ),
    "does nothing": Behaviour("true", Play()),
    "reads a line": Behaviour('read -r line; echo "read $line"; stty size', Play()),
}


class Collected:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.streams: dict[int, bytes] = {1: b"", 2: b""}
        self.wrote = asyncio.Event()

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        self.streams[stream] += bytes(memoryview(buffer)[:size])
        self.wrote.set()


def _command(behaviour: str, *, timeout: float = 8.0, grace: float = 5.0, streams: Streams = "merged") -> Command:
    return Command(
        script=BEHAVIOURS[behaviour].script,
        cwd="/",
        env=dict(os.environ),
        timeout=timeout,
        grace=grace,
        streams=streams,
        stages="|" in BEHAVIOURS[behaviour].script,
    )


async def _finish(backend: Backend, command: Command) -> tuple[Run, Ending, Collected]:
    sink = Collected()
    run = Run.start(backend, command, sink)
    try:
        ending = await run.wait()
        await run.settle()
        await run.let_go()
    finally:
        run.release()
    return run, ending, sink


async def merged_output_comes_in_true_order(backend: Backend) -> None:
    _, ending, sink = await _finish(backend, _command("writes in order"))
    assert (ending.code, sink.streams[1]) == (0, b"one\ntwo\nthree\n")


async def split_output_stays_apart(backend: Backend) -> None:
    _, ending, sink = await _finish(backend, _command("writes in order", streams="split"))
    assert (ending.code, sink.streams) == (0, {1: b"one\nthree\n", 2: b"two\n"})


async def an_exit_code_comes_unchanged(backend: Backend) -> None:
    _, ending, _ = await _finish(backend, _command("exits with 37"))
    assert (ending.code, ending.signal, ending.why) == (37, None, None)


async def a_death_by_signal_is_no_exit_code(backend: Backend) -> None:
    _, ending, _ = await _finish(backend, _command("dies of SIGKILL"))
    assert (ending.code, ending.signal, ending.why) == (None, 9, None)


async def the_stages_of_a_pipeline_are_told(backend: Backend) -> None:
    _, ending, _ = await _finish(backend, _command("hides a failure"))
    assert (ending.code, ending.stages) == (0, (1, 0))


async def a_timeout_ends_it_politely_and_keeps_its_output(backend: Backend) -> None:
    _, ending, sink = await _finish(backend, _command("never ends", timeout=LIMIT_SECONDS))
    assert (ending.why, ending.forced, ending.left, sink.streams[1]) == ("timeout", False, False, b"ready\n")


async def a_timeout_kills_what_ignores_the_polite_end(backend: Backend) -> None:
    _, ending, _ = await _finish(backend, _command("ignores TERM", timeout=LIMIT_SECONDS, grace=0.2))
    assert (ending.why, ending.forced, ending.left) == ("timeout", True, False)


async def a_cancelled_wait_leaves_nothing_running(backend: Backend) -> None:
    sink = Collected()
    run = Run.start(backend, _command("never ends"), sink)
    try:
        waiting = asyncio.ensure_future(run.wait())
        await sink.wrote.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        ending = await run.wait()
        assert (ending.why, ending.left) == ("stop", False)
    finally:
        run.release()


async def stopping_twice_ends_it_once(backend: Backend) -> None:
    sink = Collected()
    run = Run.start(backend, _command("never ends"), sink)
    try:
        await sink.wrote.wait()
        run.stop()
        run.stop()
        assert (await run.wait()).why == "stop"
        run.stop()
    finally:
        run.release()
        run.release()


async def survivors_are_named_and_not_waited_for(backend: Backend) -> None:
    run, ending, sink = await _finish(backend, _command("leaves a survivor"))
    assert (ending.code, ending.why, sink.streams[1]) == (0, None, b"done\n")
    assert [survivor.argv for survivor in run.survivors] == [("sleep", "1000")]
    for survivor in run.survivors:
        if sys.platform == "linux" and os.path.exists(f"/proc/{survivor.pid}"):
            os.kill(survivor.pid, 9)


async def a_missing_directory_is_an_error_before_the_start(backend: Backend) -> None:
    behaviour = _command("does nothing")
    command = Command(script=behaviour.script, cwd=MISSING_DIRECTORY, env=behaviour.env, timeout=5.0, grace=1.0)
    named = None
    try:
        await _finish(backend, command)
    except WorkingDirectoryError as error:
        named = error.path
    assert named == MISSING_DIRECTORY


async def a_command_with_pipes_refuses_what_needs_a_terminal(backend: Backend) -> None:
    command = _command("never ends")
    process = backend.start(command, EndWatch(command, Collected(), asyncio.get_running_loop()))
    try:
        for act in (partial(process.write, b"typed\n"), partial(process.resize, 100, 40)):
            refusal = None
            try:
                act()
            except BackendError as error:
                refusal = str(error)
            assert refusal
    finally:
        process.stop()
        process.release()


async def a_terminal_takes_input_and_sizes_or_is_refused_at_the_start(backend: Backend) -> None:
    command = replace(_command("reads a line"), terminal=TerminalSize(80, 24))
    sink = Collected()
    watch = EndWatch(command, sink, asyncio.get_running_loop())
    try:
        process = backend.start(command, watch)
    except StartError:
        return
    try:
        process.resize(100, 40)
        process.write(b"typed\n")
        await watch.until_over()
        assert b"read typed" in sink.streams[1]
        assert b"40 100" in sink.streams[1]
    finally:
        process.stop()
        process.release()


CHECKS: tuple[Callable[[Backend], Awaitable[None]], ...] = (
    merged_output_comes_in_true_order,
    split_output_stays_apart,
    an_exit_code_comes_unchanged,
    a_death_by_signal_is_no_exit_code,
    the_stages_of_a_pipeline_are_told,
    a_timeout_ends_it_politely_and_keeps_its_output,
    a_timeout_kills_what_ignores_the_polite_end,
    a_cancelled_wait_leaves_nothing_running,
    stopping_twice_ends_it_once,
    survivors_are_named_and_not_waited_for,
    a_missing_directory_is_an_error_before_the_start,
    a_command_with_pipes_refuses_what_needs_a_terminal,
    a_terminal_takes_input_and_sizes_or_is_refused_at_the_start,
)


async def check_backend(backend: Backend) -> None:
    """Put a backend through the whole contract; raises AssertionError at the first breach."""
    for check in CHECKS:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await check(backend)
