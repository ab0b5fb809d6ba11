"""Reads the settings from the user's file, the project's file and the environment, in this order.

An unknown key or a wrong value is an error that names the file, the line, the key, its value and the accepted values.
The agent that nacre watches may write the project's file, so that file can neither loosen a protection nor stop a call
(D21): a wrong one is ignored as a whole, with a notice in `Settings.notices`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nacre.errors import ConfigError, shown
from nacre.regular_file import is_far, read_regular_text, stamp_of
from nacre.setting_values import all_settings, checked, checked_table, entry_kinds, parse, sections
from nacre.settings import Settings

Found = dict[str, tuple[Any, str]]
"""Values and their sources, by key."""


def defaults() -> Found:
    """Return every setting as it is where nothing is set."""
    return {key: (setting.default, "default") for key, setting in all_settings().items()}


def read_sources(environ: Mapping[str, str], user: str, project: str) -> tuple[Settings, Found]:
    """Return the effective settings, and the value and the source of each.

    Raises:
        ConfigError: the user's file or a variable is wrong.
    """
    base = defaults() | _read(user, trusted=True)
    own = {
        key: (parse(environ[setting.variable], setting, setting.variable), setting.variable)
        for key, setting in all_settings().items()
        if setting.variable in environ
    }
    for key, (value, variable) in own.items():
        below, source = base[key]
        if entry_kinds(all_settings()[key]) is not None and below:
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
    return settings, values


def _tightened(yours: Found, found: Found) -> Found:
    """Return the limits of a project's file, each of which must be below yours; the smaller of two holds."""
    known = all_settings()
    tighter = {key: one for key, one in found.items() if known[key].about.tightens and one[0] is not None}
    for key, (value, source) in tighter.items():
        most, where = yours[key]
        if most is not None and value > most:
            raise ConfigError(
                f"{key} is {shown(value)}, and a project's file can only tighten your {shown(most)} ({where})",
                source=source,
                key=key,
            )
    return tighter


def _stricter(yours: Found, own: Found, found: Found) -> Found:
    """Return what holds of settings that a project's file can only make stricter: a variable's value if that is."""
    chosen: Found = {}
    for key, (value, source) in found.items():
        is_strict = all_settings()[key].about.stricter
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


def _read(path: str, *, trusted: bool) -> Found:
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
    known = all_settings()
    found: Found = {}
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
            if known[key].about.loosens and not trusted:
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
            most = known[key].about.project_most
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


def _build(values: Found) -> Settings:
    chosen: dict[str, dict[str, Any]] = {name: {} for name in sections()}
    for key, (value, _) in values.items():
        chosen[key.partition(".")[0]][all_settings()[key].field] = value
    try:
        settings = Settings(**{name: section(**chosen[name]) for name, section in sections().items()})
    except ConfigError as error:
        source = values.get(error.key or "", (None, "default"))[1]
        if source == "default":
            raise
        raise ConfigError(f"{source}: {error}", source=source, key=error.key) from error
    path, source = values["shell.path"]
    if source != "default" and (stamp_of(path) is None or not (is_far(path) or os.access(path, os.X_OK))):
        problem = "does not exist, or is not visible to you" if stamp_of(path) is None else "is no program"
        raise ConfigError(f"{source}: shell.path is {shown(path)}, which {problem}", source=source, key="shell.path")
    return settings
