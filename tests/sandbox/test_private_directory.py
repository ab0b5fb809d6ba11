"""What sandboxes leave on disk is removed by the last that uses it, or by the next program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nacre.sandbox import private_directory
from nacre.sandbox.private_directory import PrivateDirectory, base_directory, refusals_of, register_of
from nacre.warden.placeholders import Placeholders


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_directory, "_NEW_SECONDS", 0.0)


def test_the_base_is_this_user_s_alone() -> None:
    found = os.stat(base_directory())
    assert (found.st_uid, found.st_mode & 0o777) == (os.getuid(), 0o700)


def test_a_directory_in_use_stays_and_one_that_was_left_goes(tmp_path: Path) -> None:
    script = (
        "import os; from nacre.sandbox.private_directory import PrivateDirectory\n"
        "made = PrivateDirectory(); print(made.path, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    left = Path(done.stdout.strip())
    assert left.is_dir()
    used = PrivateDirectory()
    Path(refusals_of(used.path)).touch()
    assert not left.exists()
    other = PrivateDirectory()
    assert os.path.isdir(used.path)
    used.close()
    other.close()
    assert not any(os.path.exists(path) for path in (used.path, refusals_of(used.path), other.path))


def test_placeholders_of_a_killed_program_go_too(tmp_path: Path) -> None:
    register, left = register_of(str(tmp_path)), tmp_path / "nacre.toml"
    Path(register).write_bytes(f"{left}\0".encode())
    left.mkdir()
    held = Placeholders(register, [])
    PrivateDirectory().close()
    assert left.is_dir()
    os.close(held._fd)
    PrivateDirectory().close()
    assert not left.exists()
