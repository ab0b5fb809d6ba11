"""What is writable, protected, hidden and missing is found where it stands."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nacre.sandbox.bubblewrap import words_of
from nacre.sandbox.sandbox_policy import policy_of
from nacre.sandbox.surroundings import PROTECTED, Surroundings, look_around
from nacre.settings import SandboxSettings


def look(workspace: Path, home: Path | None = None, *, held: tuple[str, ...] = (), **settings: object) -> Surroundings:
    environ = {} if home is None else {"HOME": str(home)}
    policy = policy_of(SandboxSettings(**settings))  # type: ignore[arg-type]
    return look_around(policy, str(workspace), environ, temporary="/private", state_dir="/state", held=held)


def test_missing_names_are_held_and_existing_ones_protected(workspace: Path) -> None:
    (workspace / ".git" / "hooks").mkdir(parents=True)
    (workspace / "nacre.toml").touch()
    found = look(workspace)
    assert found.writable == (str(workspace),)
    assert found.pinned == (f"{workspace}/.git",)
    assert set(found.protected) == {f"{workspace}/{name}" for name in PROTECTED}
    assert set(found.placeholders) == set(found.protected) - {f"{workspace}/.git/hooks", f"{workspace}/nacre.toml"}
    assert found.problems == ()


def test_without_a_repository_the_name_git_is_held(workspace: Path) -> None:
    found = look(workspace)
    assert f"{workspace}/.git" in found.placeholders
    assert not any(path.startswith(f"{workspace}/.git/") for path in found.protected)


def test_placeholders_of_other_sandboxes_stand_for_nothing(workspace: Path) -> None:
    first = look(workspace)
    for path in first.placeholders:
        os.mkdir(path)
    assert look(workspace, held=first.placeholders) == first


def test_a_protected_name_that_is_a_link_is_a_problem(workspace: Path) -> None:
    (workspace / ".claude").symlink_to("elsewhere")
    (problem,) = look(workspace).problems
    assert f"{workspace}/.claude is a symbolic link" in problem


def test_shells_files_are_protected_in_the_home_directory_alone(workspace: Path, tmp_path: Path) -> None:
    assert f"{workspace}/.bashrc" in look(workspace, workspace).protected
    assert f"{workspace}/.bashrc" not in look(workspace, tmp_path).protected


def test_credentials_are_hidden_unless_they_are_visible(workspace: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".netrc").touch()
    (home / "notes").touch()
    (workspace / ".env.local").touch()
    (workspace / ".env.example").touch()
    found = look(workspace, home, hidden=("~/notes",), visible=("~/.netrc",))
    assert set(found.hidden) == {
        (f"{home}/.ssh", "directory"),
        (f"{home}/notes", "file"),
        (f"{workspace}/.env.local", "file"),
    }


def test_a_writable_directory_must_exist(workspace: Path) -> None:
    with pytest.raises(FileNotFoundError):
        look(workspace, writable=("/nowhere/at/all",))


def test_read_only_has_nothing_writable_and_shows_a_workspace_below_tmp(workspace: Path) -> None:
    found = look(workspace, access="read-only")
    assert (found.writable, found.protected, found.placeholders) == ((), (), ())
    assert str(workspace) in found.shown


@pytest.mark.parametrize("access", ["read-only", "workspace-write", "full"])
@pytest.mark.parametrize("network", ["on", "off", "host.test"])
def test_the_words_of_bubblewrap(access: str, network: str, workspace: Path) -> None:
    policy = policy_of(SandboxSettings(access=access, network=network))  # type: ignore[arg-type]
    found = look(workspace, access=access, network=network)
    words = words_of("/usr/bin/bwrap", policy, found, user_namespace=True)
    text = " ".join(words)
    for always in (
        "--unshare-pid",
        "--unshare-ipc",
        "--cap-drop ALL",
        "--new-session",
        "--die-with-parent",
        "--proc /proc",
    ):
        assert always in text
    assert ("--unshare-net" in words) is (network != "on")
    assert (" --ro-bind / / " in text) is (access != "full")
    assert (f"--bind {workspace} {workspace}" in text.replace("--ro-bind", "--ro")) is (access == "workspace-write")
    assert ("--bind /private /tmp" in text) is (access != "full")
    # What comes later covers what comes before.
    if access == "workspace-write":
        assert text.index(f"--bind {workspace} ") < text.index(f"--ro-bind {workspace}/nacre.toml")
