"""The state of a shell as a value: what bash prints of itself, and the text that makes another bash the same. Pure.

It stays in memory. What a fresh bash has by itself (its version, pids, clocks) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from nacre.planning.secret_names import words

# A state beyond this is not kept whole: the directory and the exported variables are.
MOST_BYTES = 4 * 1024 * 1024

_SECTIONS = ("directory", "shopt", "functions", "function_names", "variables", "aliases", "traps", "umask", "arguments")
# One after the other, with NULs between; none of these forks.
DUMP = (
    "builtin pwd;builtin printf '\\0';"
    "builtin shopt -p;builtin printf '\\0';"
    "builtin declare -f;builtin printf '\\0';"
    "builtin declare -F;builtin printf '\\0';"
    "builtin declare -p;builtin printf '\\0';"
    "builtin alias -p;builtin printf '\\0';"
    "builtin trap -p;builtin printf '\\0';"
    "builtin umask -p;builtin printf '\\0';"
    "[ $# = 0 ]||builtin printf ' %q' \"$@\";builtin printf '\\0';"
    "builtin set +o;"
)

_QUOTED = r"""\$?"(?:[^"\\]|\\.)*+"|\$?'(?:[^'\\]|\\.)*+'"""
_VARIABLE = re.compile(
    rf"""declare (?P<flags>-\S+) (?P<name>[A-Za-z_]\w*)(?:=(?:{_QUOTED}|\((?:[^"'()]|{_QUOTED})*+\)|[^\s"'(]*))?\n""",
    re.DOTALL | re.ASCII,
)
_ALIAS = re.compile(r"^alias (?:-- )?([^=\s]+)=", re.MULTILINE)
# What bash keeps itself, or what belongs to the old process.
_OWN = words(
    """
    _ __nacre BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND
    BASH_EXECUTION_STRING BASH_LINENO BASH_LOADABLES_PATH BASH_SOURCE BASH_SUBSHELL BASH_VERSINFO BASH_VERSION
    COMP_WORDBREAKS COPROC COPROC_PID DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO MAPFILE
    PIPESTATUS PPID PWD RANDOM SECONDS SHELLOPTS SRANDOM UID
    """
)
# Options that belong to how the shell was started, or that would keep it from going on.
_NOT_OPTIONS = ("onecmd", "noexec", "interactive-comments", "emacs", "vi", "history", "histexpand", "privileged")


@dataclass(frozen=True)
class Checkpoint:
    """What a shell was when its last command had ended."""

    directory: str
    shopt: str
    functions: str
    function_names: str
    variables: str
    aliases: str
    traps: str
    umask: str
    arguments: str
    options: str

    @cached_property
    def names(self) -> frozenset[str]:
        """Functions and aliases: what a command word may mean beside a program or a builtin."""
        functions = [line.rpartition(" ")[2] for line in self.function_names.splitlines()]
        return frozenset((*functions, *_ALIAS.findall(self.aliases)))

    def each_variable(self) -> Iterator[tuple[str, str]]:
        """The variables that a fresh bash does not have by itself: name and definition."""
        for match in _VARIABLE.finditer(self.variables):
            if match["name"] not in _OWN:
                yield match["name"], match[0]

    def restoring(self, env: Mapping[str, str]) -> str:
        """The text that brings a fresh bash with this environment into the state."""
        variables = dict(self.each_variable())
        return "\n".join(
            [
                _unset(name for name in env if name not in variables),
                # Before the functions: a pattern in a body may need it.
                _without(self.shopt, "expand_aliases"),
                self.functions,
                "\n".join(line for line in self.function_names.splitlines() if line.startswith("declare -fx")),
                "".join(variables.values()),
                self.traps,
                self.umask,
                f"builtin set --{self.arguments}" if self.arguments else "",
                # After the functions, whose bodies have been expanded already.
                self.aliases,
                "".join(f"{line}\n" for line in self.shopt.splitlines() if line.endswith(" expand_aliases")),
                _options(self.options),
            ]
        )

    def exports(self) -> Checkpoint:
        """The directory and the exported variables alone."""
        variables = "".join(text for _, text in self.each_variable() if "x" in text.split(" ", 2)[1])
        return Checkpoint(self.directory, "", "", "", variables, "", "", self.umask, "", "")


def read_dump(data: bytes) -> Checkpoint | None:
    """The checkpoint that a dump holds; None when it is not whole."""
    parts = data.decode("utf-8", "surrogateescape").split("\0")
    if len(parts) != len(_SECTIONS) + 1:
        return None
    return Checkpoint(parts[0].removesuffix("\n"), *parts[1:])


def _unset(names: Iterable[str]) -> str:
    # Other names are not variables to bash; it hands them on as they are.
    known = [name for name in names if name.isidentifier() and name.isascii() and name not in _OWN]
    return f"builtin unset -v {' '.join(known)}" if known else ""


def _without(text: str, option: str) -> str:
    return "".join(f"{line}\n" for line in text.splitlines() if not line.endswith(f" {option}"))


def _options(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.endswith(_NOT_OPTIONS)]
    # The last one: from then on any failure would end the shell.
    lines.sort(key=lambda line: line.endswith("errexit"))
    return "\n".join(lines)
