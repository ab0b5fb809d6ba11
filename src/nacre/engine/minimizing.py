"""Which calls have their output shortened for a model, and by which filters (docs/contracts.md, D15, D26, D41)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from nacre import config
from nacre.engine.capture import Shorten
from nacre.engine.summary import Minimizer
from nacre.errors import ConfigError
from nacre.profile import Profile
from nacre.request import ShellRequest
from nacre.settings import MinimizerSettings

if TYPE_CHECKING:
    from nacre.minimize.evidence import Detector
    from nacre.minimize.filters import Family
    from nacre.minimize.minimiser import Minimised


def minimizer_of(
    request: ShellRequest, profile: Profile, settings: MinimizerSettings, environ: Mapping[str, str]
) -> Minimizer | None:
    """Return what shortens the output of a call; None if it is shown as it is.

    A model reads it, and has asked neither for all of it nor for some of its lines.
    """
    selects = request.head is not None or request.tail is not None
    if not profile.minimizes or not settings.minimize or request.raw or selects:
        return None

    def minimizer(exit_code: int | None) -> Shorten:
        def shorten(text: str) -> Minimised | None:
            # Loaded here: most outputs are short.
            from nacre.minimize.minimiser import minimise

            families, detectors = _in_force(config.filters_folder(environ), settings)
            return minimise(request.command, exit_code, text, families, detectors)

        return shorten

    return minimizer


@functools.lru_cache(maxsize=8)
def _in_force(folder: str, settings: MinimizerSettings) -> tuple[tuple[Family, ...], tuple[Detector, ...]]:
    """Return the families and the user's detectors; wrong files are left aside, and `nacre filters list` names them."""
    from pathlib import Path

    from nacre.minimize.user_filters import families_in_force, matchers_of

    try:
        return families_in_force(Path(folder), settings.only, settings.except_), matchers_of(settings.matcher_files)
    except (ConfigError, OSError):
        return families_in_force(None, settings.only, settings.except_), ()
