"""A repository with tracked, untracked, ignored and nested files, and what a test compares of it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

# An old time, so that a restored one is told from a new one.
LONG_AGO = 1_600_000_000_123_456_789

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}
HAND = [f"{kind}/hand{number}" for kind in ("src", "notes", "cache") for number in range(7)][:20]


def git(where: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=where, env=ENVIRONMENT, check=True, capture_output=True, text=True
    ).stdout


def make_tree(top: Path) -> None:
    """Make the repository: branches main and other, a stash, changes in index and work tree."""
    top.mkdir(parents=True)
    git(top, "init", "-q", "-b", "main")
    _write(top / ".gitignore", "cache/\n*.log\n")
    for number in range(7):
        _write(top / f"src/hand{number}", f"tracked {number}\n")
    for name in ("a.py", "b.py", "sub/deep/c.py", "with space", "ünï"):
        _write(top / "src" / name, f"{name} one\n" * 20)
    _write(top / "run.sh", "#!/bin/sh\necho hi\n")
    os.chmod(top / "run.sh", 0o755)
    os.symlink("src/a.py", top / "link")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "one")
    git(top, "checkout", "-qb", "other")
    _write(top / "src/a.py", "other\n")
    _write(top / "src/only-other", "new\n")
    (top / "src/b.py").unlink()
    git(top, "add", "-A")
    git(top, "commit", "-qm", "other")
    git(top, "checkout", "-q", "main")
    _write(top / "src/b.py", "stashed\n")
    git(top, "stash", "-q")
    _write(top / "src/staged.py", "staged\n")
    git(top, "add", "src/staged.py")
    _write(top / "src/sub/deep/c.py", "changed, not staged\n")
    for number in range(7):
        _write(top / f"notes/hand{number}", f"untracked {number}\n")
        _write(top / f"cache/hand{number}", f"ignored {number}\n")
    for name in ("notes/plan.md", "todo", "cache/x/y.bin", "build.log"):
        _write(top / name, f"{name}\n" * 50)
    os.chmod(top / "notes/plan.md", 0o600)
    nested = top / "nested"
    nested.mkdir()
    git(nested, "init", "-q", "-b", "main")
    _write(nested / "inner", "inner\n")
    git(nested, "add", "-A")
    git(nested, "commit", "-qm", "inner")
    _write(nested / "inner", "inner changed\n")
    _write(nested / "loose", "loose\n")
    for path in top.rglob("*"):
        if ".git" not in path.parts:
            os.utime(path, ns=(LONG_AGO, LONG_AGO), follow_symlinks=False)
    git(top, "status")


def copy_tree(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True)
    # Only then does git know the files of the copy as unchanged.
    git(target, "status")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def look(top: Path) -> dict[str, object]:
    """Return content, mode and time of every file, and the state of both repositories."""
    found: dict[str, object] = {}
    for path in sorted(top.rglob("*")):
        name = str(path.relative_to(top))
        if ".git" in path.relative_to(top).parts:
            continue
        facts = path.lstat()
        mode = stat.S_IMODE(facts.st_mode)
        if path.is_symlink():
            found[name] = ("link", os.readlink(path), facts.st_mtime_ns)
        elif path.is_dir():
            found[name] = ("directory", mode)
        else:
            found[name] = ("file", path.read_bytes(), mode, facts.st_mtime_ns)
    for repository in (top, top / "nested"):
        if (repository / ".git").is_dir():
            found[f"git {repository.name}"] = tuple(
                git(repository, *words)
                for words in (
                    ["for-each-ref"],
                    ["symbolic-ref", "HEAD"],
                    ["ls-files", "-s"],
                    ["stash", "list"],
                    ["status", "--porcelain", "--ignored"],
                )
            )
    return found
