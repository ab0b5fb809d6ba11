"""The value of each setting: its name, its variable, the types it accepts, and the check of a given value."""

from __future__ import annotations

import functools
import math
import types
import typing
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from nacre.errors import ConfigError, shown
from nacre.settings import Settings

if TYPE_CHECKING:
    from dataclasses import Field

_NAMES = tuple[str, ...]
_WORDS: dict[Any, str] = {
    int: "a whole number >= 0",
    float: "a number >= 0",
    bool: "true or false",
    str: "a text",
    _NAMES: "a list of texts",
}


def name_of(field: Field[Any]) -> str:
    """Return the name of a setting; a field cannot be called `except`."""
    return field.name.rstrip("_")


def variable_of(field: Field[Any]) -> str:
    """Return the environment variable of a setting."""
    variable: str | None = field.metadata["variable"]
    return f"NACRE_{name_of(field).upper()}" if variable is None else variable


@functools.cache
def setting_fields() -> dict[str, Field[Any]]:
    """Return the field of each setting, by its key."""
    return {f"{section}.{name_of(field)}": field for section, kind in sections().items() for field in fields(kind)}


def sections() -> dict[str, Any]:
    """Return the class of each section."""
    return {section.name: section.default_factory for section in fields(Settings) if section.name != "notices"}


def _type_of(field: Field[Any]) -> Any:
    for section_type in sections().values():
        if field in fields(section_type):
            return _types_of(section_type)[field.name]
    raise LookupError(field.name)


@functools.cache
def _types_of(section_type: Any) -> dict[str, Any]:
    """Return the types of a section's settings. They are annotations, each of which Python compiles to read it."""
    return typing.get_type_hints(section_type)


def parse(text: str, field: Field[Any], variable: str) -> Any:
    """Return the value that the text of a variable stands for; raises ConfigError."""
    kinds = _alternatives(field)
    value: Any = text
    if entry_kinds(field) is not None:
        pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
        if all(equals for _, equals, _ in pairs):
            table = {name.strip(): chosen.strip() for name, _, chosen in pairs}
            return checked_table(table, field, {name: f"{variable}: {name}" for name in table}, source=variable)
    elif bool in kinds and text.lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        value = text.lower() in ("1", "true", "yes", "on")
    elif _NAMES in kinds:
        value = [name.strip() for name in text.split(",") if name.strip()]
    elif int in kinds or float in kinds:
        try:
            value = int(text) if int in kinds else float(text)
        except ValueError:
            value = text
    return checked(value, field, variable, source=variable)


def _alternatives(field: Field[Any]) -> tuple[Any, ...]:
    kind = _type_of(field)
    return typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)


def entry_kinds(field: Field[Any]) -> tuple[Any, Any] | None:
    """Return the types of a table's names and values; None for a setting that is no table."""
    pair = (typing.get_args(_type_of(field)) or (None,))[0]
    return typing.get_args(pair) if typing.get_origin(pair) is tuple else None


def plain_value(key: str, value: Any) -> Any:
    """Return a value as JSON and TOML write it."""
    return dict(value) if entry_kinds(setting_fields()[key]) is not None else value


def checked_table(table: dict[str, Any], field: Field[Any], where: dict[str, str], *, source: str) -> Any:
    """Return the entries of a table; raises ConfigError at a name or a value that is not accepted."""
    names, values = entry_kinds(field) or (str, str)
    for name, value in table.items():
        if names is not str and name not in typing.get_args(names):
            raise ConfigError(f"{where[name]} is unknown; known: {_spell((names,))}", source=source, key=name)
        if not (isinstance(value, str) if values is str else value in typing.get_args(values)):
            problem = f"{where[name]} is {shown(value)}; accepted: {_spell((values,))}"
            raise ConfigError(problem, source=source, key=name)
    return tuple(table.items())


def checked(value: Any, field: Field[Any], where: str, *, source: str) -> Any:
    """Return the value as its setting holds it; raises ConfigError if it is not accepted."""
    kinds = _alternatives(field)
    for kind in kinds:
        if typing.get_origin(kind) is typing.Literal:
            if value in typing.get_args(kind):
                return value
        elif kind is float and isinstance(value, int | float) and not isinstance(value, bool):
            if math.isfinite(value) and value >= 0:
                return float(value)
        elif kind is int and isinstance(value, int) and not isinstance(value, bool):
            if value >= 0:
                return value
        elif kind == _NAMES and isinstance(value, list) and all(isinstance(name, str) for name in value):
            return tuple(value)
        elif kind in (bool, str) and isinstance(value, kind):
            return value
    raise ConfigError(f"{where} is {shown(value)}; accepted: {_accepted(field)}", source=source, key=field.name)


def accepted(key: str) -> str:
    """Describe the values that a setting accepts."""
    return _accepted(setting_fields()[key])


def _accepted(field: Field[Any]) -> str:
    if (kinds := entry_kinds(field)) == (str, str):
        return "a table of texts; in the variable NAME=VALUE,…"
    if kinds is not None:
        return f"a table; its names: {_spell(kinds[:1])}; its values: {_spell(kinds[1:])}"
    return _spell(_alternatives(field))


def _spell(kinds: tuple[Any, ...]) -> str:
    words = []
    for kind in kinds:
        if typing.get_origin(kind) is typing.Literal:
            words += [shown(option) for option in typing.get_args(kind)]
        elif kind is not types.NoneType:
            words.append(_WORDS[kind])
    return ", ".join(words)
