"""What a shell knows before a script runs in it: the variables, functions and aliases that a session has defined."""

import re
from collections.abc import Collection, Mapping
from typing import Final, Protocol

WORDS: Final = re.compile(r"""[^\s;|&()<>'"`$\\={}\[\]]+""")
IDENTIFIERS: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class ShellState(Protocol):
    """A shell's own definitions, each as bash prints it, so that the reader of scripts reads them too."""

    @property
    def variables(self) -> Mapping[str, str]:
        """By name, what `declare -p` prints of each."""

    @property
    def functions(self) -> Mapping[str, str]:
        """By name, what `declare -f` prints of each."""

    @property
    def aliases(self) -> Mapping[str, str]:
        """By name, the text that each stands for."""

    @property
    def arguments(self) -> str:
        """Return the positional parameters, quoted as words of a script."""

    @property
    def names(self) -> Collection[str]:
        """Return the functions and aliases: what a command word may mean beside a program or a builtin."""
