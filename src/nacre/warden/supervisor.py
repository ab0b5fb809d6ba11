"""One command under a runner, from the request to the moment when nothing of it is left.

It owns time and death: deadline, stop ladder, and the end of a foreground command whose caller is gone. It never
touches the output of a foreground command (the caller reads that pipe itself) unless it is told to keep the command.
One poll loop, every wait bounded. What it reports are facts; words are the near side's business.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time

from nacre.warden import children, marks, protocol
from nacre.warden.channel import Channel
from nacre.warden.keeper import STATUS, Keeper
from nacre.warden.kept_job import Job
from nacre.warden.memory import MemoryWatch
from nacre.warden.protocol import DRAIN_SECONDS, KILL_SECONDS, READ_BYTES, SILENCE_SECONDS, SPARE_SECONDS
from nacre.warden.record import STOP_SIGNAL
from nacre.warden.start import Start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

    from nacre.warden.job_runner import JobWatch
    from nacre.warden.messages import Facts, Go, Keep, Request, StartJob
    from nacre.warden.start import Startable

# A command that lives this long is announced, so that its caller knows the pid if the runner should die.
ANNOUNCE_SECONDS = 0.05
# Children forked during the kill are found by looking again; so are those forked while the others were asked to end.
KILL_ROUND_SECONDS = 0.005
KILL_ROUNDS = 20
ASK_ROUND_SECONDS = 0.05
_CHILD_ENDED = (signal.SIGCHLD,)
# From here on a code may tell of a signal, and of a reason for it.
SIGNAL_BASE = 128
# poll() counts milliseconds in 31 bits, about 24 days; a limit may be further away.
PATIENCE_SECONDS = 24 * 3600.0


class Execution:
    def __init__(self, channel: Channel, wakeup: int, memory: MemoryWatch) -> None:
        self._channel = channel
        self._memory = memory
        self._wakeup = wakeup
        self._poll = select.poll()
        self._poll.register(channel.sock, select.POLLIN)
        self._poll.register(wakeup, select.POLLIN)
        self._start: Start | None = None
        self.following: list[bytes] = []
        """The request for the next command, where it came before this one was known to be over; not decoded."""
        self._leader = 0
        """The process whose status is the command's: the shell, or an adopted survivor of one."""
        self._group = 0
        """The process group that the shell leads, while it is not reaped."""
        self._adopted = False
        self._status: int | None = None
        """The raw wait status of the leader, once it has exited."""
        self._left = True
        """Whether any process of this command is left, zombies not counted."""
        self._stays = True
        """Whether any child is left, also of what keepers answer for: this process is their subreaper."""
        self._deadline: float | None = None
        self._announce_at: float | None = None
        self._spare_until: float | None = None
        """When a spare that nobody has used is given up; its caller stops using it well before."""
        self._grace = 0.0
        self._why: str | None = None
        """Why it is being stopped: timeout, stop, caller gone, idle, the name of a signal; None while it is not."""
        self._asked: set[int] = set()
        """The processes that were there, and were asked to end, when the ladder began."""
        self._stop_requested: str | None = None
        self._kill_at: float | None = None
        self._give_up_at: float | None = None
        self._killed = False
        self._reported = False
        """Whether the caller has heard of the end."""
        self._told: Facts | None = None
        """What it has heard."""
        self._named: dict[int, int | None] = {}
        """The survivors that the caller has heard of, and their statuses once they have ended."""
        self._job: Job | None = None
        self._readers: list[int] = []
        self._aside: set[int] = set()
        """Those whose bytes nobody wants any more."""
        self._exit_at = 0.0
        self._last_output = 0.0
        self._left_mark: int | None = None
        """The mark of what the last turn of a session has left, until a keeper has it."""
        self._given: set[int] = set()
        """The marks of what earlier turns have left: their keepers answer for it."""
        self._keepers: dict[int, tuple[int, socket.socket]] = {}
        """Those that still run, each with the mark of what it keeps and the way to tell it of ends."""
        self._first_pipe = -1
        """The pipe that a session's shell was started with, of which it writes an EXIT trap's words at its exit: held
        open, so that these do not end the shell by SIGPIPE when the job that reads the pipe has ended."""
        self._keeper: Keeper | None = None
        """In the process that has become one: itself."""

    # Starting.

    def prepare(self, request: Startable, fds: list[int], env: dict[bytes, bytes]) -> bool:
        """Make ready what the start needs; False when that failed, and the caller was told."""
        self._start = Start(self._channel, request, fds, env)
        return self._start.prepare()

    def start(self) -> bool:
        """Start what was prepared; False when that failed, and the caller was told."""
        start = self._start
        assert start is not None
        if not start.spawn():
            return False
        self._leader = self._group = start.leader
        now = time.monotonic()
        if start.waits:
            self._spare_until = now + SPARE_SECONDS if start.is_spare else None
            return True
        if start.request["op"] == "run":
            limit = start.request["timeout"]
            self._deadline = None if limit is None else now + limit
            self._announce_at = now + ANNOUNCE_SECONDS
            self._grace = start.request["grace"]
        return True

    def discard(self) -> None:
        """Give back what was made ready and is not started here."""
        if self._start is not None:
            self._start.close()
            self._start = None
        if self._first_pipe >= 0:
            os.close(self._first_pipe)
            self._first_pipe = -1

    def take_over(self, request: StartJob, watch: JobWatch) -> None:
        """Go on with a job from the moment when more than output comes from it."""
        self._leader = self._group = watch.leader
        self._start = Start.over(self._channel, request, watch.leader, watch.notes_fd)
        self._deadline = watch.deadline
        self._grace = request["grace"]
        self._job = Job(request["job"], lock=watch.lock, claim=watch.claim, output=watch.output)
        self._job.running(self._leader, runner=os.getpid())
        self._last_output = watch.last_output
        self._attend(watch.readers)
        self._stop_requested = watch.stop_requested

    # The loop.

    def run(self) -> bool:
        """Serve until nothing is left; True when the caller may send this runner another command."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _CHILD_ENDED)
        if (self._spare_until is None or self._wait_for_word()) and not self._wait_for_leader():
            self._serve()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _CHILD_ENDED)
        # What came meanwhile is of this command, and would wake the next one for nothing.
        drain_wakeups(self._wakeup)
        self.discard()
        return self._channel.open

    def _serve(self) -> None:
        while True:
            self._look_at_children()
            self._look_at_clock()
            if self._reported and not self._stays and not self._readers:
                break
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _CHILD_ENDED)
            for fd, _ in self._poll.poll(self._patience()):
                if fd == self._wakeup:
                    drain_wakeups(fd)
                elif fd in self._readers:
                    self._read(fd)
                else:
                    self._listen()

    def _wait_for_word(self) -> bool:
        """Wait until the caller has something to say of its spare; False when it was all over before.

        A short command is over without a word: its caller has seen the end, and that nothing is left. It then asks for
        the next. To wake for that end as well would be in the caller's way.
        """
        while self._spare_until is not None and self._why is None:
            ready = self._poll.poll(self._patience())
            if not ready:
                # Nobody has used it, or its end was seen.
                _, self._left = children.reap()
                return self._left
            for fd, _ in ready:
                if fd == self._wakeup:
                    drain_wakeups(fd)
                    return True
                for body in self._channel.frames():
                    if self.following or protocol.begins(body):
                        self.following.append(body)
                    else:
                        self._obey(*self._channel.decode(body))
            if self.following:
                return self._is_left()
            if not self._channel.open:
                self._hung_up()
                return True
        return True

    def _is_left(self) -> bool:
        """Whether anything is left of a command that its caller takes to be over: that caller is not to be trusted."""
        _, self._left = children.reap()
        if self._left:
            self.following = []
            self._channel.close()
            self._hung_up()
        return self._left

    def _wait_for_leader(self) -> bool:
        """Wait for the shell's end, or for whatever comes before it; True when it was plain, and has been told.

        Most commands end here: with a descriptor of the process the caller hears of it sooner than through a signal,
        which would be handled, and then read from its pipe, first.
        """
        try:
            handle = os.pidfd_open(self._leader)
        except OSError:
            return False  # a descriptor too many: the loop hears the signal
        self._poll.register(handle, select.POLLIN)
        ready = self._poll.poll(self._patience())
        told = len(ready) == 1 and ready[0][0] == handle and self._tell_plain_end()
        self._poll.unregister(handle)
        os.close(handle)
        return told

    def _tell_plain_end(self) -> bool:
        """Tell of a shell that exited by itself and left nothing, in a few words: the caller waits for them."""
        if self._start is None or self._start.has_notes or self._job is not None or self._why is not None:
            return False
        _, status = os.waitpid(self._leader, 0)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            self._left = False
        code = os.waitstatus_to_exitcode(status)
        if self._left or not 0 <= code < SIGNAL_BASE:
            self._leader_ended(status)
            return False
        self._channel.send_frame(protocol.plain_end(self._leader, code))
        self._reported = True
        self._told = {"pid": self._leader, "why": None, "forced": False, "code": code}
        return True

    def _leader_ended(self, status: int) -> None:
        self._status = status
        self._group = 0
        self._announce_at = None
        self._exit_at = self._last_output = time.monotonic()

    def _patience(self) -> float | None:
        timers = [self._announce_at, self._spare_until, self._kill_at, self._give_up_at]
        if self._why is None and self._status is None:
            timers.append(self._deadline)
        if self._why is not None and self._left and not self._reported:
            timers.append(time.monotonic() + (KILL_ROUND_SECONDS if self._killed else ASK_ROUND_SECONDS))
        if self._draining:
            timers.append(self._drain_until())
        due = [timer for timer in timers if timer is not None]
        if not due:
            return None
        # One millisecond more, so that the loop does not spin just before a timer.
        return min(max(0.0, min(due) - time.monotonic()), PATIENCE_SECONDS) * 1000 + 1

    def _collect(self) -> None:
        """Reap what has ended, and find out whether anything of this command is left."""
        ended, self._stays = children.reap()
        for pid in self._named.keys() & ended.keys():
            self._named[pid] = ended[pid]
        if self._status is None and self._leader in ended:
            self._leader_ended(ended[self._leader])
        self._left = self._stays
        if self._given:
            self._tell_keepers(ended)
            self._left = any(not children.is_zombie(pid) for pid in self._own())

    def _look_at_children(self) -> None:
        self._collect()
        if self._reported:
            return
        if self._why is not None:
            if not self._left:
                self._report()
            elif self._killed:
                self._kill()
            else:
                self._ask_late_orphans()
        elif self._status is not None and self._job is None:
            self._report()

    def _look_at_clock(self) -> None:
        now = time.monotonic()
        if self._announce_at is not None and now >= self._announce_at:
            self._announce_at = None
            self._channel.send(protocol.started(self._leader))
        if self._spare_until is not None and now >= self._spare_until:
            self._spare_until = None
            self._stop("idle")
        if self._stop_requested is not None:
            why, self._stop_requested = self._stop_requested, None
            self._stop(why)
        if self._deadline is not None and now >= self._deadline and self._status is None:
            self._stop("timeout")
        if self._kill_at is not None and now >= self._kill_at:
            self._kill_at = None
            self._killed = True
            self._give_up_at = now + KILL_SECONDS
            self._kill()
        if self._give_up_at is not None and now >= self._give_up_at:
            self._give_up_at = None
            if not self._reported:
                self._report()
        if self._draining and now >= self._drain_until():
            self._report()

    # Ending.

    def request_stop(self, why: str) -> None:
        """Stop it at the next turn of the loop: safe from a signal handler, which may interrupt any line here."""
        if self._keeper is not None:
            self._keeper.request_stop(why)
        elif why == "stop" and self._job is None:
            # Only a job is stopped by a signal; the caller of another command says it on the socket.
            why = STOP_SIGNAL.name
        self._stop_requested = why

    def _stop(self, why: str) -> None:
        """Begin the ladder: TERM (and CONT, for what is stopped) to everything, KILL after the grace."""
        if self._why is not None or not self._left:
            return
        self._why = why
        self._reported = False
        self._announce_at = None
        self._kill_at = time.monotonic() + self._grace
        # Looked at first: what is forked from here on is late, whether the signal to the group reached it or not.
        below = self._own()
        self._asked = set(below)
        if not self._given:
            self._signal_group(signal.SIGTERM)
            self._signal_group(signal.SIGCONT)
            below = [pid for pid in below if not self._in_group(pid)]
        self._ask(below)

    def _own(self) -> list[int]:
        """Every process below this one but the keepers, and what they answer for."""
        below = children.descendants(os.getpid())
        if not self._given:
            return below
        return [pid for pid in below if pid == self._leader or marks.mark_of(pid) not in self._given]

    def _kill(self) -> None:
        own = self._own()
        parents = {os.getpid(), *own}
        for pid in own:
            children.signal_process(pid, signal.SIGKILL, parents=parents)

    def _ask(self, pids: Iterable[int]) -> None:
        parents = {os.getpid(), *self._asked}
        for pid in pids:
            children.signal_process(pid, signal.SIGTERM, parents=parents)
            children.signal_process(pid, signal.SIGCONT, parents=parents)

    def _ask_late_orphans(self) -> None:
        """A process can be forked while the others are asked to end; its parent's end makes it ours.

        Asked at each round: a shell's child that has not reset its parent's traps yet does not hear it. What a living
        parent starts now is its way of ending (a trap that cleans up), and is left to it.
        """
        late = [pid for pid in children.children_of(os.getpid()) or [] if pid not in self._asked]
        self._ask(late if not self._given else set(late).intersection(self._own()))

    def _in_group(self, pid: int) -> bool:
        fields = children.stat_fields(pid)
        return len(fields) > 2 and int(fields[2]) == self._group

    def _signal(self, number: int) -> None:
        """Send a signal to the command's process group, or to those in it that are this command's."""
        if not self._given:
            self._signal_group(number)
            return
        own = self._own()
        for pid in own:
            if self._in_group(pid):
                children.signal_process(pid, number, parents={os.getpid(), *own})

    def _signal_group(self, number: int) -> None:
        if not self._group:
            # Once the leader is reaped, the number may become somebody else's.
            return
        try:
            os.killpg(self._group, number)
        except (ProcessLookupError, PermissionError):
            pass  # no member left that may be signalled; whatever is left is found in the tree

    def _facts(self) -> Facts:
        facts: Facts = {"pid": self._leader, "why": self._why, "forced": self._killed}
        if self._given:
            # This runner stays with what it keeps, and can serve no other command.
            facts["stays"] = True
        if self._status is not None:
            code = os.waitstatus_to_exitcode(self._status)
            if code >= 0:
                facts["code"] = code
            else:
                facts["signal"] = -code
            if code in (-signal.SIGKILL, 128 + signal.SIGKILL) and self._memory.killed_since():
                facts["outOfMemory"] = True
        if self._start is not None and (notes := self._start.notes()) is not None:
            facts["stages"] = notes.stages
            facts["refused"] = notes.refused
        if self._why is not None and self._left:
            facts["unkillable"] = [
                {"pid": pid, "state": children.state(pid), "argv": children.command_line(pid)}
                for pid in self._own()
                if not children.is_zombie(pid)
            ]
        return facts

    def _report(self) -> None:
        if self._job is not None:
            self._drain_now()
        self._reported = True
        facts = self._told = self._facts()
        if self._job is not None:
            # The files are the truth about a job; the caller may be gone long since.
            self._job.finished(facts)
            self._job = None
        self._channel.send(protocol.exited(facts, left=self._left))

    # The caller's words.

    def _listen(self) -> None:
        for message, fds in self._channel.receive():
            self._obey(message, fds)
        if not self._channel.open:
            self._hung_up()

    def _hung_up(self) -> None:
        self._poll.unregister(self._channel.sock)
        if self._job is None and not self._reported and not (self._start is not None and self._start.outlives):
            self._stop("caller gone")

    def _obey(self, request: Request, fds: list[int]) -> None:
        if request["op"] == "go":
            self._go(request)
        elif request["op"] == "rest":
            # The turn of a session has ended, and its limits with it.
            self._deadline = None
            self._grace = 0.0
        elif request["op"] == "stop":
            self._grace = request["grace"]
            self._stop("stop")
        elif request["op"] == "signal":
            self._signal(request["number"])
        elif request["op"] == "survivors":
            self._name_survivors()
        elif request["op"] == "part":
            self._part()
        elif request["op"] == "keep" and request["apart"]:
            self._keep_apart(request, fds)
        elif request["op"] == "keep":
            self._keep(request, fds)

    def _go(self, message: Go) -> None:
        """A waiting shell is in use, and has been for a moment: from now on its limits are kept here."""
        self._spare_until = None
        self._grace = message["grace"]
        began = time.monotonic() - message["elapsed"]
        limit = message["timeout"]
        self._deadline = None if limit is None else began + limit
        self._announce_at = began + ANNOUNCE_SECONDS

    def _name_survivors(self) -> None:
        """Tell what is left beside the shell, which may wait for its next turn."""
        self._collect()
        shell = self._leader if self._status is None else 0
        own = set(self._own())
        found = [one for one in children.survivors(os.getpid()) if one["pid"] in own and one["pid"] != shell]
        self._named = {one["pid"]: None for one in found}
        self._channel.send(protocol.survivors(found, stays=self._stays))

    def _part(self) -> None:
        """Tell from now on what the session's shell starts from what it has left running."""
        try:
            self._left_mark = marks.renew(self._leader)
        except OSError:
            self._left_mark = None  # the caller then has the shell end, as everything below is one command's
        self._channel.send(protocol.parted(self._left_mark))

    def _keep_apart(self, message: Keep, fds: list[int]) -> None:
        """Give what a turn has left to a keeper of its own, and go on with the shell."""
        mark = self._left_mark
        job: Job | None = None
        try:
            if mark is None:
                raise ProcessLookupError("nothing was left")
            if message["job"] is not None:
                job = Job.open(message["job"])
            near, far = socket.socketpair()
            if self._first_pipe < 0 and fds:
                self._first_pipe = os.dup(fds[0])
            child = _fork_marked(mark)
        except OSError as error:
            for fd in fds if job is None else (*fds, *job.fds):
                os.close(fd)
            self._channel.send(protocol.kept(self._leader, error))
            return
        if child == 0:
            self._become_keeper(mark, message, job, fds, far)
        far.close()
        near.settimeout(0)
        self._keepers[child] = mark, near
        self._given.add(mark)
        self._left_mark = None
        for fd in fds if job is None else (*fds, *job.fds):
            os.close(fd)

    def _become_keeper(
        self, mark: int, message: Keep, job: Job | None, fds: list[int], link: socket.socket
    ) -> NoReturn:
        """In the child: follow what is left to its end, with nothing in hand that belongs to the session."""
        status = 1
        try:
            keeper = self._keeper = Keeper(mark, message["grace"], link, shell=self._leader)
            adopted = message["adopt"]
            leader = keeper.follow(adopted, None if adopted is None else self._named.get(adopted))
            answer = protocol.kept(leader)
            if job is not None:
                try:
                    job.started(leader, runner=os.getpid())
                except OSError as error:
                    job = None
                    answer = protocol.kept(leader, error)
            keeper.keep(job, fds, aside=message["aside"])
            self._channel.send(answer)
            keeper.close_all_others()
            keeper.run()
            status = 0
        except Exception:  # noqa: BLE001 - the outermost frame of a process: say why, then end
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)

    def _tell_keepers(self, ended: dict[int, int]) -> None:
        """Forget keepers that have ended, continue stopped ones, and tell all what was collected and may be theirs."""
        for pid in self._keepers.keys() & ended.keys():
            mark, link = self._keepers.pop(pid)
            link.close()
            if ended[pid] != 0:
                self._end_marked(mark)
        for pid in self._keepers:
            # Not reaped, so the pid is still the child's.
            if os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG) is not None:
                os.kill(pid, signal.SIGCONT)
        for pid, status in ended.items():
            for _, link in self._keepers.values():
                try:
                    link.send(STATUS.pack(pid, status))
                except OSError:
                    continue  # it is about to end, or asks the kernel

    def _end_marked(self, mark: int) -> None:
        """End what a keeper answered for that was killed, as the warden does for a runner."""
        me = os.getpid()
        for _ in range(KILL_ROUNDS):
            below = children.descendants(me)
            marked = [pid for pid in below if pid != self._leader and marks.mark_of(pid) == mark]
            marked = [pid for pid in marked if pid not in self._keepers and not children.is_zombie(pid)]
            if not marked:
                break
            for pid in marked:
                children.signal_process(pid, signal.SIGKILL, parents={me, *below})
            time.sleep(KILL_ROUND_SECONDS)

    def _keep(self, message: Keep, fds: list[int]) -> None:
        """Read the pipes from now on: into a job's file, or away, so that survivors do not die of SIGPIPE."""
        if message["adopt"] is not None:
            self._adopt(message["adopt"])
        if message["job"] is not None:
            try:
                self._job = Job.open(message["job"])
                self._job.started(self._leader, runner=os.getpid())
                # The shell may have ended while the word was on its way: then the job has its end to come.
                self._reported = False
            except OSError as error:
                self._job = None
                for fd in fds:
                    os.close(fd)
                self._channel.send(protocol.kept(self._leader, error))
                self._stop("stop")
                return
        self._attend(fds)
        self._aside = set(fds[len(fds) - message["aside"] :])
        self._channel.send(protocol.kept(self._leader))

    def _attend(self, fds: list[int]) -> None:
        for fd in fds:
            os.set_blocking(fd, False)
            self._readers.append(fd)
            self._poll.register(fd, select.POLLIN)

    def keep_late(self, message: Keep, fds: list[int]) -> None:
        """Keep a command of which nothing is left: it ended while the word was on its way."""
        facts = self._told
        if message["adopt"] is not None:
            self._adopt(message["adopt"])
            facts = self._facts()
        aside = fds[len(fds) - message["aside"] :]
        try:
            if message["job"] is not None:
                job = Job.open(message["job"])
                job.started(self._leader, runner=os.getpid())
                for fd in fds:
                    os.set_blocking(fd, False)
                    while data := _read_now(fd):
                        if fd not in aside:
                            job.output.feed(data)
                if facts is not None:
                    job.finished(facts)
        except OSError as error:
            self._channel.send(protocol.kept(self._leader, error))
        else:
            self._channel.send(protocol.kept(self._leader))
        finally:
            for fd in fds:
                os.close(fd)

    def _adopt(self, survivor: int) -> None:
        """Follow a survivor of the finished shell from now on: its status, and the end of all that is left."""
        self._leader = survivor
        self._adopted = True
        self._status = self._named.get(survivor)
        self._deadline = None
        self._reported = False

    # A kept command.

    @property
    def _draining(self) -> bool:
        if self._job is None or self._why is not None or self._reported:
            return False
        return not self._left if self._adopted else self._status is not None

    def _drain_until(self) -> float:
        if not self._readers:
            return self._exit_at
        return min(self._last_output + SILENCE_SECONDS, self._exit_at + DRAIN_SECONDS)

    def _read(self, fd: int) -> bool:
        """Take what is there; False when there is nothing now."""
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._poll.unregister(fd)
            self._readers.remove(fd)
            self._aside.discard(fd)
            os.close(fd)
            return False
        self._last_output = time.monotonic()
        if self._job is not None and fd not in self._aside:
            self._job.output.feed(data)
        return True

    def _drain_now(self) -> None:
        end = time.monotonic() + SILENCE_SECONDS
        for fd in list(self._readers):
            while time.monotonic() < end and self._read(fd):
                pass


def _fork_marked(mark: int) -> int:
    """Fork a keeper with the mark of what it keeps, so that no later turn takes it for its own."""
    before = marks.put(mark)
    try:
        child = os.fork()
    except OSError:
        marks.put(before)
        raise
    if child:
        marks.put(before)
    return child


def _read_now(fd: int) -> bytes:
    """What is in a pipe; b"" when there is nothing now, or never again."""
    try:
        return os.read(fd, READ_BYTES)
    except BlockingIOError:
        return b""


def drain_wakeups(fd: int) -> None:
    try:
        while len(os.read(fd, 4096)) == 4096:
            pass
    except BlockingIOError:
        return
