"""The first line that the far side says on a new wire, after whatever a login shell prints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nacre.errors import BackendUnavailableError
from nacre.remote.wire import Wire

READ_BYTES = 1024 * 1024
# What a login shell may print before the far side's first line.
MOST_BANNER_BYTES = 1024 * 1024


async def first_line(wire: Wire, word: str, name: str, seen: bytes = b"") -> tuple[str, bytes]:
    """What stands behind the word made for this wire, and what has come after its line.

    Raises:
        BackendUnavailableError: the wire ends without it; `name` is the place.
    """
    found = await line_behind(wire.read, word, seen)
    if found[1] is None:
        last = await wire.complaint() or found[0].strip().rpartition("\n")[2]
        raise BackendUnavailableError(f"{name} cannot be reached: {last or 'it closed the link'}")
    return found[0], found[1]


async def line_behind(
    read: Callable[[int], Awaitable[bytes]], word: str, seen: bytes = b""
) -> tuple[str, bytes | None]:
    """The rest of the line that begins with the word, and what has come after it; all that came and None at the end."""
    mark = b"\n" + word.encode("ascii") + b" "
    while True:
        at = seen.find(mark)
        if at >= 0 and (end := seen.find(b"\n", at + 1)) >= 0:
            return seen[at + len(mark) : end].decode("utf-8", "replace"), seen[end + 1 :]
        data = b"" if len(seen) > MOST_BANNER_BYTES else await read(READ_BYTES)
        if not data:
            return seen.decode("utf-8", "replace"), None
        seen += data
