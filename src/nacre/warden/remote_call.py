"""One call of the remote service: its runner and pipes, and the events that the near side has not confirmed."""

from __future__ import annotations

import os
import time
from collections import deque

from nacre.warden import protocol, remote_protocol
from nacre.warden.far_shell import TELL_SECONDS
from nacre.warden.intake import read_now
from nacre.warden.remote_protocol import DETACHED_BYTES, WINDOW_BYTES, WRITTEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nacre.warden.channel import Channel
    from nacre.warden.far_shell import FarShell
    from nacre.warden.messages import Message
    from nacre.warden.remote_link import RemoteLink

# What was typed and the program has not read; more is refused.
MOST_TYPED_BYTES = 64 * 1024
# A small system call for each event of a call would cost more than this.
_EVENT_BYTES = 200
# What a pipe holds: no more of it can be older than a report.
_PIPE_BYTES = 65536


class RemoteCall:
    """A command from its start until the near side forgets it, or its lease has run out without a link.

    Its methods are the events of one command and of the link that it is told on.
    """

    def __init__(
        self,
        number: int,
        runner: Channel,
        streams: dict[int, int],
        *,
        lease: float,
        terminal: int,
        shell: FarShell | None,
        link: RemoteLink,
        ignore: Callable[[int], None],
        changed: set[RemoteCall],
    ) -> None:
        """With `ignore`, which is told of a descriptor before it is closed.

        The call adds itself to `changed` when it may be read or written again, or no more, or its lease has changed.
        `streams` has the numbers of the streams by the descriptor that is read; `terminal` is one of them, or -1.
        """
        self.number = number
        self._ignore = ignore
        self.runner = runner
        self.streams = dict(streams)
        """The numbers of the streams, by the descriptor that is read."""
        self.shell = shell
        """The shell of a session, whose commands this call has."""
        self.terminal = terminal
        self.lease = lease
        self.link: RemoteLink | None = link
        link.calls.add(self)
        self.left_by: RemoteLink | None = None
        """The link that waits for another to take the call over."""
        self.detached_at: float | None = None
        self.watched_end: float | None = None
        """The end of the lease that the service has noted."""
        self.watched_look: float | None = None
        """The look at a session's shell that the service has noted."""
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

    # What is told.

    @property
    def full(self) -> bool:
        """Whether its pipes are not read now: the near side is behind, or away."""
        if self.link is None:
            return self._unconfirmed_bytes > DETACHED_BYTES
        return self._unconfirmed_bytes > WINDOW_BYTES or self.link.unsent_bytes > protocol.MOST_UNSENT_BYTES

    def read(self, fd: int) -> int:
        """Take what a stream has and tell it; 0 when there is nothing now, or it has ended."""
        data = read_now(fd)
        if data is None:
            return 0
        stream = self.streams[fd]
        self.active_at = time.monotonic()
        self._seq += 1
        if data:
            self._tell(remote_protocol.frame_of_output(self.number, stream, self._seq, data))
            return len(data)
        self._tell(protocol.frame(remote_protocol.closed(self.number, self._seq, stream)))
        del self.streams[fd]
        self._ignore(fd)
        os.close(fd)
        return 0

    def hear_shell(self, _event: int) -> None:
        """Take what the session's shell says."""
        self._changed.add(self)
        if self.shell is not None and not self.shell.hear():
            # Its runner tells how it has ended.
            self._ignore(self.shell.reading)

    def look_again(self, _now: float) -> None:
        """Have the service look at the session's shell in this turn of its loop."""
        self._changed.add(self)

    def tell_report(self) -> None:
        """Tell what the session's shell has reported, after the output that was before it, if that can be done now."""
        shell = self.shell
        if shell is None:
            return
        now = time.monotonic()
        if shell.tell_at is not None and shell.tell_at <= now:
            shell.tell_at = now + TELL_SECONDS
            self.tell_written()
        if shell.report is None or shell.look_at is None or shell.look_at > now:
            return
        if not self._take_due(shell.due) or (alone := shell.looked()) is None:
            return
        self.tell_written()
        text, shell.report = shell.report.decode("latin-1"), None
        self.say(remote_protocol.report(text, alone=alone))

    def _take_due(self, due: dict[int, int]) -> bool:
        """Take what was in the streams when the shell reported; False if not all of it can be told now."""
        for fd in list(self.streams):
            while fd in self.streams and due.get(fd, _PIPE_BYTES) > 0:
                if self.full:
                    return False
                size = self.read(fd)
                if not size:
                    break
                due[fd] = due.get(fd, _PIPE_BYTES) - size
        return True

    def tell_written(self) -> None:
        """Tell what the session's shell has written about itself."""
        if self.shell is not None:
            for piece in self.shell.written():
                self._seq += 1
                self._tell(remote_protocol.frame_of_output(self.number, WRITTEN, self._seq, piece))

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

    def end(self) -> None:
        """Tell what was before the end that the runner has told."""
        if self.shell is not None:
            # Its last report, if there is one, is in the socket.
            self.shell.hear()
            self.shell.resting = True
            self.tell_report()
        self.drain(protocol.SILENCE_SECONDS)
        self.tell_written()

    def tell_runner(self, request: dict[str, Any]) -> None:
        """Pass a request on to the runner; the limits of a script begin and end with it."""
        if self.shell is not None and request["op"] in ("go", "rest"):
            self.shell.resting = request["op"] == "rest"
        self.runner.send(request)

    @property
    def rests(self) -> bool:
        """Whether it is a session's, and none of its scripts runs."""
        return self.shell is not None and self.shell.resting

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
        if self.shell is not None:
            self.say(remote_protocol.text_at(self.shell.number))

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

    @property
    def look_at(self) -> float | None:
        """When a session's shell is looked at again; None if it need not be."""
        if self.shell is None or self.full:
            return None
        return self.shell.look_at or self.shell.tell_at

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

    def discard(self, grace: float) -> None:
        """Have the runner read what the survivors of the command write, so that they do not die of it."""
        readers = self.take_readers()
        message = protocol.keep(fds=len(readers), aside=0, grace=grace, job=None, adopt=None, apart=False)
        self.runner.send(message, readers)
        for fd in readers:
            os.close(fd)

    def close(self) -> None:
        """Give back the pipes; the runner ends a command that still runs when its channel is closed."""
        self._leave_link()
        for fd in self.take_readers():
            os.close(fd)
        if self.shell is not None:
            self._ignore(self.shell.reading)
            self.shell.close()
