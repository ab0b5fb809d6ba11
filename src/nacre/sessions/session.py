"""A session: the state that outlives its shells, and the order of its commands.

While its shell lives, the state is the shell's. After each turn that may have changed it, the shell writes it down, in
memory, while its caller reads the answer; so when a turn costs the shell, the next one gets a fresh bash in that state.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from nacre import forks
from nacre.backends.lingering import may_linger
from nacre.command import Command
from nacre.errors import InvalidRequestError, SessionBusyError, WorkingDirectoryError
from nacre.process import AtOnce, Listener, Process
from nacre.sessions import bootstrap
from nacre.sessions.checkpoint import DUMP, MOST_BYTES, Checkpoint, read_dump
from nacre.sessions.framing import Frame
from nacre.sessions.known import KnownShell
from nacre.sessions.quiet import command_words
from nacre.sessions.shell import Shell, start_shell
from nacre.sessions.snapshot import Snapshot, snapshot
from nacre.sessions.turn import Fate, Scope, Turn

# How long a shell that is to be ended may take to write its state down; it takes a fraction of one.
DUMP_MILLISECONDS = 200
# A command's text, to recognise it in a message.
LABEL_CHARACTERS = 80
# A wait for one's turn that is shorter than this is not taken off the time limit.
NO_WAIT_SECONDS = 0.01

# A command takes two, and one or two more when it leaves something.
_MOST_TURNS = bootstrap.MOST_TURNS - 4

_LOST = {
    "timeout": "the last one was ended by the timeout",
    "stop": "the last one was ended with its cancelled command",
    "kept": "the last one went on in the background with its command",
    "left": "the last one stayed with what its command left running",
    "signal": "the last one was killed",
    "lost": "the last one was lost",
}
# What the next shell does not have of one that has left something running.
JOBS_LOST = "$!, jobs and wait know no earlier background process, those that run go on as jobs"
RESTORED = "directory, variables and functions are as before"
BEFORE_LAST = "directory, variables and functions are as they were before its last command"
ANEW = "new shell: the last one ended (exit, exec, or set -e and a failure), so directory and variables start anew"
SURROUNDINGS = "new shell: the program's environment has changed, so directory and variables start anew"
TOO_LARGE = (
    "the shell's state is too large to be kept whole: only its directory and exported variables would survive it"
)


class Session:
    """Commands that share one bash, one at a time."""

    def __init__(self, cwd: str, *, with_rc: bool = False) -> None:
        """With the rc, every new state begins with what the user's ~/.bashrc defines."""
        self.cwd = cwd
        """Where the shell is."""
        self.used_at = time.monotonic()
        self._home = cwd
        self._with_rc = with_rc
        self._initial = ""
        self._rc: Snapshot | None = None
        """The user's rc, while the session's shell has begun without it."""
        self._env: Mapping[str, str] | None = None
        self._shell: Shell | None = None
        self._checkpoint: Checkpoint | None = None
        self._known: KnownShell | None = None
        self._dumping = False
        self._quiet = False
        """Whether the script of this turn leaves the shell as it is."""
        self._notices: list[str] = []
        self._running: Callable[[], str] | None = None
        """Spells the command that runs."""
        self._closing = False
        """Whether the shell is to end after the command that runs."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        forks.hold(self)

    def drop(self, *, close: bool) -> None:
        """Begin a new shell with the last checkpoint; in a fork the command that runs is the parent's."""
        if self._shell is not None or self._running is not None:
            reason = "belongs to the process that this one was forked from" if close else "was cut off by the program"
            # What the last command changed is being written down for the parent, which reads it.
            state = BEFORE_LAST if self._dumping or self._running is not None else RESTORED
            self._notices = [f"new shell: the last one {reason}; {state}"]
        self._shell = None
        self._running = None
        self._dumping = self._closing = False
        self._waiting.clear()

    # One turn at a time.

    async def turn(
        self,
        command: Command,
        *,
        label: Callable[[], str],
        env: Mapping[str, str] | None = None,
        here: bool = False,
        stays: bool = False,
        lingers: bool = True,
        review: Callable[[Command], Awaitable[Command]] | None = None,
    ) -> SessionBackend:
        """Wait for the turn of this command, and have a shell ready for it; the backend is to be closed afterwards.

        Args:
            label: spells the command for a message to others, without hidden values.
            env: variables for this command alone.
            here: whether it runs where the session is by then, whatever directory it was planned for.
            stays: whether the session stays in the command's directory.
            lingers: whether a command that ends at once may have ended before its start returns.
            review: judges the command when the state of the shell that runs it is known, and may change it.

        Raises:
            SessionBusyError: its time was up before its turn.
            NacreError: no shell could be started.
        """
        began = time.monotonic()
        await self._take_turn(label, command.timeout)
        try:
            waited = time.monotonic() - began
            if waited > NO_WAIT_SECONDS and command.timeout is not None:
                command = replace(command, timeout=max(command.timeout - waited, NO_WAIT_SECONDS))
            shell = await self._ready(command)
            if review is not None:
                command = await review(command)
            command = self._with_late_rc(command)
            lingers = lingers and await may_linger(asyncio.get_running_loop())
        except BaseException:
            self._pass_on()
            raise
        enter = None if here or command.cwd == self.cwd else command.cwd
        back = None if enter is None or stays else self.cwd
        self._quiet = self._is_quiet(command) and (enter is None or back is not None)
        scope = Scope(env=env, enter=enter, back=back, quiet=self._quiet, lingers=lingers)
        notice = "; ".join(self._notices) or None
        self._notices = []
        return SessionBackend(self, shell, scope, command, notice)

    async def _take_turn(self, label: Callable[[], str], limit: float | None) -> None:
        if self._running is not None:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                async with asyncio.timeout(limit):
                    await turn
            except BaseException as error:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                elif turn.done() and not turn.cancelled():
                    # It was given to us in the same moment.
                    self._pass_on()
                if isinstance(error, TimeoutError):
                    raise SessionBusyError(
                        f"timed out after {limit:g} s waiting for the session's running command: "
                        f"{self._running_command()!r}; wait for it, or run this one in another session"
                    ) from error
                raise
        self._running = label

    def _running_command(self) -> str:
        return "" if self._running is None else self._running()[:LABEL_CHARACTERS]

    def _pass_on(self) -> None:
        self.used_at = time.monotonic()
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done() and not turn.get_loop().is_closed():
                turn.set_result(None)
                return
        self._running = None
        if self._closing:
            self._closing = False
            self.close()

    # The shell.

    async def _ready(self, command: Command) -> Shell:
        shell = self._shell
        if shell is not None and self._dumping:
            try:
                self._remember(shell, await shell.answer())
            except EOFError:
                self._dumping = False
        if shell is not None and self._is_usable(shell) and (shell.env is command.env or self._fits(command)):
            return shell
        if shell is not None:
            self._drop(shell)
        return await self._renew(command)

    def _fits(self, command: Command) -> bool:
        return self._env is None or self._env == command.env

    @staticmethod
    def _is_usable(shell: Shell) -> bool:
        return shell.turns < _MOST_TURNS and shell.is_there()

    def _drop(self, shell: Shell) -> None:
        shell.close()
        self._shell = None
        if shell.turns < _MOST_TURNS and not self._notices:
            self._notices.append(_new_shell("the last one was killed", shell))
        elif shell.given:
            self._notices.append(_new_shell("the last one was asked as often as it can be", shell))

    async def _renew(self, command: Command) -> Shell:
        if not self._fits(command):
            self._checkpoint = None
            self.cwd = self._home
            self._notices = [SURROUNDINGS]
        state = self._checkpoint
        self._env = command.env
        if state is None and self._with_rc:
            await self._take_rc(command)
        restoring = self._initial if state is None else state.restoring(command.env)
        try:
            shell = await start_shell(replace(command, cwd=self.cwd), restoring)
        except WorkingDirectoryError as error:
            if self.cwd == self._home:
                raise
            self._notices.append(f"the session's directory {self.cwd} {error.reason}; it begins in {self._home}")
            self.cwd = self._home
            shell = await start_shell(replace(command, cwd=self._home), restoring)
        self._shell = shell
        return shell

    async def _take_rc(self, command: Command) -> None:
        """Have what the user's rc defines, if that is known in time."""
        self._initial, self._rc = "", None
        rc = snapshot(command)
        if rc is None:
            return
        if await rc.wait(command.timeout):
            self._initial = rc.initial
            if rc.problem is not None:
                self._notices.append(rc.problem)
        else:
            self._rc = rc
            self._notices.append(rc.slow)

    def _with_late_rc(self, command: Command) -> Command:
        """The command, with what the rc defines before it where the shell has begun without and it is known now."""
        rc = self._rc
        if rc is None or not rc.look():
            return command
        self._rc = None
        if rc.problem is not None:
            self._notices.append(rc.problem)
            return command
        self._initial = rc.initial
        return replace(command, prologue=rc.adding(command.env.get("PATH", "")) + command.prologue)

    # After a turn.

    def turn_over(self, shell: Shell, fate: Fate, frame: Frame | None) -> None:
        if fate == "waits":
            if not self._quiet:
                if frame is not None and frame.cwd:
                    self.cwd = frame.cwd
                self._write_down(shell)
            return
        self._shell = None
        if fate == "left" and frame is not None:
            self.cwd = frame.cwd
            self._remember(shell, frame)
        shell.let_go()
        if fate == "exit":
            self._checkpoint = None
            self.cwd = self._home
            self._notices.append(ANEW)
        else:
            if self._checkpoint is not None:
                self.cwd = self._checkpoint.directory
            self._notices.append(_new_shell(_LOST[fate], shell, jobs=fate == "left"))

    def _is_quiet(self, command: Command) -> bool:
        """Whether the script can change nothing: its words mean what they say, and nothing is run behind its back."""
        state = self._checkpoint
        if state is None or command.prologue or state.traps:
            return False
        words = command_words(command.script)
        return words is not None and words.isdisjoint(state.names)

    def _write_down(self, shell: Shell) -> None:
        """Have the shell write its state down; nobody waits for that."""
        try:
            shell.tell(lambda nonce: bootstrap.dump(nonce, DUMP))
        except OSError:
            return  # it is gone: the next turn sees that
        self._dumping = True

    def _remember(self, shell: Shell, frame: Frame) -> None:
        self._dumping = False
        data = shell.state(16 * MOST_BYTES)
        state = read_dump(data)
        if state is None:
            self._notices.append(TOO_LARGE)
            return
        if len(data) > MOST_BYTES:
            state = state.exports()
            self._notices.append(TOO_LARGE)
        self._checkpoint = state

    @property
    def known(self) -> KnownShell | None:
        """What the shell has defined, as it was written down last; in a turn, what the command will find."""
        state = self._checkpoint
        if state is None:
            return None
        if self._known is None or self._known.checkpoint is not state:
            self._known = KnownShell(state)
        return self._known

    def restoring(self, env: Mapping[str, str]) -> str:
        """The text that gives a shell of its own the state of the last checkpoint."""
        if self._checkpoint is None or not (self._env is None or self._env == env):
            return self._initial
        return self._checkpoint.restoring(env)

    # The end.

    @property
    def busy(self) -> bool:
        return self._running is not None

    @property
    def alive(self) -> bool:
        """Whether it has a shell now."""
        return self._shell is not None

    def restart(self) -> None:
        """Begin anew with the next command; raises while one runs."""
        if self._running is not None:
            raise InvalidRequestError(
                f"the session runs {self._running_command()!r}; wait for it or cancel it", field="restart"
            )
        self.forget()
        self._env = None
        self._notices = []
        self.cwd = self._home

    def forget(self) -> None:
        """End the shell and its state."""
        self._dumping = False
        self._checkpoint = None
        self.close()

    def close(self) -> None:
        """End the shell; its state is kept until the session itself is forgotten."""
        if self._running is not None:
            # The command that runs is its caller's to end.
            self._closing = True
            return
        shell, self._shell = self._shell, None
        if shell is None:
            return
        if self._dumping:
            self._collect(shell)
        if shell.given:
            self._notices.append(_new_shell("the last one was ended while it was not used", shell))
        shell.close()

    def _collect(self, shell: Shell) -> None:
        """Take what the shell is writing down, before it is ended; one that takes too long keeps what is known."""
        self._dumping = False
        with contextlib.suppress(EOFError):
            if shell.linger(DUMP_MILLISECONDS) and (frame := shell.heard()) is not None:
                self._remember(shell, frame)


