"""The entry of the guard: a command in, a verdict out.

`review` never raises and never fails open: an error while reading or judging, nesting beyond the limits, and a check
that takes too long all end as a denial by rule `unchecked`.
"""

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from nacre.bash.budget import DEFAULT_SECONDS, TimeBudget
from nacre.bash.tree import UnreadableError
from nacre.guard.interpret.alphabet import HERE, HOME, PWD, TOPLEVEL, clean, is_opaque
from nacre.guard.interpret.invocation import Invocation, ScriptReading
from nacre.guard.interpret.shell_state import ShellState
from nacre.guard.interpret.walk import read_script
from nacre.guard.prefilter import needs_review
from nacre.guard.programs.inner import basename
from nacre.guard.rules import embedded, git, removal
from nacre.guard.rules.default_rules import HIDDEN_SCRIPT, PUSHING, REMOVAL, STAGING, DefaultRule
from nacre.guard.rules.extended import extended
from nacre.guard.rules.rule_file import Rule, rules_verdict
from nacre.guard.verdict import ALLOWED, Verdict, strictest

UNCHECKED: Final = "unchecked"
Profile = Literal["default", "strict"]


@dataclass(frozen=True, slots=True)
class Policy:
    """What is judged: the built-in rules of a profile, and the user's own."""

    profile: Profile = "default"
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Location:
    """Where the command would run, as far as the caller knows."""

    environment: dict[str, str]
    cwd: str | None
    home: str | None
    state: ShellState | None

    def placed(self, invocation: Invocation) -> Invocation:
        """Replace literal paths to the current and the home directory by their marks."""
        argv = tuple(self._placed_word(word) for word in invocation.argv)
        # The top of the work tree is usually where the command runs.
        directory = invocation.directory.replace(TOPLEVEL, PWD)
        if not is_opaque(directory):
            # `../project` may be the current directory.
            argv = tuple(PWD if ".." in word and self._whole(word, directory) == self.cwd else word for word in argv)
        resolved = argv[1:]
        if argv and basename(argv[0]) in removal.PROGRAMS and not is_opaque(directory):
            resolved = tuple(self._placed_word(self._whole(word, directory)) for word in argv[1:])
        if argv == invocation.argv and resolved == argv[1:]:
            return invocation
        return replace(invocation, argv=argv, resolved=resolved)

    def _whole(self, word: str, directory: str) -> str:
        """Return the word as an absolute path."""
        path = word.replace(HERE, posixpath.basename(self.cwd or ""))
        path = posixpath.join(self.cwd or PWD, directory, path)
        for mark, place in ((PWD, self.cwd), (HOME, self.home)):
            # An absolute mark in the middle replaces what stands before it.
            path = (place or mark) + path.rpartition(mark)[2] if mark in path else path
        return posixpath.normpath(path) if not word.startswith("-") else ""

    def _placed_word(self, word: str) -> str:
        if word.startswith(HOME) and self.home:
            word = self.home + word[1:]
        if not word.startswith("/"):
            return word
        # The longer path first: a project below the home is the current directory, not a part of the home.
        home, cwd = ((self.home or "").rstrip("/"), HOME), ((self.cwd or "").rstrip("/"), PWD)
        for place, mark in (home, cwd) if len(home[0]) >= len(cwd[0]) else (cwd, home):
            if place and (word + "/").startswith(place + "/"):
                return mark + word[len(place) :]
            above = word.rstrip("/")
            if above and (place + "/").startswith(above + "/"):
                return mark + "/.." * place[len(above) :].count("/")
        return word


DEFAULT_POLICY: Final = Policy()


Check: TypeAlias = Callable[[Invocation], str | None]
CHECKS: Final[tuple[tuple[DefaultRule, Check], ...]] = (
    (REMOVAL, removal.check),
    (STAGING, git.check_add),
    (PUSHING, git.check_push),
)
"""The rules that always hold, each with the reason why it refuses a command, or None."""
_PROGRAMS: Final = tuple(dict.fromkeys(need for rule, _ in CHECKS for need in rule.needs))


