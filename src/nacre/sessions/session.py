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

from nacre import forks
from nacre.backend import Listener, Process
from nacre.command import Command, NewJob
from nacre.errors import InvalidRequestError, SessionBusyError, StartError, WorkingDirectoryError
from nacre.sessions.bash_process import Shell, start_shell
from nacre.sessions.checkpoint import (
    MOST_BYTES,
    Checkpoint,
    action_of,
    read_beginning,
    read_dump,
)
from nacre.sessions.framing import TurnReport
from nacre.sessions.rc_file import RcReading, snapshot
from nacre.sessions.shell_loop import GUARDED, MOST_TURNS
from nacre.sessions.turn import Fate, Turn
from nacre.sessions.turn_spec import TurnSpec, turn_spec
from nacre.warden_client.path_query import UnansweredError

# How long a shell that is to be ended may take to write its state down; it takes a fraction of one.
DUMP_MILLISECONDS = 200
# … and how long a command waits for that, or half of its own time: bash lists its variables in the square of their
# number, which takes that long with some 20,000 of them.
DUMP_SECONDS = 2.0
# A command's text, to recognise it in a message.
LABEL_CHARACTERS = 80
# A wait for one's turn that is shorter than this is not taken off the time limit.
NO_WAIT_SECONDS = 0.01

# A command takes two, and one or two more when it leaves something.
_MOST_TURNS = MOST_TURNS - 4

_LOST = {
    "timeout": "the last one was ended by the timeout",
    "stop": "the last one was ended with its cancelled command",
    "kept": "the last one went on in the background with its command",
    "left": "the last one stayed with what its command left running",
    "signal": "the last one was killed",
    "lost": "the last one was lost",
    "spent": "the last one could not go on (its limit on open files, or a builtin that was switched off)",
    "slow": "the last one took too long to write its state down",
}
# What the next shell does not have of one that has left something running.
JOBS_LOST = "$!, jobs and wait know no earlier background process, those that run go on as jobs"
RESTORED = "directory, variables and functions are as before"
BEFORE_LAST = "directory, variables and functions are as they were before its last command"
LEFT_SO = "the last one ended (exit, or set -e or -u and a failure)"
KEPT = "directory, variables and functions were kept"
IN_PART = "directory, umask and exported variables are as before, and the rest was too large to be kept"
WITHOUT_VARIABLES = "directory and functions are as before, and variables as they were before its last command"
ENDED = "the last one ended (exec, or exit in a script that lists traps or has an EXIT trap set by a function)"
ANEW = "new shell: its state could not be restored in time, so directory and variables start anew"
SURROUNDINGS = "new shell: the program's environment has changed, so directory and variables start anew"
TOO_LARGE = (
    "the shell's state is too large to be kept whole: only its directory and exported variables would survive it"
)


# More than that of a state is not read.
MOST_DUMP_BYTES = 16 * MOST_BYTES


def _left(deadline: float | None) -> float:
    """Seconds until then; many without a deadline."""
    return 2 * DUMP_SECONDS if deadline is None else max(deadline - asyncio.get_running_loop().time(), NO_WAIT_SECONDS)


