"""Resolves `artifact://ID`, and puts the schemes together that every tool knows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nacre.artifacts.store import ArtifactStore
from nacre.errors import ArtifactError, some_of
from nacre.planning.url_resolvers import LocalFiles, Skills
from nacre.planning.urls import Resolver, UnresolvedUrlError, UrlRouter
from nacre.state_directory import StateDirectoryError, files


@dataclass(frozen=True, slots=True)
class Artifacts:
    """Resolves `artifact://ID` to the path of its file."""

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
        return some_of([str(entry.id) for entry in self.store.list()])


@dataclass(frozen=True, slots=True)
class OnStateDirectory:
    """Resolves what lies in the state directory, which may not answer."""

    state_dir: str
    resolver: LocalFiles

    def __call__(self, rest: str, *, make_parents: bool) -> str:
        try:
            return files(self.state_dir).call(self.resolver, rest, make_parents=make_parents)
        except StateDirectoryError as error:
            raise UnresolvedUrlError(str(error)) from error


def standard_router(
    store: ArtifactStore,
    *,
    state_dir: str | os.PathLike[str],
    session: str,
    skill_roots: Sequence[Path] = (),
    schemes: Mapping[str, Resolver] | None = None,
) -> UrlRouter:
    """Return a router for `artifact://`, `local://`, `skill://` and further schemes; a program may add more."""
    router = UrlRouter()
    router.register("artifact", Artifacts(store))
    router.register("local", OnStateDirectory(os.fspath(state_dir), LocalFiles.of_session(state_dir, session)))
    router.register("skill", Skills(tuple(skill_roots)))
    for scheme, resolver in (schemes or {}).items():
        router.register(scheme, resolver)
    return router
