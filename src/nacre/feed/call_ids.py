"""Allots the ids of calls, without a lock or a file."""

from __future__ import annotations

import itertools
import os
import time

from nacre import forks


class CallIds:
    """The ids of calls, unique on a state directory: the program's start of counting, its pid, and a number."""

    def __init__(self) -> None:
        self.prefix = ""
        self.numbers = itertools.count(1)

    def new(self) -> str:
        if not self.prefix:
            forks.hold(self)
            # Two programs that share the directory from two pid namespaces would have to start in one millisecond.
            self.prefix = f"{_base36(time.time_ns() // 1_000_000)}{_base36(os.getpid())}-"
        return f"{self.prefix}{next(self.numbers)}"

    def drop(self, *, close: bool) -> None:
        """Count anew in a fork, which has another pid."""
        self.prefix, self.numbers = "", itertools.count(1)


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


call_ids = CallIds()
