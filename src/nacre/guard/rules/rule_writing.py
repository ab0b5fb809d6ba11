"""Writes what a person has approved for good into the user's rule file: an `allow` for exactly that command."""

from __future__ import annotations

import json
import os
import tomllib

from nacre.errors import ConfigError
from nacre.guard.interpret.alphabet import MARKS, plain
from nacre.guard.interpret.walk import read_script
from nacre.guard.rules.rule_file import RuleFileError, load_rules
from nacre.guard.verdict import Verdict
from nacre.regular_file import read_regular_text

RULE_FILE = "rules.toml"
"""The rule file beside the user's settings, where none is set."""


def allowing_rule(command: str, verdict: Verdict, *, reason: str) -> str:
    """Return the rule that allows what the verdict is about, with its very words and no more.

    Raises:
        ConfigError: a part of it is only known when it runs, so no rule can name it.
    """
    subject = verdict.subject.partition(": ")[0]
    for invocation in read_script(command).invocations:
        words = [plain(word) for word in invocation.argv]
        if str(invocation) == subject and words and not any(mark in word for word in words for mark in MARKS):
            example = " ".join(_quoted(word) for word in words)
            fields = {
                "name": f"always: {example}"[:80],
                "decision": "allow",
                "words": words,
                "exact": True,
                "reason": reason,
                "match": [example],
                "not_match": [f"{example} more"],
            }
            return "[[rule]]\n" + "".join(f"{name} = {_toml(value)}\n" for name, value in fields.items())
    raise ConfigError("a part of the command is only known when it runs, so no rule can name it", source=RULE_FILE)


def _quoted(word: str) -> str:
    return word if word and word.replace("/", "").replace("-", "").replace(".", "").isalnum() else _in_quotes(word)


def _in_quotes(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def append_rule(path: str, rule: str) -> None:
    """Add a rule to a rule file, which may be missing; nothing is changed if the file would not load then.

    Raises:
        ConfigError: the file cannot be read or written, or would not load.
    """
    before = read_regular_text(path) if os.path.lexists(path) else ""
    text = f"{before.rstrip()}\n\n{rule}" if before.strip() else rule
    try:
        load_rules(text, path)
    except RuleFileError as error:
        raise ConfigError(f"no rule was added: {error}", source=path) from error
    _replace(path, text)


def name_rule_file(settings_file: str, path: str) -> None:
    """Set `policy.rules_file` in the user's settings, which may be missing.

    Raises:
        ConfigError: the file is written in a form to which the setting cannot be added.
    """
    before = read_regular_text(settings_file) if os.path.lexists(settings_file) else ""
    line = f"rules_file = {_toml(path)}\n"
    lines = before.splitlines(keepends=True)
    heads = [number for number, one in enumerate(lines) if one.split("#")[0].strip() == "[policy]"]
    if heads:
        lines.insert(heads[0] + 1, line)
        text = "".join(lines)
    else:
        text = f"{before.rstrip()}\n\n[policy]\n{line}" if before.strip() else f"[policy]\n{line}"
    try:
        values = tomllib.loads(before)
        values["policy"] = {**values.get("policy", {}), "rules_file": path}
        same = tomllib.loads(text) == values
    except (ValueError, TypeError):
        same = False
    if not same:
        raise ConfigError(f"{settings_file} cannot take policy.rules_file; set it by hand to {path}", source=path)
    _replace(settings_file, text)


def _replace(path: str, text: str) -> None:
    temporary = f"{path}.nacre-{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o600
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        with open(fd, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, os.path.realpath(path))
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}", source=path) from error
