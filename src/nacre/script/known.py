"""What a shell knows before a script runs in it: the variables, functions and aliases that a session has defined."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

WORDS: Final = re.compile(r"""[^\s;|&()<>'"`$\\={}\[\]]+""")
IDENTIFIERS: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, eq=False)
class ShellState:
    """A shell's own definitions, each as bash prints it, so that the reader of scripts reads them too."""

    variables: Mapping[str, str]
    """By name, what `declare -p` prints of each."""
    functions: Mapping[str, str]
    """By name, what `declare -f` prints of each."""
    aliases: Mapping[str, str]
    """By name, the text that each stands for."""
    arguments: str = ""
    """The positional parameters, quoted as words of a script."""

    @cached_property
    def names(self) -> frozenset[str]:
        """What a command word may mean beside a program or a builtin."""
        return frozenset((*self.functions, *self.aliases))
