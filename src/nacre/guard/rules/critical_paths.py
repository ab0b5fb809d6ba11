"""Which paths are critical: what must never be removed as a whole.

Lexical only: nothing is looked up on the machine. A path comes in the alphabet of values, so a bare `*` is a glob and
a shielded one a name. The answer is a reason to show, or None.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import EVERYTHING, HERE, HOME, MARKS, OPAQUE, OUTSIDE, PWD, TOPLEVEL, UNKNOWN, plain
from nacre.guard.interpret.patterns import matches

_SYSTEM: Final = names(
    "bin boot dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin srv sys usr var tmp Users System "
    "Library Applications Volumes private snap lost+found nix cores"
)
# Emptying a shared scratch directory is routine; removing it is not.
_EMPTIED_FREELY: Final = frozenset(("tmp",))
_SYSTEM_TREES: Final = names("usr/local usr/bin usr/lib usr/sbin usr/share usr/lib64 usr/include var/lib")
_PERSONAL: Final = frozenset((".ssh", ".gnupg", ".config", "Documents", "Desktop", "Pictures"))
_REPOSITORY: Final = frozenset(("objects", "refs"))
_HOMES: Final = frozenset(("home", "Users"))
# A glob that matches most of these leaves nothing out that matters.
_USUAL: Final = (
    names("a src lib docs tests build data1 main.py README.md Makefile package.json node_modules"),
    names(".git .env .config .gitignore"),
)
_MARKED: Final = re.compile("[" + "".join(MARKS) + "]")


@dataclass(frozen=True, slots=True)
class _Place:
    """A normalised path: where it starts, how far above that, and the names below."""

    base: Literal["root", "home", "here", "repository", "unknown"]
    above: int
    names: tuple[str, ...]


def critical_reason(path: str, directory: str = "") -> str | None:
    """Return why this path must not be removed, or None."""
    if not path:
        return None
    reason = _reason(_place(path))
    if reason is None and directory and not directory.startswith(UNKNOWN) and path[:1] not in ("/", HOME, PWD, *OPAQUE):
        reason = _reason(_place(directory.rstrip("/") + "/" + path))
    if reason is None and OUTSIDE in path:
        # The path if the variable is empty; only the root is refused for that.
        empty = path.replace(OUTSIDE, "")
        place = _place(empty) if empty.startswith("/") else None
        if place is not None and (not place.names or _everything(place.names[0])):
            return "the root directory if the variable is empty"
    return reason


def system_directory(path: str, directory: str = "") -> str | None:
    """Return the root or the top-level system directory that this path is, or None."""
    relative = bool(path) and directory.startswith("/") and path[0] not in ("/", HOME, PWD)
    for text in (path, f"{directory.rstrip('/')}/{path}" if relative else ""):
        place = _place(text) if text else None
        if place is None or place.base != "root" or not all(_everything(name) for name in place.names[1:]):
            continue
        if not place.names or _everything(place.names[0]):
            return "/"
        first = next((name for name in _SYSTEM if matches(place.names[0], name)), plain(place.names[0]))
        if first in _SYSTEM and first not in _EMPTIED_FREELY:
            return f"/{first}"
    return None


def glob_covers_repository(path: str) -> bool:
    """True if the last part is a glob that would match `.git`."""
    last = path.rstrip("/").rsplit("/", 1)[-1]
    return _is_glob(last) and last.startswith(".") and not _everything(last) and matches(last, ".git")


def is_whole_repository(path: str) -> bool:
    """True if the path is the top of the work tree, or all of its entries."""
    place = _place(path)
    return (place.base == "repository" or EVERYTHING in path) and all(_everything(name) for name in place.names)


def is_here_or_above(path: str) -> bool:
    """True if the path is the current directory, a parent of it, or all entries of one."""
    place = _place(path)
    return place.base == "here" and all(_everything(name) for name in place.names)


def _is_glob(name: str) -> bool:
    return any(char in name for char in "*?[(")


@lru_cache(maxsize=512)
def _everything(name: str) -> bool:
    """True if the name is a glob that leaves little out (`*`, `.[!.]*`, `!(keep)`), or a list of all names."""
    if "*" not in name and "(" not in name:
        return name == EVERYTHING
    usual = _USUAL[name.startswith(".")]
    return 2 * sum(matches(name, one) for one in usual) > len(usual)


def _place(path: str) -> _Place:
    base: Literal["root", "home", "here", "repository", "unknown"] = "here"
    rest = path
    if path[0] in (HOME, PWD, TOPLEVEL) and path[1:2] in ("", "/"):
        base = {HOME: "home", PWD: "here", TOPLEVEL: "repository"}[path[0]]  # type: ignore[assignment]
        rest = path[1:]
    elif path[0] == "/":
        base = "root"
    elif path[0] in OPAQUE and path[0] != EVERYTHING:
        base = "unknown"
    names: list[str] = []
    above = 0
    for name in rest.replace("[!/]", "?").replace("[^/]", "?").split("/"):
        if name in ("", "."):
            continue
        if name == "..":
            if names:
                names.pop()
            elif base != "root":
                above += 1
            continue
        if name == HERE and above == 1 and not names:
            above = 0
            continue
        names.append(name)
    return _Place(base, above, tuple(names))


def _reason(place: _Place) -> str | None:
    names = place.names
    if names and (names[-1] == ".git" or (".git" in names[-1] and matches(names[-1], ".git"))):
        return "repository data (.git)"
    if len(names) > 1 and names[-2] == ".git" and (_everything(names[-1]) or names[-1] in _REPOSITORY):
        return "repository data (.git)"
    if len(names) > 2 and names[-3] == ".git" and names[-2] in _REPOSITORY and _everything(names[-1]):
        return "repository data (.git)"
    match place.base:
        case "root":
            return _below_root(names)
        case "home":
            return _below_home(place)
        case "here":
            if all(_everything(name) for name in names):
                return "everything in a parent directory" if place.above else "everything in the current directory"
        case "repository":
            return "the whole work tree" if not place.above and all(_everything(name) for name in names) else None
        case _:
            pass
    return None


def _below_root(names: tuple[str, ...]) -> str | None:
    if not names or all(_everything(name) for name in names):
        return "the root directory"
    rest = names[1:]
    # `/???` and `/u*` match several of them.
    first = next((name for name in _SYSTEM if _is_glob(names[0]) and matches(names[0], name)), plain(names[0]))
    if first not in _SYSTEM:
        return None
    if not rest:
        return f"a system directory (/{first})"
    if all(_everything(name) for name in rest):
        return None if first in _EMPTIED_FREELY else f"a system directory (/{first})"
    if first in _HOMES and (len(rest) == 1 or all(_everything(name) for name in rest[1:])):
        return "a home directory"
    if first == "proc" or (first == "mnt" and len(rest) == 1 and len(rest[0]) == 1 and not _MARKED.search(rest[0])):
        return f"a system directory (/{first})"
    if f"{first}/{plain(rest[0])}" in _SYSTEM_TREES and all(_everything(name) for name in names[2:]):
        return f"a system directory (/{first}/{rest[0]})"
    return None


def _below_home(place: _Place) -> str | None:
    names = place.names
    if all(_everything(name) for name in names):
        return "the home directory"
    if place.above == 1 and (len(names) == 1 or all(_everything(name) for name in names[1:])):
        return "a home directory"
    if place.above > 1:
        return _below_root(names)
    if not place.above and len(names) == 1 and plain(names[0]) in _PERSONAL:
        return f"personal data (~/{plain(names[0])})"
    return None
