"""Calls over time and the tokens that models were shown, added up from the audit log as it grows."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping
from typing import Any, Literal

from nacre import audit
from nacre.minimize.savings import BYTES_PER_TOKEN
from nacre.state_directory import files
from nacre.warden.log_line import open_for_reading

Range = Literal["hour", "day", "week"]
# Seconds of a bar, and bars.
RANGES: dict[Range, tuple[int, int]] = {"hour": (60, 60), "day": (1800, 48), "week": (4 * 3600, 42)}
MINUTE = 60
KEPT_SECONDS = 7 * 86400
# Of the log at a time, so that requests have their turn.
PIECE_BYTES = 256 * 1024


class Activity:
    """Minutes with calls, of the last week."""

    def __init__(self, state_dir: str, *, most_shown_bytes: int) -> None:
        """Read the log of a state directory.

        Args:
            most_shown_bytes: what a model is shown of a longer output at most.
        """
        self._path = os.path.join(os.path.abspath(state_dir), audit.NAME)
        self._most = most_shown_bytes
        self._minutes: dict[int, list[int]] = {}
        """Calls, failed ones among them, and bytes shown, by minute."""
        self._read: tuple[int, int] = (0, 0)
        """The log's inode, and how much of it was read."""
        self._rest = b""
        self._reading = asyncio.Lock()

    async def update(self, now: float) -> str | None:
        """Take the entries that are new; returns why the log cannot be read, if it cannot."""
        for minute in [one for one in self._minutes if one * MINUTE < now - KEPT_SECONDS]:
            del self._minutes[minute]
        async with self._reading:
            try:
                await self._update()
            except FileNotFoundError:
                return None  # no call was made yet
            except OSError as error:
                return f"the log cannot be read: {error.strerror}"
        return None

    async def _update(self) -> None:
        place = files(os.path.dirname(self._path))
        inode, offset = self._read
        if place.call(os.stat, self._path).st_ino != inode:
            # The log was turned over, or is read for the first time: what is left of the former one comes first.
            with contextlib.suppress(FileNotFoundError):
                former = f"{self._path}.1"
                if inode in (0, place.call(os.stat, former).st_ino):
                    await self._take(former, offset)
            offset, self._rest = 0, b""
        self._read = await self._take(self._path, offset)

    async def _take(self, path: str, offset: int) -> tuple[int, int]:
        place = files(os.path.dirname(self._path))
        while True:
            inode, data = place.call(_piece, path, offset)
            if not data:
                return inode, offset
            offset += len(data)
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                entry = audit.decode_line(line.decode("ascii", "replace"))
                if entry is not None:
                    self.add(entry)
            await asyncio.sleep(0)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Count one entry of the log."""
        when = entry.get("time")
        # The start of a job has an entry of its own; its end has the outcome.
        if not isinstance(when, int | float) or entry.get("outcome") == "background":
            return
        minute = self._minutes.setdefault(int(when // MINUTE), [0, 0, 0])
        minute[0] += 1
        minute[1] += entry.get("outcome") != "exited" or bool(entry.get("exitCode"))
        minute[2] += shown_bytes(entry, self._most)

    def bars(self, name: Range, now: float) -> dict[str, Any]:
        """Return the bars of a range up to now, the oldest first."""
        width, count = RANGES[name]
        last = int(now // width)
        calls, failed, shown = [0] * count, [0] * count, [0] * count
        for minute, (all_calls, bad, size) in self._minutes.items():
            at = count - 1 - (last - minute * MINUTE // width)
            if 0 <= at < count:
                calls[at] += all_calls
                failed[at] += bad
                shown[at] += size
        return {
            "calls": calls,
            "failed": failed,
            "tokens": [size // BYTES_PER_TOKEN for size in shown],
        }


def shown_bytes(entry: Mapping[str, Any], most: int) -> int:
    """Return about how much of a call's output a model was shown; what is read of a job later has no entry."""
    minimized = entry.get("minimized")
    if isinstance(minimized, Mapping) and isinstance(minimized.get("shownBytes"), int):
        return int(minimized["shownBytes"])
    if entry.get("jobId") is not None or entry.get("by") == "person":
        return 0
    sizes = (entry.get("stdoutBytes"), entry.get("stderrBytes"))
    return min(most, sum(size for size in sizes if isinstance(size, int)))


def _piece(path: str, offset: int) -> tuple[int, bytes]:
    fd = open_for_reading(path, os.O_RDONLY)
    try:
        return os.fstat(fd).st_ino, os.pread(fd, PIECE_BYTES, offset)
    finally:
        os.close(fd)
