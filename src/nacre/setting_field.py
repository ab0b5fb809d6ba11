"""How one setting is declared: its default, its explanation, and what a project's file may do with it."""

from __future__ import annotations

from collections.abc import Callable
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
    stricter: Callable[[Any, Any], bool] | None = None,
) -> Any:
    """Declare a setting.

    A setting that `loosens` a protection, or affects what other projects keep in the state directory, cannot be set in
    a project's file. `project_most` is the largest value there, because a larger one would loosen a promise about the
    time or the resources of a call. One that `tightens` may be set there, but not above what you set; `stricter`
    tells of values that are no numbers whether the first is at least as strict as the second. `variable` is its
    environment variable if not the one that its name gives.
    """
    metadata = {
        "doc": doc,
        "loosens": loosens,
        "project_most": project_most,
        "variable": variable,
        "tightens": tightens,
        "stricter": stricter,
    }
    return field(default=default, metadata=metadata)
