"""The command line as its users run it: another process, with its own stdout, stderr and exit code."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

# No verb here takes longer; one that does hangs.
PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Finished:
    code: int
    out: str
    err: str


class Nacre:
    """`python -m nacre`, to its end or started."""

    argv = (sys.executable, "-m", "nacre")

    def __call__(
        self, *arguments: str, stdin: bytes = b"", cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> Finished:
        done = subprocess.run(
            [*self.argv, *arguments],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())

    def at_terminal(
        self,
        *arguments: str,
        typed: bytes = b"",
        asked: bytes = b"[y/N",
        columns: int = 80,
        cwd: Path | None = None,
        **env: str,
    ) -> Finished:
        """The same at a terminal of its own, where `typed` follows once `asked` is shown; both streams are `out`."""
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, columns))
        # setsid makes the terminal its controlling one, as a login does.
        argv = ["setsid", "--ctty", "--wait", *self.argv, *arguments]
        environment = {**os.environ, "TERM": "xterm", **env}
        with subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, cwd=cwd, env=environment) as running:
            os.close(slave)
            seen = b""
            try:
                while data := _read(master):
                    seen += data
                    if typed and asked in seen:
                        os.write(master, typed)
                        typed = b""
                running.wait(PATIENCE_SECONDS)
            finally:
                os.close(master)
                running.kill()
        return Finished(running.returncode, seen.decode().replace("\r\n", "\n"), "")

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*self.argv, *arguments], **options)


def _read(master: int) -> bytes:
    """What the terminal shows next; nothing when the last process has left it."""
    try:
        return os.read(master, 65_536) if select.select([master], [], [], PATIENCE_SECONDS)[0] else b""
    except OSError:
        return b""


@pytest.fixture
def nacre(monkeypatch: pytest.MonkeyPatch) -> Nacre:
    # Compiled once and not for each of some hundred starts.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    return Nacre()


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    """A named pipe for a command to say that it is ready."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path
