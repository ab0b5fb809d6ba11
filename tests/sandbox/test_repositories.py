"""Every repository of a workspace keeps its hooks and configuration, and commits: nested, bare, linked, a submodule."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

import nacre
from nacre.result import Exited
from nacre.sandbox import repositories
from nacre.sandbox.repositories import Repositories, find_repositories
from sandbox.conftest import needs_bubblewrap, settings

SETTINGS = settings()
VARIABLES = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "c",
    "GIT_COMMITTER_EMAIL": "c@example.org",
}


def git(place: Path, *words: str) -> str:
    command = ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *words]
    return subprocess.run(command, cwd=place, env=VARIABLES, capture_output=True, text=True, check=True).stdout


def repository(place: Path) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    git(place, "init", "-q")
    (place / "file").write_text("1\n", encoding="utf-8")
    git(place, "add", "file")
    git(place, "commit", "-qm", "first")
    return place


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory that no test removes while a sandbox may still have its placeholders in it."""
    return tmp_path / "place"


@pytest.fixture
def main(place: Path) -> Path:
    return repository(place / "main")


async def confined(workspace: Path, script: str, **options: object) -> nacre.ShellResult:
    names = ("GIT_CONFIG_GLOBAL", *(name for name in VARIABLES if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))))
    env = {name: VARIABLES[name] for name in names}
    return await nacre.run(script, cwd=workspace, settings=SETTINGS, env=env, **options)  # type: ignore[arg-type]


ATTACK = """
mkdir -p {git}/hooks; echo x > {git}/hooks/pre-commit; ln -sf x {git}/hooks/post-commit
echo x >> {git}/config; echo x > {git}/config.worktree; mv {git}/config {git}/other; rm -rf {git}/hooks
git --git-dir={git} config core.fsmonitor x; mv {git} {git}.away; mv {git}/.. {git}/../../away; true
"""


def unharmed(directory: Path) -> bool:
    """True if no configuration has changed and no hook has come."""
    hooks = [path.name for path in directory.glob("hooks/*") if not path.name.endswith(".sample")]
    text = (directory / "config").read_text(encoding="utf-8")
    extra = directory / "config.worktree"
    return (
        not hooks and "x" not in text.split() and "fsmonitor" not in text and not (extra.exists() and extra.read_text())
    )


def test_every_kind_of_repository_is_found(workspace: Path, main: Path) -> None:
    repository(workspace)
    repository(workspace / "deep/er/nested")
    git(workspace, "clone", "-q", "--bare", str(main), "bare.git")
    git(workspace, "submodule", "--quiet", "add", str(main), "libs/sub")
    git(main, "worktree", "add", "-q", str(workspace / "linked"))
    (workspace / "node_modules/x").mkdir(parents=True)
    found = find_repositories((str(workspace),))
    assert {os.path.relpath(path, workspace) for path in found.inside} == {
        ".git",
        ".git/modules/libs/sub",
        "deep/er/nested/.git",
        "bare.git",
    }
    assert found.outside == (str(main / ".git"),)
    assert found.unseen == ""


def test_a_submodule_as_the_workspace_owns_its_git_directory(place: Path, main: Path) -> None:
    top = repository(place / "top")
    git(top, "submodule", "--quiet", "add", str(main), "sub")
    assert find_repositories((str(top / "sub"),)) == Repositories((), (str(top / ".git/modules/sub"),))


def test_a_directory_that_does_not_name_the_work_tree_is_not_given_to_it(workspace: Path, main: Path) -> None:
    """What a command writes into the workspace names other people's repositories in vain."""
    git(main, "worktree", "add", "-q", str(main.parent / "linked"))
    top = repository(main.parent / "top")
    git(top, "submodule", "--quiet", "add", str(main), "sub")
    targets = [
        main / ".git",
        main / ".git/worktrees/linked",
        top / ".git/modules/sub",
        Path(os.path.expanduser("~")),
        Path("/"),
    ]
    # The forged work tree directory leads back, and on to a repository elsewhere.
    forged = workspace / "x/worktrees/forged"
    forged.mkdir(parents=True)
    (forged / "commondir").write_text(f"{main}/.git\n", encoding="utf-8")
    (forged / "gitdir").write_text(f"{workspace}/5/.git\n", encoding="utf-8")
    for at, target in enumerate([*targets, forged]):
        (workspace / str(at)).mkdir()
        (workspace / str(at) / ".git").write_text(f"gitdir: {target}\n", encoding="utf-8")
    (workspace / "link").mkdir()
    (workspace / "link/.git").symlink_to(main / ".git")
    assert find_repositories((str(workspace),)).outside == ()


