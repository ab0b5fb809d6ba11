"""A budget in one text, as the command line and tool calls give it: `cpu=10,memory=1G,processes=200`. Pure."""

from __future__ import annotations

import re

from nacre.call_budget import Budget
from nacre.errors import InvalidRequestError, shown

_SECONDS, _BYTES, _COUNT = "a number of seconds above 0", "a size above 0, e.g. 500M or 2G", "a whole number above 0"
_LIMITS = {
    "cpu": ("cpu_seconds", _SECONDS),
    "memory": ("memory_bytes", _BYTES),
    "processes": ("processes", _COUNT),
    "file": ("file_bytes", _BYTES),
    "output": ("output_bytes", _BYTES),
    "wall": ("wall_seconds", _SECONDS),
}
_NUMBER = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([kmgt]?)(?:i?b)?", re.IGNORECASE)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def budget_in(text: str) -> Budget:
    """Read a budget.

    Raises:
        InvalidRequestError: a limit is unknown, is named twice or has no value; the message names it and its value.
    """
    limits: dict[str, float] = {}
    for part in (part.strip() for part in text.split(",")):
        name, equals, value = (word.strip() for word in part.partition("="))
        if name not in _LIMITS or not equals:
            known = ", ".join(_LIMITS)
            raise _wrong(f"budget has {shown(part)}; accepted: LIMIT=VALUE,… with the limits {known}", "budget")
        field, accepted = _LIMITS[name]
        if field in limits:
            raise _wrong(f"budget names {name} twice; accepted: each limit once", f"budget.{name}")
        found = _value_of(value, accepted)
        if found is None:
            raise _wrong(f"budget.{name} is {shown(value)}; accepted: {accepted}", f"budget.{name}")
        limits[field] = found
    return Budget(**limits)  # type: ignore[arg-type]


def _value_of(text: str, accepted: str) -> float | None:
    found = _NUMBER.fullmatch(text)
    if found is None or (accepted is not _BYTES and not text.replace(".", "", 1).isdigit()):
        return None
    number = float(found[1]) * _UNITS[found[2].lower()]
    if accepted is not _SECONDS:
        number = int(number) if accepted is _BYTES or number.is_integer() else 0
    return number or None


def _wrong(message: str, field: str) -> InvalidRequestError:
    return InvalidRequestError(message, field=field)
