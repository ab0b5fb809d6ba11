"""One engine for each configuration of this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import nacre
from nacre.engine.engine import from_environment
from nacre.guard.verdict import Verdict
from nacre.settings import PolicySettings, Settings


@dataclass
class Recording:
    """An approver without a hash, as every dataclass with a comparison of its own is."""

    asked: list[str] = field(default_factory=list)

    async def __call__(self, command: str, verdict: Verdict) -> bool:
        self.asked.append(command)
        return False


async def test_an_approver_without_a_hash_is_asked(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[[rule]]\nname = "ask-true"\ndecision = "ask"\nwords = ["true"]\nreason = "Really?"\n'
        'match = ["true"]\nnot_match = ["echo true"]\n'
    )
    approver = Recording()
    settings = Settings(policy=PolicySettings(rules_file=str(rules)))
    async with nacre.Tool("workspace", settings=settings, approver=approver) as tool:
        reply = await tool.call({"command": "true"})
    assert reply.is_error
    assert approver.asked == ["true"]


def test_equal_approvers_without_a_hash_have_an_engine_each() -> None:
    first, second = Recording(), Recording()
    assert first == second
    assert from_environment(approver=first) is from_environment(approver=first)
    assert from_environment(approver=first) is not from_environment(approver=second)
