"""What the fault tests share: programs that use nacre from outside the test process, and a look at processes.

A wait here is always for a fact (a line, a file, a process that is gone) and bounded; none guesses.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar

import pytest

from nacre.warden import children

T = TypeVar("T")

SOURCE = Path(__file__).resolve().parents[2] / "src"
PLAIN_USER = 65534
# Far above what any wait here needs on a busy machine, far below the 100 s that sleepers sleep.
PATIENCE_SECONDS = 30.0


def eventually(condition: Callable[[], T], what: str) -> T:
    """The condition's first true value."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (value := condition()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        select.select([], [], [], 0.005)
    return value


def alive(pid: int) -> bool:
    return not children.is_zombie(pid)


def with_argument(argument: str) -> list[int]:
    """Living processes that have exactly this argument."""
    found = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in found if argument in children.command_line(pid) and alive(pid)]


def end(*pids: int) -> None:
    """Kill what a test left running on purpose, and see it gone."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    eventually(lambda: not any(alive(pid) for pid in pids), f"the end of {pids}")


class Meeting:
    """A place where commands wait for each other and for the test; none of them looks at a clock."""

    def __init__(self, directory: Path) -> None:
        self._arrivals = directory / "arrivals"
        gate = directory / "gate"
        os.mkfifo(gate)
        # Open for both, so that neither side's opening waits for the other.
        self._gate = os.open(gate, os.O_RDWR | os.O_CLOEXEC)
        self.command = f"echo >>{self._arrivals}; read -r <{gate}"
        """Says that a command has come, and waits until it is let go."""

    def has(self, count: int) -> bool:
        """Whether so many have come."""
        return self._arrivals.exists() and self._arrivals.stat().st_size >= count

    def let_go(self, count: int) -> None:
        self._arrivals.unlink()
        os.write(self._gate, b"\n" * count)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._gate)


@cache
def _runs_for(interpreter: str, user: int) -> bool:
    try:
        probe = [interpreter, "-c", "import sys, asyncio; sys.exit(sys.version_info < (3, 11))"]
        return subprocess.run(probe, user=user, group=user, extra_groups=[], cwd="/", check=False).returncode == 0
    except OSError:
        return False


def interpreter_for(user: int | None) -> str:
    """A Python that this user can start; a test for which the machine has none is skipped."""
    if user is None:
        return sys.executable
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        if _runs_for(candidate, user):
            return candidate
    pytest.skip(f"no Python >= 3.11 that user {user} may run (Debian: apt-get install python3)")


class Program:
    """A process of its own that runs Python code; what it prints are the events to wait for."""

    def __init__(
        self,
        code: str,
        *arguments: str,
        user: int | None = None,
        env: Mapping[str, str] | None = None,
        module: str | None = None,
        before: list[str] | None = None,
        **options: Any,
    ) -> None:
        if user is not None:
            options |= {"user": user, "group": user, "extra_groups": []}
        what = ["-m", module] if module else ["-c", code]
        self.process = subprocess.Popen(
            [*(before or []), interpreter_for(user), *what, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCE), **(env or {})},
            **options,
        )
        self.pid = self.process.pid
        self._held = b""

    def line(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        end_at = time.monotonic() + PATIENCE_SECONDS
        while b"\n" not in self._held:
            ready, _, _ = select.select([fd], [], [], max(0.0, end_at - time.monotonic()))
            data = os.read(fd, 65536) if ready else b""
            if not data:
                self.kill()
                pytest.fail(f"no line came; it had printed {self._held!r} and said {self.errors!r}")
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        return line.decode()

    def json(self) -> Any:
        return json.loads(self.line())

    def finish(self) -> tuple[int, str, str]:
        """Wait for its end: exit code, the rest of stdout, stderr."""
        try:
            out, errors = self.process.communicate(timeout=PATIENCE_SECONDS * 1.5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, errors = self.process.communicate()
            pytest.fail(f"the program did not end; it printed {out!r} and said {errors!r}")
        self.errors = errors.decode()
        return self.process.returncode, (self._held + out).decode(), self.errors

    def succeed(self) -> str:
        code, out, errors = self.finish()
        assert code == 0, errors
        return out

    errors = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        self.process.kill()
        _, errors = self.process.communicate()
        self.errors = errors.decode()


def nacre(*arguments: str, user: int | None = None, env: Mapping[str, str] | None = None, **options: Any) -> Program:
    """The command line, in a process of its own."""
    return Program("", *arguments, module="nacre", user=user, env=env, **options)


@contextlib.contextmanager
def full_pipe() -> Iterator[tuple[int, int]]:
    """A pipe that takes no byte more: its reading and its writing end."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x")
    os.set_blocking(writing, True)
    try:
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)
