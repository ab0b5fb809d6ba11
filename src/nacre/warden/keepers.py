"""The keepers below a session's runner: one process for the job that each turn has left running."""

from __future__ import annotations

import os
import signal
import socket
import time

from nacre.warden import children, marks, protocol, stop_request
from nacre.warden.keeper import STATUS, Keeper
from nacre.warden.kept_job import KeptJob
from nacre.warden.record import STOP_SIGNAL
from nacre.warden.stop_ladder import KILL_ROUND_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from nacre.warden.channel import Channel
    from nacre.warden.messages import Keep
    from nacre.warden.stop_ladder import CommandTree

KILL_ROUNDS = 20


class Keepers:
    def __init__(self, channel: Channel, tree: CommandTree) -> None:
        self._channel = channel
        self._tree = tree
        self._left_mark: int | None = None
        """The mark of what the last turn has left, until a keeper has it."""
        self._running: dict[int, tuple[int, socket.socket]] = {}
        """Each with the mark of what it keeps, and the socket that tells it of ends."""
        self._stopping: set[int] = set()
        """The marks whose keepers were asked to stop."""
        self._first_pipe = -1
        """The pipe that a session's shell was started with. The shell writes what an EXIT trap prints there; held open,
        so that this does not end the shell by SIGPIPE when the job that reads the pipe has ended."""

    def part(self) -> None:
        """Tell from now on what the session's shell starts from what it has left running."""
        try:
            self._left_mark = marks.renew(self._tree.leader)
        except OSError:
            self._left_mark = None  # the caller then has the shell end, as everything below is one command's
        self._channel.send(protocol.parted(self._left_mark))

    def keep(self, request: Keep, fds: list[int], statuses: dict[int, int | None]) -> None:
        """Give what a turn has left to a keeper of its own; the shell goes on."""
        mark = self._left_mark
        job: KeptJob | None = None
        try:
            if mark is None:
                raise ProcessLookupError("nothing was left")
            if request["job"] is not None:
                job = KeptJob.open(request["job"])
            near, far = socket.socketpair()
            if self._first_pipe < 0 and fds:
                self._first_pipe = os.dup(fds[0])
            child = _fork_marked(mark)
        except OSError as error:
            _close_all(fds, job)
            self._channel.send(protocol.kept(self._tree.leader, error))
            return
        if child == 0:
            self._become_keeper(mark, far, request, job, fds, statuses)
        far.close()
        near.settimeout(0)
        self._running[child] = mark, near
        self._tree.given.add(mark)
        self._left_mark = None
        _close_all(fds, job)

    def _become_keeper(
        self,
        mark: int,
        link: socket.socket,
        request: Keep,
        job: KeptJob | None,
        fds: list[int],
        statuses: dict[int, int | None],
    ) -> NoReturn:
        """In the child: follow what is left to its end, with nothing in hand that belongs to the session."""
        status = 1
        try:
            keeper = stop_request.current = Keeper(mark, request["grace"], link, shell=self._tree.leader)
            adopted = request["adopt"]
            leader = keeper.follow(adopted, None if adopted is None else statuses.get(adopted))
            answer = protocol.kept(leader)
            if job is not None:
                try:
                    job.started(leader, runner=os.getpid())
                except OSError as error:
                    job = None
                    answer = protocol.kept(leader, error)
            keeper.keep(job, fds, aside=request["aside"])
            self._channel.send(answer)
            keeper.close_all_others()
            keeper.run()
            status = 0
        except Exception:  # noqa: BLE001 - the outermost frame of a process: say why, then end
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)

    def stop(self, mark: int) -> bool:
        """Have a keeper stop what it has, and tell the caller of its end; False if no keeper has the mark."""
        for pid, (kept, _) in self._running.items():
            if kept == mark:
                self._stopping.add(mark)
                os.kill(pid, STOP_SIGNAL)
                return True
        return False

    def tell(self, ended: dict[int, int]) -> None:
        """Forget keepers that have ended, continue stopped ones, and tell all what was collected and may be theirs."""
        for pid in self._running.keys() & ended.keys():
            mark, link = self._running.pop(pid)
            link.close()
            if ended[pid] != 0:
                self._end_marked(mark)
            if mark in self._stopping:
                self._stopping.discard(mark)
                self._channel.send(protocol.cleared(mark))
        for pid in self._running:
            # Not reaped, so the pid is still the child's.
            if os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG) is not None:
                os.kill(pid, signal.SIGCONT)
        for pid, status in ended.items():
            for _, link in self._running.values():
                try:
                    link.send(STATUS.pack(pid, status))
                except OSError:
                    continue  # it is about to end, or asks the kernel

    def _end_marked(self, mark: int) -> None:
        """End what a killed keeper answered for, as the warden does for a runner."""
        me = os.getpid()
        for _ in range(KILL_ROUNDS):
            below = children.descendants(me)
            marked = [pid for pid in below if pid != self._tree.leader and marks.mark_of(pid) == mark]
            marked = [pid for pid in marked if pid not in self._running and not children.is_zombie(pid)]
            if not marked:
                break
            for pid in marked:
                children.signal_process(pid, signal.SIGKILL, parents={me, *below})
            time.sleep(KILL_ROUND_SECONDS)

    def close(self) -> None:
        if self._first_pipe >= 0:
            os.close(self._first_pipe)
            self._first_pipe = -1


def _close_all(fds: list[int], job: KeptJob | None) -> None:
    for fd in fds if job is None else (*fds, *job.fds):
        os.close(fd)


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
