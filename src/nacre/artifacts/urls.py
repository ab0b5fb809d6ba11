"""Resolve `artifact://ID`, and put the schemes that every tool knows together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nacre.artifacts.store import ArtifactStore
from nacre.errors import ArtifactError
from nacre.planning.url_resolvers import LocalFiles, Skills
from nacre.planning.urls import UnresolvedUrlError, UrlRouter


@dataclass(frozen=True, slots=True)
class Artifacts:
    store: ArtifactStore

    def __call__(self, rest: str, *, make_parents: bool) -> str:
        if not (rest.isascii() and rest.isdigit()):
            raise UnresolvedUrlError(f"an artifact's id is a number, not {rest!r}; available: {self._known()}")
        try:
            # A program reads the file from beginning to end, so it must lie in that order.
            return self.store.plain_path(int(rest))
        except ArtifactError as error:
            raise UnresolvedUrlError(str(error)) from error

    def _known(self) -> str:
        return ", ".join(str(entry.id) for entry in self.store.list()) or "none"


def standard_router(
    store: ArtifactStore, *, state_dir: str | os.PathLike[str], session: str, skill_roots: Sequence[Path] = ()
) -> UrlRouter:
    """A router for `artifact://`, `local://` and `skill://`; a program may add its own schemes."""
    router = UrlRouter()
    router.register("artifact", Artifacts(store))
    router.register("local", LocalFiles.of_session(state_dir, session))
    router.register("skill", Skills(tuple(skill_roots)))
    return router
