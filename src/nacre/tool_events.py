"""What a tool tells beside its replies: the newest output of a running command, and the ends of jobs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from nacre.contracts.contract import Reply
from nacre.engine.engine import Engine
from nacre.engine.live import LiveTail
from nacre.jobs.notices import completions, text_of
from nacre.jobs.ownership import hears, project_of
from nacre.jobs.status import details_of, status_of
from nacre.request import Owner


@dataclass(frozen=True, slots=True)
class Update:
    """The newest output of a running command: its whole current tail."""

    text: str
    terminal_id: str | None = None
    """The client's terminal that it runs in, if it does; told before there is any output."""
    job_id: str | None = None
    """The job whose terminal it runs in, if it does; told before there is any output."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A job has ended: what its model should read, and the facts."""

    job_id: str
    text: str
    details: dict[str, Any]


async def followed(
    call: Callable[[LiveTail], Coroutine[Any, Any, Reply]], interval: float
) -> AsyncGenerator[Update | Reply, None]:
    """Run a call and yield its live tail, then its reply; a generator that is closed early cancels the call."""
    live = LiveTail()
    running = asyncio.create_task(call(live))
    running.add_done_callback(lambda _: live.end())
    try:
        while (text := await live.next()) is not None:
            yield Update(text, live.terminal_id, live.job_id)
            await asyncio.wait([running], timeout=interval)
        yield await running
    finally:
        running.cancel()
        await asyncio.wait([running])


async def ended_jobs(engine: Engine, owner: Owner) -> AsyncGenerator[Notice, None]:
    """Yield the jobs of an owner as they end, each once, and those of its project whose program is gone."""
    project = await project_of(owner.directory)
    async with aclosing(completions(engine.jobs, lambda job: hears(owner, project, job))) as ended:
        async for job in ended:
            state = "completed" if status_of(job) == "completed" else "failed"
            details = details_of(job) | {"async": {"state": state, "jobId": job.id, "type": "bash"}}
            yield Notice(job.id, engine.redactor.redact_text(text_of(job)), details)
