"""The command line as its users run it: another process, with its own stdout, stderr and exit code."""

from __future__ import annotations

import os
import subprocess
import sys
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

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*self.argv, *arguments], **options)


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
