"""A command under a runner of the warden, attended on the event loop.

The caller keeps the reading ends of the pipes, so output never passes through the far side; only facts do.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

from nacre import forks
from nacre.backend import SIDE, Ending, Listener, Survivor, pipes_only, terminal_gone
from nacre.backends.pipes import OUTPUTS, StreamReaders, make_pipes
from nacre.backends.runner_talk import RunnerTalk, ending_of, survivor_of
from nacre.backends.start_errors import start_error
from nacre.backends.start_request import request_of
from nacre.command import Command, NewJob
from nacre.errors import BackendUnavailableError, StartError
from nacre.warden import protocol
from nacre.warden_client.pool import warden
from nacre.warden_client.runner_link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.backends.terminal_input import TerminalInput
    from nacre.warden.messages import Event, ExitedEvent, KeptEvent

# How long after a command's limit the far side is seen to, should it be stopped: what is left is enough for the ladder.
WAKE_SECONDS = 0.1


class ContainedProcess:
    """The process of one command, or of one turn of a session's shell.

    Half of its methods are the controls of a Process; the rest follows one conversation with one runner from its start
    to its end, and shares its state.
    """

    def __init__(
        self,
        link: Link,
        command: Command,
        listener: Listener,
        *,
        idle: Callable[[], None] | None = None,
        unheard: bool = False,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._talk = RunnerTalk(link)
        self._streams = StreamReaders(self._loop, listener)
        self._command = command
        self._listener = listener
        self._became_idle = idle
        """Called when the runner is free for the next command."""
        self._ended = False
        self._idle = False
        self._unheard = unheard
        """Whether no runner took the request."""
        self._pid: int | None = None
        self._waking: asyncio.TimerHandle | None = None
        self._told_at: float | None = None
        """When a command began whose limits are told beside it."""
        self._rests = False
        """Whether the far side keeps no limits of this command."""
        self._parted: Callable[[int | None], None] | None = None
        self._spent: Callable[[str | None], None] | None = None
        self._cleared: Callable[[], None] | None = None
        self._input: TerminalInput | None = None

    # Starting.

    def ask(self, job: NewJob | None) -> None:
        """Have the runner start the command."""
        with forks.held_off:
            self._ask_now(job)

    def _ask_now(self, job: NewJob | None) -> None:
        command = self._command
        readers, writers = make_pipes(command)
        request = request_of(command, job=job)
        passed = [*writers, *readers] if job is not None else writers
        if job is None:
            # Everything is in place before the request: the runner wakes on this very processor, and what we did
            # meanwhile it would wait for.
            self._watch_all(readers)
            readers = []
        self._listen()
        try:
            self._talk.link.ask(request, passed, command.env)
        except (BrokenPipeError, ConnectionResetError):
            # No runner took the request. If the far side said why, that is in the socket and heard in a moment.
            self._unheard = True
        except OSError as error:
            raise start_error("descriptors", error.errno, str(error), command) from error
        finally:
            for fd in [*writers, *readers]:
                os.close(fd)

    def attend(self, readers: list[int], *, elapsed: float = 0.0) -> None:
        """Read and listen for a command that a waiting shell is about to run, or has run for so long."""
        self._watch_all(readers)
        self._listen()
        # At once: the host may block its loop from now on, and the limits hold all the same.
        self._told_at = time.monotonic() - elapsed
        command = self._command
        self._talk.say(protocol.go(timeout=command.timeout, grace=command.grace, elapsed=elapsed))

    def go_on(self, readers: list[int], frames: protocol.FrameReader, events: list[Event]) -> None:
        """Attend a command that runs already, after what its runner has said meanwhile."""
        self._talk.frames = frames
        self._watch_all(readers)
        self._listen()
        for event in events:
            self._handle(event)

    def leave(self) -> list[int]:
        """Stop attending a shell that goes on: the pipes' ends and the way to its runner are the caller's again."""
        readers = [fd for _, fd in self._streams.take()]
        self.rest()
        self._stop_waking()
        self._talk.leave()
        return readers

    def rest(self) -> None:
        """End the limits of a command whose shell goes on."""
        if not self._rests:
            self._talk.say(protocol.REST)
        self._rests = True

    def part(self, parted: Callable[[int | None], None]) -> None:
        """Have the far side tell what a session's shell starts from now on from what it has left running.

        `parted` gets the mark of what it has left; None where the system cannot tell it.
        """
        self._parted = parted
        self._talk.say(protocol.PART)

    def ask_spent(self, spent: Callable[[str | None], None]) -> None:
        """Have the far side tell the limit of its budget that a session's shell has reached."""
        self._spent = spent
        self._talk.say(protocol.SPENT)

    def stop_kept(self, mark: int, cleared: Callable[[], None]) -> None:
        """Stop what a keeper has of an earlier turn, and not the shell; told when nothing of it is left."""
        self._cleared = cleared
        self._talk.say(protocol.stop(self._command.grace, mark=mark))

    def drain(self) -> None:
        """Read what is in the pipes now."""
        self._streams.drain()

    def _listen(self) -> None:
        self._talk.listen(self._handle, self._lost)
        if self._command.timeout is not None:
            self._waking = self._loop.call_later(self._command.timeout + WAKE_SECONDS, self._wake)

    def _wake(self) -> None:
        """Have a far side that is stopped go on; one that was stopped before it knew the limits is told them again."""
        warden.wake()
        if self._told_at is not None:
            command, elapsed = self._command, time.monotonic() - self._told_at
            self._talk.say(protocol.go(timeout=command.timeout, grace=command.grace, elapsed=elapsed))

    def _watch_all(self, readers: list[int]) -> None:
        command = self._command
        streams = [*range(1, OUTPUTS[command.streams] + 1), *([SIDE] if command.side else [])]
        self._streams.watch(streams, readers)

    # Events from the far side.

    def _handle(self, event: Event) -> None:
        if event["event"] == "exited":
            self._exited(event)
        elif event["event"] == "started":
            self._pid = event["pid"]
            self._listener.started(event["pid"])
        elif event["event"] == "survivors":
            # The end of a shell that is being stopped is still to be told.
            self._idle = self._ended and not (event["left"] or event["stays"])
            self._talk.answered(event)
        elif event["event"] == "kept":
            self._pid = event["pid"]
            if not self._talk.answered(event):
                self._kept(event)
        elif event["event"] == "parted":
            assert self._parted is not None
            self._parted(event["mark"])
        elif event["event"] == "spent":
            assert self._spent is not None
            self._spent(event["budget"])
        elif event["event"] == "cleared":
            assert self._cleared is not None
            self._cleared()
        elif event["event"] == "failed":
            self._ended = self._idle = True
            self._listener.failed(start_error(event["step"], event["errno"], event["reason"], self._command))
        elif event["event"] == "bye":
            reason = "its runner went away before it was asked"
            self._talk.give_up(reason)
            self._lost(reason)

    def _kept(self, message: KeptEvent) -> None:
        if "error" in message:
            self._ended = True
            self._listener.failed(StartError(f"the job's files could not be made: {message['error']}"))
        else:
            self._listener.started(message["pid"])

    def _exited(self, message: ExitedEvent) -> None:
        warden.reap_intermediate()
        self._ended = True
        self._idle = not (message["left"] or message.get("stays"))
        # What the command wrote before it ended is in the pipe already: it belongs before the exit.
        self.drain()
        self._listener.exited(ending_of(message))

    def _lost(self, reason: str) -> None:
        if not self._ended:
            self._ended = True
            if not warden.ever_ready():
                self._listener.failed(BackendUnavailableError("the warden could not start"))
            elif self._unheard:
                self._listener.failed(StartError("cannot start the command: its runner ended before it was asked"))
            else:
                self._listener.exited(Ending(pid=self._pid, lost=reason))

    # Controls.

    def stop(self) -> None:
        self._talk.say(protocol.stop(self._command.grace))

    def signal(self, number: int) -> None:
        self._talk.say(protocol.send_signal(number))

    def write(self, data: bytes) -> None:
        fd = self._terminal()
        if self._input is None:
            from nacre.backends.terminal_input import TerminalInput

            self._input = TerminalInput(self._loop, fd)
        self._input.write(data)

    def resize(self, columns: int, rows: int) -> None:
        from nacre.warden.terminal import set_size

        set_size(self._terminal(), columns, rows)

    def _terminal(self) -> int:
        if self._command.terminal is None:
            raise pipes_only()
        fd = self._streams.terminal()
        if fd is None:
            raise terminal_gone()
        return fd

    async def survivors(self) -> tuple[Survivor, ...]:
        if self._idle or not self._talk.open:
            return ()
        try:
            answer = await self._talk.ask(protocol.NAME_SURVIVORS)
        except TimeoutError:
            return ()
        return tuple(survivor_of(entry) for entry in answer["survivors"]) if answer["event"] == "survivors" else ()

    def pause(self) -> None:
        self._streams.pause()

    async def keep(self, job: NewJob | None, *, adopt: int | None = None, apart: bool = False) -> None:
        """Hand the pipes to the far side; with `apart` a session's shell goes on without what it has left."""
        if not self._talk.open:
            return
        if self._input is not None:
            self._input.close()
        # The side stream, if there is one, is the last.
        taken = self._streams.take()
        fds = [fd for _, fd in taken]
        aside = sum(stream == SIDE for stream, _ in taken)
        spec: Any = None if job is None else job.message()
        message = protocol.keep(
            fds=len(fds), aside=aside, grace=self._command.grace, job=spec, adopt=adopt, apart=apart
        )
        if adopt is not None:
            self._ended = self._idle = False
        try:
            kept = await self._talk.ask(message, fds)
        except (OSError, TimeoutError) as error:
            raise BackendUnavailableError("the command's runner did not answer, so it cannot be kept") from error
        finally:
            for fd in fds:
                os.close(fd)
        if "error" in kept:
            raise StartError(f"the job's files could not be made: {kept['error']}")

    def leave_running(self) -> None:
        """Have a job go on without this program, which waited for it in the foreground."""
        self._talk.say(protocol.LEAVE)

    def release(self) -> None:
        if self._input is not None:
            self._input.close()
        self._streams.close()
        self._stop_waking()
        if not self._talk.leave():
            return
        if self._idle:
            warden.give(self._talk.link)
            if self._became_idle is not None:
                self._became_idle()
            return
        if not self._ended:
            warden.wake()
        self._talk.link.close()

    def _stop_waking(self) -> None:
        if self._waking is not None:
            self._waking.cancel()
            self._waking = None
