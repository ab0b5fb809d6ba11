"""The connection of a program to one viewer: it never blocks, and never loses a start or an end while it lives."""

from __future__ import annotations

import json
import socket
from collections import deque
from collections.abc import Iterator
from typing import Any

from nacre.feed.shown_call import TAIL_BYTES, FeedEvent, ShownCall, output_event

# A viewer that is stopped: beyond this much that it has not read, no output is kept for it …
OUTPUT_BYTES = 1024 * 1024
# … and beyond this much it is left alone. It is connected to again when it reads.
MOST_BYTES = 16 * 1024 * 1024
# What a viewer asks is short; a longer line comes from no viewer.
MOST_REQUEST_BYTES = 1024 * 1024


class ViewerGoneError(Exception):
    """The viewer has closed the connection, or is too far behind."""


class ViewerLink:
    """One connection. The publisher's lock guards it."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._behind: dict[str, tuple[ShownCall, str, int]] = {}
        """Output for which the viewer was too slow: the call, its newest text, the bytes dropped before it."""
        self._request = b""

    @property
    def waits(self) -> bool:
        """True if something is left to send."""
        return bool(self._queue or self._behind)

    def tell(self, event: FeedEvent) -> None:
        """Queue an event that must not be lost; its call's output comes before it."""
        waiting = self._behind.pop(str(event.get("call")), None)
        if waiting is not None:
            call, text, dropped = waiting
            if self._queued > OUTPUT_BYTES:
                text, dropped = "", dropped + len(text.encode())
            self._put(output_event(call, text, dropped))
        self._put(event)

    def show(self, call: ShownCall, text: str, dropped: int) -> None:
        """Queue output; while the viewer does not read, newer output takes the place of older."""
        if call.call in self._behind:
            _, before, dropped_before = self._behind[call.call]
            text, dropped = (
                (text, dropped + dropped_before + len(before.encode())) if dropped else (before + text, dropped_before)
            )
        if len(text) > TAIL_BYTES:
            dropped += len(text[:-TAIL_BYTES].encode())
            text = text[-TAIL_BYTES:]
        self._behind[call.call] = (call, text, dropped)

    def _put(self, event: FeedEvent) -> None:
        line = json.dumps(event, separators=(",", ":")).encode("ascii") + b"\n"
        self._queue.append(line)
        self._queued += len(line)

    def send(self) -> None:
        """Send what can be sent without waiting; raises ViewerGoneError."""
        while self.waits:
            if not self._queue:
                call, text, dropped = self._behind.pop(next(iter(self._behind)))
                self._put(output_event(call, text, dropped))
            line = self._queue[0]
            try:
                sent = self.sock.send(line, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
            except BlockingIOError:
                if self._queued > MOST_BYTES:
                    raise ViewerGoneError from None
                return
            except OSError as error:
                raise ViewerGoneError from error
            self._queued -= sent
            if sent == len(line):
                self._queue.popleft()
            else:
                self._queue[0] = line[sent:]

    def requests(self) -> Iterator[dict[str, Any]]:
        """Read what the viewer asks for; raises ViewerGoneError."""
        try:
            data = self.sock.recv(65536, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError as error:
            raise ViewerGoneError from error
        if not data or len(self._request) > MOST_REQUEST_BYTES:
            raise ViewerGoneError
        *lines, self._request = (self._request + data).split(b"\n")
        for line in lines:
            try:
                asked = json.loads(line)
            except ValueError:
                continue  # no viewer of ours; nothing is done for it
            if isinstance(asked, dict):
                yield asked

    def close(self) -> None:
        self.sock.close()
