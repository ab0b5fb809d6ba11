"""Runs a person's commands, one at a time, and shows each as a card."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

from nacre import config
from nacre.artifacts.store import ArtifactStore
from nacre.contracts.contract import Reply
from nacre.engine.call_log import entry_of
from nacre.errors import DeniedError, NacreError
from nacre.feed.card import Card, Tail
from nacre.feed.card_texts import state_text
from nacre.kept_command import Background
from nacre.output.escapes import strip
from nacre.result import ShellResult
from nacre.tui.interactive_commands import wants_terminal
from nacre.tui.whole_output import Kept, nothing_kept

if TYPE_CHECKING:
    from nacre.guard.approval import Approver
    from nacre.settings import Settings
    from nacre.tui.person import PersonSession

Show = Callable[[Card, Callable[[], Kept | None], str], None]
"""Shows a card: what opens its whole output, and the sign before its command."""

_numbers = itertools.count(1)


class PersonCommands:
    """The person's session and the cards of its commands."""

    def __init__(
        self,
        open_session: Callable[[], PersonSession],
        artifacts: ArtifactStore,
        show: Show,
        *,
        cwd: str | None,
        attend: Callable[[Card], None] | None = None,
    ) -> None:
        """Take what opens the session, with the first command, and what shows a card and its newer states.

        Args:
            attend: opens the console of a command that is nothing without a terminal; without it there are pipes.
        """
        self._attend = attend
        self._open_session = open_session
        self._session: PersonSession | None = None
        self._cwd = config.working_directory() if cwd is None else cwd
        self._artifacts = artifacts
        self._show = show
        self._task: asyncio.Task[ShellResult | None] | None = None

    @property
    def cwd(self) -> str:
        return self._cwd if self._session is None else self._session.cwd

    @property
    def busy(self) -> bool:
        return self._task is not None

    def stop(self) -> bool:
        """Stop the running command; False if none runs. What it has written stays on its card."""
        if self._task is None:
            return False
        self._task.cancel()
        return True

    async def run(self, command: str, *, seen: bool) -> ShellResult | None:
        """Run a command and show it; returns its result, None if it was not run or was stopped."""
        self._task = asyncio.ensure_future(self._run(command, seen=seen))
        try:
            return await self._task
        except asyncio.CancelledError:
            return None
        finally:
            self._task = None

    async def _run(self, command: str, *, seen: bool) -> ShellResult | None:
        card = Card(call=f"person-{next(_numbers)}", command=command, by="person", started=time.time())
        prompt = "!" if seen else "!!"
        self._show(card, nothing_kept, prompt)
        if self._session is None:
            self._session = self._open_session()
        card.pty = self._attend is not None and wants_terminal(command)
        try:
            async with aclosing(self._session.run(command, pty=card.pty)) as updates:
                async for update in updates:
                    if isinstance(update, Reply):
                        return self._end(card, update, prompt)
                    card.tail = _tail(update.text)
                    opens, card.job_id = card.job_id is None and update.job_id is not None, update.job_id
                    card.attended = update.job_id is not None
                    self._show(card, nothing_kept, prompt)
                    if opens and self._attend is not None:
                        self._attend(card)
        except asyncio.CancelledError:
            card.outcome, card.ended = "stopped", time.time()
            self._show(card, nothing_kept, prompt)
            raise
        raise AssertionError("a stream ends with its reply")

    def _end(self, card: Card, reply: Reply, prompt: str) -> ShellResult | None:
        result, kept = reply.details.get("result"), reply.details.get("background")
        card.ended = time.time()
        if isinstance(kept, Background):
            card.outcome, card.job_id, card.notices = "kept", kept.job_id, list(reply.notices)
            self._show(card, nothing_kept, prompt)
            return None
        if not isinstance(result, ShellResult):
            card.outcome = "denied" if isinstance(reply.refusal, DeniedError) else "notStarted"
            card.error = reply.text
            self._show(card, nothing_kept, prompt)
            return None
        facts = entry_of(result)
        card.outcome, card.exit_code = facts["outcome"], facts["exitCode"]
        card.seconds, card.notices, card.job_id = result.elapsed, list(result.notices), result.adopted
        output, artifact = result.output, result.artifact
        card.tail = _tail(output.text)
        open_whole = nothing_kept
        if output.truncation is not None and artifact is not None:
            card.artifacts = [str(artifact.id)]
            open_whole = partial(self._open, artifact.id)
        self._show(card, open_whole, prompt)
        return result

    def _open(self, artifact_id: int) -> Kept | None:
        try:
            return self._artifacts.open(artifact_id)
        except NacreError:
            # Pruned meanwhile: the text in memory is shown.
            return None

    async def aclose(self) -> None:
        self.stop()
        if self._session is not None:
            await self._session.aclose()


def _tail(text: str) -> Tail:
    tail = Tail()
    tail.add(strip(text))
    return tail


def handover(command: str, result: ShellResult) -> str:
    """Return what the agent reads of a person's command: once, as a notice of its next answer."""
    facts = entry_of(result)
    word = state_text(Card(call="", outcome=facts["outcome"], exit_code=facts["exitCode"]))
    output = result.text.rstrip("\n") or "(no output)"
    where = ""
    if result.output.truncation is not None and result.artifact is not None:
        where = f"; all of the output: artifact://{result.artifact.id}"
    return f"the person at the console ran `{command}` ({word}{where}):\n{output}"


def open_session(*, cwd: str | None, settings: Settings | None, approver: Approver) -> PersonSession:
    """Return the person's shell; the first screen does without half of what nacre itself takes to load."""
    from nacre.tui.person import PersonSession

    return PersonSession(cwd=cwd, settings=settings, approver=approver)
