"""The entry of the guard: a command in, a verdict out.

`review` never raises and never fails open: an error while reading or judging, nesting beyond the limits, and a check
that takes too long all end as a denial by rule `unchecked`.
"""

import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from nacre.bash.budget import DEFAULT_SECONDS, TimeBudget
from nacre.bash.tree import UnreadableError
from nacre.guard.interpret.alphabet import HERE, HOME, PWD, TOPLEVEL, clean, is_opaque
from nacre.guard.interpret.invocation import Invocation, ScriptReading
from nacre.guard.interpret.shell_state import ShellState
from nacre.guard.interpret.walk import read_script
from nacre.guard.policy import DEFAULT_POLICY, Policy
from nacre.guard.prefilter import needs_review
from nacre.guard.programs.inner import basename
from nacre.guard.rules import devices, embedded, fork_bombs, git, permissions, removal
from nacre.guard.rules.default_rules import (
    BOMB,
    DEVICE,
    HIDDEN_SCRIPT,
    PERMISSIONS,
    PUSHING,
    REMOVAL,
    STAGING,
    DefaultRule,
)
from nacre.guard.rules.extended import extended
from nacre.guard.rules.extended.git_losses import STAGED
from nacre.guard.verdict import ALLOWED, Verdict, strictest


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
        name = basename(argv[0]) if argv else ""
        if name in removal.PROGRAMS and not is_opaque(directory):
            resolved = tuple(self._placed_word(self._whole(word, directory)) for word in argv[1:])
        elif name in permissions.PROGRAMS and not is_opaque(directory):
            # The user's home is no system directory, also where it is /root.
            whole = (self._whole(word, directory) for word in argv[1:])
            resolved = tuple("" if path == self.home else path for path in whole)
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


Check: TypeAlias = Callable[[Invocation], str | None]
CHECKS: Final[tuple[tuple[DefaultRule, Check], ...]] = (
    (REMOVAL, removal.check),
    (STAGING, git.check_add),
    (PUSHING, git.check_push),
    (DEVICE, devices.check),
    (BOMB, fork_bombs.check),
    (PERMISSIONS, permissions.check),
)
"""The rules of every profile, each with the reason why it concerns a command, or None."""


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
        if not policy.needs_every_command and not needs_review(command, names):
            return ALLOWED
        # The command runs in `cwd`; PWD and OLDPWD of the caller may name other directories.
        known = {name: value for name, value in (environment or {}).items() if name not in ("PWD", "OLDPWD")}
        location = Location(known, cwd, home, state)
        return _review(command, policy, location, TimeBudget(seconds))
    except UnreadableError as exc:
        return unchecked(str(exc), policy)
    # The guard must not fail open, so every error of its own is a denial.
    except Exception as exc:  # noqa: BLE001
        return unchecked(f"the checker failed ({type(exc).__name__})", policy)


def unchecked(reason: str, policy: Policy = DEFAULT_POLICY) -> Verdict:
    """Return the verdict about a command that could not be judged."""
    message = f"this command could not be checked: {reason}. Write it more simply, or in smaller steps"
    return policy.verdict("unchecked", message)


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
    verdicts = [*_built_in(reading, policy), *_users(reading, policy)]
    if policy.decision("extended") != "allow" and strictest(verdicts).decision != "deny":
        verdicts += _extended(reading, policy, budget)
    if reading.hidden is not None and not _allows_shell(reading, policy):
        verdicts.append(policy.verdict_of(HIDDEN_SCRIPT, reading.hidden))
    return strictest(verdicts)


def _built_in(reading: ScriptReading, policy: Policy) -> Iterator[Verdict]:
    """Judge by the rules of every profile."""
    checks = [(rule, check) for rule, check in CHECKS if policy.decision(rule.name) != "allow"]
    if reading.fork_bomb is not None:
        yield policy.verdict_of(BOMB, None, reading.fork_bomb)
    for invocation in reading.invocations:
        for rule, check in checks:
            reason = check(invocation)
            if reason is not None and not policy.lets_pass(invocation):
                yield policy.verdict_of(rule, invocation.span, f"{invocation}: {reason}")


def _users(reading: ScriptReading, policy: Policy) -> Iterator[Verdict]:
    """Judge by the user's own rules."""
    for invocation in reading.invocations if policy.rules else ():
        rule = policy.rule_for(invocation)
        if rule is not None:
            yield policy.verdict_by(rule, invocation.span, str(invocation))


def _allows_shell(reading: ScriptReading, policy: Policy) -> bool:
    return any(policy.lets_pass(item) for item in reading.invocations if item.span == reading.hidden)


def _extended(reading: ScriptReading, policy: Policy, budget: TimeBudget) -> Iterator[Verdict]:
    """Judge by the rule of the strict profile."""
    for invocation in reading.invocations:
        reason = extended.check(invocation) or embedded.deletes_in_code(invocation)
        if reason == STAGED and policy.decision(STAGING.name) == "allow":
            continue
        if reason is None:
            for script in embedded.embedded_scripts(invocation):
                inner = read_script(script, budget=budget)
                denied = strictest([*_built_in(inner, policy)])
                stopped = next((item for item in inner.invocations if extended.check(item) is not None), None)
                if denied.decision != "allow" or stopped is not None:
                    subject = denied.subject.partition(": ")[0] or str(stopped)
                    reason = f"it would store or hand over the command {subject!r}"
                    break
        if reason is not None and not policy.lets_pass(invocation):
            yield policy.verdict("extended", extended.MESSAGE.format(reason=reason), invocation.span, str(invocation))
