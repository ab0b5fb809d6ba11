"""Which calls have their output shortened for a model, and by which filters (docs/contracts.md, D15, D26, D41)."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import NamedTuple

from nacre import config
from nacre.errors import ConfigError
from nacre.minimize.evidence import Detector
from nacre.minimize.minimiser import Minimised, minimise
from nacre.minimize.user_filters import UserFilters, filters_of, matchers_of
from nacre.request import ShellRequest
from nacre.settings import MinimizerSettings


class Shortening(NamedTuple):
    """The shortened output of a call, and what a user's files of filters and matchers have wrong."""

    found: Minimised | None
    """None if the output is shown as it is."""
    notices: tuple[str, ...] = ()


def shortened_text(text: str, request: ShellRequest, exit_code: int | None, settings: MinimizerSettings) -> Shortening:
    """Shorten the output of a call. A call that asks for all of its output, or for some of its lines, gets them."""
    if not settings.minimize or request.raw or request.head is not None or request.tail is not None:
        return Shortening(None)
    folder = config.filters_folder(os.environ)
    filters = _filters(folder, _versions(folder), settings)
    try:
        detectors = _matchers(settings.matcher_files, tuple(map(_version, settings.matcher_files)))
    except ConfigError as problem:
        # What the user calls evidence is not known, so nothing may be hidden.
        return Shortening(None, (*filters.problems, f"the output is not shortened: {problem}"))
    found = minimise(request.command, exit_code, text, filters.families, detectors)
    return Shortening(found, filters.problems)


@functools.lru_cache(maxsize=8)
def _filters(folder: str, versions: tuple[object, ...], settings: MinimizerSettings) -> UserFilters:
    return filters_of(Path(folder), settings.only, settings.except_)


@functools.lru_cache(maxsize=8)
def _matchers(files: tuple[str, ...], versions: tuple[object, ...]) -> tuple[Detector, ...]:
    return matchers_of(files)


def _versions(folder: str) -> tuple[object, ...]:
    """What changes when a filter of the user does."""
    try:
        return tuple(sorted((one.name, one.stat().st_mtime_ns, one.stat().st_size) for one in os.scandir(folder)))
    except OSError:
        return ()


def _version(file: str) -> object:
    try:
        found = os.stat(os.path.expanduser(file))
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
