"""The effective settings of a program, and the directories of its work, its kept state and its settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from nacre.regular_file import stamps_of
from nacre.settings import Settings

FILE_NAME = "nacre.toml"


class Origin(NamedTuple):
    """An effective setting and its source."""

    key: str
    value: Any
    source: str


class Configuration(NamedTuple):
    """The settings, the directory of kept state, and where each setting comes from."""

    settings: Settings
    state_dir: str
    found: Mapping[str, tuple[Any, str]]
    """The value and the source of each setting; empty where nothing is set."""

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Each setting by its key. A call needs none of them, and reading the types of all settings takes time."""
        from nacre.setting_sources import defaults
        from nacre.setting_values import plain_value

        found = sorted((self.found or defaults()).items())
        return tuple(Origin(key, plain_value(key, value), source) for key, (value, source) in found)


def load(environ: Mapping[str, str], *, cwd: str) -> Configuration:
    """Return the effective configuration for a program in `cwd`.

    Raises:
        ConfigError: the user's file or a variable is wrong.
    """
    user, project = _candidates(environ, cwd)
    if not _has_variables(environ) and stamps_of(user, project) == [None, None]:
        return Configuration(Settings(), state_dir(environ), {})
    # Loaded where something is set.
    from nacre.setting_sources import read_sources

    settings, found = read_sources(environ, user, project)
    return Configuration(settings, state_dir(environ), found)


def _has_variables(environ: Mapping[str, str]) -> bool:
    """Whether a variable may be that of a setting; the directory of kept state is none."""
    return any(name.startswith("NACRE_") and name != "NACRE_HOME" for name in environ)


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
