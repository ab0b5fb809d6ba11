"""Reading the parts of a simple command: assignments, redirections, runs of plain words.

Between the scanner, which knows words, and the reader, which knows statements.
"""

import re
from itertools import islice
from typing import Final

from nacre.bash.scanner import END_OF_WORD, PLAIN_WORD, Scanner
from nacre.bash.tree import Assignment, Command, Fixed, Heredoc, Redirect, Word

REDIRECT: Final = re.compile(r"(?P<fd>\d+|\{[A-Za-z_]\w*\})?(?P<op><<<|<<-?|<>|<&|>>|>\||>&|&>>|&>|(?:<|>)(?!\())")
ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_PLAIN_RUN: Final = re.compile(PLAIN_WORD.pattern + r"(?:[ \t]+" + PLAIN_WORD.pattern + r")+(?=[\n;|&)]|$|[ \t]+[^<>])")

# How many words are read between two looks at the clock.
_BATCH: Final = 4_096


class SimpleCommands(Scanner):
    """Reads what simple commands are made of."""

    def plain_run(self, words: list[Word]) -> bool:
        """Read several plain words at once: most arguments are, and a long command has very many."""
        run = _PLAIN_RUN.match(self.source, self.pos)
        if run is None:
            return False
        found = PLAIN_WORD.finditer(self.source, self.pos, run.end())
        while batch := [Word((), item.start(), item.end(), item.group()) for item in islice(found, _BATCH)]:
            words.extend(batch)
            self.budget.look()
        self.pos = run.end()
        return True

    def read_assignment(self, match: re.Match[str], command: Command) -> bool:
        """Read an assignment; False, unmoved, when it turns out to be a word."""
        start, name, operator = self.pos, match.group(1), match.group(2)
        self.pos = match.end()
        index = None
        if operator == "[":
            self.pos -= 1
            index = self.read_index()
            follow = re.compile(r"\+?=").match(self.source, self.pos)
            if follow is None:
                self.pos = start
                return False
            operator = follow.group()
            self.pos = follow.end()
        append = operator == "+="
        if self.source.startswith("(", self.pos):
            self.pos += 1
            command.assignments.append(Assignment(name, None, self._array_values(), append, index))
        elif command.words:
            # An argument of declare, export …: a word to the program, an assignment to the shell.
            self.pos = start
            word = self.read_word()
            command.words.append(word)
            return True
        elif self.source[self.pos : self.pos + 1] in ("", *END_OF_WORD) and not self._process_follows():
            command.assignments.append(Assignment(name, None, None, append, index))
        else:
            command.assignments.append(Assignment(name, self.read_word(), None, append, index))
        return True

    def _process_follows(self) -> bool:
        return self.source.startswith(("<(", ">("), self.pos)

    def _array_values(self) -> tuple[Word, ...]:
        words: list[Word] = []
        while True:
            while self.pos < self.size and self.source[self.pos] in " \t\n":
                self.pos += 1
            char = self.source[self.pos : self.pos + 1]
            if char == ")":
                self.pos += 1
                return tuple(words)
            if char == "#":
                end = self.source.find("\n", self.pos)
                self.pos = self.size if end < 0 else end
                continue
            if char == "" or (char in ";|&(" or (char in "<>" and not self._process_follows())):
                self.damage.append(self.pos)
                self.pos += 1
                return tuple(words)
            words.append(self.read_word())

    def read_redirect(self, match: re.Match[str], redirects: list[Redirect]) -> None:
        operator, descriptor = match["op"], match["fd"] or ""
        self.pos = match.end()
        self.skip_blanks()
        if self.source[self.pos : self.pos + 1] in ("", *END_OF_WORD) and not self._process_follows():
            self.damage.append(self.pos)
            return
        word = self.read_word()
        if operator not in ("<<", "<<-"):
            redirects.append(Redirect(operator, descriptor, word))
            return
        quoted = any(isinstance(part, Fixed) and part.quoted for part in word.parts)
        if quoted:
            delimiter = "".join(part.text for part in word.parts if isinstance(part, Fixed))
        else:
            delimiter = self.source[word.start : word.end]
        heredoc = Heredoc(delimiter, quoted, operator == "<<-")
        self.pending.append(heredoc)
        redirects.append(Redirect(operator, descriptor, heredoc))
