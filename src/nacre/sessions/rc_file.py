"""What the user's ~/.bashrc defines, read once: functions, aliases, options, PATH. Best effort, and only in memory.

A session begins with it, so that commands find what they find at the user's prompt, and no login shell is run for each.
The rc may do things that must not be cut off in the middle (rebuild a cache under a lock), so its shell is not ended
when a call has waited long enough for it: the call goes on, and a later one has the result. Its runner gives the shell
a minute, also when this program ends before. What it writes goes to a memory file, which needs no reader.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import threading
import time
from dataclasses import replace
from io import FileIO

from nacre.backends.contained_process import request_of
from nacre.backends.start_errors import start_error
from nacre.command import Command
from nacre.environment.secret_names import name_reason, words
from nacre.errors import NacreError
from nacre.sessions.checkpoint import DUMP, Checkpoint, read_dump
from nacre.warden import protocol
from nacre.warden.launch import quoted
from nacre.warden_client.path_query import UnansweredError, look
from nacre.warden_client.pool import warden
from nacre.warden_client.runner_link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import Bye, Exited, Failed

RC_NAME = ".bashrc"
# How long a call waits for it, from the moment when it was begun.
BUDGET_SECONDS = 2.0
# How long it may take in all; then its shell is asked to end, and killed after the grace.
LIMIT_SECONDS = 60.0
GRACE_SECONDS = 5.0
MOST_BYTES = 1024 * 1024
# Another thread may have heard of the end that this one waits for.
_LOOK_SECONDS = 0.05

# A command must mean the program: scripts are written for that, and the guard judges that.
_TOOLS = words(
    """
    awk basename cat chmod chown cp curl cut date df diff dirname docker du echo env find git grep head kill ln ls make
    mkdir mv node npm perl pip ps pwd python python3 rm rmdir rsync sed sh sort ssh stat sudo tail tar tee test touch tr
    uniq wc wget which xargs
    """
)
# `builtin` is what our own lines in the shell begin with.
_UNWANTED = f"_*|builtin|{'|'.join(sorted(_TOOLS))}"
_REFERENCE = re.compile(r"\$\{?[#!]?([A-Za-z_]\w*)", re.ASCII)
# What a function refers to and every shell has by itself.
_USUAL = words("HOME IFS OLDPWD PS1 PS2 PS3 PS4 PWD SHELL SHLVL TERM USER")
_OFF = ("onecmd", "monitor", "restricted", "errexit", "nounset", "xtrace", "verbose", "noexec")


class Snapshot:
    """One reading of the rc, from its start to its result."""

    def __init__(self, command: Command) -> None:
        """Start the shell that reads it; what goes wrong is the result."""
        self.began = time.monotonic()
        self.state: Checkpoint | None = None
        self.problem: str | None = None
        """Why there is no state, once that is known."""
        self._lock = threading.Lock()
        self._frames = protocol.FrameReader()
        self._link: Link | None = None
        self._file: FileIO | None = None
        asked = Command(
            script=_script(),
            cwd="/",
            env=command.env,
            timeout=LIMIT_SECONDS,
            grace=GRACE_SECONDS,
            shell=command.shell,
        )
        try:
            self._start(asked)
        except NacreError as error:
            self._end(f"{error}")

    def _start(self, command: Command) -> None:
        link = warden.take()
        try:
            # Closed by its object, also in a child that was forked from this program.
            file = FileIO(os.memfd_create("nacre-rc", os.MFD_CLOEXEC))
            try:
                # The rc is the user's, not the call's: it goes on when this program ends.
                link.ask(request_of(command, outlives=True), [file.fileno()], command.env)
            except OSError:
                file.close()
                raise
        except OSError as error:
            link.close()
            raise start_error("descriptors", error.errno, str(error), command) from error
        self._link, self._file = link, file

    def look(self) -> bool:
        """Whether the result is known by now."""
        with self._lock:
            if self._link is None:
                return True
            while self._link.wait(0):
                data = self._link.heard()
                if not data:
                    self._end("its runner was killed")
                    return True
                for message in self._frames.events(data):
                    if message["event"] == "exited" or message["event"] == "failed" or message["event"] == "bye":
                        self._take(message)
                        return True
            return False

    def _take(self, message: Exited | Failed | Bye) -> None:
        assert self._file is not None
        if message["event"] != "exited":
            self._end(f"its shell could not be started: {message.get('reason', 'its runner went away')}")
            return
        if message["why"] is not None:
            self._end(f"it took longer than {LIMIT_SECONDS:g} s")
            return
        data = os.pread(self._file.fileno(), MOST_BYTES + 1, 0)
        state = read_dump(data) if len(data) <= MOST_BYTES else None
        if state is None:
            self._end("it ended the shell, or defines too much")
            return
        self.state = chosen(state)
        link, self._link = self._link, None
        if link is not None and not message["left"]:
            warden.give(link)
        elif link is not None:
            # What it left running (an agent for keys) is left running.
            link.close()
        self._end(None)

    def _end(self, problem: str | None) -> None:
        if problem is not None:
            self.problem = f"~/{RC_NAME} was not read, so its functions and aliases are missing: {problem}"
        if self._link is not None:
            self._link.close()
            self._link = None
        if self._file is not None:
            self._file.close()
            self._file = None

    async def wait(self, timeout: float | None) -> bool:
        """Wait for the result, until it has taken its budget, but for no more than half of a call's timeout."""
        until = self.began + BUDGET_SECONDS
        if timeout is not None:
            until = min(until, time.monotonic() + timeout / 2)
        if self.look():
            return True
        assert self._link is not None
        loop = asyncio.get_running_loop()
        # Several sessions may wait, and a loop knows one reader of a descriptor.
        fd = os.dup(self._link.sock.fileno())
        said = asyncio.Event()
        loop.add_reader(fd, said.set)
        try:
            while not self.look():
                left = until - time.monotonic()
                if left <= 0:
                    return False
                said.clear()
                try:
                    async with asyncio.timeout(min(left, _LOOK_SECONDS)):
                        await said.wait()
                except TimeoutError:
                    continue
            return True
        finally:
            loop.remove_reader(fd)
            os.close(fd)

    def close(self) -> None:
        """Stop listening for the result; the shell that reads the rc goes on to its end."""
        with self._lock:
            if self._link is not None:
                self._end("nobody waited for it")

    @property
    def slow(self) -> str:
        """What the result of a command says that has not waited any longer."""
        return (
            f"~/{RC_NAME} takes long to read: this command runs without its functions, aliases and PATH, later ones "
            "have them as soon as it is read"
        )

    def adding(self, path: str) -> str:
        """The text that gives it to a shell in use, whose own definitions stay.

        Args:
            path: the PATH that the shell began with; if it has another by now, that stays as well.
        """
        state = self.state
        if state is None:
            return ""
        names = " ".join(name for name, _ in state.each_variable() if name != "PATH")
        switched_on = "".join(f"{line}\n" for line in state.shopt.splitlines() if line.startswith("shopt -s"))
        added = "\n".join(replace(state, shopt=switched_on).restoring({}))
        # What the shell has is printed before the eval begins, and comes back after what is added.
        own = (
            "\\builtin declare -f;\\builtin alias -p;"
            + (f"\\builtin declare -p {names} 2>/dev/null;" if names else "")
            + f"[[ $PATH = {quoted(path)} ]]||\\builtin declare -p PATH"
        )
        # A failure in it is not the script's: `||` keeps `set -e` out of it.
        return f"\\builtin eval {quoted(added)}$'\n'\"$({own})\"||:\n"


