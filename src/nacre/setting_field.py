"""How one setting is declared: its default, its explanation, and what a project's file may do with it."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def setting(
    default: Any,
    doc: str,
    *,
    loosens: bool = False,
    project_most: float | None = None,
    variable: str | None = None,
    tightens: bool = False,
) -> Any:
    """Declare a setting.

    A setting that `loosens` a protection, or affects what other projects keep in the state directory, cannot be set in
    a project's file. `project_most` is the largest value there, because a larger one would loosen a promise about the
    time or the resources of a call. One that `tightens` may be set there, but not above what you set. `variable` is its
    environment variable if not the one that its name gives.
    """
    metadata = {
        "doc": doc,
        "loosens": loosens,
        "project_most": project_most,
        "variable": variable,
        "tightens": tightens,
    }
    return field(default=default, metadata=metadata)
