"""This process's environment as a value with a generation: the number changes when, and only when, a variable does."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class ProcessEnvironment(NamedTuple):
    """The variables at one moment; two of the same generation hold the same variables."""

    values: Mapping[str, str]
    generation: int


# Threads may find a change at the same moment: each gets a number of its own.
_generations = itertools.count(1)
_last = ProcessEnvironment(MappingProxyType({}), 0)


def environment() -> ProcessEnvironment:
    """The environment now."""
    global _last
    now = dict(os.environ)
    if now != _last.values:
        _last = ProcessEnvironment(MappingProxyType(now), next(_generations))
    return _last
