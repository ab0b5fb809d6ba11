"""What the proxy of a sandbox has refused: noted in a file for all commands of a session, read for one of them."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# A command that asks for ever more hosts fills no disk.
_MOST_BYTES = 65536
_MOST_PLACES = 10


def note(path: str, place: str, *, runner: int) -> None:
    """Note a refused HOST:PORT with its time and the runner of the sandbox; raises OSError."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if os.fstat(fd).st_size < _MOST_BYTES:
            os.write(fd, f"{time.time():.6f} {runner} {place}\n".encode())
    finally:
        os.close(fd)


def refused_since(path: str, since: float, runners: Collection[int] = ()) -> list[str]:
    """What was refused since a moment, once each; with `runners` only in their sandboxes."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line.split() for line in file]
    except OSError:
        return []
    noted = [line for line in lines if len(line) == 3 and float(line[0]) >= since]
    return list(dict.fromkeys(place for _, runner, place in noted if not runners or int(runner) in runners))


def words_about(places: Sequence[str]) -> str:
    """The same for a reader; nothing if nothing was refused."""
    if not places:
        return ""
    shown = ", ".join(places[:_MOST_PLACES]) + (", …" if len(places) > _MOST_PLACES else "")
    return f"the sandbox has refused a connection while it ran: {shown} (sandbox.network lists what may be reached)"
