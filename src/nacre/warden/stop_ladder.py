"""How a command is stopped: TERM to all its processes, KILL after the grace, and an end of the wait for the rest."""

from __future__ import annotations

import os
import signal
import time

from nacre.warden import children, marks
from nacre.warden.protocol import KILL_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    class Processes(Protocol):
        def ask_to_end(self) -> None: ...
        def ask_late(self) -> None: ...
        def kill(self) -> None: ...


# Processes forked while others are killed, or asked to end, are found by looking again.
KILL_ROUND_SECONDS = 0.005
ASK_ROUND_SECONDS = 0.05


class StopLadder:
    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self.why: str | None = None
        """Why they are being stopped; None while they are not."""
        self.killed = False
        self._kill_at = self._give_up_at = 0.0

    def begin(self, why: str, grace: float) -> None:
        self.why = why
        self._kill_at = time.monotonic() + grace
        self._processes.ask_to_end()

    def step(self) -> bool:
        """Do what is due; False when even SIGKILL has not ended them in time."""
        now = time.monotonic()
        if not self.killed and now >= self._kill_at:
            self.killed = True
            self._give_up_at = now + KILL_SECONDS
        if not self.killed:
            self._processes.ask_late()
            return True
        self._processes.kill()
        return now < self._give_up_at

    def next_step(self) -> float:
        """When `step` is due again."""
        round_seconds = KILL_ROUND_SECONDS if self.killed else ASK_ROUND_SECONDS
        return min(time.monotonic() + round_seconds, self._give_up_at if self.killed else self._kill_at)


class CommandTree:
    """The processes of one command below its runner, without what keepers have taken over."""

    def __init__(self, shell: int) -> None:
        self.leader = shell
        """The process whose status is the command's: the shell, or an adopted survivor of one."""
        self.group = shell
        """The process group that the shell leads, while it is not reaped."""
        self.given: set[int] = set()
        """The marks of what keepers have taken over."""
        self._asked: set[int] = set()

    def own(self) -> list[int]:
        """Every process of the command, zombies too."""
        below = children.descendants(os.getpid())
        if not self.given:
            return below
        return [pid for pid in below if pid == self.leader or marks.mark_of(pid) not in self.given]

    def living(self) -> list[int]:
        return [pid for pid in self.own() if not children.is_zombie(pid)]

    def ask_to_end(self) -> None:
        # Listed first: what is forked from here on is late, whether the signal to the group reached it or not.
        below = self.own()
        self._asked = set(below)
        if not self.given:
            self._signal_group(signal.SIGTERM)
            self._signal_group(signal.SIGCONT)
            below = [pid for pid in below if not self._in_group(pid)]
        self._ask(below)

    def ask_late(self) -> None:
        """Ask orphans that were forked while the others were asked to end.

        At each round, because a shell's child that has not reset its parent's traps yet does not hear it. What a living
        parent starts now is its way of ending (a trap that cleans up), and is left to it.
        """
        late = [pid for pid in children.heads() if pid not in self._asked]
        self._ask(late if not self.given else set(late).intersection(self.own()))

    def kill(self) -> None:
        if children.cell and not self.given:
            # Everything else in a pid namespace ends with its first process.
            children.signal_process(children.cell[1], signal.SIGKILL, parents={os.getpid()})
        own = self.own()
        for pid in own:
            children.signal_process(pid, signal.SIGKILL, parents={os.getpid(), *own})

    def signal(self, number: int) -> None:
        """Send a signal to the command's process group, or to the processes in it that are this command's."""
        if not self.given:
            self._signal_group(number)
            return
        own = self.own()
        for pid in own:
            if self._in_group(pid):
                children.signal_process(pid, number, parents={os.getpid(), *own})

    def _ask(self, pids: Iterable[int]) -> None:
        for pid in pids:
            for number in (signal.SIGTERM, signal.SIGCONT):
                children.signal_process(pid, number, parents={os.getpid(), *self._asked})

    def _in_group(self, pid: int) -> bool:
        fields = children.stat_fields(pid)
        return len(fields) > 2 and int(fields[2]) == self.group

    def _signal_group(self, number: int) -> None:
        # Once the leader is reaped, its number may be another group's.
        if self.group:
            try:
                os.killpg(self.group, number)
            except (ProcessLookupError, PermissionError):
                pass  # no member is left that may be signalled; the others are found in the tree
