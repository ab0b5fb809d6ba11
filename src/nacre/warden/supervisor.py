"""Watches one command under a runner, from its start to the moment when nothing of it is left.

It owns time and death: deadline, stop ladder, and the end of a foreground command whose caller is gone. It reads the
output of a foreground command only where the caller has the command kept. One poll loop,
every wait bounded. It reports facts; the near side makes the words.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time

from nacre.warden import children, keeping, orders, protocol, short_command
from nacre.warden.intake import Intake
from nacre.warden.keepers import Keepers
from nacre.warden.kept_job import KeptJob
from nacre.warden.protocol import SILENCE_SECONDS, SPARE_SECONDS
from nacre.warden.record import STOP_SIGNAL
from nacre.warden.stop_ladder import CommandTree, StopLadder
from nacre.warden.wakeups import drain_wakeups, milliseconds_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.budget_watch import BudgetWatch
    from nacre.warden.channel import Channel
    from nacre.warden.job_runner import JobWatch
    from nacre.warden.kept_job import JobOutput
    from nacre.warden.memory import MemoryWatch
    from nacre.warden.messages import Facts, Limits, Living, StartJob
    from nacre.warden.start import Start
    from nacre.warden.terminal import JobTerminal

# A command that lives this long is announced, so that its caller knows the pid if the runner should die.
ANNOUNCE_SECONDS = 0.05
# The ends of orphans in a sandbox are collected by its first process; so often they are looked for.
ORPHANS_SECONDS = 0.1
_CHILD_ENDED = (signal.SIGCHLD,)
# Limits after which a command gets no grace.
_HURRIED = ("memory", "processes")


class Supervisor:
    """The state of one command. `orders` has the caller's requests, `keeping` what makes it a job.

    Its methods are the steps of the poll loop.
    """

    def __init__(self, channel: Channel, wakeup: int, memory: MemoryWatch, start: Start) -> None:
        """With a shell that was started."""
        self.channel = channel
        self.wakeup = wakeup
        self.start = start
        self._memory = memory
        self.poll = select.poll()
        self.poll.register(channel.reading, select.POLLIN)
        self.poll.register(wakeup, select.POLLIN)
        self.tree = CommandTree(start.leader)
        self.ladder = StopLadder(self.tree)
        self.keepers = Keepers(channel, self.tree)
        self.intake = Intake(self.poll)
        self.job: KeptJob | None = None
        self.terminal: JobTerminal | None = None
        """The terminal of a job that has one."""
        self.budget: BudgetWatch | None = None
        """What the command may spend, if that is limited."""
        self.budget_at: float | None = None
        """When that is looked at next."""
        self.attended = False
        """Whether a job dies with its caller, which waits for it in the foreground."""
        self.following: list[bytes] = []
        """Requests for the next command that came before this one was known to be over; not decoded."""
        self.status: int | None = None
        """The raw wait status of the leader, once it has exited."""
        self.adopted = False
        """Whether the leader is a survivor of the shell."""
        self.left = True
        """Whether any process of this command is left, zombies not counted."""
        self.stays = True
        """Whether any child is left, also of what keepers have: this process is their subreaper."""
        self.named: dict[int, int | None] = {}
        """The survivors that the caller was told of, and their statuses once they have ended."""
        self.told: Facts | None = None
        """What the caller was told of the end."""
        self.reported = False
        self.exit_at = 0.0
        self.grace = 0.0
        self.deadline: float | None = None
        self.announce_at: float | None = None
        self.unused_until: float | None = None
        """When a spare without a script is given up; its caller stops using it well before."""
        self.leader_handle = -1
        """The pidfd of an adopted leader whose status another process collects."""
        self._survivors_output: JobOutput | None = None
        """The file of a finished job, for what its survivors write."""
        self._stop_requested: str | None = None
        request = start.request
        if "budget" in request:
            self._watch_budget(request["budget"])
        if request["op"] == "run":
            self.set_limits(request["timeout"], request["grace"], elapsed=0.0)
        elif request["op"] == "spare":
            self.unused_until = time.monotonic() + SPARE_SECONDS

    def set_limits(self, timeout: float | None, grace: float, *, elapsed: float) -> None:
        """Keep the limits of a script that runs since so many seconds."""
        began = time.monotonic() - elapsed
        self.unused_until = None
        self.grace = grace
        self.deadline = None if timeout is None else began + timeout
        self.announce_at = began + ANNOUNCE_SECONDS
        if self.budget is not None:
            self.budget_at = time.monotonic()
            if self.start.waits:
                self.budget.begin()

    def _watch_budget(self, limits: Limits) -> None:
        # Loaded for the commands that have one.
        from nacre.warden.budget_watch import BudgetWatch

        self.budget = BudgetWatch(limits, self.tree.own)
        self.budget_at = None if self.start.waits else time.monotonic()

    def take_over(self, request: StartJob, watch: JobWatch) -> None:
        """Go on with a job from the moment when more than output comes from it."""
        self.deadline = watch.deadline
        self.grace = request["grace"]
        self.job = KeptJob(request["job"], lock=watch.lock, claim=watch.claim, output=watch.output)
        self.job.running(self.tree.leader, runner=os.getpid())
        self.intake.last_output = watch.last_output
        self.intake.attend(watch.readers, self.job.output.feed)
        self.attended = "attended" in request
        if watch.terminal is not None:
            self.serve_terminal(watch.readers[0], watch.terminal, records="records" in request["job"])
        self._stop_requested = watch.stop_requested or self._stop_requested

    def serve_terminal(self, master: int, sock: socket.socket, *, records: bool) -> None:
        """Take input for the terminal of the job from other processes, and tell what it waits for."""
        # Loaded for the few jobs that have one.
        from nacre.warden.terminal import JobTerminal

        assert self.job is not None
        self.terminal = JobTerminal(
            self.poll, self.intake, self.job, master, sock, attended=self.attended, records=records
        )

    def run(self) -> bool:
        """Serve until nothing is left; True when the caller may send this runner another command."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _CHILD_ENDED)
        if self.start.stop_requested is not None:
            # Sent before this object was there to hear it.
            self.request_stop(self.start.stop_requested)
        if not short_command.is_over(self):
            self._serve()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _CHILD_ENDED)
        # What came meanwhile is of this command, and would wake the next one for nothing.
        drain_wakeups(self.wakeup)
        self.start.close()
        self.keepers.close()
        if self.leader_handle >= 0:
            os.close(self.leader_handle)
            self.leader_handle = -1
        if self._survivors_output is not None:
            self._survivors_output.flush()
            self._survivors_output.close()
        if self.budget is not None:
            self.budget.close()
        return self.channel.open

    def _serve(self) -> None:
        while True:
            self._look_at_children()
            self._look_at_clock()
            if self.reported and not (self.stays or self.intake.fds):
                break
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _CHILD_ENDED)
            for fd, _ in self.poll.poll(self.patience()):
                if fd == self.wakeup:
                    drain_wakeups(fd)
                elif fd in self.intake.fds:
                    self.intake.read(fd)
                elif self.terminal is not None and fd in self.terminal.fds:
                    self.terminal.serve(fd)
                elif fd == self.channel.reading:
                    orders.listen(self)

    def patience(self) -> float | None:
        """Milliseconds until the next timer; None without one."""
        timers = [self.announce_at, self.unused_until, self.budget_at]
        if self.terminal is not None:
            timers.append(self.terminal.look_at)
        if self.ladder.why is None and self.status is None:
            timers.append(self.deadline)
        if self.ladder.why is not None and not self.reported:
            timers.append(self.ladder.next_step())
        if keeping.is_draining(self):
            timers.append(keeping.drain_until(self))
        if children.cell and self.stays and (self.adopted or self.status is not None):
            timers.append(time.monotonic() + ORPHANS_SECONDS)
        return milliseconds_until(*timers)

    def collect(self) -> None:
        """Reap what has ended, and find out whether anything of this command is left."""
        ended, self.stays = children.reap()
        for pid in self.named.keys() & ended.keys():
            self.named[pid] = ended[pid]
        if self.status is None and self.tree.leader in ended:
            self.leader_ended(ended[self.tree.leader])
        elif self.status is None and self.leader_handle >= 0:
            status = children.collected_status(self.leader_handle)
            if status is not None:
                self.leader_ended(status)
        self.left = self.stays
        if self.tree.given:
            self.keepers.tell(ended)
            self.left = bool(self.tree.living())

    def leader_ended(self, status: int) -> None:
        self.status = status
        self.tree.group = 0
        self.announce_at = None
        self.exit_at = self.intake.last_output = time.monotonic()

    def _look_at_children(self) -> None:
        self.collect()
        if self.reported:
            return
        if self.ladder.why is not None:
            if not self.left or not self.ladder.step():
                self.report()
        elif self.status is not None and self.job is None:
            self.report()

    def _look_at_clock(self) -> None:
        now = time.monotonic()
        if self.announce_at is not None and now >= self.announce_at:
            self.announce_at = None
            self.channel.send(protocol.started(self.tree.leader))
        if self.unused_until is not None and now >= self.unused_until:
            self.unused_until = None
            self.stop("idle")
        if self._stop_requested is not None:
            why, self._stop_requested = self._stop_requested, None
            self.stop(why)
        if self.deadline is not None and now >= self.deadline and self.status is None:
            self.stop("timeout")
        if self.budget_at is not None and now >= self.budget_at:
            self._look_at_budget(now)
        if self.terminal is not None and now >= self.terminal.look_at:
            self.terminal.look()
        if keeping.is_draining(self) and now >= keeping.drain_until(self):
            self.report()

    def _look_at_budget(self, now: float) -> None:
        from nacre.warden.budget_watch import LOOK_SECONDS

        assert self.budget is not None
        self.budget_at = None if not self.left else now + LOOK_SECONDS
        if self.reported:
            # What a finished command has left is no job, or not one yet; the control group holds it all the same.
            return
        hit = self.budget.look(0 if self.job is None else self.job.output.size)
        if hit is not None:
            self.budget_at = None
            if hit in _HURRIED:
                # What multiplies or takes memory would go on doing so in its grace.
                self.grace = 0.0
            self.stop("budget")

    def request_stop(self, why: str) -> None:
        """Stop it at the next turn of the loop: safe from a signal handler, which may interrupt any line here."""
        # Only a job is stopped by a signal; the caller of another command says it on the socket.
        self._stop_requested = STOP_SIGNAL.name if why == "stop" and self.job is None else why

    def stop(self, why: str) -> None:
        if self.ladder.why is None and self.left:
            self.reported = False
            self.announce_at = None
            self.ladder.begin(why, self.grace)

    def report(self) -> None:
        """Tell the end: into the files of a job, which are the truth about it, and to the caller."""
        self.intake.drain(SILENCE_SECONDS)
        self.reported = True
        facts = self.told = self.facts()
        if self.job is not None:
            survivors = self._left_by_job(self.job) if self.left and self.ladder.why is None else []
            if self.terminal is not None:
                self.job.output.flush()
                self.terminal.close()
                self.terminal = None
            if self.attended and self.channel.open:
                # The caller logs its call.
                self.job.record["attended"] = True
            self.job.finished(facts, survivors)
            # What they write goes on into the job's file: they have no other reader.
            self._survivors_output = self.job.output if survivors else None
            self.job = None
        self.channel.send(protocol.exited(facts, left=self.left))

    def survivors(self) -> list[Living]:
        """What is left beside the shell, which may wait for its next turn."""
        shell = self.tree.leader if self.status is None else 0
        own = set(self.tree.own())
        return [one for one in children.survivors(os.getpid()) if one["pid"] in own and one["pid"] != shell]

    def _left_by_job(self, job: KeptJob) -> list[Living]:
        """What the shell of a job has left; a fork of a session's shell shows the loop, and is named by the command."""
        found = self.survivors()
        request = self.start.request
        if request["op"] == "session":
            for one in found:
                name, *rest = one["argv"] or [""]
                if rest[:1] == ["-c"] and request["script"].startswith(rest[1]):
                    one["argv"] = [name, "-c", job.record["command"]]
        return found

    def facts(self) -> Facts:
        facts = protocol.facts(self.tree.leader, self.status, why=self.ladder.why, forced=self.ladder.killed)
        if self.tree.given:
            # This runner stays with what it keeps, and can serve no other command.
            facts["stays"] = True
        killed = facts.get("signal") == signal.SIGKILL or facts.get("code") == 128 + signal.SIGKILL
        if killed and self._memory.killed_since():
            facts["outOfMemory"] = True
        if (
            self.budget is not None
            and (hit := self.budget.ended_by(facts.get("signal"), facts.get("code"))) is not None
        ):
            facts["budget"] = hit
        if (notes := self.start.notes()) is not None:
            facts["stages"] = notes.stages
            facts["refused"] = notes.refused
        if self.ladder.why is not None and self.left:
            facts["unkillable"] = [
                {"pid": pid, "state": children.state(pid), "argv": children.command_line(pid)}
                for pid in self.tree.living()
            ]
        return facts
