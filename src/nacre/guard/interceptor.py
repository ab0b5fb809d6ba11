"""Commands that a dedicated tool does better: the interceptor (D8), off unless it is asked for.

The rules are regular expressions over the beginning of a command, matched on the whole command and on each flat
fragment that does not read a pipe. A rule counts only when the tool it suggests exists. A pattern that does not
compile is left out and reported in `warnings`, never silently.

A project may name the file of the rules, so their patterns run on the engine that takes linear time, and all searches
for one command share a budget. Only the default rules need, and have, lookahead and back references.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from nacre.bash.fragments import fragments
from nacre.regex.automaton import Regex, WorkBudget, shortened
from nacre.regex.syntax import RegexSyntaxError


@dataclass(frozen=True, slots=True)
class InterceptRule:
    """One rule: a pattern, the tool to use instead, and what to tell the model."""

    pattern: str
    tool: str
    message: str
    flags: str = ""


@dataclass(frozen=True, slots=True)
class Interception:
    """A command that should have been another tool."""

    tool: str
    message: str
    """The whole text for the model: `Blocked: …`, a blank line, the command."""


Search = Callable[[str, WorkBudget], bool]
"""Returns True if a pattern is found in a text; takes its cost off the budget."""


@dataclass(frozen=True, slots=True)
class Interceptor:
    """Compiled rules, and what was wrong with those that did not compile."""

    rules: tuple[tuple[Search, InterceptRule], ...]
    warnings: tuple[str, ...]


_QUIET_TARGET: Final = r"(?P<quote{n}>['\"]?)/dev/(?:null|tty|stdout|stderr)(?P=quote{n})(?=[\s;|&]|$)"
_UNQUOTED: Final = (
    r"(?:[^'\"\\>]|\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|>&\s*[\d-]++|>{1,2}\|?\s*" + _QUIET_TARGET.format(n=1) + r")*"
)

DEFAULT_RULES: Final = (
    InterceptRule(
        r"^(?:cat|head|tail|less|more)\s+",
        "read",
        "Use the `read` tool instead of cat/head/tail. It gives line numbers and handles large files.",
    ),
    *(
        InterceptRule(
            r"^(?:grep|rg|ripgrep|ag|ack)\s+",
            tool,
            f"Use the `{tool}` tool instead of grep/rg. It respects .gitignore and gives structured output.",
        )
        for tool in ("search", "grep")
    ),
    *(
        InterceptRule(
            r"^(?:find|fd|locate)\s+.*(?:-name|-iname|-type|--type|-glob)",
            tool,
            f"Use the `{tool}` tool instead of find/fd. It is faster and respects .gitignore.",
        )
        for tool in ("find", "glob")
    ),
    InterceptRule(
        r"^sed\s+(?:-i|--in-place)",
        "edit",
        "Use the `edit` tool instead of sed -i. It shows a diff and matches text reliably.",
    ),
    InterceptRule(
        r"^perl\s+.*-[pn]?i",
        "edit",
        "Use the `edit` tool instead of perl -i. It shows a diff and matches text reliably.",
    ),
    InterceptRule(
        r"^awk\s+.*-i\s+inplace",
        "edit",
        "Use the `edit` tool instead of awk -i inplace. It shows a diff and matches text reliably.",
    ),
    InterceptRule(
        r"^(?:echo\s|printf\s|cat\s*<<)"
        + _UNQUOTED
        + r">{1,2}\|?\s*(?!"
        + _QUIET_TARGET.format(n=2)
        + r")[\w./~$\"'-]",
        "write",
        "Use the `write` tool instead of echo/printf/cat redirection. It handles encoding and says what it wrote.",
        "s",
    ),
)
"""The rules of W153 in their order, with the redirect test of the later scanner.

The tools that search contents and names have two common names each; whichever the model has is suggested.
"""


def compile_rules(rules: Sequence[InterceptRule] = DEFAULT_RULES) -> Interceptor:
    """Compile rules; those with a bad pattern end up in `warnings`."""
    compiled: list[tuple[Search, InterceptRule]] = []
    warnings: list[str] = []
    for rule in rules:
        try:
            compiled.append((_search(rule), rule))
        except RegexSyntaxError as error:
            warnings.append(
                f"interceptor rule for {rule.tool!r} is left out: its pattern {shortened(rule.pattern)!r} {error}"
            )
    return Interceptor(tuple(compiled), tuple(warnings))


_OWN: Final = frozenset((rule.pattern, rule.flags) for rule in DEFAULT_RULES)


def _search(rule: InterceptRule) -> Search:
    if (rule.pattern, rule.flags) in _OWN:
        own = re.compile(rule.pattern, re.DOTALL if "s" in rule.flags else 0)
        return lambda text, budget: own.search(text) is not None
    regex = Regex(rule.pattern, rule.flags)

    def search(text: str, budget: WorkBudget) -> bool:
        budget.spend(len(text))
        return regex.find(text, budget=budget) >= 0

    return search


def intercept(
    command: str, interceptor: Interceptor, *, tools: Collection[str], without_cd: str | None = None
) -> Interception | None:
    """Return the tool that should be used instead of this command, or None.

    `without_cd` is the command after its leading `cd x &&` was lifted, if it was; the message quotes the original.

    Raises:
        RegexWorkError: the patterns of a file take too much work on this command.
    """
    budget = WorkBudget()
    candidates = _candidates(command)
    if without_cd is not None and without_cd != command:
        candidates += _candidates(without_cd)
    for search, rule in interceptor.rules:
        if rule.tool not in tools:
            continue
        if any(search(candidate, budget) for candidate in candidates):
            return Interception(rule.tool, f"Blocked: {rule.message}\n\n{command}")
    return None


def _candidates(command: str) -> list[str]:
    found = [command.strip()]
    for fragment in fragments(command):
        if fragment.reads_pipe:
            continue
        found += (fragment.text, fragment.bare)
    return list(dict.fromkeys(found))