def review(
    command: str,
    policy: Policy = DEFAULT_POLICY,
    *,
    environment: Mapping[str, str] | None = None,
    cwd: str | None = None,
    home: str | None = None,
    state: ShellState | None = None,
    seconds: float = DEFAULT_SECONDS,
) -> Verdict:
    """Judge a command before it runs.

    `environment` holds variables of the tool's environment whose values may be used to resolve `$NAME`; `cwd` and
    `home` are the absolute paths that literal paths are compared with; `state` is what the shell that runs it has
    defined by then.
    """
    try:
        names = state.names if state is not None else ()
        if not policy.rules and policy.profile == "default" and not needs_review(command, names):
            return ALLOWED
        # The command runs in `cwd`; PWD and OLDPWD of the caller may name other directories.
        known = {name: value for name, value in (environment or {}).items() if name not in ("PWD", "OLDPWD")}
        location = Location(known, cwd, home, state)
        return _review(command, policy, location, TimeBudget(seconds))
    except UnreadableError as exc:
        return unchecked(str(exc))
    # The guard must not fail open, so every error of its own is a denial.
    except Exception as exc:  # noqa: BLE001
        return unchecked(f"the checker failed ({type(exc).__name__})")


def unchecked(reason: str) -> Verdict:
    """Return the denial of a command that could not be judged."""
    message = (
        f"permission denied: this command could not be checked: {reason}. Write it more simply, or in smaller steps"
    )
    return Verdict("deny", UNCHECKED, message)


def _review(command: str, policy: Policy, location: Location, budget: TimeBudget) -> Verdict:
    verdicts = [_judge(command, policy, location, budget)]
    if "\r" in command and verdicts[0].decision != "deny":
        # Bash keeps a carriage return as part of a word; a terminal or a converter would drop it. Judge both.
        verdicts.append(_judge(command.replace("\r", ""), policy, location, budget))
    return strictest(verdicts)


def _judge(command: str, policy: Policy, location: Location, budget: TimeBudget) -> Verdict:
    known, state = location.environment, location.state
    reading = read_script(clean(command), budget=budget, environment=known, state=state)
    if location.cwd is not None or location.home is not None:
        reading = replace(reading, invocations=tuple(location.placed(item) for item in reading.invocations))
    denial = built_in_verdict(reading)
    if denial is not None:
        return denial
    if policy.profile == "strict":
        denial = _extended_verdict(reading, budget)
        if denial is not None:
            return denial
    asked = (
        ALLOWED if reading.hidden is None else Verdict("ask", HIDDEN_SCRIPT.name, HIDDEN_SCRIPT.message, reading.hidden)
    )
    return strictest([rules_verdict(policy.rules, reading), asked]) if policy.rules else asked


def built_in_verdict(reading: ScriptReading) -> Verdict | None:
    """Return the first denial by one of the rules that hold in every profile."""
    for invocation in reading.invocations:
        if not concerned(invocation):
            continue
        for rule, check in CHECKS:
            reason = check(invocation)
            if reason is not None:
                return Verdict("deny", rule.name, rule.message, invocation.span, f"{invocation}: {reason}")
    return None


def concerned(invocation: Invocation) -> bool:
    """True if one of the rules of every profile is about this program."""
    if not invocation.argv:
        return False
    name = invocation.argv[0]
    return not name.isascii() or any(program in name for program in _PROGRAMS)


def _extended_verdict(reading: ScriptReading, budget: TimeBudget) -> Verdict | None:
    if reading.recursive_functions and reading.background:
        return _extended(
            "a function starts itself in the background without end", (0, 0), reading.recursive_functions[0]
        )
    for invocation in reading.invocations:
        reason = extended.check(invocation) or embedded.deletes_in_code(invocation)
        if reason is None:
            for script in embedded.embedded_scripts(invocation):
                inner = read_script(script, budget=budget)
                denial = built_in_verdict(inner)
                stopped = next((item for item in inner.invocations if extended.check(item) is not None), None)
                if denial is not None or stopped is not None:
                    subject = denial.subject.partition(": ")[0] if denial is not None else str(stopped)
                    reason = f"it would store or hand over the command {subject!r}"
                    break
        if reason is not None:
            return _extended(reason, invocation.span, str(invocation))
    return None


def _extended(reason: str, span: tuple[int, int], subject: str) -> Verdict:
    return Verdict("deny", extended.RULE, extended.MESSAGE.format(reason=reason), span, subject)
