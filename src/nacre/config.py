"""Builds the settings from defaults, the user's file, the project's file and the environment, in this order.

An unknown key or a wrong value is an error that names the file, the line, the key, its value and the accepted values.
The agent that nacre watches may write the project's file, so that file can neither loosen a protection nor stop a call
(D21): a wrong one is ignored as a whole, with a notice in `Settings.notices`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from nacre.errors import ConfigError, shown
from nacre.regular_file import is_far, read_regular_text, stamp_of, stamps_of
from nacre.setting_values import (
    checked,
    checked_table,
    entry_kinds,
    parse,
    plain_value,
    sections,
    setting_fields,
    variable_of,
)
from nacre.settings import Settings

FILE_NAME = "nacre.toml"


class Origin(NamedTuple):
    """An effective setting and its source."""

    key: str
    value: Any
    source: str


_Found = dict[str, tuple[Any, str]]
"""Values and their sources, by key."""


class Configuration(NamedTuple):
    """The settings, the directory of kept state, and where each setting comes from."""

    settings: Settings
    state_dir: str
    found: _Found

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Each setting by its key. A call needs none of them, and the types of all settings are read for it."""
        return tuple(
            Origin(key, plain_value(key, value), source) for key, (value, source) in sorted(self.found.items())
        )


def load(environ: Mapping[str, str], *, cwd: str) -> Configuration:
    """Return the effective configuration for a program in `cwd`.

    Raises:
        ConfigError: the user's file or a variable is wrong.
    """
    user, project = _candidates(environ, cwd)
    base: _Found = {key: (field.default, "default") for key, field in setting_fields().items()}
    base |= _read(user, trusted=True)
    own = {
        key: (parse(environ[variable], field, variable), variable)
        for key, field in setting_fields().items()
        if (variable := variable_of(field)) in environ
    }
    for key, (value, variable) in own.items():
        below, source = base[key]
        if entry_kinds(setting_fields()[key]) is not None and below:
            # Each entry of a table is a setting of its own.
            own[key] = tuple((dict(below) | dict(value)).items()), f"{source}, {variable}"
    values = base | own
    settings = _build(values)
    if project != user:
        try:
            found = _read(project, trusted=False)
            if found:
                values = base | found | own
                values |= _tightened(base | own, found) | _stricter(base, own, found)
                settings = _build(values)
        except ConfigError as error:
            values = base | own
            settings = replace(settings, notices=(_left_aside(project, error),))
    return Configuration(settings, state_dir(environ), values)


def _tightened(yours: _Found, found: _Found) -> _Found:
    """Return the limits of a project's file, each of which must be below yours; the smaller of two holds."""
    known = setting_fields()
    tighter = {key: one for key, one in found.items() if known[key].metadata["tightens"] and one[0] is not None}
    for key, (value, source) in tighter.items():
        most, where = yours[key]
        if most is not None and value > most:
            raise ConfigError(
                f"{key} is {shown(value)}, and a project's file can only tighten your {shown(most)} ({where})",
                source=source,
                key=key,
            )
    return tighter


def _stricter(yours: _Found, own: _Found, found: _Found) -> _Found:
    """Return what holds of settings that a project's file can only make stricter: a variable's value if that is."""
    chosen: _Found = {}
    for key, (value, source) in found.items():
        is_strict = setting_fields()[key].metadata["stricter"]
        if is_strict is None:
            continue
        given, where = yours[key]
        if not is_strict(value, given):
            raise ConfigError(
                f"{key} is {shown(value)}, and a project's file can only make your {shown(given)} ({where}) stricter",
                source=source,
                key=key,
            )
        if key not in own or is_strict(value, own[key][0]):
            chosen[key] = value, source
    return chosen


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


def absolute(path: str | os.PathLike[str], *, base: str | None = None) -> str:
    """Return an absolute path, from the working directory or from `base`, also if the former was deleted."""
    text = os.fspath(path)
    if not os.path.isabs(text):
        text = os.path.join(working_directory() if base is None else base, text)
    return os.path.normpath(text)


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


def _candidates(environ: Mapping[str, str], cwd: str) -> tuple[str, str]:
    """Return the user's file, which is trusted, and the project's file, which is not."""
    config_home = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME", "/"), ".config")
    return os.path.join(config_home, "nacre", FILE_NAME), os.path.join(cwd, FILE_NAME)


def user_file(environ: Mapping[str, str]) -> str:
    """Return the user's settings file, which may not exist."""
    return _candidates(environ, "")[0]


def filters_folder(environ: Mapping[str, str]) -> str:
    """Return the directory of the user's filters, beside the user's file."""
    return os.path.join(os.path.dirname(_candidates(environ, "")[0]), "filters")


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
    known = setting_fields()
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
            if isinstance(value, dict) and entry_kinds(known[key]) is not None:
                where = {entry: f"{_place(path, text, key, entry)}: {key}.{entry}" for entry in value}
                found[key] = (checked_table(value, known[key], where, source=path), path)
                continue
            given = checked(value, known[key], f"{place}: {key}", source=path)
            most = known[key].metadata["project_most"]
            if not trusted and most is not None and given > most:
                raise ConfigError(
                    f"{place}: {key} is {shown(value)}, and more than {most:.15g} loosens a protection, so a project's "
                    "file cannot set it; put it in your own nacre.toml or the environment",
                    source=path,
                    key=key,
                )
            found[key] = (given, path)
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


def _build(values: _Found) -> Settings:
    built: dict[str, Any] = {}
    for name, section_type in sections().items():
        chosen = {setting_fields()[key].name: value for key, (value, _) in values.items() if key.startswith(f"{name}.")}
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
