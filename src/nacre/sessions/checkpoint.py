"""The state of a shell as a value: what bash prints about itself, and the texts that restore it in another bash. Pure.

It stays in memory. Variables that a fresh bash has by itself (its version, pids, clocks) are left out. No part of a
dump is evaluated as it came: every definition must match a pattern from its first character to its last, or the whole
dump is refused.
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

# The only variable of ours, unset while a script runs. A script cannot guess the name and make it readonly.
VARIABLE = f"__nacre_{secrets.token_hex(4)}"
# A larger state is not kept whole: see `exports`.
MOST_BYTES = 4 * 1024 * 1024

# Each prints one section, without a fork. The variables come after these: bash needs time in the square of their number
# to list them, and the sections before them can be used without them.
_SECTIONS = (
    "\\builtin pwd",
    "\\builtin umask -p",
    "\\builtin shopt -p",
    "\\builtin set +o",
    "[[ $# = 0 ]]||\\builtin printf '%q ' \"$@\"",
    "\\builtin declare -f",
    "\\builtin declare -F",
    "\\builtin alias -p",
    "\\builtin trap -p",
)
_WHOLE = "whole"
DUMP = "".join(f"{section};\\builtin printf '\\0';" for section in (*_SECTIONS, "\\builtin declare -p"))
DUMP += f"\\builtin printf {_WHOLE};"

_QUOTED = r"""\$?"(?:[^"\\]|\\.)*+"|\$?'(?:[^'\\]|\\.)*+'"""
_VARIABLE = re.compile(
    rf"""declare (?P<flags>-\S+) (?P<name>[A-Za-z_]\w*)"""
    rf"""(?:=(?P<value>{_QUOTED}|\((?:[^"'()]|{_QUOTED})*+\)|[^\s"'(]*))?\n""",
    re.DOTALL | re.ASCII,
)
# Bash's single quotes hold everything but a single quote, which stands outside of them behind a backslash.
_SINGLE = r"(?:'[^']*'|\\')*+"
_PART = re.compile(r"'([^']*)'|\\'")
_ALIAS = re.compile(rf"alias (?:-- )?(?P<name>[^=\s]+)=(?P<value>{_SINGLE})\n")
_TRAP = re.compile(rf"trap -- (?P<action>{_SINGLE}|-) (?P<signal>[A-Z][A-Z0-9+-]*|\d+)\n")
_FUNCTION = re.compile(r"declare (?P<flags>-\S+) (?P<name>\S+)\n")
_OPTION = re.compile(r"(?:shopt -[su]|set [-+]o) (?P<name>[\w-]+)\n", re.ASCII)
_UMASK = re.compile(r"umask [0-7]+\n")
_ARGUMENTS = re.compile(rf"""(?:(?:\\.|{_QUOTED}|[^\s\\'"$`;&|<>()])+ )*""", re.DOTALL)
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w.:-]*", re.ASCII)
# Variables that bash sets itself, or that belong to the old process.
_OWN = words(
    """
    _ BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND
    BASH_EXECUTION_STRING BASH_LINENO BASH_LOADABLES_PATH BASH_SOURCE BASH_SUBSHELL BASH_VERSINFO BASH_VERSION
    BASH_XTRACEFD COMP_WORDBREAKS COPROC COPROC_PID DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS
    HISTCMD LINENO MAPFILE PIPESTATUS PPID PWD RANDOM SECONDS SHELLOPTS SRANDOM UID
    """
) | {VARIABLE}
# Options of how the shell was started, and options that would stop the loop.
_NOT_OPTIONS: Final = words("onecmd noexec interactive-comments emacs vi history histexpand privileged")


