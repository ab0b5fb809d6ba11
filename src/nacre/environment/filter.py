"""Decides which variables a command sees.

The order of the rules is the policy: never, allow, keep, exact, value, name, hygiene, strict; variables of the call
itself win over all rules but never. Removal hides a secret but does not protect it: see `nacre doctor`. Values never
appear in a reason, an error or a repr. Pure: environments are arguments and results.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal, NamedTuple

from nacre.environment.noninteractive import noninteractive_defaults
from nacre.environment.quiet_tools import quiet_variables
from nacre.environment.secret_names import exact_reason, name_reason, words
from nacre.environment.secret_values import embedded_secrets, proxy_password, value_reason

Profile = Literal["default", "strict"]
Rules = Literal["all", "names"]
Rule = Literal["never", "allow", "keep", "exact", "value", "name", "hygiene", "strict", "none"]

ENV_NAME = r"[A-Za-z_][A-Za-z0-9_]*"

CORE_NAMES = words("PATH HOME USER LOGNAME SHELL PWD OLDPWD TERM LANG LANGUAGE TZ TMPDIR TMP TEMP")
AGENT_NAMES = words("SSH_AUTH_SOCK GPG_AGENT_INFO KRB5CCNAME")
PROXY_NAMES = words(
    """
    HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY RSYNC_PROXY SOCKS_PROXY WS_PROXY WSS_PROXY
    NPM_CONFIG_PROXY NPM_CONFIG_HTTP_PROXY NPM_CONFIG_HTTPS_PROXY NPM_CONFIG_NOPROXY
    """
)
# Each of these changes the behaviour of a shell or an interpreter before the first line of the command.
HYGIENE_NAMES = words("BASH_ENV ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 CDPATH GLOBIGNORE PYTHONSTARTUP")


class EnvironmentEntryError(ValueError):
    """A name or value that no process can have; the value is never in the message."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"environment variable {name!r}: {problem}")
        self.name = name
        self.problem = problem


class Decision(NamedTuple):
    """What becomes of one variable."""

    strip: bool
    rule: Rule
    reason: str
    hidden: tuple[str, ...] = ()
    """Texts to redact from output: the removed value and its secret parts, or a kept proxy's password."""

    def __repr__(self) -> str:
        return f"Decision(strip={self.strip}, rule={self.rule!r}, reason={self.reason!r})"


class Stripped(NamedTuple):
    """A variable that the child does not get."""

    name: str
    reason: str
    rule: Rule


class FilteredEnvironment(NamedTuple):
    """The environment of a child, and what was removed from it."""

    kept: dict[str, str]
    stripped: tuple[Stripped, ...]
    hidden: Mapping[str, tuple[str, ...]]
    """Texts to redact from output, by the name of their variable."""

    def __repr__(self) -> str:
        return f"FilteredEnvironment(stripped={self.stripped!r})"


def check_env_name(name: str) -> None:
    """Refuse a name that a shell could not use.

    Raises:
        EnvironmentEntryError: names the variable.
    """
    if not re.fullmatch(ENV_NAME, name):
        raise EnvironmentEntryError(name, "a name is letters, digits and underscores and does not begin with a digit")


def check_env_entry(name: str, value: str) -> None:
    """Refuse a name or value that cannot be passed to a process."""
    check_env_name(name)
    if "\0" in value:
        raise EnvironmentEntryError(name, "its value contains a NUL character")


def filter_environment(
    env: Mapping[str, str],
    *,
    allow: Collection[str] = (),
    profile: Profile = "default",
    rules: Rules = "all",
    own_venv: str | None = None,
) -> FilteredEnvironment:
    """Separate the variables that a child may see from those that it may not.

    Args:
        allow: names, or patterns with ``*``, that are kept although a rule would remove them.
        rules: ``names`` leaves the values unread, for contracts that promise no more.
        own_venv: the virtual environment nacre itself runs from; its variables are not the user's.
    """
    kept: dict[str, str] = {}
    stripped: list[Stripped] = []
    hidden: dict[str, tuple[str, ...]] = {}
    for name, value in env.items():
        decision = judge(name, value, profile, rules)
        # Most variables are clean and need one cached look-up only.
        if decision is CLEAN and not (own_venv and name in ("VIRTUAL_ENV", "PYTHONHOME") and value == own_venv):
            kept[name] = value
            continue
        if decision is CLEAN:
            decision = Decision(strip=True, rule="hygiene", reason="belongs to nacre's own installation")
        if decision.strip and (decision.rule == "never" or not is_allowed(name, allow)):
            stripped.append(Stripped(name, decision.reason, decision.rule))
        else:
            kept[name] = value
            if decision.strip:
                continue
        if decision.hidden:
            hidden[name] = decision.hidden
    return FilteredEnvironment(kept, tuple(stripped), hidden)


