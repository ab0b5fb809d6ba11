"""Where commands run when a call names no place: this machine, or the one that `nacre --on` has chosen."""

from __future__ import annotations

from collections.abc import Mapping

from nacre.backend import Backend

chosen: Backend | None = None
"""The place for this program's calls that name none; None is this machine."""


def environ_of(backend: Backend | None) -> Mapping[str, str] | None:
    """The variables of a login where commands run; None if they are those of this process."""
    return getattr(backend, "environ", None)


def directory_at(backend: Backend | None) -> str | None:
    """Where commands begin there unless they say otherwise; None if that is this machine."""
    return getattr(chosen if backend is None else backend, "cwd", None)
