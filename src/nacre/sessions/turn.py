"""One command in a session's shell, as a process like any other.

A short one ends before anything else is set up: the shell reports on its socket, and the output is in the pipe. A
`ContainedProcess` attends one that lasts, as it does a command of its own. If the script leaves processes running, the
shell moves to a new pipe and goes on; where it cannot, it exits, and the command becomes an ordinary one.

The module is beyond 350 lines because its functions are the steps of one turn and share its state.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from nacre.backend import SIDE, Ending, Listener, PipesOnly, Survivor
from nacre.backends.inline_wait import INLINE_MILLISECONDS, can_block_briefly, tell_output
from nacre.backends.start_errors import directory_error
from nacre.command import Command, NewJob
from nacre.errors import NacreError
from nacre.sessions.framing import TurnReport
from nacre.sessions.live_bash import Attending, LiveBash
from nacre.sessions.lost_shell import ShellFate, fate_of
from nacre.sessions.pipe_switch import PipeSwitch
from nacre.sessions.session_shell import SessionShell
from nacre.sessions.shell_loop import NO_DIRECTORY, SPENT, named_by_script
from nacre.sessions.turn_spec import TurnSpec

# The time between two looks at leftover processes; many exit within milliseconds, as `>(tee log)` does.
RETRY_SECONDS = 0.004


class Turn(PipesOnly):
    """The process of one command in a session's shell.

    A third of its methods are the controls of a Process. The others are the steps of one conversation with the shell
    and its runner: they share the state that says which step comes next, and no part of it means anything alone.
    """

    def __init__(self, shell: SessionShell, bash: LiveBash, command: Command, spec: TurnSpec) -> None:
        self.over = False
        self._shell = shell
        self._bash = bash
        self._command = command
        self._spec = spec
        self._listener: Listener
        self._loop = asyncio.get_running_loop()
        self._attending: Attending | None = None
        self._report: TurnReport | None = None
        """The end of the script, once it is known."""
        self._refused: tuple[str, ...] = ()
        self._budget: str | None = None
        """The limit of its budget that the script has reached."""
        self._asked = False
        self._retries = 0
        self._leaving = False
        """True if the shell was told to exit, because of what the script left running."""
        self._switch: PipeSwitch | None = None
        """The new pipe, while the shell is opening it."""
        self._switched = False
        """True if the shell waits again, and what the script left running is still to be kept."""
        self._survivors: tuple[Survivor, ...] = ()
        self._stopping = False
        """True if the runner was told to stop the shell."""
        self._mark = 0
        """The mark of what the script left running."""
        self._kept = False
        """True if a keeper has what the script left running, or was to get it."""

    def start(self, listener: Listener) -> None:
        """Start the script; a short one has ended when this returns."""
        self._listener = listener
        bash = self._bash
        if bash.far:
            # The limits go before the script: the way there may be cut between the two.
            self._attend()
        self._send(partial(bash.loop.turn, self._spec, bash.switched))
        if can_block_briefly(self._loop) and bash.wait(INLINE_MILLISECONDS):
            self._read_report()
        if not self.over:
            self._attend()

    def _send(self, text: Callable[[str], str]) -> None:
        try:
            self._bash.send(text)
        except OSError:
            return  # the end of the socket shows that the shell is gone, and its runner says how it ended

    def _attend(self) -> None:
        """Watch the shell, its output and its runner on the event loop, if that is not done yet."""
        if self._attending is not None:
            return
        self._attending = self._bash.attend(self._command, _FromRunner(self, self._listener))
        self._bash.listen(self._loop, self._read_report)

    # The shell's reports.

    def _read_report(self) -> None:
        try:
            report = self._bash.report()
        except EOFError:
            # The runner reaps the shell and says how it ended.
            self._attend()
            self._bash.unlisten(self._loop)
            return
        if report is None or self._leaving or self._stopping:
            return
        if self._switch is not None:
            self._finish_switch(self._switch, report)
        elif self._report is not None:
            # The EXIT trap has run: the status stays the script's.
            self._script_ended(report._replace(codes=self._report.codes))
        elif report.traps and report.codes and report.problem != SPENT and self._runs_exit_trap(report):
            self._report = report
        else:
            self._script_ended(report)

    def _runs_exit_trap(self, report: TurnReport) -> bool:
        """Run the EXIT trap that the script left, as at the end of `bash -c`; False if it left none."""
        bash = self._bash
        action = bash.loop.own_exit_action(report.action("EXIT"))
        if action:
            self._send(partial(bash.loop.exit_trap, action, report.codes[0], bash.switched))
        return bool(action)

    def _script_ended(self, report: TurnReport) -> None:
        """The script is at its end, and all of its foreground output is in the pipe."""
        self._report = report
        bash, command = self._bash, self._command
        if command.prologue:
            self._refused = tuple(bash.notes().refused)
        # Looked at before the output is taken: what has ended by then has written all of its own into the pipe.
        alone = bool(report.codes) and report.problem != NO_DIRECTORY and bash.leftovers.none(report.last)
        if self._attending is not None:
            self._attending.drain()
        else:
            fds = (bash.output, bash.side) if command.side else (bash.output,)
            tell_output(self._listener, fds, streams=(1, SIDE))
        if report.problem == NO_DIRECTORY:
            self._finish("waits")
            self._listener.failed(directory_error(command, report.last))
        elif self._command.budget is not None and report.codes and report.codes[0] and not self._asked:
            # A program that was refused memory or a process may fail before the runner has seen it.
            self._asked = True
            self._attend()
            assert self._attending is not None
            self._attending.ask_spent(partial(self._spent, report))
        elif not report.codes:
            self._end("lost", Ending(pid=bash.pid, lost="its shell told no exit code"))
        else:
            spent = report.problem == SPENT
            if spent and not self._spec.keeps_state:
                self._shell.keep_dump(bash)
            if alone:
                self._end("spent" if spent else "waits", self._ending())
            else:
                self._handle_leftovers(report)

    def _spent(self, report: TurnReport, budget: str | None) -> None:
        self._budget = budget
        if not (self.over or self._stopping):
            self._script_ended(report)

    def _end(self, fate: ShellFate, ending: Ending) -> None:
        if fate != "waits":
            self._attend()
        self._finish(fate)
        self._listener.closed(1)
        self._listener.exited(ending)

    def _ending(self, *, left: bool = False) -> Ending:
        """The end of the script, as the shell reported it."""
        assert self._report is not None
        code, *stages = self._report.codes
        return Ending(
            pid=self._bash.pid,
            code=code,
            stages=tuple(stages),
            refused=self._refused,
            left=left,
            budget=self._budget,
        )

    # A script that left processes running.

    def _handle_leftovers(self, report: TurnReport) -> None:
        self._attend()
        assert self._attending is not None
        if report.problem == SPENT:
            # The shell kills itself after the child that has reported; its runner says whether more is left.
            return
        if self._retries < self._bash.retries:
            self._retries += 1
            self._loop.call_later(RETRY_SECONDS, self._retry, report)
        elif self._command.side or not self._bash.can_switch:
            # What is left may hold the third stream, of which a shell has only one.
            self._leave()
        else:
            self._attending.part(self._parted)

    def _retry(self, report: TurnReport) -> None:
        if not (self.over or self._stopping):
            self._script_ended(report)

    def _parted(self, mark: int | None) -> None:
        """What the shell has left has this mark; what it starts from now on has another."""
        if mark is not None:
            try:
                switch = self._switch = PipeSwitch(self._command.sandbox)
            except OSError:
                mark = None
        if mark is None:
            self._leave()
            return
        self._mark = mark
        self._bash.leftovers.job_marks.add(mark)
        self._send(partial(self._bash.loop.switch, switch.path))

    def _finish_switch(self, switch: PipeSwitch, report: TurnReport) -> None:
        """The shell goes on with another pipe; for the caller the command is one whose shell has exited."""
        self._switch = None
        if not switch.complete(self._bash, report):
            self._leave()
            return
        assert self._attending is not None
        self._switched = True
        self._attending.rest()
        self._attending.drain()
        self._listener.exited(self._ending(left=True))

    def _leave(self) -> None:
        """Have the shell write its state and exit, because it cannot go on beside what it has left."""
        assert self._report is not None
        self._leaving = True
        self._send(partial(self._bash.loop.leave, self._report.codes[0]))

    # The end.

    def _finish(self, fate: ShellFate) -> None:
        self.over = True
        if self._attending is not None:
            self._bash.unlisten(self._loop)
            if fate == "waits":
                self._take_back(self._attending)
                self._attending = None
        if self._switch is not None:
            self._switch.cancel()
            self._switch = None
        self._shell.turn_over(self._bash, self._spec, fate, self._report)

    def _take_back(self, attending: Attending) -> None:
        """Take the pipes of a shell that goes on; there are none if it ended right after its report."""
        readers = attending.leave()
        if self._switched:
            # The old pipe is a job's, or nothing holds it.
            for fd in readers:
                os.close(fd)
        elif readers:
            self._bash.output, *side = readers
            if side:
                (self._bash.side,) = side

    def shell_exited(self, ending: Ending) -> None:
        """The runner has reaped the shell, or stopped the command."""
        if not self.over and ending.why is None and self._was_spent():
            # It could not go on after its report, so it has ended by itself: the status is the report's.
            self._finish("spent")
            ending = self._ending(left=ending.left)
        elif not self.over:
            fate = fate_of(ending, leaving=self._leaving)
            if fate == "exit":
                notes = self._bash.notes()
                stages = notes.stages if self._command.stages else ()
                ending = ending._replace(refused=tuple(notes.refused), stages=tuple(stages))
            if ending.code is not None:
                self._shell.state.code = ending.code
            self._finish(fate)
        if self._leaving and ending.code is not None:
            script = self._ending()
            ending = ending._replace(code=script.code, stages=script.stages, refused=script.refused)
        self._listener.exited(ending)

    def _was_spent(self) -> bool:
        """Whether the shell has reported from a child, if only in the moment before it ended."""
        if self._leaving or self._switch is not None:
            return False
        report = self._report
        if report is None:
            with contextlib.suppress(EOFError):
                report = self._bash.report()
        if report is None or report.problem != SPENT or not report.codes:
            return False
        if self._report is None and not self._spec.keeps_state:
            self._shell.keep_dump(self._bash)
        self._report = report
        return True

    def shell_failed(self, error: NacreError) -> None:
        if not self.over:
            self._finish("lost")
        self._listener.failed(error)

    # Controls.

    def stop(self) -> None:
        if self._attending is None:
            return
        if self._kept:
            self._attending.stop_kept(self._mark, self._cleared)
            return
        # The shell does not go on, even if the script ends in the same moment: its runner tells the end.
        self._switched, self._stopping = False, True
        self._attending.stop()

    def _cleared(self) -> None:
        """A keeper has ended what the script left running: the command is over for good, and the shell goes on."""
        self._listener.exited(self._ending())

    def signal(self, number: int) -> None:
        if self._attending is not None:
            self._attending.signal(number)

    async def survivors(self) -> tuple[Survivor, ...]:
        found = await self._attending.survivors() if self._attending is not None else ()
        loop, shell, script = self._bash.loop, self._command.shell, self._command.script
        self._survivors = tuple(
            replace(one, argv=named_by_script(one.argv, loop, shell=shell, script=script)) for one in found
        )
        return self._survivors

    def pause(self) -> None:
        if self._attending is not None:
            self._attending.pause()

    async def keep(self, job: NewJob | None, *, adopt: int | None = None) -> None:
        assert self._attending is not None
        if self._switched:
            # The turn ends with its release: until then its caller may have the keeper stopped.
            self._kept = True
            await self._attending.keep(job, adopt=adopt, apart=True)
            return
        if not self.over:
            # The shell runs only this script from now on: without a host it ends with the script's status.
            self._finish("kept")
        await self._attending.keep(job, adopt=adopt)

    def release(self) -> None:
        if self._switched and not self.over and (self._kept or not self._survivors):
            # A keeper has what was left, or it has ended meanwhile.
            self._finish("waits")
        if not self.over:
            self._finish("stop")
            if self._attending is None:
                self._bash.close()
        if self._attending is not None:
            self._attending.release()
            self._attending = None


class _FromRunner:
    """The listener of the process that attends a turn: the turn hears of the end first."""

    def __init__(self, turn: Turn, listener: Listener) -> None:
        self.output = listener.output
        self.closed = listener.closed
        self.started = listener.started
        self.exited = turn.shell_exited
        self.failed = turn.shell_failed
