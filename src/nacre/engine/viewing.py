"""Shows the calls of an engine to viewers of the feed. Made when the first viewer is there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from nacre.engine.capture import Capture
from nacre.engine.run import Run
from nacre.feed.publisher import publisher_for
from nacre.feed.showing import refused_call, shown_call
from nacre.feed.shown_call import TAIL_BYTES
from nacre.jobs.job import Job
from nacre.kept_command import Waiting
from nacre.planning.plan import Plan
from nacre.profile import Profile


class Viewing:
    """The viewers of one state directory, as an engine sees them."""

    def __init__(self, directory: str) -> None:
        self.publisher = publisher_for(directory)

    def begin(self, call: str, profile: Profile, planned: Plan) -> None:
        """Tell that a call begins."""
        self.publisher.begin(shown_call(call, profile, planned))

    def refuse(self, call: str, shown: Mapping[str, str], failure: dict[str, Any]) -> None:
        """Tell of a call that was refused before it was planned."""
        self.publisher.begin(refused_call(call, shown))
        self.publisher.end(call, **failure)

    def end(self, call: str, facts: dict[str, Any]) -> None:
        """Tell how a call ended."""
        # That it became a job is told by what knows how much of its output was told (engine/background.py).
        if facts["outcome"] != "background":
            self.publisher.end(call, **facts)

    def show_output(self, call: str, capture: Capture) -> None:
        """Tell the output of a call from now on, if viewers were told of the call."""
        if self.publisher.is_shown(call):
            capture.watch(lambda data: self.publisher.output(call, data))

    def attend(self, call: str, run: Run) -> None:
        """Let viewers stop a running call."""
        self.publisher.handle(call, stop=_on(run.watch.loop, run.stop))

    def on_terminal(self, call: str, job: Job, run: Run, keep: Callable[[], None]) -> None:
        """Tell which job has the terminal of a call in the foreground, and let viewers stop the call or detach it."""
        if self.publisher.is_shown(call):
            facts = {"jobId": job.id, "jobPid": run.pid, "offset": 0, "attended": True}
            self.publisher.tell(call, "job", lasting=True, **facts)
            self.attend(call, run)
            self.publisher.handle(call, keep=_on(run.watch.loop, keep))

    def tell_waiting(self, call: str, waiting: Waiting | None) -> None:
        """Tell that a call in the foreground has begun, or with None ceased, to wait for input."""
        hidden = waiting is not None and waiting.hidden
        self.publisher.tell(call, "waiting", prompt=None if waiting is None else waiting.prompt, hidden=hidden)

    def join(self, call: str, profile: Profile, planned: Plan, run: Run, capture: Capture) -> None:
        """Tell viewers that came after its begin of a call that runs, with its newest output."""
        if self.publisher.is_shown(call):
            self.publisher.look()
            return
        shown = shown_call(call, profile, planned, started_at=run.started_at)
        newest, before = capture.so_far(TAIL_BYTES)
        shown.skip(before)
        shown.feed(newest)
        if self.publisher.begin(shown):
            self.show_output(call, capture)
            self.attend(call, run)

    def close(self) -> None:
        self.publisher.close()


def _on(loop: asyncio.AbstractEventLoop, action: Callable[[], None]) -> Callable[[], None]:
    """Return what does this on the loop's thread, for other threads."""

    def ask() -> None:
        # A loop that is closed has nothing left to stop.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(action)

    return ask
