"""The value of each setting: its name, its variable, the types it accepts, and the check of a given value."""

from __future__ import annotations

import functools
import math
import types
import typing
from dataclasses import fields
from typing import Any, NamedTuple

from nacre.errors import ConfigError, shown
from nacre.setting_table import ABOUT, About
from nacre.settings import Settings

_NAMES = tuple[str, ...]
_WORDS: dict[Any, str] = {
    int: "a whole number >= 0",
    float: "a number >= 0",
    bool: "true or false",
    str: "a text",
    _NAMES: "a list of texts",
}


class Setting(NamedTuple):
    """One setting: the section that it is a field of, its default, and what the table says about it."""

    section: Any
    field: str
    default: Any
    about: About

    @property
    def name(self) -> str:
        """Its name as files and people write it; a field cannot be called `except`."""
        return self.field.rstrip("_")

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return self.about.variable or f"NACRE_{self.name.upper()}"


@functools.cache
def all_settings() -> dict[str, Setting]:
    """Return each setting by its key, section by section."""
    found = {}
    for name, section in sections().items():
        defaults = section()
        for field in section.__annotations__:
            key = f"{name}.{field.rstrip('_')}"
            found[key] = Setting(section, field, getattr(defaults, field), ABOUT[key])
    return found


def sections() -> dict[str, Any]:
    """Return the class of each section."""
    return {section.name: section.default_factory for section in fields(Settings) if section.name != "notices"}


def _type_of(setting: Setting) -> Any:
    return _types_of(setting.section)[setting.field]


@functools.cache
def _types_of(section: Any) -> dict[str, Any]:
    """Return the types of a section's settings. They are annotations, each of which Python compiles to read it."""
    return typing.get_type_hints(section)


def parse(text: str, setting: Setting, variable: str) -> Any:
    """Return the value that the text of a variable stands for; raises ConfigError."""
    kinds = _alternatives(setting)
    value: Any = text
    if entry_kinds(setting) is not None:
        pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
        if all(equals for _, equals, _ in pairs):
            table = {name.strip(): chosen.strip() for name, _, chosen in pairs}
            return checked_table(table, setting, {name: f"{variable}: {name}" for name in table}, source=variable)
    elif bool in kinds and text.lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        value = text.lower() in ("1", "true", "yes", "on")
    elif _NAMES in kinds:
        value = [name.strip() for name in text.split(",") if name.strip()]
    elif int in kinds or float in kinds:
        try:
            value = int(text) if int in kinds else float(text)
        except ValueError:
            value = text
    return checked(value, setting, variable, source=variable)


def _alternatives(setting: Setting) -> tuple[Any, ...]:
    kind = _type_of(setting)
    return typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)


def entry_kinds(setting: Setting) -> tuple[Any, Any] | None:
    """Return the types of a table's names and values; None for a setting that is no table."""
    pair = (typing.get_args(_type_of(setting)) or (None,))[0]
    return typing.get_args(pair) if typing.get_origin(pair) is tuple else None


def plain_value(key: str, value: Any) -> Any:
    """Return a value as JSON and TOML write it."""
    return dict(value) if entry_kinds(all_settings()[key]) is not None else value


def checked_table(table: dict[str, Any], setting: Setting, where: dict[str, str], *, source: str) -> Any:
    """Return the entries of a table; raises ConfigError at a name or a value that is not accepted."""
    names, values = entry_kinds(setting) or (str, str)
    for name, value in table.items():
        if names is not str and name not in typing.get_args(names):
            raise ConfigError(f"{where[name]} is unknown; known: {_spell((names,))}", source=source, key=name)
        if not (isinstance(value, str) if values is str else value in typing.get_args(values)):
            problem = f"{where[name]} is {shown(value)}; accepted: {_spell((values,))}"
            raise ConfigError(problem, source=source, key=name)
    return tuple(table.items())


def checked(value: Any, setting: Setting, where: str, *, source: str) -> Any:
    """Return the value as its setting holds it; raises ConfigError if it is not accepted."""
    kinds = _alternatives(setting)
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
    raise ConfigError(f"{where} is {shown(value)}; accepted: {_accepted(setting)}", source=source, key=setting.field)


def accepted(key: str) -> str:
    """Describe the values that a setting accepts."""
    return _accepted(all_settings()[key])


def _accepted(setting: Setting) -> str:
    if (kinds := entry_kinds(setting)) == (str, str):
        return "a table of texts; in the variable NAME=VALUE,…"
    if kinds is not None:
        return f"a table; its names: {_spell(kinds[:1])}; its values: {_spell(kinds[1:])}"
    return _spell(_alternatives(setting))


def _spell(kinds: tuple[Any, ...]) -> str:
    words = []
    for kind in kinds:
        if typing.get_origin(kind) is typing.Literal:
            words += [shown(option) for option in typing.get_args(kind)]
        elif kind is not types.NoneType:
            words.append(_WORDS[kind])
    return ", ".join(words)
