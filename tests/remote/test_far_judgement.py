"""The guard judges a command of another machine by its text, its directory and its variables, never by this disk."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import nacre
from nacre.contracts.workspace import Workspace
from nacre.remote.remote_backend import connect
from nacre.remote.wire import PrefixDialer


@pytest.mark.parametrize(
    ("cwd", "command", "decision"),
    [
        ("/only-there", "rm -rf link/*", "allow"),
        ("/only-there", "rm -rf ../*", "deny"),
        ("/", "rm -rf ./etc", "deny"),
        ("/only-there", "rm -rf ./etc", "allow"),
        ("/home", "rm -rf far", "deny"),
        ("/only-there", "rm -rf far", "allow"),
        ("/only-there", "rm -rf ~", "deny"),
    ],
)
async def test_relative_names_are_judged_by_the_directory_and_home_of_the_place(
    cwd: str, command: str, decision: str
) -> None:
    dialer = PrefixDialer(["env", "HOME=/home/far"], name="here")
    async with await connect(dialer) as place, nacre.Tool("workspace", backend=place, cwd=cwd) as tool:
        assert tool.engine.planner.judge(command, Workspace.profile, cwd=cwd).decision == decision


@pytest.mark.parametrize("command", ["rm -rf link", "rm -rf link/*", "cd link && rm -rf build", "rm -rf li*/build"])
async def test_a_link_of_this_disk_does_not_matter(command: str, tmp_path: Path) -> None:
    dialer = PrefixDialer(["env"], name="here")
    async with await connect(dialer) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path) as tool:

        def judged() -> object:
            return tool.engine.planner.judge(command, Workspace.profile, cwd=str(tmp_path))

        before = judged()
        (tmp_path / "link").symlink_to("/")
        assert judged() == before


@pytest.mark.skipif(os.getuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare")
async def test_a_command_runs_in_a_directory_that_is_another_one_here(tmp_path: Path) -> None:
    """Here `work` is a link to the home directory, and `sub` does not exist; there both are directories."""
    home, there = tmp_path / "home", tmp_path / "there"
    for directory in (home, there):
        directory.mkdir()
    (home / "kept").touch()
    (there / "work").symlink_to(home)
    far = f'mount -t tmpfs none "{there}" && mkdir "{there}/work" "{there}/sub" && >"{there}/work/old" && exec "$@"'
    dialer = PrefixDialer(["env", f"HOME={home}", "unshare", "--mount", "sh", "-c", far, "sh"], name="there")
    async with await connect(dialer) as place, nacre.Tool("workspace", backend=place, cwd=there) as tool:
        assert "old" in (await tool.call({"command": "ls work"})).text
        removed = await tool.call({"command": "rm -rf work/* && ls -A work | wc -l"})
        assert removed.text.startswith("0\n")
        assert (await tool.call({"command": "pwd", "cwd": str(there / "sub")})).text.startswith(f"{there}/sub\n")
    assert (home / "kept").exists()
