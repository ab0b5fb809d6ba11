"""Serves a caller on another machine: no descriptors pass, so output goes to it as frames, over any two streams."""

from __future__ import annotations

import functools
import os
import select
import signal

from nacre.warden import children, guardian, naming, protocol, stop_request
from nacre.warden.channel import Channel
from nacre.warden.intake import discard
from nacre.warden.privacy import become_unreadable
from nacre.warden.record import STOP_SIGNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from nacre.warden.intake import Intake


class StreamChannel(Channel):
    """A caller at the end of two pipes or of a socket. Sending never waits: what does not fit is sent later."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading = reading
        self.writing = writing
        self.open = True
        self.unsent = b""
        self._frames = protocol.FrameReader()
        self._fds = []
        os.set_blocking(writing, False)

    def frames(self) -> list[bytes]:
        try:
            data = os.read(self.reading, protocol.RECEIVE_BYTES)
        except ConnectionResetError:
            data = b""
        if not data:
            self._lost()
        return list(self._frames.bodies(data))

    def gone(self) -> bool:
        hung = select.poll()
        hung.register(self.reading, 0)
        return bool(hung.poll(0))

    def close(self) -> None:
        self._lost()

    def send_frame(self, data: bytes, fds: Sequence[int] = ()) -> None:
        assert not fds
        if self.open:
            self.unsent += data
            self.flush()

    def flush(self) -> None:
        try:
            while self.unsent:
                self.unsent = self.unsent[os.write(self.writing, self.unsent) :]
        except BlockingIOError:
            return
        except OSError:
            self._lost()

    def _lost(self) -> None:
        self.open = False
        self.unsent = b""


class Relay:
    """Sends the output of one command, numbered, and reads no faster than the caller takes it."""

    def __init__(self, channel: Channel, readers: list[int], intake: Intake) -> None:
        self._channel = channel
        self._seq = 0
        self._watched = False
        for stream, fd in enumerate(readers, start=1):
            intake.attend([fd], functools.partial(self._send, stream))

    def _send(self, stream: int, data: bytes) -> None:
        self._channel.send(protocol.output(stream, self._seq, data))
        self._seq += 1

    def watch(self, poll: select.poll, intake: Intake) -> None:
        """Have a poll tell when the caller takes more, and pause the reading while too much waits."""
        assert isinstance(self._channel, StreamChannel)
        unsent = len(self._channel.unsent)
        intake.pause(paused=unsent > protocol.MOST_UNSENT_BYTES)
        reading, writing = self._channel.reading, self._channel.writing
        if bool(unsent) == self._watched or not self._channel.open:
            return
        self._watched = bool(unsent)
        if reading == writing:
            poll.modify(reading, select.POLLIN | select.POLLOUT if unsent else select.POLLIN)
        elif unsent:
            poll.register(writing, select.POLLOUT)
        else:
            poll.unregister(writing)

    def hung_up(self, poll: select.poll, intake: Intake) -> None:
        """Go on without the caller: what is left of the command writes to a pipe that is read."""
        assert isinstance(self._channel, StreamChannel)
        if self._watched and self._channel.writing != self._channel.reading:
            poll.unregister(self._channel.writing)
        intake.pause(paused=False)
        intake.redirect(discard)


def main(reading: int = 0, writing: int = 1) -> NoReturn:
    """Be the runner of one caller: `python -I -S -c "…; relay.main()"` at the end of an ssh connection, for example."""
    from nacre.warden.runner import Runner

    become_unreadable()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    naming.find_arguments()
    os.chdir("/")
    guardian.split_off(*{reading, writing})
    naming.rename(b"nacre-runner")
    children.become_subreaper()
    # Its wake-up descriptor tells the runner; the handler only has to exist.
    signal.signal(signal.SIGCHLD, _nothing)
    signal.signal(signal.SIGTERM, stop_request.terminate)
    signal.signal(STOP_SIGNAL, stop_request.stop)
    Runner(StreamChannel(reading, writing), {}).serve()
    os._exit(0)


def _nothing(*_: object) -> None:
    return None
