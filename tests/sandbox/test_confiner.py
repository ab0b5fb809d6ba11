"""What cannot be enforced is said, and refused where it is required."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import nacre
from nacre.errors import StartError
from nacre.sandbox.confiner import Confiner
from nacre.sandbox.probing import is_outdated, landlock_abi, probe
from nacre.settings import SandboxSettings
from sandbox.conftest import settings

needs_landlock = pytest.mark.skipif(landlock_abi() < 6, reason="this kernel has no Landlock of ABI 6")


def confiner(path: str = "/nowhere", **chosen: object) -> Confiner:
    return Confiner(SandboxSettings(**chosen), "/state", {"PATH": path, "HOME": "/nowhere"})  # type: ignore[arg-type]


@needs_landlock
def test_without_bubblewrap_auto_says_what_is_missing_and_required_refuses(workspace: Path) -> None:
    made = confiner(mode="auto")
    spec = made.spec(str(workspace), "s")
    assert (spec.facts["backend"], spec.facts["version"]) == ("landlock", str(landlock_abi()))
    assert "protected names stay as they are" in spec.facts["missing"]
    assert "it does not enforce: " in made.line(spec)
    made.close()
    refusing = confiner(mode="required")
    with pytest.raises(
        StartError, match=r"nothing was run: a sandbox is required .*bubblewrap \(bwrap\) is not installed"
    ):
        refusing.spec(str(workspace), "s")
    refusing.close()


@needs_landlock
def test_a_list_of_hosts_without_bubblewrap_is_no_network(workspace: Path) -> None:
    made = confiner(mode="auto", network="host.test")
    spec = made.spec(str(workspace), "s")
    assert spec.facts["network"] == "off"
    assert "only the listed hosts are reached" in spec.facts["missing"]
    assert not spec.message["landlock"]["network"]
    made.close()


def test_the_private_directory_is_one_of_the_session_and_is_removed(workspace: Path) -> None:
    made = confiner(os.environ["PATH"], mode="auto")
    if made.found.backend != "bubblewrap":
        pytest.skip("bubblewrap cannot make a sandbox here")
    first, other = made.spec(str(workspace), "a"), made.spec(str(workspace), "b")
    assert first == made.spec(str(workspace), "a")
    directories = [spec.message["temporary"] for spec in (first, other)]
    assert len(set(directories)) == 2
    assert all(os.stat(path).st_mode & 0o777 == 0o700 for path in directories)
    made.forget("a")
    assert [os.path.exists(path) for path in directories] == [False, True]
    made.close()
    assert not os.path.exists(directories[1])


async def test_what_a_sandbox_cannot_find_is_named(workspace: Path) -> None:
    with pytest.raises(StartError, match="/nowhere/at/all: No such file or directory"):
        await nacre.run("true", cwd=workspace, settings=settings(mode="auto", writable=("/nowhere/at/all",)))


def test_a_bubblewrap_below_the_working_directory_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command may have put it there."""
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec true\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert probe(str(program.parent)).backend != "bubblewrap"


def test_old_versions_are_known() -> None:
    assert [is_outdated(version) for version in ("0.8.0", "0.11.9", "0.12.0", "1.0", None)] == [
        True,
        True,
        False,
        False,
        True,
    ]
