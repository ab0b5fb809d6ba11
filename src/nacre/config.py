"""Builds the settings from defaults, the user's file, the project's file and the environment, in this order.

An unknown key or a wrong value is an error that names the file, the line, the key, its value and the accepted values.
The agent that nacre watches may write the project's file, so that file can neither loosen a protection nor stop a call
(D21): a wrong one is ignored as a whole, with a notice in `Settings.notices`.
"""

from __future__ import annotations

import functools
import math
import os
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from nacre.errors import ConfigError, shown
from nacre.regular_file import is_far, read_regular_text, stamp_of, stamps_of
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


class Origin(NamedTuple):
    """An effective setting and its source."""

    key: str
    value: Any
    source: str


class Configuration(NamedTuple):
    """The settings, the directory of kept state, and the origin of each setting."""

    settings: Settings
    state_dir: str
    origins: tuple[Origin, ...]


def load(environ: Mapping[str, str], *, cwd: str) -> Configuration:
    """Return the effective configuration for a program in `cwd`.

    Raises:
        ConfigError: the user's file or a variable is wrong.
    """
    user, project = _candidates(environ, cwd)
    base: _Found = {key: (field.default, "default") for key, field in _fields().items()}
    base |= _read(user, trusted=True)
    own = {
        key: (_parse(environ[variable], field, variable), variable)
        for key, field in _fields().items()
        if (variable := variable_of(field)) in environ
    }
    for key, (value, variable) in own.items():
        below, source = base[key]
        if _entry_kinds(_fields()[key]) is not None and below:
            # Each entry of a table is a setting of its own.
            own[key] = tuple((dict(below) | dict(value)).items()), f"{source}, {variable}"
    values = base | own
    settings = _build(values)
    if project != user:
        try:
            found = _read(project, trusted=False)
            if found:
                values, settings = base | found | own, _build(base | found | own)
        except ConfigError as error:
            values = base | own
            settings = replace(settings, notices=(_left_aside(project, error),))
    origins = tuple(Origin(key, plain_value(key, value), source) for key, (value, source) in sorted(values.items()))
    return Configuration(settings, state_dir(environ), origins)


def _left_aside(path: str, error: ConfigError) -> str:
    where = "" if str(error).startswith(path) else f"{path}: "
    return f"the project's settings are left aside as a whole: {where}{error}"


def file_stamps(environ: Mapping[str, str], cwd: str) -> tuple[object, ...]:
    """Return values that differ after a settings file was changed, created or deleted; cheap to compute."""
    user, project = _candidates(environ, cwd)
    first, second = stamps_of(user, project)
    return None if first is None else (user, first), None if second is None else (project, second)


def state_dir(environ: Mapping[str, str]) -> str:
    """Return the directory of jobs, artifacts and the log."""
    if home := environ.get("NACRE_HOME"):
        return home if os.path.isabs(home) else os.path.join(working_directory(), home)
    if state := environ.get("XDG_STATE_HOME"):
        return os.path.join(state, "nacre")
    if user_home := environ.get("HOME"):
        return os.path.join(user_home, ".local", "state", "nacre")
    return f"/tmp/nacre-{os.getuid()}"


def working_directory() -> str:
    """Return the working directory of this process; for a deleted one its former path, so that errors can name it."""
    if _left is not None:
        return _left
    try:
        return os.getcwd()
    except FileNotFoundError:
        return _deleted_directory()


def absolute(path: str | os.PathLike[str]) -> str:
    """Return an absolute path, also if the working directory was deleted."""
    text = os.fspath(path)
    return os.path.normpath(text if os.path.isabs(text) else os.path.join(working_directory(), text))


# The deleted directory that this process was in.
_left: str | None = None


def leave_deleted_directory() -> None:
    """Change to the root directory and remember the deleted one: Python 3.13 cannot import modules there."""
    global _left
    _left = _deleted_directory()
    os.chdir("/")


def _deleted_directory() -> str:
    try:
        return os.readlink("/proc/self/cwd").removesuffix(" (deleted)")
    except OSError:
        return "(deleted directory)"


