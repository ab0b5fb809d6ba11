"""The short way of most commands: they end by themselves, soon, and leave nothing."""

from __future__ import annotations

import os
import select

from nacre.warden import children, orders, protocol
from nacre.warden.wakeups import drain_wakeups

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.supervisor import Supervisor

# From here on a code may tell of a signal, and of a reason for it.
SIGNAL_BASE = 128


def is_over(supervisor: Supervisor) -> bool:
    """Wait for the first thing that happens; True when that was the end, and nothing is left to do."""
    if supervisor.unused_until is not None and not _wait_for_request(supervisor):
        return True
    return _wait_for_leader(supervisor)


def _wait_for_request(supervisor: Supervisor) -> bool:
    """Wait until the caller says something about its spare; False when it was all over before.

    A short command is over without a request: its caller has seen the end, and that nothing is left. It then asks for
    the next. To wake for that end as well would be in the caller's way.
    """
    while supervisor.unused_until is not None and supervisor.ladder.why is None:
        ready = supervisor.poll.poll(supervisor.patience())
        if not ready:
            # It was not used, or its end was seen.
            _, supervisor.left = children.reap()
            return supervisor.left
        for fd, _ in ready:
            if fd == supervisor.wakeup:
                drain_wakeups(fd)
                return True
            for body in supervisor.channel.frames():
                if supervisor.following or protocol.begins(body):
                    supervisor.following.append(body)
                else:
                    orders.obey(supervisor, *supervisor.channel.decode(body))
        if supervisor.following:
            return _is_left(supervisor)
        if not supervisor.channel.open:
            orders.hung_up(supervisor)
            return True
    return True


def _is_left(supervisor: Supervisor) -> bool:
    """Whether anything is left of a command that its caller takes to be over: that caller is not to be trusted."""
    _, supervisor.left = children.reap()
    if supervisor.left:
        supervisor.following = []
        supervisor.channel.close()
        orders.hung_up(supervisor)
    return supervisor.left


def _wait_for_leader(supervisor: Supervisor) -> bool:
    """Wait for the shell's end, or for whatever comes before it; True when it was plain, and has been told.

    With a descriptor of the process the caller hears of it sooner than through a signal, which would be handled, and
    then read from its pipe, first.
    """
    try:
        handle = os.pidfd_open(supervisor.tree.leader)
    except OSError:
        return False  # a descriptor too many: the loop hears the signal
    supervisor.poll.register(handle, select.POLLIN)
    ready = supervisor.poll.poll(supervisor.patience())
    told = len(ready) == 1 and ready[0][0] == handle and _tell_plain_end(supervisor)
    supervisor.poll.unregister(handle)
    os.close(handle)
    return told


def _tell_plain_end(supervisor: Supervisor) -> bool:
    """Tell of a shell that exited by itself and left nothing, in a few words: the caller waits for them."""
    if supervisor.start.has_notes or supervisor.ladder.why is not None or supervisor.intake.fds or supervisor.job:
        return False
    if supervisor.budget is not None:
        return False
    leader = supervisor.tree.leader
    _, status = os.waitpid(leader, 0)
    if children.cell:
        _, supervisor.left = children.reap()
    else:
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            supervisor.left = False
    code = os.waitstatus_to_exitcode(status)
    if supervisor.left or not 0 <= code < SIGNAL_BASE:
        supervisor.leader_ended(status)
        return False
    supervisor.channel.send_frame(protocol.plain_end(leader, code))
    supervisor.reported = True
    supervisor.told = protocol.facts(leader, status, why=None, forced=False)
    return True
