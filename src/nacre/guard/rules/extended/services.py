"""The services part of rule `extended`: does this command take a service, or all of its data, away?

The knowledge of programs is in `cloud_table` and `service_table`; here are only those that read commands as lines.
"""

import functools
import re
from typing import Final

from nacre.guard.interpret.alphabet import EVERYTHING, plain
from nacre.guard.interpret.invocation import Invocation
from nacre.guard.programs.inner import basename
from nacre.guard.rules.command_words import covers
from nacre.guard.rules.extended.cloud_table import CLOUDS
from nacre.guard.rules.extended.loss import Loss
from nacre.guard.rules.extended.service_table import SERVICES

LOSSES: Final = (*CLOUDS, *SERVICES)
# To every program of the tables these mean that nothing happens.
_HARMLESS: Final = ("--help", "-help", "--version", "--dry-run", "--dryrun", "-dry-run", "--what-if")
_READS_COMMANDS: Final = frozenset(("redis-cli", "valkey-cli", "keydb-cli"))
# Quoted texts and comments of SQL and JavaScript say nothing. One that does not end reaches to the end, so that no
# text is looked at twice.
_QUIET: Final = re.compile(
    r"'(?:[^'\\]|\\.?)*+(?:'|\Z)|\"(?:[^\"\\]|\\.?)*+(?:\"|\Z)|`[^`]*+(?:`|\Z)|--[^\n]*+"
    r"|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)",
    re.DOTALL,
)
Words = tuple[frozenset[str], ...]


@functools.cache
def _rows() -> dict[str, list[tuple[Words, Loss]]]:
    rows: dict[str, list[tuple[Words, Loss]]] = {}
    for loss in LOSSES:
        words = tuple(frozenset(word.split("|")) for word in loss.words.split())
        for program in words[0]:
            rows.setdefault(program, []).append((words, loss))
    return rows


def check(invocation: Invocation) -> str | None:
    """The reason to refuse this command under the strict profile, or None."""
    name = basename(invocation.argv[0])
    rows = _rows().get(name)
    if rows is None:
        return None
    calls = [invocation.argv]
    if name in _READS_COMMANDS and invocation.stdin is not None:
        calls += [(name, *line.split()) for line in invocation.stdin.splitlines()]
    for argv in calls:
        words = [plain(word) for word in argv[1:]]
        spelled = (name, *(word.lower().removesuffix(".service") for word in words))
        for wanted, loss in rows:
            if covers(wanted, spelled) and _applies(loss, words, invocation.stdin):
                return loss.reason
    return None


def _applies(loss: Loss, words: list[str], stdin: str | None) -> bool:
    if any(_given(option, words) for option in (*_HARMLESS, *loss.spared.split())):
        return False
    if loss.needs and not any(_given(option, words) for option in loss.needs.split()):
        return False
    if loss.everything and not any(EVERYTHING in word for word in words):
        return False
    return loss.says is None or any(map(loss.says.match, _statements(words, stdin)))


def _given(option: str, words: list[str]) -> bool:
    """Whether the option is there: a letter in any cluster, a long one with or without a value."""
    if re.fullmatch(r"-\w", option):
        return any(re.fullmatch(r"-\w+", word) and option[1] in word for word in words)
    off = ("=false", "=none")
    return any(word == option or (word.startswith(option + "=") and not word.endswith(off)) for word in words)


def _statements(words: list[str], stdin: str | None) -> list[str]:
    attached = (re.sub(r"\A(?:--[\w-]++=|-\w)", "", word) for word in words)
    texts = [*attached, stdin or ""]
    spoken = (_QUIET.sub(lambda quiet: " " if quiet.group()[0] in "-/" else "''", text) for text in texts)
    return [statement for text in spoken for statement in text.split(";")]
