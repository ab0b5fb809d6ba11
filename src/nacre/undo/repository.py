"""A git repository as undo sees it: where its parts are, which files git works with, and what state it is in.

git is asked without taking locks and without running anything that the repository's settings name.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from typing import NamedTuple

# Optional locks off: a look must not rewrite the index that it looks at.
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "core.untrackedCache=false")
# Attributes with which the bytes of a file differ from those that git keeps.
_CONVERTING = ("filter", "text", "eol", "ident", "crlf", "working-tree-encoding")


class GitUnavailableError(Exception):
    """git is missing, did not answer in time, or cannot read the repository."""


class Places(NamedTuple):
    """The directories of a repository."""

    top: str
    git: str
    """HEAD and the index."""
    common: str
    """References and objects; the same as `git` but in a linked work tree."""


class Listing(NamedTuple):
    """The files of a work tree."""

    clean: dict[str, str]
    """Files whose bytes git has, by absolute path: the name of the blob."""
    others: list[str]
    """Changed and untracked files, and ignored ones that are not in an ignored directory: absolute paths."""
    changed: list[str]
    """Of the others, those that git tracks."""


def top_of(directory: str) -> str | None:
    """Return the nearest directory above that holds `.git`."""
    while True:
        if os.path.lexists(os.path.join(directory, ".git")):
            return directory
        above = os.path.dirname(directory)
        if above == directory:
            return None
        directory = above


def places_of(directory: str) -> Places | None:
    """Return the places of the repository that a directory is in; None outside of any."""
    top = top_of(directory)
    if top is None:
        return None
    git = os.path.join(top, ".git")
    if os.path.isfile(git):
        # A linked work tree or a submodule: a file names the place.
        with open(git, encoding="utf-8", errors="surrogateescape") as file:
            git = os.path.normpath(os.path.join(top, file.read().removeprefix("gitdir:").strip()))
    common = git
    if os.path.isfile(link := os.path.join(git, "commondir")):
        with open(link, encoding="utf-8", errors="surrogateescape") as file:
            common = os.path.normpath(os.path.join(git, file.read().strip()))
    return Places(top, git, common) if os.path.isdir(git) else None


def listing(places: Places, deadline: float) -> Listing:
    """List the files of the work tree that git may touch; nested repositories are not among them.

    Raises:
        GitUnavailableError: git cannot tell.
    """
    tracked: dict[str, str] = {}
    links: list[str] = []
    for row in _ask(places, deadline, "ls-files", "-s", "-z").split("\0"):
        facts, _, path = row.partition("\t")
        if facts.startswith("100"):
            tracked[path] = facts.split(" ")[1]
        elif facts.startswith("120"):
            links.append(path)
    changed = set(_ask(places, deadline, "diff-files", "--name-only", "-z", "--ignore-submodules").split("\0"))
    changed |= _converted(places, deadline, list(tracked))
    untracked = _ask(places, deadline, "ls-files", "-o", "--exclude-standard", "-z").split("\0")
    ignored = _ask(places, deadline, "ls-files", "-o", "-i", "--exclude-standard", "--directory", "-z").split("\0")
    own = {path for path in (*changed, *links) if path}
    others = own | {path for path in (*untracked, *ignored) if path and not path.endswith("/")}
    clean = {os.path.join(places.top, path): blob for path, blob in tracked.items() if path not in changed}
    return Listing(clean, *([os.path.join(places.top, path) for path in sorted(some)] for some in (others, own)))


def _converted(places: Places, deadline: float, paths: list[str]) -> set[str]:
    """Return the tracked files whose bytes may differ from their blobs: line ends, filters, encodings."""
    setting = _ask(places, deadline, "config", "--get", "core.autocrlf", accepted=(0, 1)).strip()
    if setting not in ("", "false"):
        return set(paths)
    found = _ask(
        places, deadline, "check-attr", "-z", "--stdin", *_CONVERTING, given="".join(f"{path}\0" for path in paths)
    ).split("\0")
    return {
        path for path, value in zip(found[0::3], found[2::3], strict=False) if value not in ("unspecified", "unset")
    }


def signature(places: Places, deadline: float) -> str:
    """Return what tells one state of index and references from another, whatever files hold them."""
    head = _ask(places, deadline, "symbolic-ref", "-q", "HEAD", accepted=(0, 1))
    head += _ask(places, deadline, "rev-parse", "-q", "--verify", "HEAD", accepted=(0, 1, 128))
    references = _ask(places, deadline, "for-each-ref", "--format=%(objectname) %(refname) %(symref)")
    index = _ask(places, deadline, "ls-files", "-s", "-z")
    return hashlib.sha256("\n".join((head, references, index)).encode("utf-8", "surrogateescape")).hexdigest()


def content_of(top: str, blob: str, deadline: float) -> bytes:
    """Return the bytes of a blob; raises GitUnavailableError when the repository has it no more."""
    return _ask_bytes(["git", *_QUIET, "-C", top, "cat-file", "blob", blob], deadline, b"", (0,))


def _ask(places: Places, deadline: float, *words: str, given: str = "", accepted: tuple[int, ...] = (0,)) -> str:
    place = ["git", *_QUIET, "--git-dir", places.git, "--work-tree", places.top, *words]
    return _ask_bytes(place, deadline, os.fsencode(given), accepted, places.top).decode("utf-8", "surrogateescape")


def _ask_bytes(
    words: list[str], deadline: float, given: bytes, accepted: tuple[int, ...], cwd: str | None = None
) -> bytes:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _ENVIRONMENT
    try:
        done = subprocess.run(
            words,
            input=given,
            capture_output=True,
            cwd=cwd,
            env=environment,
            timeout=max(0.05, deadline - time.monotonic()),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitUnavailableError("git did not answer in time") from error
    except OSError as error:
        raise GitUnavailableError(f"git could not be asked: {error.strerror}") from error
    if done.returncode not in accepted:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitUnavailableError(f"git cannot read the repository: {reason[-1] if reason else done.returncode}")
    return done.stdout
