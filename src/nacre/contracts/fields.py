"""Checks that every contract makes of what a model sent: the error names the field, its value and what would do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, overload

from nacre.errors import InvalidRequestError, shown
from nacre.request import check_command, name_of

# Beyond this no file has a byte and no clock a second.
MOST = 2**63 - 1


def arguments_of(arguments: object, *, known: Iterable[str]) -> Mapping[str, Any]:
    """The arguments as a mapping without unknown fields."""
    if not isinstance(arguments, Mapping):
        raise InvalidRequestError(f"arguments must be a JSON object, got {shown(arguments)}", field="arguments")
    names = list(known)
    for key in arguments:
        if key not in names:
            import difflib

            near = difflib.get_close_matches(key[:80], names, n=1) if isinstance(key, str) else []
            hint = f"; did you mean '{near[0]}'?" if near else ""
            name = name_of(key)
            raise InvalidRequestError(
                f"unknown field {name} (value {shown(arguments[key])}); known fields: {', '.join(names)}{hint}",
                field=name.strip("'"),
            )
    return arguments


def command_of(arguments: Mapping[str, Any]) -> str:
    """The command: a text that is not blank and that a process can be given."""
    if "command" not in arguments:
        raise InvalidRequestError("field 'command' is missing; it is the shell command to run", field="command")
    command = arguments["command"]
    if not isinstance(command, str):
        raise InvalidRequestError(f"field 'command' must be a string, got {shown(command)}", field="command")
    check_command(command)
    return command


@overload
def number_of(fields: Mapping[str, Any], name: str, *, least: int) -> int | None: ...
@overload
def number_of(fields: Mapping[str, Any], name: str, *, least: int, whole: Literal[False]) -> float | None: ...
def number_of(fields: Mapping[str, Any], name: str, *, least: int, whole: bool = True) -> float | None:
    """A number that is at least `least`; None when the field was not given."""
    value = fields.get(name)
    if value is None:
        return None
    # JSON knows one kind of number: 5.0 is a whole one.
    if isinstance(value, float) and whole and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not value >= least:
        kind = "a whole number" if whole else "a number"
        raise InvalidRequestError(f"field '{name}' must be {kind} of at least {least}, got {shown(value)}", field=name)
    return min(value, MOST)


def mapping_of(value: object, name: str) -> object:
    """A mapping that may have come as a list of `{"name", "value"}`: some vendors' schemas cannot say a mapping.

    Anything else is left for its own check. An error never shows a value, which may be a secret.
    """
    if not isinstance(value, list):
        return value
    mapping = {}
    for index, pair in enumerate(value):
        place = f"{name}[{index}]"
        if not isinstance(pair, Mapping) or set(pair) != {"name", "value"} or not isinstance(pair["name"], str):
            raise InvalidRequestError(f"field '{place}' must be an object with 'name' and 'value'", field=place)
        if pair["name"] in mapping:
            raise InvalidRequestError(f"field '{place}' names {shown(pair['name'])} a second time", field=place)
        mapping[pair["name"]] = pair["value"]
    return mapping
