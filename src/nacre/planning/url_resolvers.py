"""Resolve `local://` and `skill://` on this machine. Containment is checked on the real paths, after following links.

A link that is made after the check can still lead out: this prevents mistakes and is not a security boundary.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from nacre.errors import reason_of
from nacre.planning.urls import UnresolvedUrlError, relative_path


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """A session's own directory for plans, notes and files that later calls use."""

    root: Path

    @classmethod
    def of_session(cls, state_dir: str | os.PathLike[str], session: str) -> LocalFiles:
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", session)
        return cls(Path(state_dir, "local", name if name.strip(".") else "_"))

    def __call__(self, rest: str, *, make_parents: bool) -> str:
        path = contained(self.root, relative_path(rest))
        if make_parents:
            parent = os.path.dirname(path) if path != os.path.realpath(self.root) else path
            try:
                os.makedirs(parent, mode=0o700, exist_ok=True)
            except OSError as error:
                raise UnresolvedUrlError(
                    f"its directory {parent} cannot be made: {reason_of(error.errno or 0)}"
                ) from error
        return path


@dataclass(frozen=True, slots=True)
class Skills:
    """Directories whose subdirectories are skills; the first root with a matching name wins."""

    roots: Sequence[Path]

    def __call__(self, rest: str, *, make_parents: bool) -> str:
        name, _, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
        found, extra = self._find(unquote(name))
        inside = "/".join(part for part in (extra, relative_path(path)) if part)
        resolved = contained(found, inside)
        if not os.path.exists(resolved):
            raise UnresolvedUrlError(f"skill {found.name!r} has no {inside!r}; it is in {found}")
        return resolved

    def _find(self, name: str) -> tuple[Path, str]:
        """Return the skill's directory, and the path after the colon in its name."""
        known = self.names()
        parts = name.split(":")
        for length in range(len(parts), 0, -1):
            skill = ":".join(parts[:length])
            if skill in known:
                return known[skill], relative_path(":".join(parts[length:]))
        listed = ", ".join(sorted(known)) if known else "none"
        raise UnresolvedUrlError(f"there is no skill {name!r}; there are: {listed}")

    def names(self) -> dict[str, Path]:
        """Return every skill with its directory."""
        known: dict[str, Path] = {}
        for root in self.roots:
            try:
                entries = sorted(os.listdir(root))
            except OSError:
                continue
            for entry in entries:
                if entry not in known and (Path(root) / entry).is_dir():
                    known[entry] = Path(root) / entry
        return known


def contained(root: Path, relative: str) -> str:
    """Return the real path of a file below `root`, existing or not.

    Raises:
        UnresolvedUrlError: a link leads out of the root.
    """
    real_root = os.path.realpath(root)
    real = os.path.realpath(os.path.join(real_root, relative))
    if real != real_root and not real.startswith(real_root.rstrip("/") + "/"):
        raise UnresolvedUrlError(f"{relative!r} leads out of {real_root} through a link")
    return real