def _new_shell(why: str, shell: Shell, *, jobs: bool = False) -> str:
    """What the first result of the next shell says of the last one."""
    lost = f"; {JOBS_LOST}" if jobs or shell.given else ""
    return f"new shell: {why}; {RESTORED}{lost}"


class SessionBackend:
    """The shell of a session, for one command."""

    keeps = True

    def __init__(self, session: Session, shell: Shell, scope: Scope, command: Command, notice: str | None) -> None:
        """With the command whose turn it is, and what is left of its time."""
        self.notice = notice
        self._command = command
        self._turn: Turn | None = None
        self._session = session
        self._shell = shell
        self._scope = scope

    def at_once(self) -> AtOnce | None:
        """Run a script that can change nothing, if it ends at once; else `start` goes on with it."""
        if not self._scope.quiet or not self._scope.lingers or self._command.side:
            return None
        return self._begin().at_once()

    def start(self, command: Command, listener: Listener, *, job: Mapping[str, Any] | None = None) -> Process:
        assert job is None, "a job has a shell of its own"
        turn = self._begin() if self._turn is None else self._turn
        turn.start(listener)
        return turn

    def _begin(self) -> Turn:
        self._turn = Turn(self._session, self._shell, self._command, self._scope)
        return self._turn

    def close(self) -> None:
        """Let the next command have its turn."""
        if self._turn is not None and not self._turn.over:
            # Whoever began it did not go on with it.
            self._turn.release()
        self._session._pass_on()
