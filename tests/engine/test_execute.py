"""One call, where tests/surfaces does not look: the caller's own place, its notices, and the use of the loop."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from nacre.api import PROFILE
from nacre.audit import entries
from nacre.backend import Listener, Process
from nacre.backends.inline_wait import use_of
from nacre.command import Command, NewJob
from nacre.engine.engine import Engine, from_environment
from nacre.engine.execute import execute
from nacre.errors import BackendUnavailableError
from nacre.planning.plan import Plan
from nacre.request import ShellRequest
from nacre.testing import Play, ScriptedBackend


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
