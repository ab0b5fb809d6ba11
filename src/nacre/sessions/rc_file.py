"""What the user's ~/.bashrc defines, read once: functions, aliases, options, PATH. Best effort, and only in memory.

A session begins with it, so that commands find what they find at the user's prompt without a login shell for each.
The rc may do work that must not be interrupted (rebuild a cache under a lock). So its shell outlives the patience of a
call, which goes on without the result; a later call has it. The runner gives the shell a minute, even if this program
ends before. The shell writes to a memory file, which needs no reader.
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

from nacre.backends.start_errors import start_error
from nacre.backends.start_request import request_of
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
    from nacre.warden.messages import Bye, ExitedEvent, Failed

RC_NAME = ".bashrc"
# How long after the start of its shell a call waits for the result.
BUDGET_SECONDS = 2.0
# How long the shell may take in all; then TERM, and KILL after the grace.
LIMIT_SECONDS = 60.0
GRACE_SECONDS = 5.0
MOST_BYTES = 1024 * 1024
# How often a waiting call looks at the result: another thread may have read the message that it waits for.
_LOOK_SECONDS = 0.05

# Functions and aliases of these names are left out: scripts mean the program, and the guard judges the program.
_TOOLS = words(
    """
    awk basename cat chmod chown cp curl cut date df diff dirname docker du echo env find git grep head kill ln ls make
    mkdir mv node npm perl pip ps pwd python python3 rm rmdir rsync sed sh sort ssh stat sudo tail tar tee test touch tr
    uniq wc wget which xargs
    """
)
# Our own lines in the shell begin with `builtin`.
_UNWANTED = f"_*|builtin|{'|'.join(sorted(_TOOLS))}"
_REFERENCE = re.compile(r"\$\{?[#!]?([A-Za-z_]\w*)", re.ASCII)
# Variables that every shell has by itself.
_USUAL = words("HOME IFS OLDPWD PS1 PS2 PS3 PS4 PWD SHELL SHLVL TERM USER")
_OFF = ("onecmd", "monitor", "restricted", "errexit", "nounset", "xtrace", "verbose", "noexec")


class RcReading:
    """One reading of the rc, from its start to its result."""

    def __init__(self, command: Command) -> None:
        """Start the shell that reads it; a failure becomes the result."""
        self._began = time.monotonic()
        self.state: Checkpoint | None = None
        self.problem: str | None = None
        """Why there is no state, if the reading has failed."""
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
            # The object closes it, also in a forked child of this program.
            file = FileIO(os.memfd_create("nacre-rc", os.MFD_CLOEXEC))
            try:
                # The shell goes on when this program ends: the rc is the user's, not the call's.
                link.ask(request_of(command, outlives=True), [file.fileno()], command.env)
            except OSError:
                file.close()
                raise
        except OSError as error:
            link.close()
            raise start_error("descriptors", error.errno, str(error), command) from error
        self._link, self._file = link, file

    def look(self) -> bool:
        """Take what the runner has said; True if the result is known."""
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

    def _take(self, message: ExitedEvent | Failed | Bye) -> None:
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
            # The rc's background processes (an agent for keys) go on.
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
        """Wait for the result until its budget, or half of the call's timeout, is used up; True if it is known."""
        until = self._began + BUDGET_SECONDS
        if timeout is not None:
            until = min(until, time.monotonic() + timeout / 2)
        if self.look():
            return True
        assert self._link is not None
        loop = asyncio.get_running_loop()
        # A duplicate, because several sessions may wait and a loop has one reader per descriptor.
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
        """Stop listening for the result; the shell goes on to its end."""
        with self._lock:
            if self._link is not None:
                self._end("the program did not wait for it")

    @property
    def slow(self) -> str:
        """The notice of a command that runs without the result."""
        return (
            f"~/{RC_NAME} takes long to read: this command runs without its functions, aliases and PATH, later ones "
            "have them as soon as it is read"
        )

    def adding(self, path: str) -> str:
        """The text that adds the rc's definitions to a shell in use; the shell's own definitions win.

        Args:
            path: the PATH that the shell began with; a PATH that it has changed since stays.
        """
        state = self.state
        if state is None:
            return ""
        names = " ".join(name for name in state.variables if name != "PATH")
        switched_on = "".join(f"{line}\n" for line in state.shopt.splitlines() if line.startswith("shopt -s"))
        added = "\n".join(replace(state, shopt=switched_on).restoring({}))
        # The shell's own definitions are printed before the eval begins, and evaluated after the added ones.
        own = (
            "\\builtin declare -f;\\builtin alias -p;"
            + (f"\\builtin declare -p {names} 2>/dev/null;" if names else "")
            + f"[[ $PATH = {quoted(path)} ]]||\\builtin declare -p PATH"
        )
        # `||` keeps a failure in it from ending a shell with `set -e`.
        return f"\\builtin eval {quoted(added)}$'\n'\"$({own})\"||:\n"


