"""How much memory a piece of work took at its peak, by the kernel's own count."""

from __future__ import annotations

from collections.abc import Iterable

# Written to clear_refs, this sets the kernel's high-water mark back to what is resident now.
RESET_PEAK = "5"


def reset(pids: Iterable[int]) -> None:
    for pid in pids:
        with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as file:
            file.write(RESET_PEAK)


def peak_bytes(pids: Iterable[int]) -> int:
    """The sum of the high-water marks."""
    return sum(_field(pid, "VmHWM:") for pid in pids)


def resident_bytes(pids: Iterable[int]) -> int:
    return sum(_field(pid, "VmRSS:") for pid in pids)


def _field(pid: int, name: str) -> int:
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))
