"""The user's own interceptor rules: a TOML file that takes the place of the default ones.

    [[rule]]
    pattern = '^curl\\s+'
    tool = "fetch"
    message = "Use the fetch tool."
    flags = "i"          # optional: i, m, s

A file that cannot be read is an error; a pattern that does not compile is left out, and said aloud.
"""

from __future__ import annotations

import functools
import os
import tomllib

from nacre.errors import ConfigError
from nacre.policy.interceptor import Interceptor, InterceptRule, compile_rules

_KEYS = {"pattern", "tool", "message", "flags"}


def interceptor_of(path: str | None) -> Interceptor:
    """The compiled rules of a file, or the default ones; read again when the file has changed."""
    if path is None:
        return _defaults()
    path = os.path.expanduser(path)
    try:
        stamp = os.stat(path).st_mtime_ns
    except OSError as error:
        raise ConfigError(
            f"the interceptor's rule file {path} cannot be read: {error.strerror}", source=path
        ) from error
    return _compiled(path, stamp)


@functools.cache
def _defaults() -> Interceptor:
    return compile_rules()


@functools.lru_cache(maxsize=8)
def _compiled(path: str, stamp: int) -> Interceptor:
    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}", source=path) from error
    rules = document.get("rule", [])
    if not isinstance(rules, list) or set(document) - {"rule"}:
        raise ConfigError(f"{path}: it holds [[rule]] tables and nothing else", source=path)
    return compile_rules([_rule(table, f"{path}: rule {number}") for number, table in enumerate(rules, start=1)])


def _rule(table: object, where: str) -> InterceptRule:
    if not isinstance(table, dict) or not {"pattern", "tool", "message"} <= set(table) <= _KEYS:
        raise ConfigError(f"{where} needs pattern, tool and message, and may have flags", source=where)
    if not all(isinstance(value, str) for value in table.values()):
        raise ConfigError(f"{where}: all its values are texts", source=where)
    return InterceptRule(table["pattern"], table["tool"], table["message"], table.get("flags", ""))
