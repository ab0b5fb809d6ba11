"""The state of a shell as a value: what bash prints of itself, and the texts that make another bash the same. Pure.

It stays in memory. What a fresh bash has by itself (its version, pids, clocks) is left out. Nothing of a dump is run as
it came: every definition is recognised from its first character to its last, and where one is not, the dump is refused.
"""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from nacre.environment.secret_names import words
from nacre.warden.launch import quoted

# The one variable of ours, while no script runs. A script that makes a name readonly, or a reference, does not meet it.
VARIABLE = f"__nacre_{secrets.token_hex(4)}"
# A state beyond this is not kept whole: see `without_variables` and `exports`.
MOST_BYTES = 4 * 1024 * 1024

_SECTIONS = ("directory", "umask", "shopt", "options", "arguments", "functions", "names", "aliases", "traps")
_WHOLE = "whole"
# One after the other, with NULs between; none of these forks. The variables are the last: bash needs time in the square
# of their number to list them, and what stands before them can be used without them.
DUMP = (
    "\\builtin pwd;\\builtin printf '\\0';"
    "\\builtin umask -p;\\builtin printf '\\0';"
    "\\builtin shopt -p;\\builtin printf '\\0';"
    "\\builtin set +o;\\builtin printf '\\0';"
    "[[ $# = 0 ]]||\\builtin printf '%q ' \"$@\";\\builtin printf '\\0';"
    "\\builtin declare -f;\\builtin printf '\\0';"
    "\\builtin declare -F;\\builtin printf '\\0';"
    "\\builtin alias -p;\\builtin printf '\\0';"
    "\\builtin trap -p;\\builtin printf '\\0';"
    f"\\builtin declare -p;\\builtin printf '\\0{_WHOLE}';"
)

_QUOTED = r"""\$?"(?:[^"\\]|\\.)*+"|\$?'(?:[^'\\]|\\.)*+'"""
_VARIABLE = re.compile(
    rf"""declare (?P<flags>-\S+) (?P<name>[A-Za-z_]\w*)"""
    rf"""(?:=(?P<value>{_QUOTED}|\((?:[^"'()]|{_QUOTED})*+\)|[^\s"'(]*))?\n""",
    re.DOTALL | re.ASCII,
)
# What bash puts between single quotes: everything but these, which stand outside of them behind a backslash.
_SINGLE = r"(?:'[^']*'|\\')*+"
_PART = re.compile(r"'([^']*)'|\\'")
_ALIAS = re.compile(rf"alias (?:-- )?(?P<name>[^=\s]+)=(?P<value>{_SINGLE})\n")
_TRAP = re.compile(rf"trap -- (?P<action>{_SINGLE}|-) (?P<signal>[A-Z][A-Z0-9+-]*|\d+)\n")
_FUNCTION = re.compile(r"declare (?P<flags>-\S+) (?P<name>\S+)\n")
_OPTION = re.compile(r"(?:shopt -[su]|set [-+]o) (?P<name>[\w-]+)\n", re.ASCII)
_UMASK = re.compile(r"umask [0-7]+\n")
_ARGUMENTS = re.compile(rf"""(?:(?:\\.|{_QUOTED}|[^\s\\'"$`;&|<>()])+ )*""", re.DOTALL)
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w.:-]*", re.ASCII)
# What bash keeps itself, or what belongs to the old process.
_OWN = words(
    """
    _ BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND
    BASH_EXECUTION_STRING BASH_LINENO BASH_LOADABLES_PATH BASH_SOURCE BASH_SUBSHELL BASH_VERSINFO BASH_VERSION
    BASH_XTRACEFD COMP_WORDBREAKS COPROC COPROC_PID DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS
    HISTCMD LINENO MAPFILE PIPESTATUS PPID PWD RANDOM SECONDS SHELLOPTS SRANDOM UID
    """
) | {VARIABLE}
# Options that belong to how the shell was started, or that would keep it from going on.
_NOT_OPTIONS: Final = words("onecmd noexec interactive-comments emacs vi history histexpand privileged")


