"""Checks that every contract makes of what a model sent: the error names the field, its value and what would do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from nacre.errors import InvalidRequestError
from nacre.request import check_command


def arguments_of(arguments: object, *, known: Iterable[str]) -> Mapping[str, Any]:
    """The arguments as a mapping without unknown fields."""
    if not isinstance(arguments, Mapping):
        raise InvalidRequestError(f"arguments must be a JSON object, got {_show(arguments)}", field="arguments")
    names = list(known)
    for key in arguments:
        if key not in names:
            near = difflib.get_close_matches(str(key), names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidRequestError(
                f"unknown field {key!r} (value {_show(arguments[key])}); known fields: {', '.join(names)}{hint}",
                field=str(key),
            )
    return arguments


def command_of(arguments: Mapping[str, Any]) -> str:
    """The command: a text that is not blank and that a process can be given."""
    if "command" not in arguments:
        raise InvalidRequestError("field 'command' is missing; it is the shell command to run", field="command")
    command = arguments["command"]
    if not isinstance(command, str):
        raise InvalidRequestError(f"field 'command' must be a string, got {_show(command)}", field="command")
    check_command(command)
    return command


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
