"""The call of a session's shell on another machine: one call for all turns of that shell.

A turn attends it with a listener; between turns the events wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from nacre.backend import Listener
from nacre.command import Command, NewJob
from nacre.errors import BackendUnavailableError, NacreError
from nacre.remote.link import Link
from nacre.remote.link_thread import links
from nacre.remote.remote_process import RemoteProcess, StartFollower
from nacre.warden import protocol, remote_protocol
from nacre.warden.remote_protocol import WRITTEN

# The runner's words that end a call.
_ENDS = ("exited", "failed", "lost", "refused")


class ShellCall(RemoteProcess):
    """The process of whichever turn of the shell there is.

    Its methods are those of what attends a turn, and what the shell asks between turns.
    """

    def __init__(self, link: Link, command: Command, follow: StartFollower) -> None:
        super().__init__(link, command, _NoListener(), follow)
        self.reports: deque[bytes] = deque()
        """What the shell has reported and was not read."""
        self.alone = True
        """Whether nothing was left running at the last report."""
        self.written = bytearray()
        """What the shell has written about itself since its last text."""
        self.end: Mapping[str, Any] | None = None
        """The event that ended the shell between two turns."""
        self.placed: Mapping[str, Any] | None = None
        """Its pids, if it is in a sandbox and does not know them."""
        self.heard: Callable[[], None] | None = None
        """Called when there is a report, or the end."""
        self.gone: str | None = None
        """Why the far side does not have it any more."""
        self._attended = False
        self._awake = False
        """Whether a task of the event loop waits for something of it."""
        self._spent: Callable[[str | None], None] | None = None
        self._text: Mapping[str, object] | None = None
        """The last text, and what is watched: both are sent again if the link was cut."""
        self._watch: Mapping[str, object] | None = None
        self._began = 0.0
        self._at = False
        """Whether the far side has said, since the link was cut, that the shell is there."""

    # On the link's loop. What the far side does not tell is an event like its others, because no task may wait now.

    def refused(self, error: NacreError) -> None:
        self.put({"event": "said", "message": {"event": "refused", "error": error}})
        self.wake()

    def lost(self, reason: str) -> None:
        self.put({"event": "said", "message": {"event": "lost", "reason": reason}})
        self.wake()

    def _on_loop(self, action: Callable[..., None], *arguments: Any) -> None:
        if self._awake or action != self._deliver:
            # A loop that is closed has no task that waits; the next turn reads what has come.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(action, *arguments)

    # Between turns.

    def awake(self, heard: Callable[[], None] | None) -> None:
        """Have what comes handled on the running event loop, and be told of a report; None to let it wait."""
        if heard is not None:
            self._loop = asyncio.get_running_loop()
        self.heard, self._awake = heard, heard is not None or self._attended

    def look(self) -> None:
        """Take the reports and the end among what has come; output waits for the next turn."""
        if self._attended:
            self._deliver()
            return
        kept: list[tuple[int, Mapping[str, Any] | bytes]] = []
        while self._events:
            seq, event = self._events.popleft()
            if _is_output(event):
                kept.append((seq, event))
            else:
                self._take(seq, event)
        self._events.extendleft(reversed(kept))

    def send_text(self, number: int, nonce: str, data: bytes) -> None:
        """Have the shell evaluate a text; the texts are numbered."""
        self.written.clear()
        self.reports.clear()
        self._text = remote_protocol.shell_text(self.number, number, nonce, data.decode("latin-1"), self._taken_seq())
        self.send(self._text)

    def watch(self, shell: int, runner: int, cell: list[int]) -> None:
        """Have the processes below the runner looked at with each report."""
        self._watch = remote_protocol.watch_shell(self.number, shell, runner, cell)
        self.send(self._watch)

    def _reached_again(self, number: int) -> None:
        """The link was cut, and what was sent last may not have arrived; the far side takes no text twice."""
        self._at = True
        if self._watch is not None:
            self.send(self._watch)
        if self._attended:
            self._tell_limits()
        else:
            self.rest()
        if self._text is not None and number < self._text["number"]:  # type: ignore[operator]
            self.send(self._text)

    def _taken_seq(self) -> int:
        """The number of the last event before the first that waits."""
        return self._events[0][0] - 1 if self._events else self.seq

    def send(self, message: Mapping[str, object]) -> None:
        links.post(self._link.send, message)

    def forget(self) -> None:
        """End the shell there."""
        self.look()
        if self.gone is None:
            self.release()

    # A turn.

    def _is_known(self) -> bool:
        """Whether the far side has told, since the link was cut, if the shell is there."""
        self.look()
        return self._at or self.gone is not None

    async def reach(self) -> None:
        """Have the connection made again if it was cut, and hear whether the shell is still there."""
        if self.gone is not None or self._link.is_up:
            return
        self._at = False
        said = asyncio.Event()
        self.awake(said.set)
        try:
            with contextlib.suppress(BackendUnavailableError):
                await asyncio.wrap_future(links.submit(self._link.ready()))
            while not self._is_known():
                said.clear()
                await said.wait()
        finally:
            self.awake(None)

    def attend(self, command: Command, listener: Listener) -> None:
        self._command, self._listener = command, listener
        self._loop = asyncio.get_running_loop()
        self._attended = self._awake = True
        self._began = time.monotonic()
        self._tell_limits()
        end, self.end = self.end, None
        if end is not None:
            self._loop.call_soon(self._handle, end)
        self._loop.call_soon(self._deliver)

    def _tell_limits(self) -> None:
        command, elapsed = self._command, time.monotonic() - self._began
        self._tell(protocol.go(timeout=command.timeout, grace=command.grace, elapsed=elapsed))

    def drain(self) -> None:
        """The far side tells output before the report; what is here was told."""

    def leave(self) -> list[int]:
        self.rest()
        self._attended = self._awake = False
        self._listener = _NoListener()
        return []

    def rest(self) -> None:
        self._tell(protocol.REST)

    def part(self, parted: Callable[[int | None], None]) -> None:
        """Never asked: the shell does not go on beside what it has left."""
        parted(None)

    def stop_kept(self, mark: int, cleared: Callable[[], None]) -> None:
        """Never asked: no keeper has what the shell has left."""
        raise AssertionError(f"no keeper has the mark {mark}, so {cleared} cannot be told")

    def ask_spent(self, spent: Callable[[str | None], None]) -> None:
        self._spent = spent
        self._tell(protocol.SPENT)

    async def keep(self, job: NewJob | None, *, adopt: int | None = None, apart: bool = False) -> None:
        assert not apart, "the shell does not go on beside what it has left"
        await super().keep(job, adopt=adopt)

    # Events.

    def _deliver(self) -> None:
        while self._events and self._attended and not self._paused and not self._released:
            self._take(*self._events.popleft())
        if self._awake and not self._attended:
            self.look()

    def _output(self, stream: int, data: bytearray) -> None:
        if stream == WRITTEN:
            self.written += data
        else:
            super()._output(stream, data)

    def _handle(self, event: Mapping[str, Any]) -> None:
        kind = event["event"]
        if kind == "report":
            self.reports.append(event["text"].encode("latin-1"))
            self.alone = event["alone"]
        elif kind == "at":
            self._reached_again(event["number"])
        elif kind == "placed":
            self.placed = event
        elif kind == "spent":
            if self._spent is not None:
                self._spent(event["budget"])
            return
        elif kind in _ENDS:
            self._ended(event)
        else:
            super()._handle(event)
            return
        if self.heard is not None:
            self.heard()

    def _ended(self, event: Mapping[str, Any]) -> None:
        kind = event["event"]
        if kind in ("lost", "refused"):
            self.gone = str(event.get("reason") or event["error"])
        if not self._attended:
            self.end = event
        elif kind == "refused":
            self._refused(event["error"])
        else:
            super()._handle(event)


def _is_output(event: Mapping[str, Any] | bytes) -> bool:
    """True if it is for the listener of a turn."""
    if isinstance(event, bytes):
        return remote_protocol.output_in(event)[1] != WRITTEN
    return bool(event["event"] == "closed")


class _NoListener:
    """Hears what comes between two turns: nothing of it is a command's."""

    def output(self, stream: int, buffer: bytearray, size: int) -> None: ...

    def closed(self, stream: int) -> None: ...

    def started(self, pid: int) -> None: ...

    def exited(self, ending: object) -> None: ...

    def failed(self, error: NacreError) -> None: ...
