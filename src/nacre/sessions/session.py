"""A session: commands that share one bash, one at a time, and the state that outlives that bash."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from nacre import forks
from nacre.backend import Listener, Process
from nacre.command import Command, NewJob
from nacre.errors import InvalidRequestError, SessionBusyError
from nacre.sessions.checkpoint import Checkpoint
from nacre.sessions.live_bash import StartBash
from nacre.sessions.remembered_state import RememberedState
from nacre.sessions.session_shell import LEAST_SECONDS, SessionShell
from nacre.sessions.turn import Turn
from nacre.sessions.turn_spec import turn_spec

# A command's text in a message is cut to this length.
LABEL_CHARACTERS = 80


@dataclass(eq=False, slots=True)
class _Waiting:
    """A command that waits for its turn, in an event loop of any thread."""

    woken: asyncio.Future[None]
    has_turn: bool = False

    def wake(self) -> bool:
        """Wake the command's task; False if its event loop is gone."""
        loop = self.woken.get_loop()
        try:
            loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            return False  # the loop is closed
        return True

    def _wake(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)


class TurnQueue:
    """Gives commands their turns; a turn is taken, and passed on when its command has ended.

    The commands may be of several threads, each with an event loop of its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._label: Callable[[], str] | None = None
        """Spells the running command."""
        self._waiting: deque[_Waiting] = deque()

    @property
    def busy(self) -> bool:
        return self._label is not None

    def running_command(self) -> str:
        label = self._label
        return "" if label is None else label()[:LABEL_CHARACTERS]

    async def take(self, label: Callable[[], str], limit: float | None) -> None:
        """Wait for the turn of the command that `label` spells.

        Raises:
            SessionBusyError: another command ran for longer than the limit, in seconds.
        """
        with self._lock:
            if self._label is None:
                self._label = label
                return
            waiting = _Waiting(asyncio.get_running_loop().create_future())
            self._waiting.append(waiting)
        await self._wait(waiting, limit)
        self._label = label

    async def _wait(self, waiting: _Waiting, limit: float | None) -> None:
        try:
            async with asyncio.timeout(limit):
                await waiting.woken
        except BaseException as error:
            with self._lock:
                if not waiting.has_turn and waiting in self._waiting:
                    self._waiting.remove(waiting)
            if waiting.has_turn:
                # The turn came in the same moment.
                self.pass_on()
            if isinstance(error, TimeoutError):
                raise SessionBusyError(
                    f"timed out after {limit:g} s waiting for the session's running command: "
                    f"{self.running_command()!r}; wait for it, or run this one in another session"
                ) from error
            raise

    def pass_on(self) -> None:
        """End the turn; the next waiting command has its turn."""
        with self._lock:
            while self._waiting:
                waiting = self._waiting.popleft()
                waiting.has_turn = waiting.wake()
                if waiting.has_turn:
                    return
            self._label = None

    def clear(self) -> None:
        """Forget every command, in a process that was forked from theirs."""
        # Another thread of that process may have had the lock.
        self._lock = threading.Lock()
        self._label = None
        self._waiting.clear()


class ShellSession:
    """Commands that share one bash, one at a time.

    Its methods are what an engine asks of a session.
    """

    def __init__(self, cwd: str, *, with_rc: bool = False, start: StartBash | None = None) -> None:
        """With the rc, every new state begins with what the user's ~/.bashrc defines.

        `start` starts a bash, if it is not one of this machine.
        """
        self.used_at = time.monotonic()
        self._state = RememberedState(cwd)
        self._shell = SessionShell(self._state, with_rc=with_rc, start=start)
        self._queue = TurnQueue()
        self._closing = False
        """True if the shell ends after the running command."""
        forks.hold(self)

    @property
    def cwd(self) -> str:
        """The directory of the shell."""
        return self._state.cwd

    @property
    def busy(self) -> bool:
        return self._queue.busy

    @property
    def alive(self) -> bool:
        """True if the session has a shell now."""
        return self._shell.bash is not None

    async def turn(
        self,
        command: Command,
        *,
        label: Callable[[], str],
        env: Mapping[str, str] | None = None,
        here: bool = False,
        stays: bool = False,
        review: Callable[[Command], Awaitable[Command]] | None = None,
    ) -> SessionBackend:
        """Wait for the turn of this command, with a shell that is ready for it; close the backend afterwards.

        Args:
            label: spells the command for a message to others, without hidden values.
            env: variables for this command alone.
            here: True if it runs where the session is by then, whatever directory it was planned for.
            stays: True if the session stays in the command's directory.
            review: judges the command when the state of its shell is known, and may change it.

        Raises:
            SessionBusyError: the command's time was over before its turn.
            NacreError: no shell could be started.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        deadline = None if command.timeout is None else began + command.timeout
        await self._queue.take(label, command.timeout)
        try:
            bash = await self._shell.ready(command, deadline)
            waited = loop.time() - began
            if waited > LEAST_SECONDS and command.timeout is not None:
                command = replace(command, timeout=max(command.timeout - waited, LEAST_SECONDS))
            if review is not None:
                command = await review(command)
            if self._shell.late_rc is not None:
                command = self._shell.with_late_rc(command, self._shell.late_rc)
        except BaseException:
            self.pass_on()
            raise
        state = self._state
        spec = turn_spec(
            command,
            state.checkpoint,
            cwd=state.cwd,
            env=env,
            here=here,
            stays=stays,
            previous=state.code,
            debug=state.debug,
        )
        notice = "; ".join(state.notices) or None
        state.notices.clear()
        return SessionBackend(self, Turn(self._shell, bash, command, spec), command.timeout, notice)

    async def catch_up(self, command: Command, *, label: Callable[[], str]) -> None:
        """Wait until no command runs here and the state that the last one left is known.

        Raises:
            SessionBusyError: the command's time was over before.
            NacreError: no shell could be started.
        """
        deadline = None if command.timeout is None else asyncio.get_running_loop().time() + command.timeout
        await self._queue.take(label, command.timeout)
        try:
            await self._shell.ready(command, deadline)
        finally:
            self.pass_on()

    def pass_on(self) -> None:
        """Let the next command have its turn."""
        self.used_at = time.monotonic()
        self._queue.pass_on()
        if self._closing and not self._queue.busy:
            self._closing = False
            self._shell.close()

    async def settle(self) -> None:
        """Take the state that the last command has left, unless another runs now."""
        if self._queue.busy:
            return
        await self._queue.take(lambda: "", None)
        try:
            await self._shell.settle()
        finally:
            self.pass_on()

    def state_for(self, env: Mapping[str, str] | None) -> Checkpoint | None:
        """What the shell is known to define for a command with these variables of its own."""
        known = self._state.checkpoint or self._state.rc
        return known if known is None or not env else known.with_variables_of(None, env)

    def restoring(self, env: Mapping[str, str]) -> str:
        """The text that gives another shell the state of the last checkpoint."""
        if not (self._shell.env is None or self._shell.env == env):
            return ""
        return "\n".join(self._state.restoring(env))

    def restart(self) -> None:
        """Begin anew with the next command; raises while one runs."""
        if self._queue.busy:
            raise InvalidRequestError(
                f"the session runs {self._queue.running_command()!r}; wait for it or cancel it", field="restart"
            )
        self.forget()
        self._shell.restart()

    def forget(self) -> None:
        """End the shell and its state."""
        self._shell.forget()
        self.close()

    def close(self) -> None:
        """End the shell, after the running command if there is one; the state is kept until it is forgotten."""
        if self._queue.busy:
            self._closing = True
        else:
            self._shell.close()

    def drop(self, *, close: bool) -> None:
        """Leave shell and running command to the process that this one was forked from, or that lost them."""
        reason = "belongs to the process that this one was forked from" if close else "was cut off by the program"
        self._shell.forget_process(f"the last one {reason}", running=self._queue.busy)
        self._queue.clear()
        self._closing = False


class SessionBackend:
    """The place of one command in a session's shell."""

    keeps = True

    def __init__(self, session: ShellSession, turn: Turn, timeout: float | None, notice: str | None) -> None:
        self.notice = notice
        self.timeout = timeout
        """What is left of the command's time."""
        self._session = session
        self._turn = turn
        self._started = False

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        """Start the command whose turn it is."""
        assert job is None, "a job has a shell of its own"
        self._started = True
        self._turn.start(listener)
        return self._turn

    def close(self) -> None:
        """Let the next command have its turn."""
        if self._started and not self._turn.over:
            self._turn.release()
        self._session.pass_on()
