"""This process's environment as a value: the same object for as long as nothing in it has changed.

Reading `os.environ` decodes every variable anew, which costs more than everything else that is decided about a short
command. Whoever derives something from the snapshot may keep it for as long as the snapshot stays the same object.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

_last: tuple[Mapping[str, object], Mapping[str, str]] = ({}, MappingProxyType({}))


def environment() -> Mapping[str, str]:
    """The environment now; do not change it."""
    global _last
    # The encoded pairs behind os.environ are the same objects until a variable is set; comparing them is one pass
    # over pointers. Where there is no such thing, the decoded pairs do as well.
    pairs = getattr(os.environ, "_data", os.environ)
    known, snapshot = _last
    if pairs != known:
        snapshot = MappingProxyType(dict(os.environ))
        _last = (dict(pairs), snapshot)
    return snapshot
