"""Asks the viewers of the feed about a command that a rule says to ask about, beside the program's own approver.

The first answer counts (D35). `session` holds for the same command in the same session of this program, `always`
writes a rule into the user's rule file.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from typing import Any

from nacre import config, feed
from nacre.engine.viewing import Viewing
from nacre.errors import ConfigError, DeniedError
from nacre.guard.approval import ANSWER_SECONDS, Approver
from nacre.guard.verdict import Verdict
from nacre.planning.plan import Plan
from nacre.profile import Profile
from nacre.settings import PolicySettings

# Well-known MCP clients give a call up after 60 s.
MCP_SECONDS = 45.0
_DECISIONS = ("once", "session", "always", "deny")

Approved = set[tuple[str | None, str | None, str]]
"""What was approved for a session: its key, the rule, and the command that the rule is about."""


class ViewerApprover:
    """Asks about one call."""

    def __init__(
        self,
        viewing: Viewing,
        call: str,
        profile: Profile,
        planned: Plan,
        policy: PolicySettings,
        own: Approver | None,
        approved: Approved,
    ) -> None:
        self._viewing = viewing
        self._call = call
        self._profile = profile
        self._planned = planned
        self._policy = policy
        self._own = own
        self._approved = approved

    async def __call__(self, command: str, verdict: Verdict) -> bool:
        owner = self._planned.request.owner
        key = (None if owner is None else owner.session, verdict.rule, verdict.subject or command)
        if key in self._approved:
            return True
        publisher, call = self._viewing.publisher, self._call
        if not publisher.is_shown(call):
            self._viewing.begin(call, self._profile, self._planned)
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[str] = loop.create_future()

        def take(asked: dict[str, Any]) -> None:
            if asked.get("decision") in _DECISIONS:
                # A loop that is closed has no call that waits.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(_settle, answered, asked["decision"])

        question = f"{call}.ask"
        answer, note = "none", None
        publisher.ask(question, take)
        publisher.tell(call, "approval", lasting=True, **self._facts(question, verdict))
        try:
            answer = await _first(answered, self._own, command, verdict)
            if answer == "always":
                note = self._write_rule(command, verdict)
            if answer in ("always", "session"):
                self._approved.add(key)
            return answer != "deny"
        finally:
            publisher.asked(question)
            publisher.settle(call, question, answer=answer, **({} if note is None else {"note": note}))

    def _facts(self, question: str, verdict: Verdict) -> dict[str, Any]:
        most = MCP_SECONDS if feed.surface == "mcp" else ANSWER_SECONDS
        limit = self._planned.limit
        redact = self._planned.redactor.redact_text
        command = self._planned.logged_command
        # Places in a text from which a hidden value was taken are others.
        span = verdict.span if command == self._planned.request.command else None
        return {
            "question": question,
            "command": command,
            "rule": verdict.rule,
            "message": redact(verdict.message),
            "span": None if span is None else list(span),
            "deadline": time.time() + (most if limit is None else min(limit, most)),
        }

    def _write_rule(self, command: str, verdict: Verdict) -> str | None:
        """Write the rule; returns why there is none, if there is none."""
        from nacre.guard.rules.rule_writing import RULE_FILE, allowing_rule, append_rule, name_rule_file

        settings_file = config.user_file(os.environ)
        path = self._policy.rules_file
        try:
            rule = allowing_rule(command, verdict, reason="A person approved it for good.")
            append_rule(os.path.expanduser(path or os.path.join(os.path.dirname(settings_file), RULE_FILE)), rule)
            if path is None:
                name_rule_file(settings_file, os.path.join(os.path.dirname(settings_file), RULE_FILE))
        except ConfigError as error:
            return f"approved for this session only: {error}"
        return None


def _settle(answered: asyncio.Future[str], decision: str) -> None:
    if not answered.done():
        answered.set_result(decision)


async def _first(answered: asyncio.Future[str], own: Approver | None, command: str, verdict: Verdict) -> str:
    """Return the first answer: a viewer's, or that of the program's own approver."""
    if own is None:
        return await answered

    async def ask() -> bool:
        return await own(command, verdict)

    asking = asyncio.ensure_future(ask())
    try:
        both: list[asyncio.Future[Any]] = [answered, asking]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if answered.done():
            return answered.result()
        if isinstance(asking.exception(), DeniedError):
            # Its own way to a person leads nowhere; the viewers may still answer.
            return await answered
        return "once" if asking.result() is True else "deny"
    finally:
        if not asking.done():
            asking.cancel()
            await asyncio.wait([asking])