def variable_of(field: Field[Any]) -> str:
    """Return the environment variable of a setting."""
    variable: str | None = field.metadata["variable"]
    return f"NACRE_{name_of(field).upper()}" if variable is None else variable


def _candidates(environ: Mapping[str, str], cwd: str) -> tuple[str, str]:
    """Return the user's file, which is trusted, and the project's file, which is not."""
    config_home = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME", "/"), ".config")
    return os.path.join(config_home, "nacre", FILE_NAME), os.path.join(cwd, FILE_NAME)


def name_of(field: Field[Any]) -> str:
    """Return the name of a setting; a field cannot be called `except`."""
    return field.name.rstrip("_")


def user_file(environ: Mapping[str, str]) -> str:
    """Return the user's settings file, which may not exist."""
    return _candidates(environ, "")[0]


def filters_folder(environ: Mapping[str, str]) -> str:
    """Return the directory of the user's filters, beside the user's file."""
    return os.path.join(os.path.dirname(_candidates(environ, "")[0]), "filters")


@functools.cache
def _fields() -> dict[str, Field[Any]]:
    return {f"{section}.{name_of(field)}": field for section, kind in sections().items() for field in fields(kind)}


def sections() -> dict[str, Any]:
    """Return the class of each section."""
    return {section.name: section.default_factory for section in fields(Settings) if section.name != "notices"}


def _type_of(field: Field[Any]) -> Any:
    for section_type in sections().values():
        if field in fields(section_type):
            return typing.get_type_hints(section_type)[field.name]
    raise LookupError(field.name)


_Found = dict[str, tuple[Any, str]]
"""Values and their sources, by key."""


def _read(path: str, *, trusted: bool) -> _Found:
    """Return the values of a settings file; none if the file does not exist or is not visible to this user.

    Raises:
        ConfigError: the file is wrong, not regular, too large, or loosens a protection and is not trusted.
    """
    if stamp_of(path) is None:
        return {}
    import tomllib

    text = read_regular_text(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        line = at[1] if at else text.count("\n") + 1
        problem = str(error)[: at.start()] if at else str(error).removesuffix(" (at end of document)")
        raise ConfigError(f"{path}:{line}: not valid TOML: {problem}", source=path) from error
    except RecursionError as error:
        raise ConfigError(f"{path}: its values are nested too deep; settings are flat", source=path) from error
    known = _fields()
    found: _Found = {}
    for section, table in document.items():
        if not isinstance(table, dict):
            place = _place(path, text, "", section)
            raise ConfigError(
                f"{place}: {section} is {shown(table)}, and must be a table such as [execution]",
                source=path,
                key=section,
            )
        for name, value in table.items():
            key = f"{section}.{name}"
            inside = isinstance(value, dict) and value
            place = _place(path, text, key, next(iter(value))) if inside else _place(path, text, section, name)
            if key not in known:
                raise ConfigError(
                    f"{place}: unknown setting {key}, whose value is {shown(value)}{_nearest(key, known)}",
                    source=path,
                    key=key,
                )
            if known[key].metadata["loosens"] and not trusted:
                raise ConfigError(
                    f"{place}: {key} is {shown(value)}, and loosens a protection, so a project's file cannot set it; "
                    "put it in your own nacre.toml or the environment",
                    source=path,
                    key=key,
                )
            if isinstance(value, dict) and _entry_kinds(known[key]) is not None:
                where = {entry: f"{_place(path, text, key, entry)}: {key}.{entry}" for entry in value}
                found[key] = (_checked_table(value, known[key], where, source=path), path)
                continue
            checked = _checked(value, known[key], f"{place}: {key}", source=path)
            most = known[key].metadata["project_most"]
            if not trusted and most is not None and checked > most:
                raise ConfigError(
                    f"{place}: {key} is {shown(value)}, and more than {most:.15g} loosens a protection, so a project's "
                    "file cannot set it; put it in your own nacre.toml or the environment",
                    source=path,
                    key=key,
                )
            found[key] = (checked, path)
    return found


def _place(path: str, text: str, section: str, name: str) -> str:
    """Return the file and, if the key is written in a plain way, its line."""
    here = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([^\[\]]*?)\s*\]", line):
            here = header[1].strip("'\"")
            if not section and here == name:
                return f"{path}:{number}"
        elif assignment := re.match(r"\s*([^=\s]+)\s*=", line):
            written = f"{here}.{assignment[1]}" if here else assignment[1]
            if written.replace("'", "").replace('"', "") == (f"{section}.{name}" if section else name):
                return f"{path}:{number}"
    return path


