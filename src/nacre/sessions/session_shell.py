"""The bash of a session: started when a command needs it, restored from the last checkpoint, replaced when it is lost.

After a turn that may have changed it, the shell writes its state into memory while the caller reads the answer. So when
a turn costs the shell, the next one gets a fresh bash in that state.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import replace

from nacre.command import Command, SandboxSpec
from nacre.errors import StartError, WorkingDirectoryError
from nacre.sessions.bash_process import start_bash
from nacre.sessions.framing import TurnReport
from nacre.sessions.live_bash import LiveBash, StartBash, next_report
from nacre.sessions.lost_shell import (
    ANEW,
    BEFORE_LAST,
    DAMAGED,
    EXITED,
    EXITED_UNSEEN,
    IDLE,
    KEPT,
    NEW_ENVIRONMENT,
    RESTORED,
    WHY_LOST,
    WORN_OUT,
    ShellFate,
    new_shell,
)
from nacre.sessions.rc_file import RcReading, rc_reading
from nacre.sessions.remembered_state import MOST_DUMP_BYTES, RememberedState
from nacre.sessions.shell_loop import MOST_TURNS
from nacre.sessions.state_safety import may_damage_parser
from nacre.sessions.turn_spec import TurnSpec
from nacre.warden_client.path_query import UnansweredError

# How long the end of a session waits for a state that is being written, which takes a fraction of this.
DUMP_MILLISECONDS = 200
# How long a command waits for it, or half of its own time: bash lists its variables in the square of their number,
# which takes this long with some 20,000 of them.
DUMP_SECONDS = 2.0
# The least that is left of a call's time for a step.
LEAST_SECONDS = 0.01
# A command takes two turns of the loop, and one or two more if it leaves processes running.
_USABLE_TURNS = MOST_TURNS - 4


def _seconds_until(deadline: float | None) -> float:
    """Seconds until a time of the event loop; more than any wait here without a deadline."""
    return 2 * DUMP_SECONDS if deadline is None else max(deadline - asyncio.get_running_loop().time(), LEAST_SECONDS)


def _is_worn_out(bash: LiveBash) -> bool:
    """True if the shell is to be replaced before the next command."""
    return bash.damaged or bash.turns >= _USABLE_TURNS


class SessionShell:
    """The current bash of a session, if there is one.

    Its methods are the steps of a life of one shell: started, restored, asked for its state, discarded.
    """

    def __init__(self, state: RememberedState, *, with_rc: bool, start: StartBash | None = None) -> None:
        """With the way to start a bash, if it is not one of this machine."""
        self.state = state
        self._start_there = start or start_bash
        self.bash: LiveBash | None = None
        self.env: Mapping[str, str] | None = None
        """The environment that the session began with."""
        self._home = state.cwd
        self._with_rc = with_rc
        self.late_rc: RcReading | None = None
        """The reading of the user's rc, if the shell began without it."""
        self._sandbox: SandboxSpec | None = None
        self._dumping = False

    async def ready(self, command: Command, deadline: float | None) -> LiveBash:
        """A shell that waits for this command.

        Raises:
            NacreError: no shell could be started.
        """
        if self.bash is not None and self.bash.far:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_seconds_until(deadline) / 2):
                    await self.bash.reach()
        if self.bash is not None and self._dumping:
            await self._finish_dump(self.bash, deadline)
        bash = self.bash
        if bash is not None:
            if (
                not _is_worn_out(bash)
                and bash.is_alive()
                and command.env == self.env
                and command.sandbox == self._sandbox
            ):
                return bash
            self._discard(bash)
        return await self._start(command, deadline)

    async def settle(self) -> None:
        """Take the state that the shell is writing, if it is."""
        if self.bash is not None and self._dumping:
            await self._finish_dump(self.bash, None)

    async def _finish_dump(self, bash: LiveBash, deadline: float | None) -> None:
        """Wait for the state that the shell is writing; a shell that takes too long is ended."""
        try:
            async with asyncio.timeout(min(DUMP_SECONDS, _seconds_until(deadline) / 2)):
                await next_report(bash)
        except EOFError:
            self._keep_beginning(bash)
        except TimeoutError:
            self._keep_beginning(bash)
            self.bash = None
            bash.close()
            self._notice(WHY_LOST["slow"], bash)
        else:
            self.keep_dump(bash)

    def _discard(self, bash: LiveBash) -> None:
        bash.close()
        self.bash = None
        if not _is_worn_out(bash) and not self.state.notices:
            self._notice(bash.gone or WHY_LOST["signal"], bash)
        elif bash.leftovers.job_marks:
            self._notice(DAMAGED if bash.damaged else WORN_OUT, bash)

    def _notice(self, why: str, bash: LiveBash, *, state: str | None = None, jobs_lost: bool = False) -> None:
        jobs_lost = jobs_lost or bool(bash.leftovers.job_marks)
        self.state.notices.append(new_shell(why, state or self.state.kept, jobs_lost=jobs_lost))

    # Starting.

    async def _start(self, command: Command, deadline: float | None) -> LiveBash:
        state = self.state
        if self.env is not None and self.env != command.env:
            self._begin_anew(NEW_ENVIRONMENT)
        self.env, self._sandbox = command.env, command.sandbox
        if state.checkpoint is None and self._with_rc:
            await self._read_rc(command)
        restoring = state.restoring(command.env)
        try:
            try:
                # At most half of the time: a shell without the state needs the rest.
                half = deadline if deadline is None or not restoring else deadline - _seconds_until(deadline) / 2
                bash = await self._start_bash(command, restoring, half)
            except TimeoutError:
                if not restoring:
                    raise
                self._begin_anew(ANEW)
                state.rc = None
                bash = await self._start_bash(command, (), deadline)
        except TimeoutError as error:
            raise StartError(
                f"the session's shell did not start within {command.timeout:g} s; "
                f"its directory {state.cwd} may not answer: try again, or begin a session elsewhere"
            ) from error
        self.bash = bash
        state.kept = RESTORED
        return bash

    async def _start_bash(self, command: Command, restoring: tuple[str, ...], deadline: float | None) -> LiveBash:
        state = self.state
        try:
            return await self._start_there(replace(command, cwd=state.cwd), restoring, deadline)
        except WorkingDirectoryError as error:
            if state.cwd == self._home:
                raise
            state.notices.append(f"the session's directory {state.cwd} {error.reason}; it begins in {self._home}")
            state.cwd = self._home
            return await self._start_there(replace(command, cwd=self._home), restoring, deadline)

    def _begin_anew(self, notice: str) -> None:
        self.state.forget()
        self.state.cwd = self._home
        self.state.notices[:] = [notice]

    async def _read_rc(self, command: Command) -> None:
        """Take what the user's rc defines, if that is known in time."""
        state = self.state
        state.rc = self.late_rc = None
        try:
            rc = await rc_reading(command)
        except UnansweredError as error:
            state.notices.append(f"the user's rc was not read, so its functions and aliases are missing: {error}")
            return
        if rc is None:
            return
        if await rc.wait(command.timeout):
            state.rc = rc.state
            if rc.problem is not None:
                state.notices.append(rc.problem)
        else:
            self.late_rc = rc
            state.notices.append(rc.slow)

    def with_late_rc(self, command: Command, rc: RcReading) -> Command:
        """The command, with the rc's definitions before it if they are known now."""
        if not rc.look():
            return command
        self.late_rc = None
        if rc.problem is not None:
            self.state.notices.append(rc.problem)
            return command
        self.state.rc = rc.state
        return replace(command, prologue=rc.adding(command.env.get("PATH", "")) + command.prologue)

    # After a turn.

    def turn_over(self, bash: LiveBash, spec: TurnSpec, fate: ShellFate, report: TurnReport | None) -> None:
        """Take what a turn has changed, and let the shell go unless it waits for the next turn."""
        state = self.state
        if report is not None and report.codes:
            state.code = report.codes[0]
        if fate == "waits":
            if not spec.keeps_state:
                if report is not None and report.cwd:
                    state.cwd = report.cwd
                    state.debug = report.action("DEBUG")
                self._start_dump(bash)
                bash.damaged = bash.damaged or may_damage_parser(spec.script, state.code)
            return
        self.bash = None
        if fate == "left":
            self.keep_dump(bash)
        if fate != "exit":
            why = bash.gone if fate == "lost" else None
            self._notice(why or WHY_LOST[fate], bash, jobs_lost=fate == "left")
        elif state.keep_exit(bash.written(MOST_DUMP_BYTES), spec):
            self._notice(EXITED, bash, state=KEPT if state.kept == RESTORED else None)
        else:
            self._notice(EXITED_UNSEEN, bash, state=BEFORE_LAST)
        bash.close_after_turn()
        if state.checkpoint is not None:
            state.cwd = state.checkpoint.directory

    def _start_dump(self, bash: LiveBash) -> None:
        """Have the shell write its state; the next turn takes it."""
        try:
            bash.send(bash.loop.dump)
        except OSError:
            # The shell is gone, which the next turn sees; so is what the command changed.
            self.state.kept = BEFORE_LAST
            return
        self._dumping = True

    def keep_dump(self, bash: LiveBash) -> None:
        """Take the state that the shell has written."""
        self._dumping = False
        self.state.keep_dump(bash.written(MOST_DUMP_BYTES))

    def _keep_beginning(self, bash: LiveBash) -> None:
        self._dumping = False
        self.state.keep_beginning(bash.written(MOST_DUMP_BYTES))

    # The end.

    def close(self) -> None:
        """End the shell; its state is kept."""
        bash, self.bash = self.bash, None
        if bash is None:
            return
        if self._dumping:
            with contextlib.suppress(EOFError):
                if bash.wait(DUMP_MILLISECONDS) and bash.report() is not None:
                    self.keep_dump(bash)
        if self._dumping:
            self._keep_beginning(bash)
        if bash.leftovers.job_marks:
            self._notice(IDLE, bash)
        bash.close()

    def restart(self) -> None:
        """Forget the state and the environment; the next command begins in the session's first directory."""
        state = self.state
        self.env = state.rc = None
        state.notices.clear()
        state.cwd = self._home

    def forget_process(self, why: str, *, running: bool) -> None:
        """Leave the shell to the process that it belongs to, and begin a new one with the last checkpoint."""
        if self.bash is not None or running:
            # What the last command changed is being written for the other process, which reads it.
            kept = BEFORE_LAST if self._dumping or running else RESTORED
            self.state.notices[:] = [new_shell(why, kept, jobs_lost=False)]
        self.bash = None
        self._dumping = False

    def forget(self) -> None:
        """Forget the state, also what the shell is writing of it."""
        self._dumping = False
        self.state.forget()
