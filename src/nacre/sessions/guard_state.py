"""What the guard must know of a session: the definitions of its last checkpoint, taken apart when they are asked for.

Most commands are judged by their words alone, so a state costs nothing until one of its names is used.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from nacre.sessions.checkpoint import Checkpoint


class KnownShell:
    """A checkpoint as the reader of scripts takes it: a `ShellState`."""

    def __init__(self, checkpoint: Checkpoint, given: Collection[str] = ()) -> None:
        """With the names of variables that the next command is given values of its own for."""
        self.checkpoint = checkpoint
        self._given = given

    def for_call(self, given: Collection[str]) -> KnownShell:
        """The same for a command that comes with variables of its own."""
        return KnownShell(self.checkpoint, given) if given else self

    @property
    def names(self) -> frozenset[str]:
        return self.checkpoint.names

    @property
    def arguments(self) -> str:
        return self.checkpoint.arguments

    @cached_property
    def variables(self) -> dict[str, str]:
        return {name: text for name, text in self.checkpoint.each_variable() if name not in self._given}

    @property
    def aliases(self) -> dict[str, str]:
        return self.checkpoint.alias_texts

    @cached_property
    def functions(self) -> dict[str, str]:
        return dict(self.checkpoint.each_function())