_snapshots: dict[tuple[object, ...], Snapshot] = {}
# What was made of an rc, by what it depends on; a program has one user, and hardly ever two environments.
_MOST_KNOWN = 8
_lock = threading.Lock()


async def snapshot(command: Command) -> Snapshot | None:
    """The rc of a command's user, which is begun to be read if it was not yet; None where there is no such file.

    Raises:
        UnansweredError: the user's home directory does not answer.
    """
    path = os.path.join(command.env.get("HOME") or "/nonexistent", RC_NAME)
    # Half of the time at most, so that there is some left for the command.
    most = BUDGET_SECONDS if command.timeout is None else min(BUDGET_SECONDS, command.timeout / 2)
    # A FIFO or a device has no stamp: it would hold its shell for a minute, and bash sources nothing else.
    stamp = await look("stamp", path, most)
    if stamp is None:
        return None
    key = (path, stamp, command.shell, tuple(sorted(command.env.items())))
    with _lock:
        known = _snapshots.get(key)
        if known is None:
            if len(_snapshots) >= _MOST_KNOWN:
                _forget()
            known = _snapshots[key] = Snapshot(command)
        return known


_early: set[asyncio.Task[None]] = set()


def begin(command: Command) -> None:
    """Begin to read it before a session needs it, where an event loop runs that can wait for the file system."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return
    task = loop.create_task(_begin(command))
    _early.add(task)
    task.add_done_callback(_early.discard)


async def _begin(command: Command) -> None:
    # The session that needs it says so.
    with contextlib.suppress(UnansweredError):
        await snapshot(command)


def forget() -> None:
    """Give back what unfinished readings hold open; their shells go on to their end."""
    with _lock:
        _forget()


def _forget() -> None:
    for one in _snapshots.values():
        one.close()
    _snapshots.clear()


def _forget_in_child() -> None:
    """After a fork: the readings are the parent's, and so are the sockets, which its warden's copy closes here."""
    global _lock
    _lock = threading.Lock()
    _snapshots.clear()


os.register_at_fork(after_in_child=_forget_in_child)


def _script() -> str:
    return (
        f"{{ . ~/{RC_NAME}; }} </dev/null >/dev/null 2>&1\n"
        # In blocks of 1024 bytes: what defines too much ends here.
        f"builtin ulimit -f {2 * MOST_BYTES // 1024}\n"
        "for __nacre in $(builtin compgen -A function); do\n"
        f'  case $__nacre in {_UNWANTED}) unset -f "$__nacre";; esac\n'
        "done\n"
        'for __nacre in "${!BASH_ALIASES[@]}"; do\n'
        f'  case $__nacre in {_UNWANTED}) unalias -- "$__nacre";; esac\n'
        "done\n"
        f"{DUMP}"
    )


def chosen(state: Checkpoint) -> Checkpoint:
    """What of the rc's state a session begins with. Pure."""
    needed = (set(_REFERENCE.findall(state.functions)) - _USUAL) | {"PATH"}
    variables = "".join(
        text
        for name, text in state.each_variable()
        if name in needed
        and not name.startswith(("BASH", "LC_"))
        and (name == "PATH" or name_reason(name, text) is None)
    )
    options = [line for line in state.options.splitlines() if line.startswith("set -o") and not line.endswith(_OFF)]
    shopt = state.shopt
    if state.aliases:
        shopt = shopt.replace("shopt -u expand_aliases", "shopt -s expand_aliases")
    return replace(
        state,
        directory="",
        shopt=shopt,
        variables=variables,
        traps="",
        umask="",
        arguments="",
        options="".join(f"{line}\n" for line in options),
    )