class Session:
    """Commands that share one bash, one at a time."""

    def __init__(self, cwd: str, *, with_rc: bool = False) -> None:
        """With the rc, every new state begins with what the user's ~/.bashrc defines."""
        self.cwd = cwd
        """Where the shell is."""
        self.used_at = time.monotonic()
        self._home = cwd
        self._with_rc = with_rc
        self._initial: Checkpoint | None = None
        """What the user's rc defines."""
        self._rc: RcReading | None = None
        """The user's rc, while the session's shell has begun without it."""
        self._env: Mapping[str, str] | None = None
        self._shell: Shell | None = None
        self._checkpoint: Checkpoint | None = None
        self._kept = RESTORED
        """What can be said of the checkpoint, should it be needed."""
        self._debug = ""
        """The DEBUG trap of scripts, which the shell has only while it runs one."""
        self._spec = TurnSpec("")
        """The last turn."""
        self._code = 0
        """Its exit code."""
        self._dumping = False
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
        review: Callable[[Command], Awaitable[Command]] | None = None,
    ) -> SessionBackend:
        """Wait for the turn of this command, and have a shell ready for it; the backend is to be closed afterwards.

        Args:
            label: spells the command for a message to others, without hidden values.
            env: variables for this command alone.
            here: whether it runs where the session is by then, whatever directory it was planned for.
            stays: whether the session stays in the command's directory.
            review: judges the command when the state of the shell that runs it is known, and may change it.

        Raises:
            SessionBusyError: its time was up before its turn.
            NacreError: no shell could be started.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        deadline = None if command.timeout is None else began + command.timeout
        await self._take_turn(label, command.timeout)
        try:
            shell = await self._ready(command, deadline)
            waited = loop.time() - began
            if waited > NO_WAIT_SECONDS and command.timeout is not None:
                command = replace(command, timeout=max(command.timeout - waited, NO_WAIT_SECONDS))
            if review is not None:
                command = await review(command)
            command = self._with_late_rc(command)
        except BaseException:
            self._pass_on()
            raise
        self._spec = turn_spec(
            command,
            self._checkpoint,
            cwd=self.cwd,
            env=env,
            here=here,
            stays=stays,
            previous=self._code,
            debug=self._debug,
        )
        notice = "; ".join(self._notices) or None
        self._notices = []
        return SessionBackend(self, shell, self._spec, command, notice)

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

    async def _ready(self, command: Command, deadline: float | None) -> Shell:
        shell = self._shell
        if shell is not None and self._dumping:
            await self._gather(shell, deadline)
            shell = self._shell
        if shell is not None and self._is_usable(shell) and self._fits(command):
            return shell
        if shell is not None:
            self._drop(shell)
        return await self._renew(command, deadline)

    async def _gather(self, shell: Shell, deadline: float | None) -> None:
        """Take what the shell is writing down; one that takes too long is ended, with what there is of it."""
        try:
            async with asyncio.timeout(min(DUMP_SECONDS, _left(deadline) / 2)):
                await shell.answer()
        except EOFError:
            self._remember_beginning(shell)
        except TimeoutError:
            self._remember_beginning(shell)
            self._shell = None
            shell.close()
            self._notices.append(_new_shell(_LOST["slow"], self._kept, shell))
        else:
            self.remember(shell)

    def _fits(self, command: Command) -> bool:
        return self._env is None or self._env == command.env

    @staticmethod
    def _is_usable(shell: Shell) -> bool:
        return shell.turns < _MOST_TURNS and shell.is_there()

    def _drop(self, shell: Shell) -> None:
        shell.close()
        self._shell = None
        if shell.turns < _MOST_TURNS and not self._notices:
            self._notices.append(_new_shell("the last one was killed", self._kept, shell))
        elif shell.given:
            self._notices.append(_new_shell("the last one was asked as often as it can be", self._kept, shell))

    async def _renew(self, command: Command, deadline: float | None) -> Shell:
        if not self._fits(command):
            self._forget_state()
            self.cwd = self._home
            self._notices = [SURROUNDINGS]
        self._env = command.env
        if self._checkpoint is None and self._with_rc:
            await self._take_rc(command)
        restoring = self._texts(command.env)
        try:
            try:
                # Half of the time at most, so that there is some left for a shell without the state.
                half = deadline if deadline is None or not restoring else deadline - _left(deadline) / 2
                shell = await self._start(command, restoring, half)
            except TimeoutError:
                if not restoring:
                    raise
                self._forget_state()
                self._initial = None
                self.cwd = self._home
                self._notices = [ANEW]
                shell = await self._start(command, (), deadline)
        except TimeoutError as error:
            raise StartError(
                f"the session's shell did not start within {command.timeout:g} s; "
                f"its directory {self.cwd} may not answer: try again, or begin a session elsewhere"
            ) from error
        self._shell = shell
        self._kept = RESTORED
        return shell

    async def _start(self, command: Command, restoring: tuple[str, ...], deadline: float | None) -> Shell:
        try:
            return await start_shell(replace(command, cwd=self.cwd), restoring, deadline)
        except WorkingDirectoryError as error:
            if self.cwd == self._home:
                raise
            self._notices.append(f"the session's directory {self.cwd} {error.reason}; it begins in {self._home}")
            self.cwd = self._home
            return await start_shell(replace(command, cwd=self._home), restoring, deadline)

    async def _take_rc(self, command: Command) -> None:
        """Have what the user's rc defines, if that is known in time."""
        self._initial = self._rc = None
        try:
            rc = await snapshot(command)
        except UnansweredError as error:
            self._notices.append(f"the user's rc was not read, so its functions and aliases are missing: {error}")
            return
        if rc is None:
            return
        if await rc.wait(command.timeout):
            self._initial = rc.state
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
        self._initial = rc.state
        return replace(command, prologue=rc.adding(command.env.get("PATH", "")) + command.prologue)

    # After a turn.

    def turn_over(self, shell: Shell, fate: Fate, frame: TurnReport | None) -> None:
        if frame is not None and frame.codes:
            self._code = frame.codes[0]
        if fate == "waits":
            if not self._spec.keeps_state:
                if frame is not None and frame.cwd:
                    self.cwd = frame.cwd
                    self._debug = frame.action("DEBUG")
                self._write_down(shell)
            return
        self._shell = None
        if fate == "left":
            self.remember(shell)
        if fate == "exit":
            kept = self._remember_exit(shell)
            why, state = (LEFT_SO, KEPT if self._kept == RESTORED else self._kept) if kept else (ENDED, BEFORE_LAST)
            self._notices.append(_new_shell(why, state, shell))
        else:
            self._notices.append(_new_shell(_LOST[fate], self._kept, shell, jobs=fate == "left"))
        shell.let_go()
        if self._checkpoint is not None:
            self.cwd = self._checkpoint.directory

    def exited(self, code: int) -> None:
        """Told of the exit code of a turn that has cost the shell."""
        self._code = code

    def _write_down(self, shell: Shell) -> None:
        """Have the shell write its state down; nobody waits for that."""
        try:
            shell.tell(shell.loop.dump)
        except OSError:
            # It is gone, which the next turn sees; what the command changed is gone with it.
            self._kept = BEFORE_LAST
            return
        self._dumping = True

    def remember(self, shell: Shell) -> None:
        """Take what the shell has written down."""
        self._dumping = False
        data = shell.written(MOST_DUMP_BYTES)
        state = read_dump(data)
        if state is None:
            self._remember_beginning(shell)
        else:
            self._keep(state, len(data))

    def _remember_exit(self, shell: Shell) -> bool:
        """Take what the shell has written down when a script ended it; False when there is nothing."""
        data = shell.written(MOST_DUMP_BYTES)
        _, debug, dump = [*data.split(b"\0", 2), b"", b""][:3]
        state = read_dump(dump)
        if state is None:
            return False
        spec, before = self._spec, self._checkpoint
        if spec.back is not None:
            state = replace(state, directory=spec.back)
        if spec.env:
            state = state.with_variables_of(before, spec.env)
        if spec.prologue:
            state = state.with_functions_of(before, GUARDED.split())
        with contextlib.suppress(ValueError):
            self._debug = action_of(debug.decode("utf-8", "surrogateescape"), "DEBUG")
        self._keep(state, len(dump))
        return True

    def _remember_beginning(self, shell: Shell) -> None:
        """Take what there is of a state that is not whole."""
        self._dumping = False
        state = read_beginning(shell.written(MOST_BYTES), self._checkpoint)
        if state is None:
            self._kept = BEFORE_LAST
        else:
            self._checkpoint = state
            self._kept = WITHOUT_VARIABLES

    def _keep(self, state: Checkpoint, size: int) -> None:
        self._kept = RESTORED
        if size > MOST_BYTES:
            state = state.exports()
            self._kept = IN_PART
            self._notices.append(TOO_LARGE)
        self._checkpoint = state

    @property
    def known(self) -> Checkpoint | None:
        """What the shell has defined, as it was written down last; in a turn, what the command will find."""
        return self._checkpoint or self._initial

    def state_for(self, env: Mapping[str, str] | None) -> Checkpoint | None:
        """The same for a command that comes with variables of its own."""
        known = self.known
        return None if known is None else known.for_call(env or ())

    def _forget_state(self) -> None:
        self._checkpoint = None
        self._debug = ""
        self._code = 0

    def restoring(self, env: Mapping[str, str]) -> str:
        """The text that gives a shell of its own the state of the last checkpoint."""
        if not (self._env is None or self._env == env):
            return ""
        return "\n".join(self._texts(env))

    def _texts(self, env: Mapping[str, str]) -> tuple[str, ...]:
        if self._checkpoint is not None:
            return self._checkpoint.restoring(env)
        return () if self._initial is None else self._initial.restoring({})

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
        self._env = self._initial = None
        self._notices = []
        self.cwd = self._home

    def forget(self) -> None:
        """End the shell and its state."""
        self._dumping = False
        self._forget_state()
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
            self._collect(shell, DUMP_MILLISECONDS)
        if self._dumping:
            self._remember_beginning(shell)
        if shell.given:
            self._notices.append(_new_shell("the last one was ended while it was not used", self._kept, shell))
        shell.close()

    def _collect(self, shell: Shell, milliseconds: int) -> None:
        """Take what the shell is writing down, if that has come to its end within the time."""
        with contextlib.suppress(EOFError):
            if shell.linger(milliseconds) and shell.heard() is not None:
                self.remember(shell)


def _new_shell(why: str, state: str, shell: Shell, *, jobs: bool = False) -> str:
    """What the first result of the next shell says of the last one."""
    lost = f"; {JOBS_LOST}" if jobs or shell.given else ""
    return f"new shell: {why}; {state}{lost}"


class SessionBackend:
    """The shell of a session, for one command."""

    keeps = True

    def __init__(self, session: Session, shell: Shell, spec: TurnSpec, command: Command, notice: str | None) -> None:
        """With the command whose turn it is, and what is left of its time."""
        self.notice = notice
        self._command = command
        self._turn: Turn | None = None
        self._session = session
        self._shell = shell
        self._spec = spec

    @property
    def timeout(self) -> float | None:
        """What is left of the command's time."""
        return self._command.timeout

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        assert job is None, "a job has a shell of its own"
        turn = self._turn = Turn(self._session, self._shell, self._command, self._spec)
        turn.start(listener)
        return turn

    def close(self) -> None:
        """Let the next command have its turn."""
        if self._turn is not None and not self._turn.over:
            self._turn.release()
        self._session._pass_on()