def child_environment(
    base: Mapping[str, str],
    *,
    per_call_env: Mapping[str, str] | None = None,
    allow: Collection[str] = (),
    profile: Profile = "default",
    rules: Rules = "all",
    noninteractive: bool = True,
    quiet: bool = False,
    unset_defaults: Collection[str] = (),
    own_venv: str | None = None,
) -> FilteredEnvironment:
    """Build the environment of a child: the filtered base, the non-interactive settings, the variables of the call.

    Args:
        quiet: make well-known tools print less, where the base does not say otherwise.

    Raises:
        EnvironmentEntryError: a name or value of ``per_call_env`` cannot be passed on, or is nacre's own.
    """
    filtered = filter_environment(base, allow=allow, profile=profile, rules=rules, own_venv=own_venv)
    if noninteractive:
        defaults = noninteractive_defaults().items()
        filtered.kept.update((name, value) for name, value in defaults if name not in unset_defaults)
    if quiet:
        variables = quiet_variables().items()
        filtered.kept.update((name, value) for name, value in variables if name not in {*base, *unset_defaults})
    if per_call_env:
        filtered.kept.update(with_call_environment({}, per_call_env))
    return filtered


def with_call_environment(env: Mapping[str, str], per_call_env: Mapping[str, str]) -> dict[str, str]:
    """Add the variables of a call, which win over everything but nacre's own variables.

    Raises:
        EnvironmentEntryError: a name or value cannot be passed on, or is nacre's own.
    """
    added = dict(env)
    for name, value in per_call_env.items():
        check_env_entry(name, value)
        if is_never(name, value):
            raise EnvironmentEntryError(name, "is reserved for nacre itself")
        added[name] = value
    return added


CLEAN = Decision(strip=False, rule="none", reason="nothing speaks against it")


# Bounded: an environment has tens of variables and rarely changes, but a hostile one could have many.
@lru_cache(maxsize=2048)
def judge(name: str, value: str, profile: Profile = "default", rules: Rules = "all") -> Decision:
    """Decide about one variable; the answer depends on nothing else."""
    decision = judge_by_default(name, value, rules)
    if profile == "strict" and not decision.strip and (decision.hidden or not is_core(name)):
        return Decision(strip=True, rule="strict", reason="not a core variable", hidden=decision.hidden)
    return decision


def judge_by_default(name: str, value: str, rules: Rules) -> Decision:
    if is_never(name, value):
        return secret("never", "nacre's own control variable", value)
    if is_kept(name):
        return keep(name, value)
    if reason := exact_reason(name):
        return secret("exact", reason, value)
    if rules == "all" and (reason := value_reason(value)):
        return secret("value", reason, value)
    if reason := name_reason(name, value):
        return secret("name", reason, value)
    if name in HYGIENE_NAMES or name.startswith("BASH_FUNC_"):
        return Decision(strip=True, rule="hygiene", reason="changes how a shell or interpreter starts")
    return CLEAN


def secret(rule: Rule, reason: str, value: str) -> Decision:
    return Decision(strip=True, rule=rule, reason=reason, hidden=hidden_texts(value, *embedded_secrets(value)))


def keep(name: str, value: str) -> Decision:
    if name.upper() in PROXY_NAMES and (password := proxy_password(value)):
        reason = "proxy; its password is redacted from output"
        return Decision(strip=False, rule="keep", reason=reason, hidden=hidden_texts(password))
    return Decision(strip=False, rule="keep", reason="needed by most programs")


def hidden_texts(*values: str) -> tuple[str, ...]:
    # Imported here, because most environments hide nothing.
    from nacre.output.redaction.forms import is_worth_hiding

    return tuple(value for value in dict.fromkeys(values) if is_worth_hiding(value))


def is_never(name: str, value: str) -> bool:
    """Tell whether a variable steers nacre itself and must reach no child, not even on request."""
    if not name.startswith("NACRE_"):
        return False
    return name.startswith("NACRE_INTERNAL_") or name_reason(name, value) is not None


def is_kept(name: str) -> bool:
    return name in CORE_NAMES or name in AGENT_NAMES or name.startswith(("LC_", "XDG_")) or name.upper() in PROXY_NAMES


def is_core(name: str) -> bool:
    """Tell whether the strict profile keeps a name: sockets of agents and buses are doors, not settings."""
    return is_kept(name) and name not in AGENT_NAMES and name != "XDG_RUNTIME_DIR"


def is_allowed(name: str, allow: Collection[str]) -> bool:
    return name in allow or any("*" in pattern and fnmatchcase(name, pattern) for pattern in allow)