def test_beyond_the_limit_it_says_so(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("node_modules/a", "b"):
        (workspace / name).mkdir(parents=True)
    repository(workspace / "z")
    # The workspace, b and z: downloaded code comes last.
    monkeypatch.setattr(repositories, "MOST_DIRECTORIES", 3)
    found = find_repositories((str(workspace),))
    assert found.inside == (str(workspace / "z/.git"),)
    assert "in the nearest 3 directories" in found.unseen


@needs_bubblewrap
async def test_what_a_command_makes_it_can_remove(workspace: Path) -> None:
    async with nacre.Session(cwd=workspace, settings=SETTINGS) as session:
        assert (await session.run("git init -q made && echo x > made/.git/hooks/pre-commit")).outcome == Exited(0)
        assert (await session.run("rm -rf made && ls -d made")).text.count("No such file") == 1


@needs_bubblewrap
async def test_a_nested_repository_commits_and_keeps_its_hooks(workspace: Path) -> None:
    repository(workspace)
    nested = repository(workspace / "a/nested")
    for name in ("hooks", "info"):
        subprocess.run(["rm", "-r", str(nested / ".git" / name)], check=True)
    script = ATTACK.format(git="a/nested/.git") + ATTACK.format(git=".git")
    script += "cd a/nested && echo 2 > file && git commit -qam second && git log --format=%s && cd ../.. && mv a b"
    result = await confined(workspace, script)
    assert "second\nfirst\n" in result.text
    assert "mv: cannot move 'a' to 'b': Device or resource busy" in result.text
    assert unharmed(nested / ".git"), result.text
    assert unharmed(workspace / ".git"), result.text
    assert git(nested, "log", "--format=%s") == "second\nfirst\n"


@needs_bubblewrap
async def test_a_linked_work_tree_commits_to_its_repository_elsewhere(main: Path, place: Path) -> None:
    git(main, "worktree", "add", "-q", str(place / "linked"))
    workspace = place / "linked"
    common = main / ".git"
    script = ATTACK.format(git=common) + f"echo x > {main}/file; echo 'gitdir: /' > .git; rm .git; "
    script += "echo 2 > file && git commit -qam second && git branch other && git branch -d other && git gc -q"
    script += " && git log --format=%s"
    result = await confined(workspace, script)
    assert result.outcome == Exited(0), result.text
    assert result.text.endswith("second\nfirst\n")
    assert result.sandbox is not None
    assert result.sandbox["writable"] == [str(workspace), str(common)]
    assert unharmed(common), result.text
    assert (main / "file").read_text(encoding="utf-8") == "1\n"
    assert git(main, "log", "--format=%s", "linked") == "second\nfirst\n"


@needs_bubblewrap
async def test_a_submodule_commits_in_its_repository_and_as_the_workspace(place: Path, main: Path) -> None:
    top = repository(place / "top")
    git(top, "submodule", "--quiet", "add", str(main), "libs/sub")
    kept = top / ".git/modules/libs/sub"
    for workspace, name in ((top, "libs/sub"), (top / "libs/sub", ".")):
        script = (
            ATTACK.format(git=kept)
            + f"cd {name} && git commit -q --allow-empty -m 'in {name}' && git log -1 --format=%s"
        )
        result = await confined(workspace, script)
        assert result.text.endswith(f"in {name}\n")
        assert unharmed(kept), result.text
    assert unharmed(top / ".git")


@needs_bubblewrap
async def test_a_try_in_a_linked_work_tree_does_not_write_to_its_repository(main: Path, place: Path) -> None:
    git(main, "worktree", "add", "-q", str(place / "linked"))
    async with nacre.Tool("workspace", cwd=place / "linked", settings=SETTINGS) as tool:
        reply = await tool.call({"command": "echo 2 > file; git commit -am second", "try": True})
    assert "Read-only file system" in reply.text
    assert reply.details["try"]["modified"] == 1
    assert git(main, "log", "--format=%s", "linked") == "first\n"


@needs_bubblewrap
async def test_sandboxes_with_other_writable_directories_share_placeholders(workspace: Path, outside: Path) -> None:
    """The end of one must not take the placeholders of the other along."""
    repository(workspace)
    async with nacre.Session(cwd=workspace, settings=SETTINGS) as one:
        wider = settings(writable=(str(outside),))
        await one.run("true")
        async with nacre.Session(cwd=workspace, settings=wider) as other:
            await other.run("true")
        async with asyncio.timeout(30):
            # Its placeholders elsewhere go with it.
            while list(outside.iterdir()):
                await asyncio.sleep(0.02)
        result = await one.run("mkdir .claude/x; echo x > .git/config.worktree; echo x > nacre.toml")
        assert result.text.count("Read-only file system") == 2, result.text
    assert (workspace / ".git/config.worktree").stat().st_size == 0
