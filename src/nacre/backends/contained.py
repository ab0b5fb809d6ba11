"""Commands under the warden: each has a runner, from which nothing that the command starts can escape."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from typing import Any

from nacre import forks
from nacre.backend import AtOnce, Listener, Process
from nacre.backends.contained_process import ContainedProcess, request_of
from nacre.backends.inline_wait import LINGER_MILLISECONDS, read_all
from nacre.backends.pipes import make_pipes
from nacre.backends.spare_shells import Spare, is_suited, refill_soon, spares
from nacre.backends.start_errors import start_error
from nacre.command import Command
from nacre.warden import protocol
from nacre.warden_client.pool import warden
from nacre.warden_client.runner_link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Event, Exited


class ContainedBackend:
    notice: str | None = None
    keeps = True

    def __init__(self, *, spares: int = 0) -> None:
        """With `spares`, so many shells are kept waiting for the next calls."""
        self._wanted = spares

    def start(self, command: Command, listener: Listener, *, job: Mapping[str, Any] | None = None) -> Process:
        spare = self._spare_for(command) if job is None else None
        process = ContainedProcess(_link(command, spare), command, listener, wanted=self._wanted)
        try:
            if spare is None:
                process.ask(job)
            elif not process.go(spare):
                # The shell was killed since it was looked at, before it had a script.
                process.release()
                return self.start(command, listener, job=job)
        except BaseException:
            process.release()
            raise
        return process

    def begin(self, command: Command) -> Begun | BegunSpare | None:
        """Start it without attending it; None where it has a side stream, which is read while it comes."""
        if command.side:
            return None
        loop = asyncio.get_running_loop()
        while (spare := self._spare_for(command)) is not None:
            if spare.run(command):
                return BegunSpare(loop, spare, command, wanted=self._wanted)
            # The shell was killed since it was looked at, before it had a script.
            spare.close()
        return self._ask(loop, command)

    def _spare_for(self, command: Command) -> Spare | None:
        return spares.take(command) if self._wanted and is_suited(command) else None

    def _ask(self, loop: asyncio.AbstractEventLoop, command: Command) -> Begun:
        with forks.held_off:
            return self._ask_now(loop, command)

    def _ask_now(self, loop: asyncio.AbstractEventLoop, command: Command) -> Begun:
        link = _link(command, None)
        try:
            readers, writers = make_pipes(command)
        except BaseException:
            link.close()
            raise
        begun = Begun(loop, link, command, readers, wanted=self._wanted)
        try:
            begun.ask(writers)
        except BaseException:
            begun.close()
            raise
        finally:
            for fd in writers:
                os.close(fd)
        return begun


def _link(command: Command, spare: Spare | None) -> Link:
    try:
        return warden.take() if spare is None else spare.link
    except OSError as error:
        raise start_error("descriptors", error.errno, str(error), command) from error


class Begun:
    """A command that runs already and that nobody attends yet: it may end before that is worth its while."""

    notice: str | None = None
    keeps = True

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        link: Link,
        command: Command,
        readers: list[int],
        *,
        wanted: int,
    ) -> None:
        self._loop = loop
        self._link: Link | None = link
        self._command = command
        self._readers = readers
        self._wanted = wanted
        self._unheard = False
        self._outputs: tuple[bytes, ...] = ()
        self._frames = protocol.FrameReader()
        self._messages: list[Event] = []

    def ask(self, writers: list[int]) -> None:
        """Have the runner start the command."""
        assert self._link is not None
        try:
            self._link.ask(request_of(self._command), writers, self._command.env)
        except (BrokenPipeError, ConnectionResetError):
            # Nobody took the request. If somebody could say why, that is in the socket.
            self._unheard = True
        except OSError as error:
            raise start_error("descriptors", error.errno, str(error), self._command) from error

    def at_once(self) -> AtOnce | None:
        """What the command came to, if it ends in a moment, with nothing special about it; else `start` goes on."""
        link = self._link
        assert link is not None
        for fd in self._readers:
            os.set_blocking(fd, False)
        if not link.wait(LINGER_MILLISECONDS):
            return None
        self._messages = self._frames.events(link.heard())
        message = _plain_end(self._messages)
        if message is None:
            return None
        self._outputs, whole = read_all(self._readers)
        if not whole:
            return None
        warden.reap_intermediate()
        for fd in self._readers:
            os.close(fd)
        warden.give(link)
        self._link = None
        if self._wanted:
            refill_soon(self._loop, self._command, self._wanted)
        return AtOnce(message["code"], tuple(message.get("stages", ())), self._outputs)

    def start(self, command: Command, listener: Listener, *, job: Mapping[str, Any] | None = None) -> Process:
        """Attend it from here on."""
        assert job is None
        assert self._link is not None
        process = ContainedProcess(self._link, command, listener, wanted=self._wanted, unheard=self._unheard)
        self._link = None
        try:
            process.go_on(self._readers, self._outputs, self._frames, self._messages)
        except BaseException:
            process.release()
            raise
        return process

    def close(self) -> None:
        """Give it up; its runner ends it."""
        if self._link is not None:
            for fd in self._readers:
                os.close(fd)
            self._link.close()
            self._link = None


class BegunSpare:
    """The same of a command in a shell that was started in advance: its end is seen here, without its runner."""

    notice: str | None = None
    keeps = True

    def __init__(self, loop: asyncio.AbstractEventLoop, spare: Spare, command: Command, *, wanted: int) -> None:
        self._loop = loop
        self._spare: Spare | None = spare
        self._command = command
        self._wanted = wanted
        self._began = time.monotonic()
        self._outputs: tuple[bytes, ...] = ()

    def at_once(self) -> AtOnce | None:
        """What the command came to, if it ends in a moment, with nothing special about it; else `start` goes on."""
        spare, command = self._spare, self._command
        assert spare is not None
        if command.prologue or not spare.ends_within(LINGER_MILLISECONDS):
            return None
        code = spare.plain_code()
        if code is None:
            return None
        self._outputs, whole = read_all(spare.readers)
        if not whole:
            return None
        stages = spare.stages() if command.stages else ()
        # The runner collects its shell when it is asked for the next; it takes it for a spare until then.
        warden.give(spare.link, since=spare.born)
        self._spare = None
        refill_soon(self._loop, command, self._wanted, spare)
        return AtOnce(code, stages, self._outputs)

    def start(self, command: Command, listener: Listener, *, job: Mapping[str, Any] | None = None) -> Process:
        """Attend it from here on."""
        assert job is None
        assert self._spare is not None
        spare, self._spare = self._spare, None
        process = ContainedProcess(spare.link, command, listener, wanted=self._wanted)
        try:
            process.attend_spare(spare, time.monotonic() - self._began, self._outputs)
        except BaseException:
            process.release()
            spare.close()
            raise
        return process

    def close(self) -> None:
        """Give it up; its runner ends it."""
        if self._spare is not None:
            self._spare.close()
            self._spare = None


def _plain_end(events: list[Event]) -> Exited | None:
    """The end of a command that exited by itself and of which nothing is left; None if it did not."""
    if not events or events[0]["event"] != "exited":
        return None
    end = events[0]
    special = end["why"] is not None or end["left"] or end.get("refused") or end.get("outOfMemory")
    return None if special or "code" not in end else end
