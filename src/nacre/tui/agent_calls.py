"""The agents' calls: follows the feed, keeps the transcript, and answers for the person."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from nacre.artifacts.store import ArtifactStore
from nacre.errors import NacreError
from nacre.feed.card import Card
from nacre.feed.transcript import Transcript
from nacre.jobs.output_file import JobFile
from nacre.jobs.table import JobTable
from nacre.output.redaction.redactor import Redactor
from nacre.tui.whole_output import Kept

if TYPE_CHECKING:
    from nacre.feed.follower import Decision, Follower

# Events that are taken before keys and drawing have their turn.
BATCH = 50


class Viewer(Protocol):
    """What shows the calls: the full-screen console, or the plain one."""

    @property
    def shows_terminals(self) -> bool:
        """Whether a person can type into a terminal there, so that `pty: true` gives one."""

    def show_call(self, card: Card, kind: str, open_whole: Callable[[], Kept | None]) -> None:
        """Show a card after an event of this kind."""

    def show_problem(self, text: str) -> None: ...


class AgentCalls:
    """The calls of all agents on a state directory."""

    def __init__(
        self, state_dir: str, jobs: JobTable, artifacts: ArtifactStore, viewer: Viewer, redactor: Redactor | None = None
    ) -> None:
        self._state_dir = state_dir
        self._jobs = jobs
        self._artifacts = artifacts
        self._viewer = viewer
        self._redactor = redactor
        self._follower: Follower | None = None
        self._own: dict[str, str | None] = {}
        """The person's own calls that run here, each with the job that has its terminal."""
        self.transcript = Transcript()
        self.sessions: dict[str, str] = {}
        """The agents' sessions that were seen, and where each works."""
        self.following = asyncio.Event()
        """Set once programs can be heard."""

    async def follow(self) -> None:
        """Show what the agents do, until cancelled."""
        # The first screen does without it.
        from nacre.feed.follower import Follower

        try:
            async with Follower(
                self._state_dir, redactor=self._redactor, person=self._viewer.shows_terminals
            ) as follower:
                self._follower = follower
                self.following.set()
                taken = 0
                async for event in follower:
                    self._take(event)
                    taken += 1
                    if taken % BATCH == 0:
                        await asyncio.sleep(0)
        except NacreError as error:
            self._viewer.show_problem(str(error))
        finally:
            self._follower = None

    def _take(self, event: dict[str, Any]) -> None:
        call, kind = str(event.get("call")), str(event.get("event"))
        if event.get("by") == "person" and event.get("pid") == os.getpid():
            # The person's own commands are shown as they run.
            self._own.setdefault(call, None)
        if call in self._own:
            if kind == "end":
                del self._own[call]
            elif kind == "job":
                self._own[call] = str(event.get("jobId"))
            return
        card = self.transcript.feed(event)
        if card.session is not None and card.by != "person":
            self.sessions[card.session] = f"{card.surface or 'job'} in {os.path.basename(card.project or '') or '/'}"
        self._viewer.show_call(card, kind, partial(self._open, card))

    def _open(self, card: Card) -> Kept | None:
        """Open all of a call's output: its artifact, or the file of its job."""
        # Pruned or unreadable: what the card holds is shown.
        with contextlib.suppress(NacreError, ValueError):
            if card.artifacts:
                return self._artifacts.open(int(card.artifacts[0]))
            if card.job_id is not None:
                return JobFile.open(self._jobs.get(card.job_id))
        return None

    # What a person does.

    def decide(self, card: Card, decision: Decision) -> bool:
        """Answer the approval of a call; False if its program is gone."""
        question, follower = card.question, self._follower
        return question is not None and follower is not None and follower.answer(card.call, question.id, decision)

    def answer(self, card: Card, text: str) -> bool:
        """Type a line at the prompt of a call; False if it cannot be reached. It is recorded nowhere here."""
        if self._follower is None:
            return False
        if card.job_id is None:
            return self._follower.write(card.call, f"{text}\r")
        try:
            self._follower.write_job(card.job_id, f"{text}\r".encode("utf-8", "surrogateescape"))
        except NacreError:
            return False
        return True

    def keep(self, card: Card) -> bool:
        """Have a call on a terminal go on as a job; False if its program is gone, or it is one already."""
        own = [call for call, job_id in self._own.items() if job_id is not None and job_id == card.job_id]
        return self._follower is not None and self._follower.keep(own[0] if own else card.call)

    def stop(self, card: Card) -> bool:
        """Stop a call or its job; what it has written stays. False if it cannot be reached."""
        try:
            return self._follower is not None and self._follower.stop(card.call)
        except NacreError:
            return False

    def hand_over(self, session: str, text: str) -> bool:
        """Have the next answer of an agent's session carry a text, once; False if its program is gone."""
        return self._follower is not None and self._follower.hand_over(session, text)