_readings: dict[tuple[object, ...], RcReading] = {}
# A program has one user, and seldom two environments.
_MOST_KNOWN = 8
_lock = threading.Lock()


async def rc_reading(command: Command) -> RcReading | None:
    """The reading of the rc of a command's user, started if there is none yet; None if there is no such file.

    Raises:
        UnansweredError: the user's home directory does not answer.
    """
    path = os.path.join(command.env.get("HOME") or "/nonexistent", RC_NAME)
    # At most half of the time: the command needs the rest.
    most = BUDGET_SECONDS if command.timeout is None else min(BUDGET_SECONDS, command.timeout / 2)
    # Only a regular file has a stamp: a FIFO would hold its shell for a minute.
    stamp = await look("stamp", path, most)
    if stamp is None:
        return None
    key = (path, stamp, command.shell, tuple(sorted(command.env.items())))
    with _lock:
        known = _readings.get(key)
        if known is None:
            if len(_readings) >= _MOST_KNOWN:
                _forget()
            known = _readings[key] = RcReading(command)
        return known


_early: set[asyncio.Task[None]] = set()


def start_reading(command: Command) -> None:
    """Start the reading before a session needs it, if an event loop runs that can wait for the file system."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return
    task = loop.create_task(_start_early(command))
    _early.add(task)
    task.add_done_callback(_early.discard)


async def _start_early(command: Command) -> None:
    # The session that needs the rc reports this error.
    with contextlib.suppress(UnansweredError):
        await rc_reading(command)


def forget_readings() -> None:
    """Close what unfinished readings hold open; their shells go on to their end."""
    with _lock:
        _forget()


def _forget() -> None:
    for one in _readings.values():
        one.close()
    _readings.clear()


def _forget_in_child() -> None:
    """After a fork: the readings are the parent's. The child's copies of their sockets are closed with the warden."""
    global _lock
    _lock = threading.Lock()
    _readings.clear()


os.register_at_fork(after_in_child=_forget_in_child)


def _script() -> str:
    return (
        f"{{ . ~/{RC_NAME}; }} </dev/null >/dev/null 2>&1\n"
        # In blocks of 1024 bytes: ends a dump that is too large.
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
    """The part of the rc's state that a session begins with. Pure."""
    needed = (set(_REFERENCE.findall(state.function_texts)) - _USUAL) | {"PATH"}
    variables = "".join(
        text
        for name, text in state.variables.items()
        if name in needed
        and not name.startswith(("BASH", "LC_"))
        and (name == "PATH" or name_reason(name, text) is None)
    )
    options = [line for line in state.options.splitlines() if line.startswith("set -o") and not line.endswith(_OFF)]
    shopt = state.shopt
    if state.alias_texts:
        shopt = shopt.replace("shopt -u expand_aliases", "shopt -s expand_aliases")
    return replace(
        state,
        directory="",
        shopt=shopt,
        variable_texts=variables,
        traps="",
        umask="",
        arguments="",
        options="".join(f"{line}\n" for line in options),
    )
