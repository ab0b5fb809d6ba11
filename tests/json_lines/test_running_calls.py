"""The calls of one client: the last ones end by themselves, the others are aborted, each once."""

from __future__ import annotations

import asyncio

import pytest

from nacre.json_lines import running_calls
from nacre.json_lines.running_calls import RunningCall, RunningCalls

Calls = RunningCalls[str]


def recorded() -> tuple[Calls, dict[str, str], dict[str, asyncio.Event]]:
    """Calls that end when their event is set, and how each ended."""
    ends: dict[str, str] = {}
    events: dict[str, asyncio.Event] = {}

    async def answer(call: RunningCall[str]) -> bytes:
        event = events.setdefault(call.request, asyncio.Event())
        try:
            await event.wait()
        except asyncio.CancelledError:
            await event.wait()
            raise
        return b"done"

    def ended(call: RunningCall[str], task: asyncio.Task[bytes]) -> None:
        ends[call.request] = "aborted" if task.cancelled() else task.result().decode()

    return RunningCalls(answer, ended), ends, events


async def test_a_last_call_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_calls, "LAST_SECONDS", 30.0)
    calls, ends, events = recorded()
    calls.start("a")
    waiting = asyncio.create_task(calls.wait_for_last())
    await asyncio.sleep(0)
    assert len(calls) == 1
    events["a"].set()
    await waiting
    assert (ends, len(calls)) == ({"a": "done"}, 0)


async def test_an_old_call_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_calls, "LAST_SECONDS", 0.0)
    calls, ends, events = recorded()
    calls.start("a")
    await calls.wait_for_last()
    assert ends == {}
    events["a"].set()
    await calls.end()
    assert len(calls) == 0


async def test_the_end_aborts_what_is_chosen_and_waits_for_all() -> None:
    calls, ends, events = recorded()
    calls.start("kept")
    calls.start("aborted")
    beside = asyncio.create_task(asyncio.Event().wait())
    await asyncio.sleep(0)
    ending = asyncio.create_task(calls.end(lambda request: request == "aborted", beside=[beside]))  # type: ignore[list-item]
    await asyncio.sleep(0)
    assert (ends, ending.done()) == ({}, False)
    for event in events.values():
        event.set()
    await ending
    assert (ends, beside.cancelled()) == ({"kept": "done", "aborted": "aborted"}, True)


async def test_a_second_abort_does_not_interrupt_the_cleanup() -> None:
    calls, ends, events = recorded()
    calls.start("a")
    await asyncio.sleep(0)
    for _ in range(2):
        for call in calls:
            call.abort()
        await asyncio.sleep(0)
    assert ends == {}
    events["a"].set()
    await calls.end()
    assert ends == {"a": "aborted"}
