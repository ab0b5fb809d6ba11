"""Starts a shell in a sandbox: places it in the runner's cell, and takes rights from it before it is bash.

What is host's is opened before the namespaces are entered; what is the sandbox's, its directory above all, after.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import termios
import time

from nacre.warden import children, overlay_entry
from nacre.warden.cell import Cell
from nacre.warden.confinement import confine
from nacre.warden.placeholders import Placeholders
from nacre.warden.start_actions import apply_actions, ignored_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    from nacre.warden.launch import FileAction, Launch
    from nacre.warden.messages import Sandbox
    from nacre.warden.start import Startable


# How long the end of a runner waits for the end of its program.
_EXIT_ROUNDS, _EXIT_ROUND_SECONDS = 20, 0.01


class PlaceError(OSError):
    """A shell that could not be placed, and the step that failed."""

    def __init__(self, step: str, number: int, reason: str) -> None:
        super().__init__(number, reason)
        self.step = step

    def __str__(self) -> str:
        return str(self.strerror)


class Cells:
    """The cell of a runner, made for its first command in a sandbox and kept for the next in the same one."""

    def __init__(self) -> None:
        self._cell: Cell | None = None
        self._placeholders: list[Placeholders] = []
        self._lock = -1
        self._temporary = ""

    def cell_for(self, sandbox: Sandbox, terminal: str | None, overlay: list[str] | None) -> Cell | None:
        """The cell of a sandbox; None for one that needs no namespaces.

        Args:
            terminal: the path of the command's terminal, which has no name in there but /dev/console.
            overlay: the layers of a try, which has a cell of its own.

        Raises:
            PlaceError: it cannot be made.
        """
        words = sandbox.get("words")
        if words is None:
            self.close()
            return None
        if terminal is not None:
            words = [*words, "--dev-bind", terminal, "/dev/console"]
        hosts = sandbox.get("hosts")
        same = self._cell is not None and self._cell.words == words and self._cell.hosts == hosts
        if self._cell is not None and same and overlay is None and self._cell.usable:
            return self._cell
        self.close()
        try:
            self._take_temporary(sandbox)
            for held in sandbox.get("placeholders", ()):
                self._placeholders.append(Placeholders(*held))
            before = [] if overlay is None else overlay_entry.words_of(overlay, "/", sandbox)
            refusals = sandbox.get("refusals", "")
            self._cell = Cell(words, before=before, hosts=hosts, refusals=refusals)  # type: ignore[arg-type]
        except OSError as error:
            self.close()
            raise PlaceError("sandbox", error.errno or 0, str(error.strerror or error)) from error
        return self._cell

    @property
    def orphans(self) -> int | None:
        """The descriptor that shows what is in the cell beside the shell, where there is a cell."""
        return None if self._cell is None else self._cell.orphans

    def _take_temporary(self, sandbox: Sandbox) -> None:
        """Hold the private directory for temporary files, so that no other process removes it."""
        if "temporary" in sandbox:
            self._temporary = sandbox["temporary"]
            os.makedirs(self._temporary, mode=0o700, exist_ok=True)
            self._lock = os.open(self._temporary, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self._lock, fcntl.LOCK_SH)

    def close(self, *, last: bool = False) -> None:
        """End the cell and take away what was made for it.

        Args:
            last: True if this runner ends: perhaps with its program, whose private directory then has no other user.
        """
        if self._cell is not None:
            self._cell.close()
            self._cell = None
        for placeholders in self._placeholders:
            placeholders.release()
        self._placeholders = []
        if self._lock >= 0:
            _remove_unused(self._lock, self._temporary, rounds=_EXIT_ROUNDS if last else 1)
            os.close(self._lock)
            self._lock = -1


def _remove_unused(lock: int, path: str, *, rounds: int) -> None:
    """Remove a private directory that no other process holds; a program that ends lets it go in a moment."""
    for _ in range(rounds):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(_EXIT_ROUND_SECONDS)
            continue
        # Loaded by the few runners that remove one.
        import shutil

        shutil.rmtree(path, ignore_errors=True)
        try:
            os.unlink(f"{path}.refusals")
        except FileNotFoundError:
            pass  # nothing was refused
        return


def place(
    prepared: Launch, actions: list[FileAction], env: Mapping[bytes, bytes], request: Startable, cell: Cell | None
) -> int:
    """Start a shell where and as its sandbox says; returns its pid, which is a child's of this process.

    Raises:
        PlaceError: it could not be started.
    """
    reader, writer = os.pipe()
    runner = os.getpid()
    try:
        first = os.fork()
        if first == 0:
            _enter(prepared, actions, env, request, cell, runner, writer)
        os.close(writer)
        writer = -1
        if cell is not None:
            # Its end makes the shell, which it has forked into the pid namespace, a child of this process.
            os.waitpid(first, 0)
        said = b""
        # The other end closes at the exec, or at the end of a child that could not get there.
        while more := os.read(reader, 4096):
            said += more
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)
    pid, _, failure = said.partition(b"\n")
    if failure:
        if pid:
            os.waitpid(int(pid), 0)
        step, number, reason = failure.split(b"\0")
        raise PlaceError(step.decode(), int(number), reason.decode("utf-8", "replace"))
    if not pid:
        raise PlaceError("sandbox", errno.ECHILD, "the start of the shell was killed")
    return int(pid)


def _enter(
    prepared: Launch,
    actions: list[FileAction],
    env: Mapping[bytes, bytes],
    request: Startable,
    cell: Cell | None,
    runner: int,
    writer: int,
) -> NoReturn:
    """In the child: become the shell, or have a child of it do so."""
    step, told = "sandbox", False
    try:
        apply_actions(actions)
        if "budget" in request:
            from nacre.warden import budget_watch

            # What is forked from here inherits the group and the limits.
            budget_watch.limit_shell(request["budget"], runner=runner, lives_on=request["op"] == "session")
        if cell is None:
            os.write(writer, b"%d\n" % os.getpid())
            told = True
            children.die_with_parent(runner)
        else:
            cell.enter()
            if "terminal" not in request:
                step = "cwd"
                os.chdir(request["cwd"])
                step = "sandbox"
                confine(request["sandbox"])
                step = "shell"
                # Quicker than a fork of this process, and with every right given up already.
                inside = os.posix_spawn(
                    prepared.path, prepared.argv, env, setsid=True, setsigmask=(), setsigdef=ignored_signals()
                )
            else:
                inside = os.fork()
            if inside:
                os.write(writer, b"%d\n" % inside)
                os._exit(0)
            told = True
        os.setsid()
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in ignored_signals():
            signal.signal(number, signal.SIG_DFL)
        if "terminal" in request:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        step = "cwd"
        os.chdir(request["cwd"])
        step = "sandbox"
        if cell is not None or "overlay" not in request:
            # Without a cell the program that mounts the overlay gives up its rights after that.
            confine(request["sandbox"])
        step = "shell"
        os.execve(prepared.path, prepared.argv, env)
    except OSError as error:
        reason = os.fsencode(error.strerror or str(error))
        os.write(writer, (b"" if told else b"\n") + b"%s\0%d\0%s" % (step.encode(), error.errno or 0, reason))
    finally:
        os._exit(1)
