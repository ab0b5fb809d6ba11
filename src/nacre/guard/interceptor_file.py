"""The user's own interceptor rules: a TOML file that takes the place of the default ones.

    [[rule]]
    pattern = '^curl\\s+'
    tool = "fetch"
    message = "Use the fetch tool."
    flags = "i"          # optional: i, m, s

A pattern that does not compile, or that cannot be matched in linear time, is left out, and said aloud. So is a file
that cannot be used: a better tool is advice, not a protection, and a project may name the file, so nothing that is
wrong with it keeps a command from running.
"""

from __future__ import annotations

import functools
import os
import tomllib

from nacre.errors import ConfigError
from nacre.guard.interceptor import Interceptor, InterceptRule, compile_rules
from nacre.regular_file import read_regular_text, stamp_of

# Limits, because a project may name the file.
MOST_BYTES = 64 * 1024
MOST_RULES = 100

_KEYS = {"pattern", "tool", "message", "flags"}


def interceptor_of(path: str | None) -> Interceptor:
    """Return the compiled rules of a file, or the default ones; read again when the file has changed."""
    if path is None:
        return _defaults()
    path = os.path.expanduser(path)
    try:
        # Where there is no file, reading it says so.
        return _compiled(path, stamp_of(path))
    except ConfigError as error:
        return Interceptor((), (f"no interceptor rules (setting policy.interceptor_file): {error}",))


@functools.cache
def _defaults() -> Interceptor:
    return compile_rules()


@functools.lru_cache(maxsize=8)
def _compiled(path: str, stamp: object) -> Interceptor:
    text = read_regular_text(path, most_bytes=MOST_BYTES)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}", source=path) from error
    rules = document.get("rule", [])
    if not isinstance(rules, list) or set(document) - {"rule"}:
        raise ConfigError(f"{path}: it holds [[rule]] tables and nothing else", source=path)
    if len(rules) > MOST_RULES:
        raise ConfigError(f"{path}: it has {len(rules)} rules; at most {MOST_RULES} are read", source=path)
    return compile_rules([_rule(table, f"{path}: rule {number}") for number, table in enumerate(rules, start=1)])


def _rule(table: object, where: str) -> InterceptRule:
    if not isinstance(table, dict) or not {"pattern", "tool", "message"} <= set(table) <= _KEYS:
        raise ConfigError(f"{where} needs pattern, tool and message, and may have flags", source=where)
    if not all(isinstance(value, str) for value in table.values()):
        raise ConfigError(f"{where}: all its values are texts", source=where)
    return InterceptRule(table["pattern"], table["tool"], table["message"], table.get("flags", ""))
