"""One command in a session's shell, as a process like any other.

A short one ends before anything else is set up: the shell says so on its socket, and what it wrote is in the pipe. One
that lasts is attended like a command of its own, by a ContainedProcess. A turn that leaves something running ends its
shell, so that from there on it is an ordinary command whose shell has exited.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, Protocol

from nacre.backend import SIDE, Ending, Listener, PipesOnly, Survivor
from nacre.backends.contained_process import ContainedProcess
from nacre.backends.inline_wait import INLINE_MILLISECONDS, can_block_briefly
from nacre.backends.pipes import read_now, stop_listening
from nacre.backends.start_errors import start_error
from nacre.command import Command, NewJob
from nacre.errors import NacreError
from nacre.sessions.bash_process import Shell
from nacre.sessions.fifo import Fifo
from nacre.sessions.framing import TurnReport
from nacre.sessions.shell_loop import NO_DIRECTORY, NO_PIPE
from nacre.sessions.turn_spec import TurnSpec

Fate = Literal["waits", "left", "kept", "timeout", "stop", "exit", "signal", "spent", "lost"]
"""What became of the shell: it waits for the next turn, or why there is none any more."""


class Keeper(Protocol):
    """Whose shell it is."""

    def turn_over(self, shell: Shell, fate: Fate, frame: TurnReport | None) -> None:
        """The turn is over; told once."""

    def exited(self, code: int) -> None:
        """The turn has cost the shell, which had this exit code."""

    def remember(self, shell: Shell) -> None:
        """The shell has written its state down."""


# What a script left may be about to end: so often it is looked at again before the shell is given up for it.
LOOKS, LOOK_SECONDS = 4, 0.004
# Enough of the loop's text to know it by.
DRIVER_SHOWN = 32


class Turn(PipesOnly):
    def __init__(self, keeper: Keeper, shell: Shell, command: Command, spec: TurnSpec) -> None:
        self._keeper = keeper
        self._shell = shell
        self._command = command
        self._listener: Listener
        self._spec = spec
        self._loop = asyncio.get_running_loop()
        self._inner: ContainedProcess | None = None
        self._frame: TurnReport | None = None
        """The end of the script, once it was told."""
        self._refused: tuple[str, ...] = ()
        self._looks = 0
        self._leaving = False
        """Whether the shell was told to exit, because of what the script left running."""
        self._fifo: Fifo | None = None
        """The pipe that the shell was told to open for later turns, while what this one left keeps the old one."""
        self._apart = False
        """Whether the shell waits again, and what the script left is still to be kept."""
        self._left: tuple[Survivor, ...] = ()
        self._over = False

    def start(self, listener: Listener) -> None:
        """Hand the script over; returns when it has been, or when a short one has ended."""
        self._listener = listener
        shell = self._shell
        self._say(lambda nonce: shell.loop.turn(nonce, self._spec, switched=shell.switched))
        if can_block_briefly(self._loop) and shell.linger(INLINE_MILLISECONDS):
            self._look()
        if not self._over and self._inner is None:
            self._attend()

    def _say(self, text: Callable[[str], str]) -> None:
        try:
            self._shell.tell(text)
        except OSError:
            return  # a shell that is gone is seen at the socket; its runner says how it ended

    def _attend(self) -> None:
        if self._inner is not None:
            return
        shell = self._shell
        self._inner = ContainedProcess(shell.link, self._command, self)
        readers, shell.output = [shell.output], -1
        if self._command.side:
            readers.append(shell.side)
            shell.side = -1
        self._inner.attend(readers)
        self._loop.add_reader(shell.sock.fileno(), self._look)

    # What the shell says.

    def _look(self) -> None:
        try:
            frame = self._shell.heard()
        except EOFError:
            # Its runner reaps it and tells.
            self._attend()
            stop_listening(self._loop, self._shell.sock)
            return
        if frame is None or self._leaving:
            return
        if self._fifo is not None:
            self._switched(self._fifo, frame)
        else:
            self._take(frame)

    def _take(self, frame: TurnReport) -> None:
        if self._frame is not None:
            # The EXIT trap has been run: the status stays the script's.
            frame = frame._replace(status=self._frame.status)
        elif (action := self._shell.loop.own_exit_action(frame.action("EXIT"))) and not frame.spent:
            self._frame = frame
            code = frame.codes[0] if frame.codes else 0
            self._say(lambda nonce: self._shell.loop.exit_trap(nonce, action, code, switched=self._shell.switched))
            return
        self._ended(frame)

    def _ended(self, frame: TurnReport) -> None:
        """The script is at its end, and all that it wrote is in the pipe."""
        self._frame = frame
        if self._command.prologue:
            self._refused = tuple(self._shell.notes().refused)
        if self._inner is not None:
            self._inner.drain()
        else:
            read_now(self._shell.output, 1, self)
            if self._command.side:
                read_now(self._shell.side, SIDE, self)
        if frame.status == NO_DIRECTORY:
            self._finish("waits")
            self._listener.failed(_directory_error(self._command, frame.last))
            return
        if not frame.codes:
            self._lose()
            return
        code, *stages = frame.codes
        if frame.spent and not self._spec.keeps_state and not self._looks:
            self._keeper.remember(self._shell)
        if self._shell.is_alone(frame.last):
            if frame.spent:
                self._attend()
                self._finish("spent")
                self._listener.closed(1)
                self._listener.exited(self._ending(code, stages))
                return
            self._finish("waits")
            self._listener.closed(1)
            self._listener.exited(self._ending(code, stages))
        elif self._looks < LOOKS:
            # `>(tee log)` and the like are about to end by themselves; what they still write is read meanwhile.
            self._looks += 1
            self._attend()
            self._loop.call_later(LOOK_SECONDS, self._look_again, frame)
        elif self._command.side:
            # What is left may hold the third stream, of which a shell has only one.
            self._leave()
        else:
            assert self._inner is not None
            self._inner.part(self._parted)

    def _ending(self, code: int, stages: list[int]) -> Ending:
        return Ending(pid=self._shell.pid, code=code, stages=tuple(stages), refused=self._refused)

    def _lose(self) -> None:
        """The script has spoilt what its shell says: that it has ended is all that is known."""
        self._attend()
        self._finish("lost")
        self._listener.closed(1)
        self._listener.exited(Ending(pid=self._shell.pid, lost="its shell told no exit code"))

    def _look_again(self, frame: TurnReport) -> None:
        if not self._over:
            self._ended(frame)

    # A script that left something running.

    def _parted(self, mark: int | None) -> None:
        """What the shell starts from now on can be told from what it has left, which has this mark."""
        shell = self._shell
        if mark is None:
            self._leave()
            return
        try:
            fifo = self._fifo = Fifo()
        except OSError:
            self._leave()
            return
        shell.given.add(mark)
        self._say(lambda nonce: shell.loop.switch(nonce, fifo.path))

    def _switched(self, fifo: Fifo, frame: TurnReport) -> None:
        """The shell writes to another pipe from now on: it goes on, and the turn is one whose shell has exited."""
        self._fifo = None
        fifo.remove()
        if frame.status == NO_PIPE:
            os.close(fifo.reader)
            self._leave()
            return
        assert self._inner is not None
        assert self._frame is not None
        shell = self._shell
        shell.output, shell.switched = fifo.reader, True
        shell.forget_last(frame.last)
        self._apart = True
        self._inner.rest()
        self._inner.drain()
        code, *stages = self._frame.codes
        self._listener.exited(Ending(pid=shell.pid, code=code, stages=tuple(stages), refused=self._refused, left=True))

    def _leave(self) -> None:
        """End the shell, which cannot go on beside what it has left; its state is written down first."""
        assert self._frame is not None
        code = self._frame.codes[0]
        self._leaving = True
        self._say(lambda nonce: self._shell.loop.leave(nonce, code))

    def _with_facts(self, ending: Ending) -> Ending:
        """The ending with what the shell said of the script."""
        frame = self._frame
        if frame is None or ending.code is None:
            return ending
        code, *stages = frame.codes
        return replace(ending, code=code, stages=tuple(stages), refused=self._refused)

    def _finish(self, fate: Fate) -> None:
        self._over = True
        shell = self._shell
        if self._inner is not None:
            stop_listening(self._loop, self._shell.sock)
            if fate == "waits":
                readers = self._inner.leave()
                if self._apart:
                    # The old pipe is with what holds it, or nothing does.
                    for fd in readers:
                        os.close(fd)
                elif readers:
                    shell.output, *rest = readers
                    if rest:
                        (shell.side,) = rest
                # Otherwise the shell has ended right after its answer, which the next turn sees at its socket.
                self._inner = None
        if self._fifo is not None:
            self._fifo.remove()
            os.close(self._fifo.reader)
            self._fifo = None
        self._keeper.turn_over(shell, fate, self._frame)

    # What the attending process tells.

    def output(self, stream: int, buffer: bytearray, size: int) -> None:
        self._listener.output(stream, buffer, size)

    def closed(self, stream: int) -> None:
        self._listener.closed(stream)

    def started(self, pid: int) -> None:
        self._listener.started(pid)

    def exited(self, ending: Ending) -> None:
        if not self._over:
            fate = _fate(ending, leaving=self._leaving)
            if fate == "exit":
                notes = self._shell.notes()
                stages = notes.stages if self._command.stages else ()
                ending = replace(ending, refused=tuple(notes.refused), stages=tuple(stages))
            if ending.code is not None:
                self._keeper.exited(ending.code)
            self._finish(fate)
        self._listener.exited(self._with_facts(ending) if self._leaving else ending)

    def failed(self, error: NacreError) -> None:
        if not self._over:
            self._finish("lost")
        self._listener.failed(error)

    # Controls.

    def stop(self) -> None:
        # The shell does not go on then, even if all was over in the same moment.
        self._apart = False
        if self._inner is not None:
            self._inner.stop()

    def signal(self, number: int) -> None:
        if self._inner is not None:
            self._inner.signal(number)

    async def survivors(self) -> tuple[Survivor, ...]:
        found = await self._inner.survivors() if self._inner is not None else ()
        self._left = tuple(self._named(one) for one in found)
        return self._left

    def _named(self, survivor: Survivor) -> Survivor:
        """A part of the script that runs in the background by itself shows our text as its own: it is the script's."""
        if not survivor.argv or not survivor.argv[-1].startswith(self._shell.loop.driver[:DRIVER_SHOWN]):
            return survivor
        return replace(survivor, argv=(os.path.basename(self._command.shell), "-c", self._command.script))

    def pause(self) -> None:
        if self._inner is not None:
            self._inner.pause()

    async def keep(self, job: NewJob | None, *, adopt: int | None = None) -> None:
        assert self._inner is not None
        if self._apart:
            await self._inner.keep(job, adopt=adopt, apart=True)
            self._finish("waits")
            return
        if not self._over:
            # From here on the shell runs this one script: when it finds nobody to tell, it ends with its status.
            self._finish("kept")
        await self._inner.keep(job, adopt=adopt)

    @property
    def over(self) -> bool:
        return self._over

    def release(self) -> None:
        if self._apart and not self._over and not self._left:
            # What was left has ended meanwhile.
            self._finish("waits")
        if not self._over:
            self._finish("stop")
            if self._inner is None:
                # Nobody has attended it: its runner hears of the end from here.
                self._shell.link.close()
        if self._inner is not None:
            self._inner.release()
            self._inner = None


def _fate(ending: Ending, *, leaving: bool) -> Fate:
    if leaving:
        return "left"
    if ending.why is not None:
        return "timeout" if ending.why == "timeout" else "stop"
    if ending.code is not None:
        return "exit"
    return "signal" if ending.signal is not None else "lost"


def _directory_error(command: Command, said: str) -> NacreError:
    """Why the shell could not go there, of what bash says of it in English."""
    reason = said.strip().rpartition(": ")[2]
    number = next((one for one in errno.errorcode if os.strerror(one) == reason), None)
    return start_error("cwd", number, reason or "the shell could not enter it", command)
