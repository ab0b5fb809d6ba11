"""Checks of the arguments that a model sent; an error names the field, its value and the accepted values. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, overload

from nacre.errors import InvalidRequestError, shown
from nacre.request import check_command, check_encodable, name_of

# No file has more bytes and no clock more seconds.
MOST = 2**63 - 1

# What other vendors' tools call the fields.
OTHER_NAMES = {
    "cmd": "command",
    "script": "command",
    "code": "command",
    "directory": "cwd",
    "dir_path": "cwd",
    "workdir": "cwd",
    "working_directory": "cwd",
    "background": "async",
    "is_background": "async",
    "run_in_background": "async",
    "timeout_ms": "timeout",
}


def arguments_of(arguments: object, *, known: Iterable[str], by_programs: Collection[str] = ()) -> Mapping[str, Any]:
    """Return the arguments as a mapping without unknown fields.

    Args:
        known: the fields that a model is offered.
        by_programs: fields that the program between model and tool may add.
    """
    if not isinstance(arguments, Mapping):
        raise InvalidRequestError(f"arguments must be a JSON object, got {shown(arguments)}", field="arguments")
    names = list(known)
    for key in arguments:
        if key not in names and key not in by_programs:
            name, near = name_of(key), _near(key, names)
            hint = f"known fields: {', '.join(names)}" if near is None else f"did you mean '{near}'?"
            raise InvalidRequestError(
                f"unknown field {name} (value {shown(arguments[key])}); {hint}", field=name.strip("'")
            )
    return arguments


def _near(key: object, names: list[str]) -> str | None:
    """The known field that an unknown one means, as far as its name shows."""
    import difflib

    if not isinstance(key, str):
        return None
    if (meant := OTHER_NAMES.get(key.lower())) in names:
        return meant
    near = difflib.get_close_matches(key[:80], names, n=1)
    return near[0] if near else None


def command_of(arguments: Mapping[str, Any]) -> str:
    """Return the command: a text that is not blank and that a process can receive."""
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
    """Return a number of at least `least`; None if the field is absent."""
    value = fields.get(name)
    if value is None:
        return None
    # JSON has one kind of number: 5.0 is whole.
    if isinstance(value, float) and whole and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not value >= least:
        kind = "a whole number" if whole else "a number"
        raise InvalidRequestError(f"field '{name}' must be {kind} of at least {least}, got {shown(value)}", field=name)
    return min(value, MOST)


def flag_of(fields: Mapping[str, Any], name: str) -> bool:
    """Return a boolean; false if the field is absent."""
    value = fields.get(name)
    if value is not None and not isinstance(value, bool):
        raise InvalidRequestError(f"field '{name}' must be true or false, got {shown(value)}", field=name)
    return bool(value)


def text_of(fields: Mapping[str, Any], name: str) -> str | None:
    """Return a text that a process can receive; None if the field is absent."""
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or "\0" in value:
        raise InvalidRequestError(f"field '{name}' must be a string without NUL, got {shown(value)}", field=name)
    check_encodable(value, name)
    return value


def mapping_of(value: object, name: str) -> object:
    """Turn a list of `{"name", "value"}` into a mapping, because some vendors' schemas cannot express a mapping.

    Any other value is returned for the caller to check. An error never shows a value, which may be a secret.
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
