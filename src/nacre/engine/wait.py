"""How long a call waits for its command: to the end, for a window of time, or until an event."""

from __future__ import annotations

import asyncio
from typing import Any, Literal, NamedTuple

from nacre.engine.event import Event
from nacre.engine.run import Run
from nacre.errors import NacreError
from nacre.regex.automaton import RegexWorkError
from nacre.until import Until

# A command that has ended may have done what was waited for in its last moment: this much for the look.
LAST_LOOK_SECONDS = 0.2
# … and one that has just done it may be about to end: then it is a result, not a job.
LAST_BREATH_SECONDS = 0.05

Kept = Literal["window", "event", "waiting", "detached"]
"""Why a command that goes on is kept as a job."""


class WaitPolicy(NamedTuple):
    """How long a call waits for its command before it is kept as a job."""

    window: float | None = None
    """Seconds; None waits to the end."""
    until: Until | None = None
    """Or this, whichever comes first."""

    def after(self, waited: float) -> WaitPolicy:
        """What is left of it when the caller has waited for an approval already."""
        return self._replace(window=max(self.window - waited, 0.0)) if self.window is not None and waited else self


TO_THE_END = WaitPolicy()


class Waited(NamedTuple):
    """What a wait came to."""

    why: Kept | None
    """Why the command is to be kept; None when it is over."""
    notice: str | None = None
    """What the caller should know of the event."""


async def wait(run: Run, policy: WaitPolicy, event: Event | None) -> Waited:
    """Wait for the end, the event or the window. A cancelled wait stops the command first."""
    over = run.watch.until_over()
    happening = None if event is None else asyncio.create_task(event.happened())
    waiting: list[asyncio.Future[Any]] = [over] if happening is None else [over, happening]
    try:
        await asyncio.wait(waiting, timeout=policy.window, return_when=asyncio.FIRST_COMPLETED)
        if happening is not None and run.over:
            await asyncio.wait([happening], timeout=LAST_LOOK_SECONDS)
        elif happening is not None and happening.done():
            await asyncio.wait([over], timeout=LAST_BREATH_SECONDS)
    except asyncio.CancelledError:
        await run.end()
        raise
    finally:
        if happening is not None:
            happening.cancel()
            await asyncio.wait([happening])
    if happening is None:
        return Waited(None if run.over else "window")
    error = None if happening.cancelled() else happening.exception()
    if error is not None and not isinstance(error, RegexWorkError | NacreError):
        raise error
    notice = None if error is None else f"the event of 'until' was not found out: {error}"
    happened = error is None and not happening.cancelled()
    if run.over:
        missed = None if happened else f"the command ended before this happened: {policy.until}"
        return Waited(None, notice or missed)
    return Waited("event" if happened else "window", notice)
