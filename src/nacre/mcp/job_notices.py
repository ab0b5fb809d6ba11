"""Reports ended jobs: to subscribed clients at once, and to the model with the next result.

The protocol has no other way to reach a model. A notice goes to the session that started the job; the notice of a job
that no session here started goes to the next call of any session.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

from nacre.mcp.answer import JOB
from nacre.mcp.toolbox import Session
from nacre.tool import Tool

# Notices kept for a session whose client may never call again; the jobs stay on disk.
MOST_WAITING = 100
MOST_OWNERS = MOST_WATCHED = 1_000


@dataclass(frozen=True, slots=True)
class _Told:
    job_id: str
    text: str


class Notices:
    """Collects the notices of ended jobs for each session."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self.bus = InMemorySubscriptionBus()
        # Job → its session. The client asks for the state of a task itself.
        self._owners: OrderedDict[str, Session] = OrderedDict()
        self._tasks: set[str] = set()
        self._waiting: OrderedDict[Session, deque[_Told]] = OrderedDict()
        self._watchers: dict[str, list[ServerSession]] = {}

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Follow the jobs inside the context."""
        following = asyncio.create_task(self._follow())
        try:
            yield
        finally:
            following.cancel()
            await asyncio.wait([following])

    async def _follow(self) -> None:
        async with aclosing(self._tool.notices(program=True)) as notices:
            async for notice in notices:
                if notice.job_id in self._tasks:
                    self._tasks.discard(notice.job_id)
                else:
                    self._keep(_Told(notice.job_id, notice.text), self._owners.pop(notice.job_id, None))
                await self._tell(f"{JOB}{notice.job_id}")

    async def _tell(self, uri: str) -> None:
        await self.bus.publish(ResourceUpdated(uri=uri))
        await self.bus.publish(ResourcesListChanged())
        # A job ends once; a closed connection drops the message.
        for session in self._watchers.pop(uri, []):
            await session.send_resource_updated(uri)

    def _keep(self, told: _Told, session: Session) -> None:
        self._waiting.setdefault(session, deque(maxlen=MOST_WAITING)).append(told)
        if len(self._waiting) > MOST_OWNERS:
            self._waiting.popitem(last=False)

    def own(self, job_id: str, session: Session) -> None:
        """Record the session that started a job."""
        ended = self._unclaimed(job_id)
        if ended is not None:
            self._keep(ended, session)
            return
        self._owners[job_id] = session
        if len(self._owners) > MOST_OWNERS:
            self._owners.popitem(last=False)

    def give_as_task(self, job_id: str) -> None:
        """Record that the client asks for the result of this job itself."""
        if self._unclaimed(job_id) is None:
            self._tasks.add(job_id)

    def _unclaimed(self, job_id: str) -> _Told | None:
        """Remove and return the notice of a job that ended before its session was recorded."""
        waiting = self._waiting.get(None, deque())
        for told in waiting:
            if told.job_id == job_id:
                waiting.remove(told)
                return told
        return None

    def take(self, session: Session) -> list[str]:
        """Remove and return the notices for a session."""
        told = [*self._waiting.pop(session, ())]
        if session is not None:
            told += self._waiting.pop(None, ())
        return [one.text for one in told]

    def forget(self, session: Session) -> None:
        """Drop the notices of an ended session."""
        self._waiting.pop(session, None)

    def watch(self, uri: str, session: ServerSession) -> None:
        """Subscribe a connection; the oldest subscription beyond the limit is dropped."""
        self.unwatch(uri, session)
        self._watchers.setdefault(uri, []).append(session)
        if len(self._watchers) > MOST_WATCHED:
            del self._watchers[next(iter(self._watchers))]

    def unwatch(self, uri: str, session: ServerSession) -> None:
        kept = [one for one in self._watchers.pop(uri, []) if not _same_connection(one, session)]
        if kept:
            self._watchers[uri] = kept


def _same_connection(one: ServerSession, other: ServerSession) -> bool:
    # Each request has its own session object, but the client parameters belong to the connection.
    return one.client_params is other.client_params
