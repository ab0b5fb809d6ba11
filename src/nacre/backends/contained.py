"""Commands under the warden: each has a runner, from which nothing that the command starts can escape."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from functools import partial

from nacre import forks
from nacre.backend import Ending, Listener, Process
from nacre.backends.contained_process import ContainedProcess
from nacre.backends.inline_wait import INLINE_MILLISECONDS, can_block_briefly, tell_end, tell_output
from nacre.backends.pipes import make_pipes
from nacre.backends.spare_shells import Spare, is_suited, spares
from nacre.backends.start_errors import start_error
from nacre.backends.start_request import request_of
from nacre.command import Command, NewJob
from nacre.errors import NacreError
from nacre.warden import protocol
from nacre.warden_client.pool import warden
from nacre.warden_client.runner_link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Event, ExitedEvent

# When a spare is there as a rule, if nothing else is going on.
READY_SECONDS = 0.004


class ContainedBackend:
    notice: str | None = None
    keeps = True
    terminals = True
    """Whether a command may have a terminal."""

    def __init__(self, *, spares: int = 0) -> None:
        """With `spares`, so many shells are kept waiting for the next calls."""
        self._wanted = spares

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        loop = asyncio.get_running_loop()
        # A side stream is read while it comes.
        inline = job is None and not command.side and command.terminal is None and can_block_briefly(loop)
        if job is None and self._wanted and is_suited(command):
            while (spare := spares.take(command)) is not None:
                if spare.run(command):
                    return self._start_spare(loop, spare, command, listener, inline=inline)
                # The shell was killed since it was looked at, before it had a script.
                spare.close()
        if inline:
            return self._start_inline(loop, command, listener)
        process = ContainedProcess(
            _link(command, new=job is not None), command, listener, idle=self._refilling(loop, command)
        )
        try:
            process.ask(job)
        except BaseException:
            process.release()
            raise
        return process

    def _refilling(self, loop: asyncio.AbstractEventLoop, command: Command) -> Callable[[], None] | None:
        return partial(refill_soon, loop, command, self._wanted) if self._wanted else None

    def _start_spare(
        self, loop: asyncio.AbstractEventLoop, spare: Spare, command: Command, listener: Listener, *, inline: bool
    ) -> Process:
        """Go on with a waiting shell that runs its script; its end is seen here, without its runner."""
        began = time.monotonic()
        code: int | None = None
        whole, stages = False, tuple[int, ...]()
        try:
            # With a prologue, the runner tells what was refused.
            if inline and not command.prologue:
                code = spare.code_within(INLINE_MILLISECONDS)
            if code is not None:
                whole = tell_output(listener, spare.readers)
                stages = spare.stages() if whole and command.stages else ()
        except BaseException:
            spare.close()
            raise
        if whole:
            # The runner collects its shell when it is asked for the next; it takes it for a spare until then.
            refill_soon(loop, command, self._wanted, spare)
            return tell_end(listener, len(spare.readers), Ending(pid=spare.pid, code=code, stages=stages))
        process = ContainedProcess(spare.link, command, listener, idle=self._refilling(loop, command))
        try:
            readers, spare.readers = spare.readers, []
            process.attend(readers, elapsed=time.monotonic() - began)
            spare.close_handles()
        except BaseException:
            process.release()
            spare.close()
            raise
        return process

    def _start_inline(self, loop: asyncio.AbstractEventLoop, command: Command, listener: Listener) -> Process:
        """Have a runner start the command, and wait a moment for its word that the command has ended."""
        link, readers, unheard = _ask(command)
        frames = protocol.FrameReader()
        events: list[Event] = []
        try:
            if link.wait(INLINE_MILLISECONDS):
                events = frames.events(link.heard())
            end = _plain_end(events)
            if end is not None and tell_output(listener, readers):
                warden.reap_intermediate()
                for fd in readers:
                    os.close(fd)
                warden.give(link)
                if self._wanted:
                    refill_soon(loop, command, self._wanted)
                ending = Ending(pid=end["pid"], code=end["code"], stages=tuple(end.get("stages", ())))
                return tell_end(listener, len(readers), ending)
            idle = self._refilling(loop, command)
            process = ContainedProcess(link, command, listener, idle=idle, unheard=unheard)
        except BaseException:
            _close(link, readers)
            raise
        try:
            process.go_on(readers, frames, events)
        except BaseException:
            process.release()
            raise
        return process


def _link(command: Command, *, new: bool = False) -> Link:
    try:
        return warden.take(new=new)
    except OSError as error:
        raise start_error("descriptors", error.errno, str(error), command) from error


def _ask(command: Command) -> tuple[Link, list[int], bool]:
    """Have a runner start the command.

    Returns:
        The way to the runner, the reading ends of the command's pipes, and whether no runner took the request.
    """
    with forks.held_off:
        link, unheard = _link(command), False
        readers: list[int] = []
        try:
            readers, writers = make_pipes(command)
            try:
                for fd in readers:
                    os.set_blocking(fd, False)
                link.ask(request_of(command), writers, command.env)
            except (BrokenPipeError, ConnectionResetError):
                # If the far side could say why, that is in the socket.
                unheard = True
            finally:
                for fd in writers:
                    os.close(fd)
        except BaseException as error:
            _close(link, readers)
            if isinstance(error, OSError):
                raise start_error("descriptors", error.errno, str(error), command) from error
            raise
        return link, readers, unheard


def _close(link: Link, readers: list[int]) -> None:
    """Give a command up; its runner ends it."""
    for fd in readers:
        os.close(fd)
    link.close()


def _plain_end(events: list[Event]) -> ExitedEvent | None:
    """The end of a command that exited by itself and of which nothing is left; None if it did not."""
    if not events or events[0]["event"] != "exited":
        return None
    end = events[0]
    special = end["why"] is not None or end["left"] or end.get("refused") or end.get("outOfMemory") or "budget" in end
    return None if special or "code" not in end else end


def refill(command: Command, wanted: int) -> None:
    """Start spares for the next calls, if that can be done; no call depends on it."""
    try:
        spares.refill(command, wanted)
    except (NacreError, OSError):
        # The next call starts its shell itself, and says what is wrong if it cannot.
        spares.close()
    else:
        asyncio.get_running_loop().call_later(READY_SECONDS, _meet, command, wanted)


def _meet(command: Command, wanted: int) -> None:
    if spares.meet():
        refill(command, wanted)
    elif spares.on_trial:
        asyncio.get_running_loop().call_later(READY_SECONDS, _meet, command, wanted)


def refill_soon(loop: asyncio.AbstractEventLoop, command: Command, wanted: int, used: Spare | None = None) -> None:
    """The same at the loop's next turn, when the caller has its answer; the used spare is given back then."""

    def work() -> None:
        if used is not None:
            used.close_ends()
            warden.give(used.link, since=used.born)
        refill(command, wanted)

    loop.call_soon(work)
