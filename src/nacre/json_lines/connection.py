"""One client on two descriptors: lines in, lines out, with backpressure in both directions.

The server stops reading requests while the client leaves too much of its answers unread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from nacre.complaints import complain
from nacre.json_lines.line_reader import MAX_LINE_BYTES, LineReader, TooLong
from nacre.json_lines.outbox import Outbox
from nacre.json_lines.stdio_transport import Incoming, Outgoing

# At the end, a client that reads nothing for this long does not get the rest.
READER_SECONDS = 5.0


class Connection:
    """One client."""

    def __init__(
        self,
        incoming: int,
        outgoing: int,
        *,
        take: Callable[[bytes | TooLong], None],
        name: str,
        longest_line: int = MAX_LINE_BYTES,
    ) -> None:
        """Call `take` with each line; `name` is the server's in what it says on stderr."""
        self._take = take
        self._name = name
        self._lines = LineReader(longest_line)
        self._outbox = Outbox()
        self._incoming = Incoming(incoming, received=self._received, ended=self._input_ended)
        self._outgoing = Outgoing(outgoing, self._outbox, written=self._written, broken=self._lost)
        self._progress = asyncio.Event()
        self.room = asyncio.Event()
        """Set while the client keeps up with our output."""
        self.room.set()
        self.ended = asyncio.Event()
        """Set when no more requests come, or no answer can be delivered."""

    def open(self) -> None:
        self._incoming.resume()
        self._outgoing.watch()

    def _received(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            self._take(line)

    def _input_ended(self) -> None:
        if (rest := self._lines.end()) is not None:
            self._take(rest)
        self.ended.set()

    def _lost(self) -> None:
        self.stop_listening()
        self.room.set()
        self._progress.set()

    def has_reader(self) -> bool:
        return not self._outgoing.is_broken and self._outgoing.has_reader()

    def send(self, line: bytes, *, ends: object = None) -> None:
        """Send a line; a waiting update of the call `ends` is dropped."""
        self._outbox.put(line, ends=ends)
        self._outgoing.flush()
        if self._outbox.full and not self.ended.is_set():
            self.room.clear()
            self._incoming.pause()

    def send_update(self, call: object, make: Callable[[], bytes]) -> None:
        """Send the newest state of a call as soon as the client reads it."""
        self._outbox.put_update(call, make)
        self._outgoing.flush()

    def _written(self) -> None:
        self._progress.set()
        if not self.room.is_set() and not self._outbox.full:
            self.room.set()
            if not self.ended.is_set():
                self._incoming.resume()

    def stop_listening(self) -> None:
        """Accept no more requests."""
        self.ended.set()
        self._incoming.pause()

    async def aclose(self) -> None:
        """Stop listening, and wait while the client reads the rest."""
        self.stop_listening()
        while not self._outgoing.idle:
            self._progress.clear()
            try:
                async with asyncio.timeout(READER_SECONDS):
                    await self._progress.wait()
            except TimeoutError:
                complain(self._name, "the client does not read; it is not told the rest")
                break
        self._outgoing.unwatch()
        self._outgoing.close()
