"""One call, where tests/surfaces does not look: the caller's own place, its notices, and the use of the loop."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nacre.api import PROFILE, Session
from nacre.audit import entries
from nacre.backend import Listener, Process
from nacre.backends.contained import ContainedBackend
from nacre.backends.inline_wait import use_of
from nacre.command import Command, NewJob
from nacre.engine.capture import Nowhere
from nacre.engine.engine import Engine, from_environment
from nacre.engine.execute import execute
from nacre.engine.run import Run
from nacre.errors import BackendUnavailableError
from nacre.planning.plan import Plan
from nacre.request import ShellRequest
from nacre.result import ShellResult
from nacre.sessions.turn import Turn
from nacre.testing import Play, ScriptedBackend
from nacre.warden import children

PATIENCE_SECONDS = 30.0


class Unavailable:
    notice: str | None = None
    keeps = False

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        raise BackendUnavailableError("the place is gone")


def _planned(script: str) -> tuple[Engine, Plan]:
    engine = from_environment()
    return engine, engine.planner.plan(ShellRequest(command=script, timeout=5.0), PROFILE, cwd="/")


async def test_a_place_of_the_callers_choice_has_no_other_in_its_stead(home: Path) -> None:
    engine, planned = _planned("touch made")
    with pytest.raises(BackendUnavailableError, match="the place is gone"):
        await execute(engine, planned, PROFILE, backend=Unavailable())
    assert [(one["outcome"], one["error"]) for one in entries(home)] == [("notStarted", "the place is gone")]


async def test_what_a_place_cannot_promise_is_in_the_result_and_in_the_log(home: Path) -> None:
    engine, planned = _planned("play")
    place = ScriptedBackend({"play": Play(writes=((1, b"played\n"),))})
    place.notice = "nothing was run"
    result = await execute(engine, planned, PROFILE, backend=place)
    assert (result.text, result.notices) == ("played\n", ("nothing was run",))
    assert [one["notices"] for one in entries(home)] == [["nothing was run"]]


@pytest.mark.parametrize("end", ["exit", "refusal", "cancellation"])
async def test_a_call_that_is_over_uses_the_loop_no_more(end: str) -> None:
    engine, planned = _planned("play")
    place = Unavailable() if end == "refusal" else ScriptedBackend({"play": Play(code=0 if end == "exit" else None)})
    call = asyncio.ensure_future(execute(engine, planned, PROFILE, backend=place))
    use = use_of(asyncio.get_running_loop())
    if end == "cancellation":
        while not use.calls:
            await asyncio.sleep(0)
        call.cancel()
    await asyncio.wait([call])
    assert call.cancelled() == (end == "cancellation")
    assert use.calls == 0
    if end == "refusal":
        assert isinstance(call.exception(), BackendUnavailableError)


# A cancelled call leaves nothing running, whatever it is doing at that moment (P3).


@pytest.fixture
def sleeper() -> Iterator[str]:
    """A duration that no other process on this machine sleeps; nothing sleeps it at the end of the test."""
    duration = f"100.{int.from_bytes(os.urandom(6), 'big')}"
    yield duration
    end = time.monotonic() + PATIENCE_SECONDS
    left = _sleeping(duration)
    while left and any(children.is_zombie(pid) for pid in left) and time.monotonic() < end:
        left = _sleeping(duration)
    for pid in left:
        os.kill(pid, 9)
    assert not left, f"sleepers outlived the call: {left}"


def _sleeping(duration: str) -> list[int]:
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return [pid for pid in pids if duration in children.command_line(pid)]


class CancelsAt:
    """Runs commands on this machine, and cancels the call that asks a process for something."""

    notice = None
    keeps = True

    def __init__(self, moment: str) -> None:
        self._moment = moment

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        process = ContainedBackend().start(command, listener, job=job)
        return _CancelsAt(process, self._moment, asyncio.current_task())  # type: ignore[return-value]


class _CancelsAt:
    def __init__(self, process: Process, moment: str, call: asyncio.Task[Any] | None) -> None:
        self._process = process
        self._moment = moment
        self._call = call

    def __getattr__(self, name: str) -> Any:
        if name == self._moment:
            assert self._call is not None
            self._call.cancel()
        return getattr(self._process, name)


@pytest.mark.parametrize("adopts", [False, True])
@pytest.mark.parametrize("moment", ["survivors", "keep"])
async def test_cancel_while_what_was_left_is_looked_at_ends_it(sleeper: str, moment: str, adopts: bool) -> None:
    engine = from_environment()
    profile = replace(PROFILE, adopts_survivors=adopts)
    planned = engine.planner.plan(ShellRequest(command=f"sleep {sleeper} & echo x", timeout=50), profile, cwd="/")
    with pytest.raises(asyncio.CancelledError):
        await execute(engine, planned, profile, backend=CancelsAt(moment))


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("adopts", [False, True])
async def test_cancel_while_a_session_hands_over_what_was_left_ends_it(
    sleeper: str, when: str, adopts: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = Turn.keep

    async def keep_and_cancel(turn: Turn, job: NewJob | None, *, adopt: int | None = None) -> None:
        if when == "before":
            call.cancel()
        await keep(turn, job, adopt=adopt)
        if when == "after":
            call.cancel()

    engine = from_environment()
    profile = replace(PROFILE, persists=True, adopts_survivors=adopts)
    session = engine.session("mine", cwd="/", with_rc=False)

    def begin(command: str) -> asyncio.Task[ShellResult]:
        planned = engine.planner.plan(ShellRequest(command=command, timeout=50), profile, cwd="/")
        return asyncio.ensure_future(execute(engine, planned, profile, session=session))

    before = (await begin("kept=1; echo $$")).text
    with monkeypatch.context() as patches:
        patches.setattr(Turn, "keep", keep_and_cancel)
        call = begin(f"sleep {sleeper} & echo x")
        with pytest.raises(asyncio.CancelledError):
            await call
    assert _sleeping(sleeper) == []
    # The command had ended: its shell goes on.
    assert (await begin("echo $$; echo $kept")).text == f"{before}1\n"
    assert [job.running for job in engine.jobs.list().jobs] == ([False] if adopts else [])
    session.close()


async def test_cancel_before_the_shell_has_moved_away_costs_the_shell_alone(
    sleeper: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stop overtakes the shell's report that it has another pipe: the next shell hears nothing of the old one."""
    read = Turn._read_report

    def cancel_first(turn: Turn) -> None:
        # The report stays in the socket, so this is called again in the next turn of the loop: after the stop.
        if turn._switch is not None and not call.cancelling():
            call.cancel()
        else:
            read(turn)

    async with Session(cwd="/") as session:
        await session.run("kept=1")
        for _ in range(5):
            with monkeypatch.context() as patches:
                patches.setattr(Turn, "_read_report", cancel_first)
                call = asyncio.ensure_future(session.run(f"sleep {sleeper} & echo x"))
                with pytest.raises(asyncio.CancelledError):
                    await call
            assert (await session.run("echo $kept")).text == "1\n"


async def test_cancel_in_the_moment_of_the_end_ends_what_was_left(sleeper: str) -> None:
    engine = from_environment()
    planned = engine.planner.plan(ShellRequest(command=f"sleep {sleeper} &", timeout=50), PROFILE, cwd="/")
    run = Run.start(ContainedBackend(), planned.command, Nowhere())
    over = run.watch.until_over()
    waiting = asyncio.create_task(run.wait())
    # Before the task hears of the end.
    over.add_done_callback(lambda _: waiting.cancel())
    with pytest.raises(asyncio.CancelledError):
        await waiting
    run.release()
