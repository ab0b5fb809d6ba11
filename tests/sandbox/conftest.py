"""What tests of sandboxes share: a workspace, a directory outside of it, and settings."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import nacre
from nacre.sandbox.probing import probe
from nacre.settings import SandboxSettings, ShellSettings

needs_bubblewrap = pytest.mark.skipif(
    probe(os.environ.get("PATH", os.defpath)).backend != "bubblewrap", reason="bubblewrap cannot make a sandbox here"
)


def settings(**sandbox: object) -> nacre.Settings:
    """Settings with a sandbox that must be had."""
    chosen = SandboxSettings(**{"mode": "required", **sandbox})  # type: ignore[arg-type]
    return nacre.Settings(shell=ShellSettings(snapshot=False), sandbox=chosen)


def python_of(user: int) -> str | None:
    """A Python of this version that the user can start."""
    for path in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}", "/usr/local/bin/python3"):
        try:
            code = "import sys; print(sys.version_info[1])"
            done = subprocess.run(
                [path, "-I", "-c", code], capture_output=True, text=True, user=user, cwd="/", check=False
            )
        except OSError:
            continue
        if done.stdout.strip() == str(sys.version_info.minor):
            return path
    return None


@pytest.fixture
def outside() -> Iterator[Path]:
    """A directory that is neither the workspace's nor below /tmp."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as path:
        yield Path(path)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    path.mkdir()
    return path
