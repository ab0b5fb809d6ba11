"""Which shortened outputs a model opened in full: `nacre savings` counts them as regretted.

The audit log has the commands that name an artifact; what a companion tool opens is no command and stands here.
"""

from __future__ import annotations

import contextlib
import os

NAME = "opened"
# The file begins anew at this size: some 20,000 openings.
MOST_BYTES = 128 * 1024


def note_opening(state_dir: str, artifact_id: int) -> None:
    """Note that an output was opened. A state directory that takes no note costs the count, not the answer."""
    path = os.path.join(state_dir, NAME)
    with contextlib.suppress(OSError):
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        fd = os.open(path, flags, 0o600)
        try:
            if os.fstat(fd).st_size > MOST_BYTES:
                os.ftruncate(fd, 0)
            os.write(fd, b"%d\n" % artifact_id)
        finally:
            os.close(fd)


def opened(state_dir: str) -> frozenset[str]:
    """The ids of the outputs that were opened; none if there are no notes."""
    try:
        with open(os.path.join(state_dir, NAME), encoding="ascii", errors="replace") as file:
            return frozenset(file.read(2 * MOST_BYTES).split())
    except OSError:
        return frozenset()
