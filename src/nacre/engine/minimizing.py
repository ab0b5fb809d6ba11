"""Which calls have their output shortened for a model, and by which filters (docs/contracts.md, D15, D26, D41)."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from nacre import config
from nacre.errors import ConfigError
from nacre.minimize.evidence import Detector
from nacre.minimize.families import Family
from nacre.minimize.minimiser import Minimised, minimise
from nacre.minimize.user_filters import families_in_force, matchers_of
from nacre.request import ShellRequest
from nacre.settings import MinimizerSettings


def shortened_text(
    text: str, request: ShellRequest, exit_code: int | None, settings: MinimizerSettings
) -> Minimised | None:
    """Return the shortened output of a call; None if it is shown as it is.

    A call that asks for all of its output, or for some of its lines, gets them.
    """
    if not settings.minimize or request.raw or request.head is not None or request.tail is not None:
        return None
    families, detectors = _in_force(config.filters_folder(os.environ), settings)
    return minimise(request.command, exit_code, text, families, detectors)


@functools.lru_cache(maxsize=8)
def _in_force(folder: str, settings: MinimizerSettings) -> tuple[tuple[Family, ...], tuple[Detector, ...]]:
    """Return the families and the user's detectors; wrong files are left aside, and `nacre filters list` names them."""
    try:
        return families_in_force(Path(folder), settings.only, settings.except_), matchers_of(settings.matcher_files)
    except (ConfigError, OSError):
        return families_in_force(None, settings.only, settings.except_), ()
