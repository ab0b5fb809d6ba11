"""From a command to what it would destroy: paths, whole repositories, or a directory where the paths are not known.

The guard's own reading of the script names the programs and their words after expansion. It looks at both sides of
every condition, so what is named is never too little for what the script spells out.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from nacre.bash.budget import TimeBudget
from nacre.guard.interpret.alphabet import HERE, HOME, PWD, TOPLEVEL, clean, is_opaque, plain
from nacre.guard.interpret.invocation import Invocation
from nacre.guard.interpret.walk import read_script
from nacre.undo.destroyers import DESTROYERS, How, losses
from nacre.undo.git_calls import git_loss

if TYPE_CHECKING:
    from nacre.guard.interpret.shell_state import ShellState

# More matches of one pattern than this are saved by way of their directory.
_MOST_MATCHES: Final = 10_000
_DEVICES: Final = ("/dev/", "/proc/", "/sys/")
_WORDS: Final = re.compile(r"[A-Za-z0-9_.-]+")
_STARTS: Final = frozenset((*DESTROYERS, "git", "eval", "source", ".", "sudo", "xargs"))


class Target(NamedTuple):
    """A path that would be destroyed, with everything below it."""

    path: str
    how: How
    creates: bool = False
    """True if what is new there after the command is the command's work."""


class Repository(NamedTuple):
    """A repository whose index and references would change."""

    directory: str
    """A directory in its work tree."""
    tree: bool
    ignored: bool
    objects: bool
    untracked: bool


class Destruction(NamedTuple):
    """What a command would destroy."""

    targets: tuple[Target, ...]
    repositories: tuple[Repository, ...]


def may_destroy(command: str, names: Collection[str] = ()) -> bool:
    """False if no word of the command can name a destroyer: such a command is not read.

    Args:
        names: the functions and aliases of its shell.
    """
    if ">" in command or "$" in command or "`" in command or "\\" in command:
        return True
    words = _WORDS.findall(command)
    return not _STARTS.isdisjoint(words) or "'" in command or '"' in command or any(word in names for word in words)


def destruction_of(
    command: str,
    *,
    cwd: str,
    environment: Mapping[str, str],
    state: ShellState | None = None,
) -> Destruction | None:
    """Return what the command would destroy; None for nothing.

    Raises:
        UnreadableError: the command cannot be read.
    """
    known = {name: value for name, value in environment.items() if name not in ("PWD", "OLDPWD")}
    reading = read_script(clean(command), budget=TimeBudget(), environment=known, state=state)
    place = _Place(cwd, environment.get("HOME"))
    targets: dict[str, Target] = {}
    repositories: dict[str, Repository] = {}
    for call in reading.invocations:
        for loss in losses(call):
            paths, known_path = place.paths(loss.word, call, loss.into)
            for path in paths:
                before = targets.get(path)
                how: How = "overwritten" if loss.how == "overwritten" or _in_place(before) else "replaced"
                # A new file in a directory that stands for an unknown path may belong to another program.
                creates = (loss.creates and known_path) or (before is not None and before.creates)
                targets[path] = Target(path, how, creates)
        if (git := git_loss(call)) is not None:
            directory = place.directory(call, git.directory)
            old = repositories.get(directory, Repository(directory, *[False] * 4))
            added = (git.tree, git.ignored, git.objects, git.untracked)
            repositories[directory] = Repository(directory, *map(any, zip(old[1:], added, strict=True)))
    if not targets and not repositories:
        return None
    return Destruction(tuple(targets.values()), tuple(repositories.values()))


def _in_place(target: Target | None) -> bool:
    return target is not None and target.how == "overwritten"


class _Place:
    """Turns words of the guard's alphabet into paths on this machine."""

    def __init__(self, cwd: str, home: str | None) -> None:
        self._cwd = cwd
        self._home = home

    def directory(self, call: Invocation, given: str | None = None) -> str:
        """Return where a program works; where that is not known, where the command began."""
        path = self._path(call.directory, self._cwd) if call.directory else self._cwd
        if path is not None and given is not None:
            path = self._path(given, path)
        return self._cwd if path is None else path

    def paths(self, word: str, call: Invocation, into: str) -> tuple[list[str], bool]:
        """Return the paths that a word stands for and True, or what contains them and False."""
        here = self._path(call.directory, self._cwd) if call.directory else self._cwd
        path = None if here is None else self._path(word, here)
        if path is None:
            return [_around(self._cwd if here is None else here)], False
        found = self._matches(path)
        if not into:
            return found, True
        if is_opaque(into):
            return found, False
        sources = self._matches(os.path.join(here or "/", into))
        names = {os.path.basename(plain(source).rstrip("/")) for source in sources} - {""}
        if os.path.basename(plain(into).rstrip("/")) in ("", ".", ".."):
            return found, True
        return [
            below
            for path in found
            for below in ([os.path.join(path, name) for name in sorted(names)] if os.path.isdir(path) else [path])
        ], True

    def _path(self, word: str, here: str) -> str | None:
        """Return the absolute path, glob characters included; None where it is not known."""
        text = word.replace(HERE, os.path.basename(self._cwd)).replace(TOPLEVEL, _around(self._cwd))
        for mark, place in ((PWD, here), (HOME, self._home)):
            if mark in text:
                if place is None:
                    return None
                text = place + text.rpartition(mark)[2]
        if text.startswith("~/") or text == "~":
            if self._home is None:
                return None
            text = self._home + text[1:]
        return None if is_opaque(text) else os.path.normpath(os.path.join(here, text))

    def _matches(self, path: str) -> list[str]:
        if not any(char in path for char in "*?["):
            text = plain(path)
            return [] if text.startswith(_DEVICES) else [text]
        fixed = os.path.dirname(plain(path[: min(path.index(char) for char in "*?[" if char in path)]))
        if "**" in path or "(" in path:
            return [fixed or "/"]
        # A shielded character is a literal one.
        pattern = "".join(char if plain(char) == char else glob.escape(plain(char)) for char in path)
        found = glob.glob(pattern, include_hidden=True)
        return found if len(found) <= _MOST_MATCHES else [fixed or "/"]


def _around(directory: str) -> str:
    """Return the repository that a directory is in, else the directory: what is saved if the paths are not known."""
    from nacre.undo.repository import top_of

    return top_of(directory) or directory
