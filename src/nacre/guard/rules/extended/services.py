"""The services part of rule `extended`: does this command take a service, or all of its data, away?

The knowledge of programs is in `losses.toml`; here is how a row of it is matched.
"""

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from nacre.guard.interpret.alphabet import EVERYTHING, plain
from nacre.guard.interpret.invocation import Invocation
from nacre.guard.rules.command_words import covers

Words: TypeAlias = tuple[frozenset[str], ...]
# With these no program of the table changes anything.
_HARMLESS: Final = ("--help", "-help", "--version", "--dry-run", "--dryrun", "-dry-run", "--what-if")
_READS_COMMANDS: Final = frozenset(("redis-cli", "valkey-cli", "keydb-cli"))
# Quoted texts and comments of SQL and JavaScript. One without an end reaches to the end, so that no text is matched
# twice.
_QUIET: Final = re.compile(
    r"'(?:[^'\\]|\\.?)*+(?:'|\Z)|\"(?:[^\"\\]|\\.?)*+(?:\"|\Z)|`[^`]*+(?:`|\Z)|--[^\n]*+"
    r"|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)",
    re.DOTALL,
)
_SAYS: Final = {
    "sql": re.compile(
        r"\s*+(?:drop\s++(?:database|schema|table|keyspace|tablespace|owned)\b|truncate\s++[^\s(]"
        r"|delete\s++from\s++\S++\s*+$)",
        re.IGNORECASE,
    ),
    "mongo": re.compile(
        r".*?\.(?:dropDatabase|drop|(?:deleteMany|remove)(?=\(\s*+(?:\{\s*+\}\s*+)?\)))\s*+\(", re.DOTALL
    ),
}


@dataclass(frozen=True, slots=True)
class Loss:
    """One way to lose a service or its data: a row of the table."""

    words: str
    """How the command begins, in lower case, `|` between alternatives; options may stand between the words."""
    reason: str
    match: list[str]
    """Its own examples, to which the tests hold it."""
    not_match: list[str]
    needs: str = ""
    """Options of which one must be there."""
    spared: str = ""
    """Options or words with which it is harmless."""
    says: str = ""
    """The language of a statement that the program is given or reads, and that must say something destructive."""
    everything: bool = False
    """What it names must be a list of all there is, such as `$(docker ps -aq)`."""


@functools.cache
def losses() -> tuple[Loss, ...]:
    """Return the rows of the table."""
    table = tomllib.loads(Path(__file__).with_name("losses.toml").read_text(encoding="utf-8"))
    return tuple(Loss(**row) for row in table["loss"])


@functools.cache
def _rows() -> dict[str, list[tuple[Words, Loss]]]:
    rows: dict[str, list[tuple[Words, Loss]]] = {}
    for loss in losses():
        words = tuple(frozenset(word.split("|")) for word in loss.words.split())
        for program in words[0]:
            rows.setdefault(program, []).append((words, loss))
    return rows


def check(invocation: Invocation) -> str | None:
    """Return the reason to refuse this command under the strict profile, or None."""
    name = invocation.name
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
    return not loss.says or any(map(_SAYS[loss.says].match, _statements(words, stdin)))


def _given(option: str, words: list[str]) -> bool:
    """True if the option is there: a letter in any cluster, a long one with or without a value."""
    if re.fullmatch(r"-\w", option):
        return any(re.fullmatch(r"-\w+", word) and option[1] in word for word in words)
    off = ("=false", "=none")
    return any(word == option or (word.startswith(option + "=") and not word.endswith(off)) for word in words)


def _statements(words: list[str], stdin: str | None) -> list[str]:
    attached = (re.sub(r"\A(?:--[\w-]++=|-\w)", "", word) for word in words)
    texts = [*attached, stdin or ""]
    spoken = (_QUIET.sub(lambda quiet: " " if quiet.group()[0] in "-/" else "''", text) for text in texts)
    return [statement for text in spoken for statement in text.split(";")]