def _nearest(key: str, known: Mapping[str, object]) -> str:
    import difflib

    near = difflib.get_close_matches(key, known, n=1)
    return f"; did you mean {near[0]}?" if near else "; `nacre config show` lists all settings"


def _parse(text: str, field: Field[Any], variable: str) -> Any:
    kinds = _alternatives(field)
    value: Any = text
    if _entry_kinds(field) is not None:
        pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
        if all(equals for _, equals, _ in pairs):
            table = {name.strip(): chosen.strip() for name, _, chosen in pairs}
            return _checked_table(table, field, {name: f"{variable}: {name}" for name in table}, source=variable)
    elif bool in kinds and text.lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        value = text.lower() in ("1", "true", "yes", "on")
    elif _NAMES in kinds:
        value = [name.strip() for name in text.split(",") if name.strip()]
    elif int in kinds or float in kinds:
        try:
            value = int(text) if int in kinds else float(text)
        except ValueError:
            value = text
    return _checked(value, field, variable, source=variable)


def _alternatives(field: Field[Any]) -> tuple[Any, ...]:
    kind = _type_of(field)
    return typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)


def _entry_kinds(field: Field[Any]) -> tuple[Any, Any] | None:
    """Return the types of a table's names and values; None for a setting that is no table."""
    pair = (typing.get_args(_type_of(field)) or (None,))[0]
    return typing.get_args(pair) if typing.get_origin(pair) is tuple else None


def plain_value(key: str, value: Any) -> Any:
    """Return a value as JSON and TOML write it."""
    return dict(value) if _entry_kinds(_fields()[key]) is not None else value


def _checked_table(table: dict[str, Any], field: Field[Any], where: dict[str, str], *, source: str) -> Any:
    names, values = _entry_kinds(field) or (str, str)
    for name, value in table.items():
        if names is not str and name not in typing.get_args(names):
            raise ConfigError(f"{where[name]} is unknown; known: {_spell((names,))}", source=source, key=name)
        if not (isinstance(value, str) if values is str else value in typing.get_args(values)):
            problem = f"{where[name]} is {shown(value)}; accepted: {_spell((values,))}"
            raise ConfigError(problem, source=source, key=name)
    return tuple(table.items())


def _checked(value: Any, field: Field[Any], where: str, *, source: str) -> Any:
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
    return _accepted(_fields()[key])


def _accepted(field: Field[Any]) -> str:
    if (kinds := _entry_kinds(field)) == (str, str):
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


def _build(values: _Found) -> Settings:
    built: dict[str, Any] = {}
    for name, section_type in sections().items():
        chosen = {_fields()[key].name: value for key, (value, _) in values.items() if key.startswith(f"{name}.")}
        try:
            built[name] = section_type(**chosen)
        except ConfigError as error:
            source = values.get(error.key or "", (None, "default"))[1]
            if source == "default":
                raise
            raise ConfigError(f"{source}: {error}", source=source, key=error.key) from error
    path, source = values["shell.path"]
    if source != "default" and (stamp_of(path) is None or not (is_far(path) or os.access(path, os.X_OK))):
        problem = "does not exist, or is not visible to you" if stamp_of(path) is None else "is no program"
        raise ConfigError(f"{source}: shell.path is {shown(path)}, which {problem}", source=source, key="shell.path")
    return Settings(**built)
