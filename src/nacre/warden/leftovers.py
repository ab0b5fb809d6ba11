"""Whether a session's shell is alone below its runner, or a script of it has left processes running."""

from __future__ import annotations

from nacre.warden import children, marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection


def is_alone(shell: int, runner: int, *, cell: Collection[int] = (), job_marks: Collection[int] = ()) -> bool:
    """True if only the shell, its sandbox and jobs are below the runner; jobs are told by their marks."""
    return all(
        pid == shell or pid in cell or children.is_zombie(pid) or (bool(job_marks) and marks.mark_of(pid) in job_marks)
        for pid in children.descendants(runner)
    )
