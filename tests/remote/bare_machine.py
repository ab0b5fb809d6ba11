"""This machine as one without Python: a PATH that has a shell and a few tools, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

import pytest

from nacre.remote.wire import PrefixDialer

Kind = Literal["dash", "busybox", "bash"]
TOOLS = ("cat", "env", "grep", "setsid", "sleep", "tr", "uname")


def bare_path(directory: Path, kind: Kind, *, without: str = "") -> str:
    """A directory for PATH: the sh of that kind; bash is there too, unless all of it is busybox."""
    place = directory / f"{kind}-tools"
    place.mkdir()
    shell = shutil.which(kind)
    if shell is None:
        pytest.skip(f"{kind} is not installed: .ci/parts")
    for tool in TOOLS if kind == "busybox" else (*TOOLS, "bash"):
        if tool != without:
            (place / tool).symlink_to(shell if kind == "busybox" else str(shutil.which(tool)))
    (place / "sh").symlink_to(shell)
    return str(place)


def bare(directory: Path, kind: Kind, *words: str, without: str = "") -> PrefixDialer:
    """The way there; words are variables of a login there."""
    path = bare_path(directory, kind, without=without)
    return PrefixDialer(["env", "-i", f"PATH={path}", *words], name="bare")
