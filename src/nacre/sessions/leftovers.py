"""Whether a turn has left processes running below its shell, as /proc shows them."""

from __future__ import annotations

import contextlib
import os

from nacre.sessions.shell_loop import SAME
from nacre.warden import children, marks


class Leftovers:
    """Watches the processes below one session's runner."""

    def __init__(self) -> None:
        self.job_marks: set[int] = set()
        """The marks of what earlier turns left running: these processes are jobs."""
        self._shell = self._runner = 0
        self._last = ""
        """The value of `$!` when nothing was left."""
        self._expected = b""
        """The runner's children when nothing is left, as the kernel prints them."""
        self._sees = False
        self._fd = -1

    def watch(self, shell: int, runner: int) -> None:
        """Watch the processes below this runner, one of which is the shell."""
        self._shell, self._runner = shell, runner
        self._expected = f"{shell} ".encode("ascii")
        # A /proc that hides other users' processes hides runners too: then nothing can be ruled out.
        self._sees = shell in children.descendants(runner)
        # Some kernels do not have this file.
        with contextlib.suppress(OSError):
            self._fd = os.open(f"/proc/{runner}/task/{runner}/children", os.O_RDONLY | os.O_CLOEXEC)

    def none(self, last: str) -> bool:
        """True if only the shell and jobs are left; `last` is the shell's `$!`."""
        changed = last not in (self._last, SAME)
        direct = os.pread(self._fd, 4096, 0) if self._fd >= 0 else b""
        if not changed and direct and direct == self._expected:
            return True
        alone = self._sees and all(
            pid == self._shell or children.is_zombie(pid) or self._is_job(pid)
            for pid in children.descendants(self._runner)
        )
        if alone and changed:
            self._last = last
        if alone and self.job_marks:
            self._expected = direct
        return alone

    def _is_job(self, pid: int) -> bool:
        return bool(self.job_marks) and marks.mark_of(pid) in self.job_marks

    def became_job(self, last: str) -> None:
        """Record that the shell's last background process (`$!`) is a job now."""
        self._last = last

    def close(self, *, forget: bool = False) -> None:
        """Close the descriptor, or only forget its number."""
        fd, self._fd = self._fd, -1
        if fd >= 0 and not forget:
            os.close(fd)