@dataclass(frozen=True)
class Checkpoint:
    """The state of a shell after a command; it is the guard's `ShellState` too."""

    directory: str
    umask: str
    shopt: str
    options: str
    arguments: str
    """The positional parameters, quoted as words of a script."""
    function_texts: str
    function_names: str
    alias_texts: str
    traps: str
    variable_texts: str

    @cached_property
    def names(self) -> frozenset[str]:
        """Functions and aliases: other meanings of a command word than a program or a builtin."""
        return frozenset((*self._function_flags, *self.aliases))

    @cached_property
    def variables(self) -> dict[str, str]:
        """The definition of each variable that a fresh bash does not have by itself."""
        found = {match["name"]: match[0] for match in _each(_VARIABLE, self.variable_texts)}
        return {name: text for name, text in found.items() if name not in _OWN}

    @cached_property
    def aliases(self) -> dict[str, str]:
        return {match["name"]: unquoted(match["value"]) for match in _each(_ALIAS, self.alias_texts)}

    @cached_property
    def functions(self) -> dict[str, str]:
        """The definition of each function: bash prints names and definitions in the same order."""
        found, text, at = {}, self.function_texts, 0
        for name, following in itertools.pairwise([*self._function_flags, ""]):
            nexts = [text.find(f"\n{head}", at) for head in _heads(following)] if following else [len(text) - 1]
            end = min((place for place in nexts if place >= 0), default=-1) + 1
            if not text.startswith(_heads(name), at) or end <= at:
                raise ValueError(f"not a list of functions at {name}")
            found[name] = text[at:end].removesuffix(f"declare {self._function_flags[name]} {name}\n")
            at = end
        return found

    @cached_property
    def _function_flags(self) -> dict[str, str]:
        return {match["name"]: match["flags"] for match in _each(_FUNCTION, self.function_names)}

    @property
    def directory_before(self) -> str:
        """The value of OLDPWD, as a word of bash."""
        return self.variables.get("OLDPWD", "").partition("=")[2].removesuffix("\n")

    @cached_property
    def traces_elsewhere(self) -> bool:
        """True if a trace may go to a descriptor of the script's own."""
        return " BASH_XTRACEFD" in self.variable_texts

    def check(self) -> None:
        """Raises ValueError if a text is not what bash prints."""
        _ = self.variables, self.aliases, self.functions
        for pattern, text in (
            (_TRAP, self.traps),
            (_OPTION, self.shopt),
            (_OPTION, self.options),
            (_UMASK, self.umask),
        ):
            for _match in _each(pattern, text):
                pass
        if not (self.umask and self.shopt and self.options):
            # A builtin that a script has disabled prints nothing.
            raise ValueError("not a state")
        if not _ARGUMENTS.fullmatch(self.arguments):
            raise ValueError("not a list of arguments")

    def restoring(self, env: Mapping[str, str]) -> tuple[str, ...]:
        """The texts that bring a fresh bash with this environment into the state, each to be evaluated separately.

        The functions come after every command that a function of the same name could replace.
        """
        texts = (
            _unset(name for name in env if name not in self.variables),
            # Before the functions: a pattern in a body may need it.
            "".join(line for name, line in _options(self.shopt) if name != "expand_aliases"),
            "".join(self.variables.values()),
            f"set -- {self.arguments}" if self.arguments else "",
            f"{self.umask}{self.traps}",
            "".join(_definition(name, text) for name, text in self.functions.items()),
            "".join(
                f"\\builtin declare {flags} -- {quoted(name)}\n"
                for name, flags in self._function_flags.items()
                if flags != "-f"
            ),
            # After the functions, whose bodies have been expanded already.
            "".join(f"\\builtin alias -- {quoted(f'{name}={text}')}\n" for name, text in self.aliases.items()),
            "".join(f"\\builtin {line}" for name, line in _options(self.shopt) if name == "expand_aliases"),
            # Last: from `set -e` on, any failure ends the shell.
            "".join(
                f"\\builtin {line}"
                for _, line in sorted(_options(self.options), key=lambda option: option[0] == "errexit")
            ),
        )
        return tuple(text for text in texts if text)

    def with_variables_of(self, other: Checkpoint | None, names: Iterable[str]) -> Checkpoint:
        """This state with these variables as they are in another one."""
        return replace(
            self, variable_texts="".join(_mixed(self.variables, other.variables if other else {}, names).values())
        )

    def with_functions_of(self, other: Checkpoint | None, names: Iterable[str]) -> Checkpoint:
        """This state with these functions as they are in another one."""
        functions = _mixed(self.functions, other.functions if other else {}, names)
        flags = _mixed(self._function_flags, other._function_flags if other else {}, names)
        return replace(
            self,
            function_texts="".join(functions.values()),
            function_names="".join(f"declare {flags[name]} {name}\n" for name in functions),
        )

    def exports(self) -> Checkpoint:
        """Only the directory, the umask and the exported variables."""
        exported = [text for text in self.variables.values() if "x" in text.split(" ", 2)[1]]
        return Checkpoint(self.directory, self.umask, "", "", "", "", "", "", "", "".join(exported))


