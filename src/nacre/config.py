"""Builds the settings: defaults, then the user's file, the project's file, the environment. The edge of the system.

An unknown key or a wrong type is an error that names the file, the key and what would be accepted. A project's file
may be written by the very agent that nacre watches, so it cannot loosen a protection.
"""

from __future__ import annotations

import functools
import math
import os
import types
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nacre.dataclass import dataclass, fields
from nacre.errors import ConfigError
from nacre.settings import Settings

if TYPE_CHECKING:
    from dataclasses import Field

FILE_NAME = "nacre.toml"

_NAMES = tuple[str, ...]
_WORDS: dict[Any, str] = {
    int: "a whole number >= 0",
    float: "a number >= 0",
    bool: "true or false",
    str: "a text",
    _NAMES: "a list of texts",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """An effective setting and where it came from."""

    key: str
    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class Configuration:
    settings: Settings
    state_dir: str
    origins: tuple[Origin, ...]


def load(environ: Mapping[str, str], *, cwd: str) -> Configuration:
    """The effective configuration for a program running in cwd."""
    values = {key: (field.default, "default") for key, field in _fields().items()}
    for path, trusted in _files(environ, cwd):
        for key, value in _read(path, trusted=trusted).items():
            values[key] = (value, path)
    for key, field in _fields().items():
        variable = variable_of(field.name)
        if variable in environ:
            values[key] = (_parse(environ[variable], field, variable), variable)
    origins = tuple(Origin(key, value, source) for key, (value, source) in sorted(values.items()))
    return Configuration(_build({key: value for key, (value, _) in values.items()}), state_dir(environ), origins)


def file_stamps(environ: Mapping[str, str], cwd: str) -> tuple[object, ...]:
    """What tells whether a settings file has changed, appeared or gone, cheap to ask."""
    stamps: list[object] = []
    for path in _candidates(environ, cwd):
        try:
            stat = os.stat(path)
        except (OSError, ValueError):  # a path with a NUL names no file either
            stamps.append(None)
        else:
            stamps.append((path, stat.st_mtime_ns, stat.st_size, stat.st_ino))
    return tuple(stamps)


def state_dir(environ: Mapping[str, str]) -> str:
    """Where jobs, artifacts and the log live."""
    if home := environ.get("NACRE_HOME"):
        return home if os.path.isabs(home) else os.path.join(os.getcwd(), home)
    if state := environ.get("XDG_STATE_HOME"):
        return os.path.join(state, "nacre")
    if user_home := environ.get("HOME"):
        return os.path.join(user_home, ".local", "state", "nacre")
    return f"/tmp/nacre-{os.getuid()}"


def working_directory() -> str:
    """This process's directory; one that was deleted under us by the path it had, so that an error can name it."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.environ.get("PWD", "(deleted directory)")


def variable_of(name: str) -> str:
    return f"NACRE_{name.upper()}"


def _candidates(environ: Mapping[str, str], cwd: str) -> tuple[str, str]:
    """The user's file, which is trusted, and the project's, which is not."""
    config_home = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME", "/"), ".config")
    return os.path.join(config_home, "nacre", FILE_NAME), os.path.join(cwd, FILE_NAME)


def _files(environ: Mapping[str, str], cwd: str) -> list[tuple[str, bool]]:
    user, project = _candidates(environ, cwd)
    return [(path, path == user) for path in (user, project) if os.path.isfile(path)]


@functools.cache
def _fields() -> dict[str, Field[Any]]:
    return {f"{section}.{field.name}": field for section, kind in _sections().items() for field in fields(kind)}


def _sections() -> dict[str, Any]:
    """The class of each section."""
    return {section.name: section.default_factory for section in fields(Settings)}


def _type_of(field: Field[Any]) -> Any:
    for section_type in _sections().values():
        if field in fields(section_type):
            return typing.get_type_hints(section_type)[field.name]
    raise LookupError(field.name)


def _read(path: str, *, trusted: bool) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}", source=path) from error
    known = _fields()
    found = {}
    for section, table in document.items():
        if not isinstance(table, dict):
            raise ConfigError(f"{path}: {section!r} must be a table such as [execution]", source=path, key=section)
        for name, value in table.items():
            key = f"{section}.{name}"
            if key not in known:
                raise ConfigError(f"{path}: unknown setting {key!r}{_nearest(key, known)}", source=path, key=key)
            if known[key].metadata["loosens"] and not trusted:
                raise ConfigError(
                    f"{path}: {key} loosens a protection, so a project's file cannot set it; "
                    "put it in your own nacre.toml or the environment",
                    source=path,
                    key=key,
                )
            found[key] = _checked(value, known[key], f"{path}: {key}")
    return found


def _nearest(key: str, known: Mapping[str, object]) -> str:
    import difflib

    near = difflib.get_close_matches(key, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _parse(text: str, field: Field[Any], variable: str) -> Any:
    kinds = _alternatives(field)
    value: Any = text
    if bool in kinds and text.lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        value = text.lower() in ("1", "true", "yes", "on")
    elif _NAMES in kinds:
        value = [name.strip() for name in text.split(",") if name.strip()]
    elif int in kinds or float in kinds:
        try:
            value = int(text) if int in kinds else float(text)
        except ValueError:
            value = text
    return _checked(value, field, variable)


def _alternatives(field: Field[Any]) -> tuple[Any, ...]:
    kind = _type_of(field)
    return typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)


def _checked(value: Any, field: Field[Any], where: str) -> Any:
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
    raise ConfigError(f"{where} is {value!r}; accepted: {_spell(kinds)}", source=where, key=field.name)


def accepted(key: str) -> str:
    """What a setting may be, in words."""
    return _spell(_alternatives(_fields()[key]))


def _spell(kinds: tuple[Any, ...]) -> str:
    words = []
    for kind in kinds:
        if typing.get_origin(kind) is typing.Literal:
            words += [repr(option) for option in typing.get_args(kind)]
        elif kind is not types.NoneType:
            words.append(_WORDS[kind])
    return ", ".join(words)


def _build(values: Mapping[str, Any]) -> Settings:
    sections: dict[str, Any] = {}
    for name, section_type in _sections().items():
        chosen = {key.partition(".")[2]: value for key, value in values.items() if key.startswith(f"{name}.")}
        sections[name] = section_type(**chosen)
    return Settings(**sections)
