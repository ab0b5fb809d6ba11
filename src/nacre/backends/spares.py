"""Shells started in advance: a call only hands over its script.

A spare is a runner with a waiting bash, in the directory and with the environment and pipes that the last call had.
It is used for one command, like any shell, and only for a call in the same surroundings; others start as usual. What
was started in advance is what costs: the process, its session and containment.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time

from nacre.backends.pipes import OUTPUTS, make_pipes
from nacre.backends.wardens import Link, is_quiet, warden
from nacre.command import Command
from nacre.errors import NacreError
from nacre.warden import launch

# The far side gives an unused spare up after 30 s; well before that we stop counting on it.
USABLE_SECONDS = 20.0
# In all surroundings together: a shell costs a few megabytes.
MOST_SPARES = 4
# Plain words cannot be a syntax error. Bash would name `eval` in its message about one, so anything that might be one
# is started as usual. A keyword in the place of a command might.
_PLAIN = re.compile(r"[A-Za-z0-9_./:,+@%=^ \t-]+\Z")
_KEYWORDS = {
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select",
    "function", "time", "coproc", "[[", "]]",
}  # fmt: skip


class Spare:
    """A waiting shell and the ends of its pipes."""

    def __init__(self, link: Link, command: Command, readers: list[int], go: int, script: int) -> None:
        self.link = link
        self.readers = readers
        self.born = time.monotonic()
        self._go = go
        self._script = script
        self._env = command.env
        self._cwd = command.cwd
        self._streams = command.streams
        self._shell = command.shell
        self._directory = _identity(command.cwd)

    def fits(self, command: Command) -> bool:
        return (
            self._env is command.env
            and self._cwd == command.cwd
            and self._streams == command.streams
            and self._shell == command.shell
        )

    def is_fresh(self) -> bool:
        """Whether it can still be counted on: not too old, its runner there, its directory the same one."""
        return (
            time.monotonic() - self.born < USABLE_SECONDS
            and is_quiet(self.link.sock)
            and self._directory is not None
            and _identity(self._cwd) == self._directory
        )

    def run(self, script: str) -> None:
        """Hand over the script; the shell goes at once."""
        text = os.fsencode(launch.FORGET + script) + b"\0"
        at = 0
        while at < len(text):
            # Positioned writes: the shell shares this descriptor's offset and reads from where it stands.
            at += os.pwrite(self._script, text[at:], at)
        os.write(self._go, b"\n")
        self._close_handles()

    def _close_handles(self) -> None:
        for fd in (self._go, self._script):
            if fd >= 0:
                os.close(fd)
        self._go = self._script = -1

    def close(self) -> None:
        """Give it up; its runner ends the shell."""
        self._close_handles()
        for fd in self.readers:
            os.close(fd)
        self.readers = []
        self.link.close()


def _identity(path: str) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def is_suited(command: Command) -> bool:
    """Whether a waiting shell can run it just as one that is started for it would."""
    if command.prologue or command.stages or command.side or command.stdin is not None:
        return False
    if "BASH_ENV" in command.env or not _PLAIN.match(command.script):
        return False
    return command.script.split(None, 1)[0] not in _KEYWORDS


class Spares:
    """The shelf of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shelf: list[Spare] = []
        self._asked = 0

    def take(self, command: Command) -> Spare | None:
        """A fresh spare for this command, if there is one."""
        with self._lock:
            for spare in self._shelf:
                if spare.fits(command):
                    self._shelf.remove(spare)
                    if spare.is_fresh():
                        return spare
                    spare.close()
                    return None
        return None

    def refill(self, command: Command, wanted: int) -> None:
        """See to it that the next calls in these surroundings find a spare; called when nobody waits."""
        with self._lock:
            self._asked += 1
            # A program that makes a single call needs none.
            if self._asked < 2:
                return
            fitting = [spare for spare in self._shelf if spare.fits(command)]
            for spare in fitting:
                if time.monotonic() - spare.born >= USABLE_SECONDS:
                    self._shelf.remove(spare)
                    spare.close()
                    fitting.remove(spare)
            for _ in range(wanted - len(fitting)):
                while len(self._shelf) >= MOST_SPARES:
                    self._shelf.pop(0).close()
                self._shelf.append(_start(command))

    def close(self) -> None:
        with self._lock:
            for spare in self._shelf:
                spare.close()
            self._shelf = []
            self._asked = 0


def _start(command: Command) -> Spare:
    with contextlib.ExitStack() as on_failure, contextlib.ExitStack() as always:
        readers, writers = make_pipes(command)
        for fd in readers:
            on_failure.callback(os.close, fd)
        for fd in writers:
            always.callback(os.close, fd)
        waiting, go = os.pipe()
        always.callback(os.close, waiting)
        on_failure.callback(os.close, go)
        script = os.memfd_create("nacre-script")
        on_failure.callback(os.close, script)
        link = warden.take()
        on_failure.callback(link.close)
        link.ask(_request(command), [*writers, waiting, script], command.env)
        on_failure.pop_all()
    return Spare(link, command, readers, go, script)


def _request(command: Command) -> dict[str, object]:
    return {
        "op": "run",
        "spare": True,
        "script": launch.SPARE,
        "shell": command.shell,
        "cwd": command.cwd,
        "namesCwd": command.names_cwd,
        "bashEnv": None,
        "prologue": "",
        "stages": False,
        "outputs": OUTPUTS[command.streams],
        "stdin": None,
    }


spares = Spares()
# A child of a fork must neither use nor keep alive what belongs to its parent.
os.register_at_fork(after_in_child=spares.close)


def refill(command: Command, wanted: int) -> None:
    """Start spares for the next calls, if that can be done; no call depends on it."""
    try:
        spares.refill(command, wanted)
    except (NacreError, OSError):
        # The next call starts its shell itself, and says what is wrong if it cannot.
        spares.close()
