"""An approval has a deadline and counts towards the call's timeout; anything but a yes in time is a denial."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

import nacre
from nacre import audit
from nacre.api import PROFILE
from nacre.engine.engine import Engine
from nacre.errors import DeniedError
from nacre.guard import approval
from nacre.guard.verdict import Verdict
from nacre.request import ShellRequest
from nacre.settings import JobSettings, PolicySettings

RULE = """\
[[rule]]
name = "ask-touch"
decision = "ask"
words = ["touch"]
reason = "This makes a file."
match = ["touch x"]
not_match = ["ls"]
"""


@pytest.fixture(autouse=True)
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(RULE, encoding="utf-8")
    monkeypatch.setenv("NACRE_RULES_FILE", str(path))


async def silence(command: str, verdict: Verdict) -> bool:
    await asyncio.Event().wait()
    return True


async def stubborn(command: str, verdict: Verdict) -> bool:
    """Goes on for a while after it was cancelled, and then says yes."""
    end = asyncio.get_running_loop().time() + 3
    while (left := end - asyncio.get_running_loop().time()) > 0:
        try:
            await asyncio.sleep(left)
        except asyncio.CancelledError:
            continue
    return True


@pytest.mark.parametrize("approver", [silence, stubborn])
async def test_no_answer_is_a_denial_that_says_so_within_the_call_s_timeout(tmp_path: Path, approver: Any) -> None:
    made = tmp_path / "made"
    async with nacre.Tool("workspace", approver=approver) as tool, asyncio.timeout(30):
        reply = await tool.call({"command": f"touch {made}", "timeout": 1})
    assert reply.is_error
    assert "it needs approval, and no answer came within 1 s; nothing was run" in reply.text
    assert isinstance(reply.refusal, DeniedError)
    assert not made.exists()
    if approver is stubborn:
        # It outlives its question; the loop of this test must not.
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)
    assert not made.exists()


async def test_an_answer_is_waited_for_a_minute_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert approval.ANSWER_SECONDS == 60
    monkeypatch.setattr(approval, "ANSWER_SECONDS", 0.2)
    async with nacre.Tool("modes", approver=silence) as tool, asyncio.timeout(30):
        reply = await tool.call({"command": f"touch {tmp_path / 'made'}", "mode": "slow"})
    assert "no answer came within 0.2 s" in reply.text
    assert not (tmp_path / "made").exists()


class Unaskable(Exception):
    """Not to be read by a model."""


async def raising(command: str, verdict: Verdict) -> bool:
    raise Unaskable("the token is hunter2")


def not_awaitable(command: str, verdict: Verdict) -> Any:
    return True


async def nearly_yes(command: str, verdict: Verdict) -> Any:
    return "no"


async def cancelled(command: str, verdict: Verdict) -> bool:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("approver", "says"),
    [
        (raising, "asking for it failed with Unaskable; nothing was run"),
        (not_awaitable, "asking for it failed with TypeError; nothing was run"),
        (nearly_yes, "it was not approved"),
        (cancelled, "it needs approval, and no answer came"),
    ],
)
async def test_an_approver_that_fails_or_gives_no_clear_yes_denies(tmp_path: Path, approver: Any, says: str) -> None:
    async with nacre.Tool("workspace", approver=approver) as tool, asyncio.timeout(30):
        reply = await tool.call({"command": f"touch {tmp_path / 'made'}"})
    assert reply.is_error
    assert says in reply.text
    assert "hunter2" not in reply.text
    assert not (tmp_path / "made").exists()


async def test_a_denial_for_want_of_an_answer_is_in_the_log(home: Path, tmp_path: Path) -> None:
    async with nacre.Tool("workspace", approver=silence) as tool, asyncio.timeout(30):
        await tool.call({"command": f"touch {tmp_path / 'made'}", "timeout": 1})
    last = list(audit.entries(str(home)))[-1]
    assert (last["outcome"], last["rule"]) == ("denied", "ask-touch")


async def test_the_wait_for_an_answer_counts_towards_the_timeout(tmp_path: Path, home: Path) -> None:
    waited = 0.0

    async def later(command: str, verdict: Verdict) -> bool:
        nonlocal waited
        began = time.monotonic()
        await asyncio.sleep(0.5)
        waited = time.monotonic() - began
        return True

    settings = nacre.Settings(
        jobs=JobSettings(async_enabled=False), policy=PolicySettings(rules_file=str(tmp_path / "rules.toml"))
    )
    engine = Engine(settings, str(home), approver=later)
    planned = engine.planner.plan(ShellRequest(command="touch x", timeout=300.0), PROFILE, cwd=str(tmp_path))
    planned = await engine.planner.review(planned, PROFILE)
    assert planned.limit == 300
    assert planned.command.timeout is not None
    assert 0 < planned.command.timeout <= 300 - waited
    async with nacre.Tool("workspace", approver=later, settings=settings) as tool, asyncio.timeout(30):
        reply = await tool.call({"command": f"touch {tmp_path / 'made'}; sleep 1000", "timeout": 2})
    assert (tmp_path / "made").exists()
    # The text names the call's own limit.
    assert "timed out after 2 seconds" in reply.text


async def test_a_cancelled_call_cancels_its_question(tmp_path: Path) -> None:
    ended = asyncio.Event()
    asked = asyncio.Event()

    async def watched(command: str, verdict: Verdict) -> bool:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return True

    async with nacre.Tool("workspace", approver=watched) as tool, asyncio.timeout(30):
        call = asyncio.create_task(tool.call({"command": f"touch {tmp_path / 'made'}"}))
        await asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert ended.is_set()
    assert not (tmp_path / "made").exists()