def _mixed(own: dict[str, str], other: dict[str, str], names: Iterable[str]) -> dict[str, str]:
    """The first table, with the entries of these names from the second one."""
    taken = frozenset(names)
    mixed = {name: text for name, text in own.items() if name not in taken}
    return mixed | {name: text for name, text in other.items() if name in taken}


def read_dump(data: bytes) -> Checkpoint | None:
    """The checkpoint in a dump; None if the dump is not whole."""
    parts = data.decode("utf-8", "surrogateescape").split("\0")
    if len(parts) != len(_SECTIONS) + 2 or parts[-1] != _WHOLE or not parts[-2]:
        return None
    return _checked(parts[:-1])


def read_beginning(data: bytes, before: Checkpoint | None) -> Checkpoint | None:
    """The checkpoint of a dump that breaks off in the variables, with those of an earlier one; None if sooner."""
    parts = data.decode("utf-8", "surrogateescape").split("\0")
    if len(parts) <= len(_SECTIONS):
        return None
    return _checked([*parts[: len(_SECTIONS)], "" if before is None else before.variable_texts])


def _checked(parts: list[str]) -> Checkpoint | None:
    state = Checkpoint(parts[0].removesuffix("\n"), *parts[1:])
    try:
        state.check()
    except ValueError:
        return None
    # An EXIT trap belongs to the script that set it; at an exit it is ours.
    return replace(state, traps="".join(match[0] for match in _each(_TRAP, state.traps) if match["signal"] != "EXIT"))


def action_of(traps: str, signal: str) -> str:
    """The action of a trap in what bash has printed; empty if there is none."""
    for match in _each(_TRAP, traps):
        if match["signal"] == signal and match["action"] != "-":
            return unquoted(match["action"])
    return ""


def unquoted(text: str) -> str:
    """The text that bash has put in single quotes."""
    return _PART.sub(lambda match: "'" if match[1] is None else match[1], text)


def _each(pattern: re.Pattern[str], text: str) -> Iterable[re.Match[str]]:
    """The matches of a pattern, each right after the other, from the first character to the last."""
    at = 0
    while at < len(text):
        match = pattern.match(text, at)
        if match is None:
            raise ValueError(f"not what bash prints: {text[at : at + 80]!r}")
        yield match
        at = match.end()


def _definition(name: str, text: str) -> str:
    """The definition, behind the word `function` if its name needs that: `a=b ()` would be an assignment."""
    return text if _is_plain(name) or text.startswith(f"function {name} ") else f"function {text}"


def _heads(name: str) -> tuple[str, ...]:
    """How bash may begin a definition: before some names with the word `function`; versions differ in the names."""
    head = f"{name} () \n{{ \n"
    return (head,) if _is_plain(name) else (head, f"function {head}")


def _is_plain(name: str) -> bool:
    return _PLAIN_NAME.fullmatch(name) is not None and name not in _RESERVED


_RESERVED = words("if then elif else fi for while until do done case esac in select function time coproc")


def _unset(names: Iterable[str]) -> str:
    # Bash hands on other names as they are; they are not variables.
    known = [name for name in names if name.isidentifier() and name.isascii() and name not in _OWN]
    return f"unset -v {' '.join(known)}" if known else ""


def _options(text: str) -> Iterable[tuple[str, str]]:
    return ((match["name"], match[0]) for match in _each(_OPTION, text) if match["name"] not in _NOT_OPTIONS)