@dataclass(frozen=True)
class Checkpoint:
    """What a shell was when its last command had ended."""

    directory: str
    umask: str
    shopt: str
    options: str
    arguments: str
    functions: str
    function_names: str
    aliases: str
    traps: str
    variables: str

    @cached_property
    def names(self) -> frozenset[str]:
        """Functions and aliases: what a command word may mean beside a program or a builtin."""
        return frozenset((*self._function_flags, *self.alias_texts))

    @property
    def directory_before(self) -> str:
        """The value of OLDPWD, as a word of bash."""
        match = self._variables.get("OLDPWD")
        return "" if match is None else match["value"] or ""

    @cached_property
    def _variables(self) -> dict[str, re.Match[str]]:
        return {match["name"]: match for match in _each(_VARIABLE, self.variables) if match["name"] not in _OWN}

    @cached_property
    def traces_elsewhere(self) -> bool:
        """True if a trace may go to a descriptor of the script's own."""
        return " BASH_XTRACEFD" in self.variables

    @cached_property
    def alias_texts(self) -> dict[str, str]:
        """What each alias stands for."""
        return {match["name"]: unquoted(match["value"]) for match in _each(_ALIAS, self.aliases)}

    @cached_property
    def _function_flags(self) -> dict[str, str]:
        return {match["name"]: match["flags"] for match in _each(_FUNCTION, self.function_names)}

    def each_function(self) -> Iterable[tuple[str, str]]:
        """Name and definition of each: bash prints both lists in the same order."""
        text, at = self.functions, 0
        names = list(self._function_flags)
        for name, following in itertools.pairwise([*names, ""]):
            end = text.find(f"\n{following} () \n{{ \n", at) + 1 if following else len(text)
            if not text.startswith(f"{name} () \n{{ \n", at) or end <= at:
                raise ValueError(f"not a list of functions at {name}")
            yield name, text[at:end].removesuffix(f"declare {self._function_flags[name]} {name}\n")
            at = end

    def check(self) -> None:
        """Raises ValueError where a text is not what bash prints."""
        _ = self._variables, self.alias_texts, self._function_flags
        for _name, _text in self.each_function():
            pass
        for pattern, text in (
            (_TRAP, self.traps),
            (_OPTION, self.shopt),
            (_OPTION, self.options),
            (_UMASK, self.umask),
        ):
            for _match in _each(pattern, text):
                pass
        if not (self.umask and self.shopt and self.options):
            # A builtin that a script has switched off prints nothing.
            raise ValueError("not a state")
        if not _ARGUMENTS.fullmatch(self.arguments):
            raise ValueError("not a list of arguments")

    def each_variable(self) -> Iterable[tuple[str, str]]:
        """The variables that a fresh bash does not have by itself: name and definition."""
        return ((name, match[0]) for name, match in self._variables.items())

    def restoring(self, env: Mapping[str, str]) -> tuple[str, ...]:
        """Texts that bring a fresh bash with this environment into the state, each to be evaluated for itself.

        The functions come after everything that they could stand in the way of.
        """
        texts = (
            _unset(name for name in env if name not in self._variables),
            # Before the functions: a pattern in a body may need it.
            "".join(line for name, line in _options(self.shopt) if name != "expand_aliases"),
            "".join(match[0] for match in self._variables.values()),
            f"set -- {self.arguments}" if self.arguments else "",
            f"{self.umask}{self.traps}",
            "".join(_definition(name, text) for name, text in self.each_function()),
            "".join(
                f"\\builtin declare {flags} -- {quoted(name)}\n"
                for name, flags in self._function_flags.items()
                if flags != "-f"
            ),
            # After the functions, whose bodies have been expanded already.
            "".join(f"\\builtin alias -- {quoted(f'{name}={text}')}\n" for name, text in self.alias_texts.items()),
            "".join(f"\\builtin {line}" for name, line in _options(self.shopt) if name == "expand_aliases"),
            # The last one: from then on any failure would end the shell.
            "".join(
                f"\\builtin {line}"
                for _, line in sorted(_options(self.options), key=lambda option: option[0] == "errexit")
            ),
        )
        return tuple(text for text in texts if text)

    def with_variables_of(self, other: Checkpoint | None, names: Iterable[str]) -> Checkpoint:
        """The same with some variables as they are in another state."""
        these = frozenset(names)
        texts = {name: text for name, text in self.each_variable() if name not in these}
        if other is not None:
            texts |= {name: text for name, text in other.each_variable() if name in these}
        return replace(self, variables="".join(texts.values()))

    def with_functions_of(self, other: Checkpoint | None, names: Iterable[str]) -> Checkpoint:
        """The same with some functions as they are in another state."""
        these = frozenset(names)
        texts = {name: text for name, text in self.each_function() if name not in these}
        flags = dict(self._function_flags)
        if other is not None:
            texts |= {name: text for name, text in other.each_function() if name in these}
            flags |= {name: flag for name, flag in other._function_flags.items() if name in these}
        return replace(
            self,
            functions="".join(texts.values()),
            function_names="".join(f"declare {flags[name]} {name}\n" for name in texts),
        )

    def exports(self) -> Checkpoint:
        """The directory and the exported variables alone."""
        variables = "".join(match[0] for match in self._variables.values() if "x" in match["flags"])
        return Checkpoint(self.directory, self.umask, "", "", "", "", "", "", "", variables)


