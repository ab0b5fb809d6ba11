"""User rules in TOML: allow, ask or deny by command words, each with its own examples.

    [[rule]]
    name = "no-curl"
    decision = "ask"                    # allow, ask or deny
    words = ["curl", ["-X", "--request"], "DELETE"]   # a list item is a set of alternatives; "*" is any one word
    reason = "This deletes something on a server."
    match = ["curl -X DELETE https://example.com/1"]
    not_match = ["curl https://example.com"]
    exact = false                       # true: these words and no other

A rule that loads has been checked against its examples; a file that does not load is an error that names
the file and the line, never an empty policy. The strictest decision wins; a later rule with more words may turn an
`ask` of an earlier, shorter one into an `allow`. A command that a rule allows is allowed although a rule of the guard
refuses it.
"""

import re
import tomllib
from dataclasses import dataclass
from typing import Final, NamedTuple

from nacre.guard.interpret.invocation import Invocation
from nacre.guard.interpret.walk import read_script
from nacre.guard.rules.command_words import covers
from nacre.guard.verdict import STRICTNESS
from nacre.settings import Decision

_KEYS: Final = frozenset(("name", "decision", "words", "exact", "reason", "match", "not_match"))


class RuleFileError(Exception):
    """A rule file is broken; the message names the file, the line and what is wrong."""

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}:{line}: {problem}")
        self.file = file
        self.line = line
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Rule:
    """One user rule."""

    name: str
    decision: Decision
    words: tuple[frozenset[str], ...]
    """Leading words of the command; each a set of alternatives."""
    reason: str = ""
    exact: bool = False
    """Whether the command has these words and no other."""

    def covers(self, argv: tuple[str, ...]) -> bool:
        """True if the command begins with the rule's words; options between them may be skipped over."""
        return (not self.exact or len(argv) == len(self.words)) and covers(self.words, argv)


def load_rules(text: str, file: str) -> tuple[Rule, ...]:
    """Read the rules of a TOML text and check them against their examples.

    Raises:
        RuleFileError: the text is not TOML, a key or value is wrong, or an example does not hold.
    """
    source = _Source(file, text)
    try:
        document = tomllib.loads(text)
    except RecursionError as exc:
        raise source.error(1, "its values are nested too deep") from exc
    except tomllib.TOMLDecodeError as exc:
        match = re.search(r"line (\d+)", str(exc))
        line = int(match.group(1)) if match else text.count("\n") + 1
        raise source.error(line, f"not valid TOML: {exc}") from exc
    for key in sorted(document.keys() - {"rule"}):
        raise source.error(source.line_of(key), f"unknown key {key!r}; only [[rule]] tables are read")
    tables = document.get("rule", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise source.error(source.line_of("rule"), "rules are written as [[rule]] tables")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if line.strip().startswith("[[rule]]")]
    lines += [1] * (len(tables) - len(lines))
    return tuple(_checked(table, source, line) for table, line in zip(tables, lines, strict=False))


class _Source(NamedTuple):
    """The text of a rule file, for errors that name a line."""

    file: str
    text: str

    def error(self, line: int, problem: str) -> RuleFileError:
        return RuleFileError(self.file, line, problem)

    def line_of(self, key: str, start: int = 1) -> int:
        """Return the line that sets a key, not before `start`."""
        lines = enumerate(self.text.split("\n"), 1)
        found = (n for n, line in lines if n >= start and re.match(rf"\s*[\[]*{re.escape(key)}\b", line))
        return next(found, start)


def _checked(table: dict[str, object], source: _Source, line: int) -> Rule:
    for key in table:
        if key not in _KEYS:
            known = ", ".join(sorted(_KEYS))
            raise source.error(source.line_of(key, line), f"unknown key {key!r}; known are {known}")
    decision = table.get("decision")
    if decision not in STRICTNESS:
        problem = f"decision must be one of {', '.join(STRICTNESS)}, not {decision!r}"
        raise source.error(source.line_of("decision", line), problem)
    words = _words(table.get("words"), source, source.line_of("words", line))
    exact = table.get("exact", False)
    if not isinstance(exact, bool):
        raise source.error(source.line_of("exact", line), f"exact must be true or false, not {exact!r}")
    name = str(table.get("name") or f"rule at line {line}")
    rule = Rule(name, decision, words, str(table.get("reason", "")), exact)
    for key, wanted in (("match", True), ("not_match", False)):
        at = source.line_of(key, line) if key in table else line
        examples = table.get(key)
        if not isinstance(examples, list) or not examples or not all(isinstance(item, str) for item in examples):
            raise source.error(at, f"rule {rule.name!r} needs a list of example commands in {key!r}")
        for example in examples:
            if covers_command(rule, example) is not wanted:
                verb = "does not match" if wanted else "matches"
                raise source.error(at, f"rule {rule.name!r} {verb} its example {example!r}")
    return rule


def _words(value: object, source: _Source, line: int) -> tuple[frozenset[str], ...]:
    if not isinstance(value, list) or not value:
        raise source.error(line, 'words must be a list of words, such as ["git", "push"]')
    words: list[frozenset[str]] = []
    for item in value:
        choices = [item] if isinstance(item, str) else item
        if not isinstance(choices, list) or not choices or not all(isinstance(one, str) and one for one in choices):
            raise source.error(line, f"each of words is a word or a list of words, not {item!r}")
        words.append(frozenset(choices))
    return tuple(words)


def covers_command(rule: Rule, command: str) -> bool:
    """True if a rule covers some part of a command."""
    return any(rule.covers(invocation.argv) for invocation in read_script(command).invocations)


def chosen_rule(rules: tuple[Rule, ...], invocation: Invocation) -> Rule | None:
    """Return the rule that decides about a command; None if none covers it."""
    chosen: Rule | None = None
    for rule in rules:
        if not rule.covers(invocation.argv):
            continue
        relaxes = chosen is not None and chosen.decision == "ask" and rule.decision == "allow"
        if (
            chosen is None
            or STRICTNESS[rule.decision] > STRICTNESS[chosen.decision]
            or (relaxes and len(rule.words) > len(chosen.words))
        ):
            chosen = rule
    return chosen
