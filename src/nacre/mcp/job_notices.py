"""Tells clients that a job has ended: those that watch its address at once, and its model with the next result.

A protocol of requests has no other way to a model. The notice of a job goes to the session that started it; the notice
of a job that no session here has started goes to the next call of any session.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from nacre.mcp.answer import JOB
from nacre.mcp.call_channel import CallChannel
from nacre.mcp.toolbox import SessionKey
from nacre.tool import Tool

# Of a session whose client never calls again; the jobs themselves stay where they are.
MOST_WAITING = 100
MOST_OWNERS = MOST_WATCHED = 1_000


@dataclass(frozen=True, slots=True)
class _Told:
    job_id: str
    text: str


class Notices:
    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        # Job → the session that started it; a task is its client's to ask about.
        self._owners: OrderedDict[str, SessionKey] = OrderedDict()
        self._tasks: set[str] = set()
        self._waiting: OrderedDict[SessionKey, deque[_Told]] = OrderedDict()
        self._watchers: dict[str, list[CallChannel]] = {}
        self.listeners: list[Callable[[str], None]] = []
        """Called with the address of each job that has ended."""

    async def follow(self) -> None:
        """Follow the jobs until it is cancelled."""
        async with aclosing(self._tool.notices(program=True)) as notices:
            async for notice in notices:
                if notice.job_id in self._tasks:
                    self._tasks.discard(notice.job_id)
                else:
                    self._keep(_Told(notice.job_id, notice.text), self._owners.pop(notice.job_id, None))
                await self._tell(f"{JOB}{notice.job_id}")

    async def _tell(self, uri: str) -> None:
        for listener in list(self.listeners):
            listener(uri)
        # A job ends once; a connection that is closed by now drops what it is told.
        for channel in self._watchers.pop(uri, []):
            await channel.notify("notifications/resources/updated", {"uri": uri})

    def _keep(self, told: _Told, session: SessionKey) -> None:
        self._waiting.setdefault(session, deque(maxlen=MOST_WAITING)).append(told)
        if len(self._waiting) > MOST_OWNERS:
            self._waiting.popitem(last=False)

    def own(self, job_id: str, session: SessionKey) -> None:
        """Remember which session has started a job."""
        ended = self._unclaimed(job_id)
        if ended is not None:
            self._keep(ended, session)
            return
        self._owners[job_id] = session
        if len(self._owners) > MOST_OWNERS:
            self._owners.popitem(last=False)

    def give_as_task(self, job_id: str) -> None:
        """The client asks for the result of this job itself, so no notice tells it."""
        if self._unclaimed(job_id) is None:
            self._tasks.add(job_id)

    def _unclaimed(self, job_id: str) -> _Told | None:
        """Take the notice of a job that ended before its session was known."""
        waiting = self._waiting.get(None, deque())
        for told in waiting:
            if told.job_id == job_id:
                waiting.remove(told)
                return told
        return None

    def take(self, session: SessionKey) -> list[str]:
        """What a session is to be told now."""
        told = [*self._waiting.pop(session, ())]
        if session is not None:
            told += self._waiting.pop(None, ())
        return [one.text for one in told]

    def forget(self, session: SessionKey) -> None:
        """A session that has ended is told nothing any more."""
        self._waiting.pop(session, None)

    def watch(self, uri: str, channel: CallChannel) -> None:
        """Tell a connection when the resource changes; the oldest of too many wishes is forgotten."""
        self.unwatch(uri, channel)
        self._watchers.setdefault(uri, []).append(channel)
        if len(self._watchers) > MOST_WATCHED:
            del self._watchers[next(iter(self._watchers))]

    def unwatch(self, uri: str, channel: CallChannel) -> None:
        kept = [one for one in self._watchers.pop(uri, []) if one.connection is not channel.connection]
        if kept:
            self._watchers[uri] = kept