def read_dump(data: bytes) -> Checkpoint | None:
    """The checkpoint that a dump holds; None when it is not whole."""
    parts = data.decode("utf-8", "surrogateescape").split("\0")
    if len(parts) != len(_SECTIONS) + 2 or parts[-1] != _WHOLE or not parts[-2]:
        return None
    return _checked(parts[:-1])


def read_beginning(data: bytes, before: Checkpoint | None) -> Checkpoint | None:
    """The checkpoint of a dump that breaks off in the variables, with those of an earlier one; None if sooner."""
    parts = data.decode("utf-8", "surrogateescape").split("\0")
    if len(parts) <= len(_SECTIONS):
        return None
    state = _checked([*parts[: len(_SECTIONS)], ""])
    return state if state is None or before is None else replace(state, variables=before.variables)


def _checked(parts: list[str]) -> Checkpoint | None:
    state = Checkpoint(parts[0].removesuffix("\n"), *parts[1:])
    try:
        state.check()
    except ValueError:
        return None
    # An EXIT trap belongs to the script that set it, and at an exit it is ours.
    return replace(state, traps="".join(match[0] for match in _each(_TRAP, state.traps) if match["signal"] != "EXIT"))


def action_of(traps: str, signal: str) -> str:
    """What a trap runs, of those that bash has printed; empty when there is none."""
    for match in _each(_TRAP, traps):
        if match["signal"] == signal and match["action"] != "-":
            return unquoted(match["action"])
    return ""


def unquoted(text: str) -> str:
    """The text that bash has put in single quotes."""
    return _PART.sub(lambda match: "'" if match[1] is None else match[1], text)


def _each(pattern: re.Pattern[str], text: str) -> Iterable[re.Match[str]]:
    """The matches of a pattern, one right behind the other from the first character to the last."""
    at = 0
    while at < len(text):
        match = pattern.match(text, at)
        if match is None:
            raise ValueError(f"not what bash prints: {text[at : at + 80]!r}")
        yield match
        at = match.end()


def _definition(name: str, text: str) -> str:
    """A function whose name is more than a name needs the word before it, as `a=b ()` would be an assignment."""
    return text if _PLAIN_NAME.fullmatch(name) and name not in _RESERVED else f"function {text}"


_RESERVED = words("if then elif else fi for while until do done case esac in select function time coproc")


def _unset(names: Iterable[str]) -> str:
    # Other names are not variables to bash; it hands them on as they are.
    known = [name for name in names if name.isidentifier() and name.isascii() and name not in _OWN]
    return f"unset -v {' '.join(known)}" if known else ""


def _options(text: str) -> Iterable[tuple[str, str]]:
    return ((match["name"], match[0]) for match in _each(_OPTION, text) if match["name"] not in _NOT_OPTIONS)
