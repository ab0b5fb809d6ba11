"""The local process of a job that runs on another machine: it prints what the command prints, and ends as it ends.

To the local runner it is a command like any other, so the job's record, file, limits, redaction and notices are those
of every job. A link that is cut is made again; the far side sends what was missed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import termios
import time
import tty
from collections.abc import Mapping
from typing import Any, NoReturn

from nacre.backend import SIDE
from nacre.errors import NacreError
from nacre.remote.link import Link
from nacre.remote.places import dialer_of
from nacre.warden import protocol, remote_protocol
from nacre.warden.remote_protocol import CONFIRM_BYTES, OUTPUT_HEADER_BYTES, WRITTEN
from nacre.warden.terminal import LOOK_SECONDS, tell_far_look

# The exit of a follower that lost its command: not a code that a shell gives by itself.
LOST_CODE = 255


class Followed:
    """One call, heard by this process alone."""

    def __init__(self, number: int, seq: int, directory: str | None) -> None:
        """With the directory of the job whose terminal is here, if it has one."""
        self._directory = directory
        self._look: int | None = None
        """What the runner of the job has not been told of the terminal there."""
        self.number = number
        self.seq = seq
        self.link: Link | None = None
        self.ended: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self.drained = asyncio.Event()
        """Set when no process there holds the output any more."""
        self.heard_at = 0.0
        self._unconfirmed = 0

    def put(self, event: Mapping[str, Any] | bytes) -> None:
        if isinstance(event, bytes):
            _, stream, _ = remote_protocol.output_in(event)
            self.heard_at = time.monotonic()
            if stream not in (SIDE, WRITTEN):
                _write_all(stream, memoryview(event)[OUTPUT_HEADER_BYTES:])
            self._unconfirmed += len(event)
            if self._unconfirmed >= CONFIRM_BYTES:
                self._unconfirmed = 0
                assert self.link is not None
                self.link.send(remote_protocol.confirm(self.number, self.seq))
        elif event["event"] == "closed" and event["stream"] == 1:
            self.drained.set()
        elif event["event"] == "said" and event["message"]["event"] == "look":
            self._look = event["message"]["look"]
            self._pass_look()
        elif event["event"] == "said" and event["message"]["event"] in ("exited", "failed", "lost"):
            self._end(event["message"])

    def _pass_look(self) -> None:
        """Tell the job's runner what its terminal there waits for, so that the job's state says it."""
        if self._directory is None or self._look is None:
            return
        try:
            tell_far_look(self._directory, self._look)
            self._look = None
        except BlockingIOError:
            asyncio.get_running_loop().call_later(LOOK_SECONDS, self._pass_look)
        except OSError:
            self._look = None  # the job's terminal is closed

    def _end(self, event: Mapping[str, Any]) -> None:
        if not self.ended.done():
            self.ended.set_result(event)

    def wake(self) -> None:
        """Nothing waits: events are handled as they come."""

    def refused(self, error: NacreError) -> None:
        self._end({"event": "lost", "reason": str(error)})

    def lost(self, reason: str) -> None:
        self._end({"event": "lost", "reason": reason})

    def moved(self) -> None:
        """Never told: no other link takes over what a follower has."""


def _write_all(fd: int, data: memoryview) -> None:
    while data:
        data = data[os.write(fd, data) :]


async def follow(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow the call to its end; the event that tells it."""
    loop = asyncio.get_running_loop()
    followed = Followed(spec["call"], spec["seq"], spec["directory"])
    link = followed.link = Link(dialer_of(spec["dialer"]), spec["name"], patience=spec["lease"])

    def stop() -> None:
        link.send(remote_protocol.tell(followed.number, protocol.stop(spec["grace"])))

    loop.add_signal_handler(signal.SIGTERM, stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    if spec["directory"] is not None:
        _pass_on_keys(loop, link, followed.number)
    link.attach(followed)
    event = await followed.ended
    await _drain(followed)
    if event.get("left"):
        # What it has left running there would die of a closed pipe.
        link.send(remote_protocol.discard(followed.number, spec["grace"]))
    link.forget(followed)
    await link.close()
    return event


async def _drain(followed: Followed) -> None:
    """Hear what comes after the end of the shell: until no process holds the output, or it is silent for a while."""
    latest = time.monotonic() + protocol.DRAIN_SECONDS
    followed.heard_at = time.monotonic()
    while not followed.drained.is_set():
        wait = min(followed.heard_at + protocol.SILENCE_SECONDS, latest) - time.monotonic()
        if wait <= 0:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await followed.drained.wait()


def _pass_on_keys(loop: asyncio.AbstractEventLoop, link: Link, number: int) -> None:
    """Type what is typed here there, and give the terminal there the size of this one."""
    tty.setraw(0, termios.TCSANOW)

    def typed() -> None:
        try:
            data = os.read(0, 4096)
        except OSError:
            data = b""
        if data:
            link.send(remote_protocol.type_in(number, data.decode("latin-1")))
        else:
            loop.remove_reader(0)

    def resized() -> None:
        columns, rows = os.get_terminal_size(0)
        link.send(remote_protocol.resize(number, columns, rows))

    loop.add_reader(0, typed)
    loop.add_signal_handler(signal.SIGWINCH, resized)


def main(text: str) -> NoReturn:
    """Follow the call that the text, which is JSON, describes; end as the command ends."""
    event = asyncio.run(follow(json.loads(text)))
    if event["event"] == "exited" and "signal" in event:
        signal.signal(event["signal"], signal.SIG_DFL)
        os.kill(os.getpid(), event["signal"])
    if event["event"] == "exited" and "code" in event:
        os._exit(event["code"])
    reason = event.get("reason", "its status is not known")
    sys.stderr.write(f"\n[nacre: the command on the other machine is lost: {reason}]\n")
    sys.stderr.flush()
    os._exit(LOST_CODE)
