"""What happens when a process of the far side is stopped or killed: it goes on, or what it answered for is ended.

Every process of the far side has the session of the warden's first process, and every command has one of its own, which
no process can leave for the far side's. So a child with another session is an orphan of a runner that was killed.
Runners are children of the zygote; the zygote is a child of the guardian, which does nothing but wait. It has a process
group of its own, and ends the commands when the zygote and the runners are killed together.
"""

from __future__ import annotations

import os
import signal

from nacre.warden import children, ledger, naming

_far_side: tuple[int, ...] = ()
"""The guardian and the process that went on as its child: one of them is the parent of every runner."""


def split_off(*control_fds: int) -> int:
    """Go on as a child of a guardian; returns the guardian's pid. The guardian never returns."""
    global _far_side
    guardian = os.getpid()
    children.become_subreaper()
    # Before the fork: a command may stop the guardian before it runs again, and it is told by its name.
    naming.rename(b"nacre-guardian")
    if os.fork():
        # It ends by itself, when nothing is left to answer for.
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        # The caller hears of the zygote's end by the end of these.
        for fd in control_fds:
            os.close(fd)
        outlive()
        os._exit(0)
    os.setpgid(0, 0)
    _far_side = (guardian, os.getpid())
    return guardian


def outlive() -> None:
    """Wait until no child is left, and answer for all of them meanwhile."""
    end_orphans()
    while True:
        try:
            pid, status = os.waitpid(-1, os.WUNTRACED)
        except ChildProcessError:
            return
        _answer_for(pid, status)


def wake_parent() -> None:
    """Continue the parent of a process of the far side, if a command has stopped it.

    A process that is stopped sees neither its own state nor its parent's. Without this, a zygote and a guardian that a
    command has stopped would stay after the program has ended.
    """
    parent = os.getppid()
    if parent in _far_side:
        try:
            # Without a look at its state: a process that runs ignores it, and a look takes memory in every runner.
            os.kill(parent, signal.SIGCONT)
        except (ProcessLookupError, PermissionError):
            return  # it has ended meanwhile


_looking = _missed = False


def look() -> None:
    """The same for what has happened until now, without waiting: from a signal handler.

    A signal that comes meanwhile interrupts this function. If it reaped, a pid could be freed before it is signalled.
    """
    global _looking, _missed
    _missed = True
    if _looking:
        return
    while _missed:
        _looking = True
        _missed = False
        while (found := _next_change()) is not None:
            _answer_for(*found)
        # A signal from here on is seen by the condition above, or looks by itself.
        _looking = False


def _next_change() -> tuple[int, int] | None:
    try:
        pid, status = os.waitpid(-1, os.WUNTRACED | os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, status) if pid else None


def _answer_for(pid: int, status: int) -> None:
    if os.WIFSTOPPED(status):
        # Not reaped, so the pid is still the child's.
        os.kill(pid, signal.SIGCONT)
    else:
        end_orphans()
        if status:
            ledger.settle_job_of(pid)


def end_orphans() -> None:
    """Kill every child of another session, and all below it.

    What is forked meanwhile becomes a child of this process when its parent ends, and is found then.
    """
    session = os.getsid(0)
    for pid in children.direct_children():
        try:
            if os.getsid(pid) == session:
                continue
        except ProcessLookupError:
            continue
        children.signal_tree(pid, signal.SIGKILL)
        try:
            os.kill(pid, signal.SIGKILL)
        except PermissionError:
            continue  # it has become another user's
