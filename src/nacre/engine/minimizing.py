"""Which calls have their output shortened for a model, and by which filters (docs/contracts.md, D15, D26, D41)."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from nacre import config
from nacre.artifacts.writer import ArtifactWriter
from nacre.engine.tool_reports import faults_of
from nacre.errors import ArtifactError, ConfigError
from nacre.minimize.evidence import Detector
from nacre.minimize.minimiser import MOST_BYTES, Minimised, minimise
from nacre.minimize.repetition import Remembered, difference, lines_of
from nacre.minimize.user_filters import UserFilters, filters_of, matchers_of
from nacre.output.captured import Captured
from nacre.planning.plan import Plan
from nacre.request import ShellRequest
from nacre.result import ArtifactRef, Minimized, Output
from nacre.settings import MinimizerSettings

__all__ = ["MOST_BYTES", "shortened_output"]


class Shortening(NamedTuple):
    """The shortened output of a call, and what a user's files of filters and matchers have wrong."""

    found: Minimised | None
    """None if the output is shown as it is."""
    notices: tuple[str, ...] = ()


def shortened_output(
    whole: bytes,
    planned: Plan,
    exit_code: int | None,
    settings: MinimizerSettings,
    problems: list[str],
    *,
    view: Callable[[Captured], Output],
    create: Callable[[], ArtifactWriter],
    names_paths: bool = False,
) -> Output | None:
    """Return the shortened view of an output, once all of it is an artifact; None if it is shown as it is.

    Args:
        problems: gets what a user's files of filters and matchers have wrong.
        view: shows a text as the call's contract does.
        create: begins the artifact of the whole.
        names_paths: whether the contract knows no `artifact://`, so that the footer names the file.
    """
    raw = whole.decode("utf-8", "replace")
    found, notices = _shortened_text(raw, planned.request, exit_code, settings)
    problems += [notice for notice in notices if notice not in problems]
    if found is not None and settings.reports and (fault := faults_of(planned.request, found.text)):
        problems.append(f"the output is not shortened: by pytest's own report {fault}")
        return None
    key = _key(planned) if settings.differences and settings.minimize else None
    if key in _last_runs and not _wants_lines(planned.request):
        found = difference(_last_runs[key], raw, found) or found
    output = None if found is None else _swapped(whole, found, planned, view, create, names_paths=names_paths)
    if key is not None:
        _remember(key, raw, None if output is None or output.artifact is None else output.artifact.id)
    return output


def _swapped(
    whole: bytes,
    found: Minimised,
    planned: Plan,
    view: Callable[[Captured], Output],
    create: Callable[[], ArtifactWriter],
    *,
    names_paths: bool,
) -> Output | None:
    """Return the view of a shortened text, once the artifact of the whole is written; None if it could not be."""
    text = planned.redactor.redact_text(found.text) if planned.hides else found.text
    data = text.encode("utf-8", "replace")
    lines = text.count("\n") + 1
    shown = view(Captured(whole=data, head=data, tail=data, total_bytes=len(data), total_lines=lines))
    original = _kept(whole, create) if shown.truncation is None else None
    if original is None:
        return None
    return replace(
        shown,
        text=f"{shown.text.rstrip()}\n[raw output: {original.path if names_paths else f'artifact://{original.id}'}]\n",
        total_bytes=len(whole),
        total_lines=whole.count(b"\n") + (whole[-1:] != b"\n"),
        artifact=original,
        minimized=Minimized(
            filter=found.filter,
            raw_bytes=found.raw_bytes,
            shown_bytes=found.shown_bytes,
            artifact_id=original.id,
        ),
    )


Run = tuple[str, str, str]
"""A session, a directory and a command."""

# The last runs of commands, for `minimizer.differences`; the oldest are forgotten.
_last_runs: dict[Run | None, Remembered] = {}
MOST_RUNS = 32


def _key(planned: Plan) -> Run | None:
    owner = planned.request.owner
    return None if owner is None or owner.session is None else (owner.session, planned.cwd, planned.request.command)


def _remember(key: Run, raw: str, artifact_id: int | None) -> None:
    _last_runs.pop(key, None)
    lines = lines_of(raw)
    if lines is not None:
        _last_runs[key] = Remembered(lines, artifact_id)
    while len(_last_runs) > MOST_RUNS:
        del _last_runs[next(iter(_last_runs))]


def _wants_lines(request: ShellRequest) -> bool:
    """Whether a call asks for all of its output, or for some of its lines."""
    return request.raw or request.head is not None or request.tail is not None


def _kept(whole: bytes, create: Callable[[], ArtifactWriter]) -> ArtifactRef | None:
    """Return the artifact of an output before it is shortened; None if it could not be kept."""
    try:
        writer = create()
    except ArtifactError:
        return None
    writer.write(whole)
    artifact = writer.close()
    return artifact if writer.error is None else None


def _shortened_text(text: str, request: ShellRequest, exit_code: int | None, settings: MinimizerSettings) -> Shortening:
    """Shorten the output of a call. A call that asks for all of its output, or for some of its lines, gets them."""
    if not settings.minimize or _wants_lines(request):
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
