"""The git directories of writable directories: their hooks and their configuration say what is run later, outside.

A repository may be nested in another; its git directory may lie elsewhere (`.git` is a file in submodules and linked
work trees).
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

# More are not looked at, the nearest first; a look at so many takes about a third of a second.
MOST_DIRECTORIES = 20_000
MOST_REPOSITORIES = 200
# Directories of downloaded code are looked at last.
_LAST = ("node_modules", "site-packages", "target", "__pycache__")
_MOST_FILE_BYTES = 65536


class Repositories(NamedTuple):
    """The git directories of some writable directories."""

    inside: tuple[str, ...] = ()
    """Those that are in one of them."""
    outside: tuple[str, ...] = ()
    """Those elsewhere that name a work tree in one of them as theirs: commits are written there."""
    unseen: str = ""
    """What was not looked at."""


def find_repositories(roots: tuple[str, ...]) -> Repositories:
    """Find the git directories of all repositories in these directories."""
    inside: dict[str, None] = {}
    outside: dict[str, None] = {}
    near, far = deque(roots), deque[str]()
    looked = 0
    while near or far:
        directory = near.popleft() if near else far.popleft()
        if looked >= MOST_DIRECTORIES or len(inside) >= MOST_REPOSITORIES:
            limit = f"{MOST_DIRECTORIES:,} directories or {MOST_REPOSITORIES} repositories"
            unseen = f"repositories are protected in the nearest {limit} only"
            return Repositories(tuple(inside), tuple(outside), unseen)
        looked += 1
        below, files = _names_in(directory)
        found = os.path.join(directory, ".git")
        if "HEAD" in files and is_git_directory(directory):
            inside.update(dict.fromkeys(_with_modules(directory)))
            continue
        if ".git" in below:
            inside.update(dict.fromkeys(_with_modules(found)))
        elif ".git" in files:
            outside.update(dict.fromkeys(_elsewhere(found, roots)))
        for name in below:
            if name != ".git":
                (far if name in _LAST else near).append(f"{directory}/{name}")
    return Repositories(tuple(inside), tuple(outside))


def is_git_directory(path: str) -> bool:
    """As git tells them: it has a HEAD, objects and references."""
    return (
        os.path.lexists(os.path.join(path, "HEAD"))
        and os.path.isdir(os.path.join(path, "objects"))
        and os.path.isdir(os.path.join(path, "refs"))
    )


def is_within(path: str, directory: str) -> bool:
    """True for the directory itself, too."""
    return path == directory or path.startswith(f"{directory.rstrip('/')}/")


def _names_in(path: str) -> tuple[list[str], list[str]]:
    """The names of directories and of everything else."""
    directories: list[str] = []
    files: list[str] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                (directories if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
    except OSError:
        pass  # gone meanwhile, or not readable, for a command neither
    return directories, files


def _with_modules(git_directory: str) -> Iterator[str]:
    """A git directory and those of its submodules, which it keeps."""
    yield git_directory
    waiting = deque([os.path.join(git_directory, "modules")])
    while waiting:
        directory = waiting.popleft()
        if is_git_directory(directory):
            yield from _with_modules(directory)
        else:
            waiting.extend(os.path.join(directory, name) for name in _names_in(directory)[0])


def _elsewhere(path: str, roots: tuple[str, ...]) -> Iterator[str]:
    """The git directories outside that a file `.git` leads to."""
    text = _text_of(path)
    if not text.startswith("gitdir: "):
        return
    target = os.path.realpath(os.path.join(os.path.dirname(path), text.removeprefix("gitdir: ").rstrip("\n")))
    if not any(is_within(target, root) for root in roots):
        owner = _owner_of(target, path)
        if owner is not None:
            yield from _with_modules(owner)


def _owner_of(target: str, named_by: str) -> str | None:
    """The git directory outside that a work tree may write to; None if that does not name the work tree as its own.

    A command may write a file `.git` that names any directory; what is outside it cannot write.
    """
    work_tree = os.path.dirname(named_by)
    common = os.path.dirname(os.path.dirname(target))
    if os.path.basename(os.path.dirname(target)) == "worktrees":
        says = [_text_of(os.path.join(target, name)).rstrip("\n") for name in ("commondir", "gitdir")]
        real = [os.path.realpath(os.path.join(target, said)) for said in says]
        belongs = all(says) and real == [common, os.path.realpath(named_by)]
        return common if belongs and is_git_directory(common) else None
    said = _work_tree_in(_text_of(os.path.join(target, "config")))
    if said and os.path.realpath(os.path.join(target, said)) == work_tree and is_git_directory(target):
        return target
    return None


def _work_tree_in(config: str) -> str:
    """The value of `core.worktree` as git writes it; nothing if it is not there."""
    section = ""
    for line in map(str.strip, config.splitlines()):
        if line.startswith("["):
            section = line
        key, _, value = line.partition("=")
        if section == "[core]" and key.strip() == "worktree":
            return value.strip().strip('"')
    return ""


def _text_of(path: str) -> str:
    """A small file; empty if it is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return ""
        return os.fsdecode(os.read(fd, _MOST_FILE_BYTES))
    finally:
        os.close(fd)
