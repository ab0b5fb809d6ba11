"""What assignments and redirections do to the scope: values stored, texts opened, files written.

The part of the walk that changes what is known; finding commands is not done here.
"""

import re
from abc import ABC, abstractmethod
from typing import Final

from nacre.bash.budget import TimeBudget
from nacre.bash.tree import Assignment, Heredoc, Program, Redirect
from nacre.guard.interpret.alphabet import UNKNOWN, is_opaque, plain, settled
from nacre.guard.interpret.dataflow import Alternatives, Scope
from nacre.guard.interpret.words import expand, expand_text, expand_words

# The key of an item in `name=([key]=value …)`.
_KEY: Final = re.compile(r"^\[[^\]]*\]=")


class Effects(ABC):
    """A scope, and the ways a script changes it."""

    def __init__(self, budget: TimeBudget, scope: Scope) -> None:
        self.budget = budget
        self.scope = scope
        self.consumers: dict[str, Program] = {}

    @abstractmethod
    def substitute(self, program: Program) -> str:
        """What `$(program)` would print, trailing newlines removed."""

    @abstractmethod
    def process_file(self, program: Program, form: str) -> str:
        """The path that `<(program)` would become."""

    @abstractmethod
    def captured(self, program: Program, stdin: str | None = None) -> str:
        """What the program would print, run in a subshell."""

    def assign_all(self, assignments: list[Assignment]) -> None:
        for item in assignments:
            values: Alternatives
            if item.values is not None:
                lists = expand_words(item.values, self)
                self._assign_keys(item.name, lists[0])
                values = tuple(tuple(settled(_KEY.sub("", part)) for part in fields) for fields in lists)
            elif item.value is not None:
                values = tuple(plain(text) for text in expand_text(item.value, self))
            else:
                values = ("",)
            name = item.name
            if item.index is not None:
                index = plain(expand_text(item.index, self)[0])
                self.scope.assign(f"{name}[{index}]", values)
                self.scope.append(name, tuple((v,) if isinstance(v, str) else v for v in values))
            elif item.append:
                self.scope.append(name, values)
            else:
                self.scope.assign(name, values)

    def _assign_keys(self, name: str, fields: tuple[str, ...]) -> None:
        """`name=([key]=value …)`."""
        for text in fields:
            key, equals, value = plain(text).partition("]=")
            if equals and key.startswith("["):
                self.scope.assign(f"{name}[{key[1:]}]", (value,))

    def open_redirects(
        self, redirects: list[Redirect]
    ) -> tuple[str | None, tuple[tuple[str, str], ...], tuple[str, str] | None]:
        """The input text, all targets, and where standard output goes."""
        stdin: str | None = None
        targets: list[tuple[str, str]] = []
        sink: tuple[str, str] | None = None
        for redirect in redirects:
            target = redirect.target
            if isinstance(target, Heredoc):
                text = plain(expand_text(target.body, self)[0]) if target.body is not None else ""
                stdin = self._input(redirect.descriptor, text, stdin)
                continue
            fields = expand(target, self)[0] if redirect.operator != "<<<" else ()
            text = fields[0] if fields else expand_text(target, self)[0]
            match redirect.operator:
                case "<<<":
                    stdin = self._input(redirect.descriptor, plain(text) + "\n", stdin)
                case "<" | "<>":
                    content = self.scope.file(plain(text))
                    stdin = self._input(redirect.descriptor, UNKNOWN if content is None else content, stdin)
                case "<&":
                    stdin = self.scope.file("/dev/fd/" + plain(text)) or stdin
                case _:
                    targets.append((redirect.operator, text))
                    to_file = redirect.operator in (">", ">>", ">|", "&>", "&>>")
                    if to_file and redirect.descriptor in ("", "1"):
                        sink = (redirect.operator, text)
        return stdin, tuple(targets), sink

    def _input(self, descriptor: str, text: str, stdin: str | None) -> str | None:
        """Open a text for reading: on standard input, or on another descriptor that is read later."""
        if descriptor in ("", "0"):
            return text
        self.scope.keep_file("/dev/fd/" + descriptor, text)
        return stdin

    def write_file(self, path: str, text: str, *, append: bool = False) -> None:
        """Remember what the script wrote to a file, and feed it to `>(…)`."""
        path = plain(path)
        if path in self.consumers:
            self.captured(self.consumers[path], text)
        elif not is_opaque(path) and path not in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
            before = (self.scope.file(path) or "") if append else ""
            self.scope.keep_file(path, before + text)
