"""One call of the remote service: its runner and pipes, and the events that the near side has not confirmed."""

from __future__ import annotations

import os
import time
from collections import deque

from nacre.warden import protocol, remote_protocol
from nacre.warden.intake import read_now
from nacre.warden.remote_protocol import DETACHED_BYTES, WINDOW_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from nacre.warden.channel import Channel
    from nacre.warden.messages import Message
    from nacre.warden.remote_link import RemoteLink

# What was typed and the program has not read; more is refused.
MOST_TYPED_BYTES = 64 * 1024
# A small system call for each event of a call would cost more than this.
_EVENT_BYTES = 200


class RemoteCall:
    """A command from its start until the near side forgets it, or its lease has run out without a link.

    Its methods are the events of one command and of the link that it is told on.
    """

    def __init__(
        self,
        number: int,
        runner: Channel,
        readers: list[int],
        *,
        lease: float,
        terminal: bool,
        link: RemoteLink,
        ignore: Callable[[int], None],
        changed: set[RemoteCall],
    ) -> None:
        """With `ignore`, which is told of a descriptor before it is closed.

        The call adds itself to `changed` when it may be read or written again, or no more, or its lease has changed.
        """
        self.number = number
        self._ignore = ignore
        self.runner = runner
        self.streams = {fd: stream for stream, fd in enumerate(readers, start=1)}
        """The numbers of the streams, by the descriptor that is read."""
        self.terminal = readers[0] if terminal else -1
        self.lease = lease
        self.link: RemoteLink | None = link
        link.calls.add(self)
        self.left_by: RemoteLink | None = None
        """The link that waits for another to take the call over."""
        self.detached_at: float | None = None
        self.watched_end: float | None = None
        """The end of the lease that the service has noted."""
        self._changed = changed
        self.looked: int | None = None
        """What the near side knows of its terminal, packed."""
        self.active_at = time.monotonic()
        """When something was last written to its terminal or typed into it."""
        self.idle = False
        """Whether nothing is left of the command, so that its runner can serve another."""
        self.over = False
        """Whether the runner has told the end."""
        self._seq = 0
        self._unconfirmed: deque[tuple[int, bytes]] = deque()
        self._unconfirmed_bytes = 0
        self._typed = b""
        for fd in readers:
            os.set_blocking(fd, False)

    # What is told.

    @property
    def full(self) -> bool:
        """Whether its pipes are not read now: the near side is behind, or away."""
        if self.link is None:
            return self._unconfirmed_bytes > DETACHED_BYTES
        return self._unconfirmed_bytes > WINDOW_BYTES or self.link.unsent_bytes > protocol.MOST_UNSENT_BYTES

    def read(self, fd: int) -> bool:
        """Take what a stream has and tell it; False when there is nothing now, or it has ended."""
        data = read_now(fd)
        if data is None:
            return False
        stream = self.streams[fd]
        self.active_at = time.monotonic()
        self._seq += 1
        if data:
            self._tell(remote_protocol.frame_of_output(self.number, stream, self._seq, data))
            return True
        self._tell(protocol.frame(remote_protocol.closed(self.number, self._seq, stream)))
        del self.streams[fd]
        self._ignore(fd)
        os.close(fd)
        return False

    def drain(self, seconds: float) -> None:
        """Take what the streams have now, for at most that time."""
        end = time.monotonic() + seconds
        for fd in list(self.streams):
            while time.monotonic() < end and not self.full and self.read(fd):
                pass

    def say(self, event: Message) -> None:
        """Pass on what the runner has said."""
        self._seq += 1
        self._tell(protocol.frame(remote_protocol.said(self.number, self._seq, event)))

    def _tell(self, frame: bytes) -> None:
        self._unconfirmed.append((self._seq, frame))
        self._unconfirmed_bytes += len(frame) + _EVENT_BYTES
        self._changed.add(self)
        if self.link is not None:
            self.link.send_frame(frame)

    # What the near side asks.

    def confirm(self, seq: int) -> None:
        """Forget the events up to this one."""
        while self._unconfirmed and self._unconfirmed[0][0] <= seq:
            self._unconfirmed_bytes -= len(self._unconfirmed.popleft()[1]) + _EVENT_BYTES
        self._changed.add(self)

    def attach(self, link: RemoteLink, seq: int, lease: float) -> None:
        """Send the events after this one over a link, and those that come."""
        self.confirm(seq)
        self.lease = lease
        self._leave_link()
        self.link, self.left_by, self.detached_at = link, None, None
        link.calls.add(self)
        for _, frame in self._unconfirmed:
            link.send_frame(frame)

    def detach(self, lease: float | None = None) -> None:
        """Go on without a link, until the lease has run out."""
        if lease is not None:
            self.lease, self.left_by = lease, self.link
        self._leave_link()
        self.link, self.detached_at = None, time.monotonic()
        self._changed.add(self)

    def _leave_link(self) -> None:
        if self.link is not None:
            self.link.calls.discard(self)
            self.link.held.discard(self)

    @property
    def ends_at(self) -> float | None:
        """When the lease has run out; None while there is a link."""
        return None if self.detached_at is None else self.detached_at + self.lease

    def type_in(self, data: bytes) -> None:
        """Type into the terminal; what does not fit waits."""
        if self.terminal < 0 or self.terminal not in self.streams:
            return
        self.active_at = time.monotonic()
        self._typed = (self._typed + data)[:MOST_TYPED_BYTES]
        self._changed.add(self)
        self.flush_typed()

    @property
    def has_typed(self) -> bool:
        return bool(self._typed)

    def flush_typed(self) -> None:
        try:
            while self._typed:
                self._typed = self._typed[os.write(self.terminal, self._typed) :]
        except BlockingIOError:
            return
        except OSError:
            self._typed = b""  # no process has the terminal open any more

    def take_readers(self) -> list[int]:
        """Give up the reading ends: the caller has them."""
        readers = list(self.streams)
        for fd in readers:
            self._ignore(fd)
        self.streams = {}
        return readers

    def close(self) -> None:
        """Give back the pipes; the runner ends a command that still runs when its channel is closed."""
        self._leave_link()
        for fd in self.take_readers():
            os.close(fd)
