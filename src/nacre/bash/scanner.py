"""Reading one word: quotes, escapes, expansions, substitutions, as bash itself scans them.

Invariant: `pos` only moves forward, and every character is looked at a bounded number of times. Where the text is not
valid shell the scanner notes the damage and goes on; it never raises for bad input, only for nesting beyond
`MAX_NESTING` (each substitution inside a substitution is one level).
"""

import re
from abc import ABC, abstractmethod
from typing import Final

from nacre.bash.backslashes import ansi_c
from nacre.bash.budget import Budget
from nacre.bash.tree import Arithmetic, Fixed, Heredoc, Parameter, Part, Program, Substitution, UnreadableError, Word

# Real scripts nest two or three expansions; `$(` counts twice, because it costs twice the Python frames.
MAX_NESTING: Final = 80

# Text that looked like arithmetic and was not is read twice; nested, that doubles at each level.
_MAX_RETRIED: Final = 200_000

PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9_./:,+@%=^-]+")
END_OF_WORD: Final = frozenset(" \t\n;|&()<>")
# A word goes on with these: `@(a|b)`, `--file=<(x)`.
_GLUED: Final = re.compile(r"[+@]\(|.[<>]\(")
_UNQUOTED_RUN: Final = re.compile(r"""[^\s;|&()<>\\'"`$*?+@!]+""")
_DOUBLE_RUN: Final = re.compile(r'[^"\\$`]+')
_OPERAND_RUN: Final = re.compile(r"""[^}\\'"`$]+""")
_ARITHMETIC_RUN: Final = re.compile(r"""[^()\\'"`$]+""")
_HEREDOC_RUN: Final = re.compile(r"[^\\$`]+")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
_SIMPLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_OPERATOR: Final = re.compile(r":[-=?+]|[-=?+]|##?|%%?|//?|\^\^?|,,?|@|:")
_SPACES: Final = re.compile(r"[ \t]*(?:\\\n[ \t]*)*")


class Scanner(ABC):
    """A position in a source text and the reading of words from there on."""

    def __init__(self, source: str, *, nesting: int = 0, budget: Budget | None = None) -> None:
        if nesting > MAX_NESTING:
            raise UnreadableError("substitutions are nested too deeply")
        self.budget = budget if budget is not None else Budget()
        self.source = source
        self.size = len(source)
        self.pos = 0
        self.nesting = nesting
        self.damage: list[int] = []
        self.pending: list[Heredoc] = []
        self.retries = 0

    @abstractmethod
    def read_program(self, closer: str) -> Program:
        """Read statements until `closer` (consumed) or the end of the text."""

    def skip_blanks(self) -> None:
        match = _SPACES.match(self.source, self.pos)
        if match is not None:
            self.pos = match.end()

    def read_word(self) -> Word:
        """Read one word at the current position; the caller made sure that one begins here."""
        source, start = self.source, self.pos
        match = PLAIN_WORD.match(source, start)
        if match is not None:
            end = match.end()
            if end == self.size or (source[end] in END_OF_WORD and not _GLUED.match(source, end - 1)):
                self.pos = end
                text = match.group()
                return Word((), start, end, text)
        parts: list[Part] = []
        while self.pos < self.size:
            self.budget.tick()
            char = source[self.pos]
            if char in END_OF_WORD:
                if char in "<>" and self.pos + 1 < self.size and source[self.pos + 1] == "(":
                    parts.append(self._process_substitution(char))
                    continue
                if char == "(" and parts and self._extended_glob(parts):
                    continue
                break
            self._read_piece(char, parts)
        return Word(tuple(_coalesced(parts)), start, self.pos)

    def _read_piece(self, char: str, parts: list[Part]) -> None:
        source = self.source
        if char == "'":
            parts.append(Fixed(self._single_quoted(), quoted=True))
        elif char == '"':
            self.pos += 1
            self._read_double(parts)
        elif char == "\\":
            self.pos += 2
            if self.pos > self.size:
                # bash drops nothing here: a lone backslash at the end stands for itself.
                self.pos = self.size
                parts.append(Fixed("\\", quoted=True))
            elif source[self.pos - 1] != "\n":
                parts.append(Fixed(source[self.pos - 1], quoted=True))
        elif char == "$":
            self._read_dollar(parts, quoted=False)
        elif char == "`":
            parts.append(self._backquoted(quoted=False))
        else:
            match = _UNQUOTED_RUN.match(source, self.pos)
            end = match.end() if match is not None else self.pos + 1
            parts.append(Fixed(source[self.pos : end]))
            self.pos = end

    def _single_quoted(self) -> str:
        start = self.pos + 1
        end = self.source.find("'", start)
        if end < 0:
            self.damage.append(self.pos)
            end = self.size
        self.pos = min(end + 1, self.size)
        return self.source[start:end]

    def _read_double(self, parts: list[Part]) -> None:
        """Read up to the closing double quote; the opening one is behind us."""
        source, opened = self.source, self.pos - 1
        parts.append(Fixed("", quoted=True))
        while self.pos < self.size:
            self.budget.tick()
            char = source[self.pos]
            if char == '"':
                self.pos += 1
                return
            if char == "\\":
                escaped = source[self.pos + 1 : self.pos + 2]
                self.pos += 2
                if escaped in ('"', "\\", "$", "`"):
                    parts.append(Fixed(escaped, quoted=True))
                elif escaped != "\n":
                    parts.append(Fixed("\\" + escaped, quoted=True))
            elif char == "$":
                self._read_dollar(parts, quoted=True)
            elif char == "`":
                parts.append(self._backquoted(quoted=True))
            else:
                match = _DOUBLE_RUN.match(source, self.pos)
                end = match.end() if match is not None else self.pos + 1
                parts.append(Fixed(source[self.pos : end], quoted=True))
                self.pos = end
        self.pos = self.size
        self.damage.append(opened)

    def _read_dollar(self, parts: list[Part], *, quoted: bool) -> None:
        if self.nesting >= MAX_NESTING:
            raise UnreadableError("expansions are nested too deeply")
        self.nesting += 1
        self._read_expansion(parts, quoted=quoted)
        self.nesting -= 1

    def _read_expansion(self, parts: list[Part], *, quoted: bool) -> None:
        source, start = self.source, self.pos
        following = source[start + 1 : start + 2]
        if following == "(":
            parts.append(self._dollar_paren(quoted=quoted))
        elif following == "{":
            parts.append(self._braced(quoted=quoted))
        elif following == "'" and not quoted:
            text, self.pos, closed = ansi_c(source, start + 2)
            if not closed:
                self.damage.append(start)
            parts.append(Fixed(text, quoted=True))
        elif following == '"' and not quoted:
            self.pos += 2
            self._read_double(parts)
        elif following == "[":
            end = source.find("]", start)
            self.pos = end + 1 if end > 0 else self.size
            inner = self.nested_word(source[start + 2 : max(end, start + 2)])
            parts.append(Arithmetic(inner, quoted=quoted))
        else:
            match = _SIMPLE_NAME.match(source, start + 1)
            if match is None:
                self.pos += 1
                parts.append(Fixed("$", quoted=quoted))
                return
            self.pos = match.end()
            parts.append(Parameter(match.group(), quoted=quoted))

    def _dollar_paren(self, *, quoted: bool) -> Part:
        if self.source.startswith("$((", self.pos):
            arithmetic = self._arithmetic(self.pos + 3)
            if arithmetic is not None:
                return Arithmetic(arithmetic, quoted=quoted)
        self.pos += 2
        return Substitution(self._nested_program(), quoted=quoted)

    def _process_substitution(self, char: str) -> Part:
        self.pos += 2
        return Substitution(self._nested_program(), form="<" if char == "<" else ">")

    def _nested_program(self) -> Program:
        if self.nesting >= MAX_NESTING:
            raise UnreadableError("substitutions are nested too deeply")
        self.nesting += 1
        pending, self.pending = self.pending, []
        program = self.read_program(")")
        self.pending = pending + self.pending
        self.nesting -= 1
        return program

    def _arithmetic(self, start: int) -> Word | None:
        """Read to the matching `))`; None when this is not arithmetic, with the position unmoved."""
        before, damage, pending = self.pos, len(self.damage), list(self.pending)
        self.pos = start
        depth = 0
        parts: list[Part] = []
        source = self.source
        while self.pos < self.size:
            char = source[self.pos]
            if char == ")":
                if depth == 0:
                    if source.startswith("))", self.pos):
                        self.pos += 2
                        return Word(tuple(parts), start, self.pos)
                    break
                depth -= 1
                self.pos += 1
            elif char == "(":
                depth += 1
                self.pos += 1
            elif char in "\\'\"`$":
                self._read_piece(char, parts)
            else:
                match = _ARITHMETIC_RUN.match(source, self.pos)
                end = match.end() if match is not None else self.pos + 1
                parts.append(Fixed(source[self.pos : end], quoted=True))
                self.pos = end
        self.retries += self.pos - before
        if self.retries > _MAX_RETRIED:
            raise UnreadableError("too many unclosed parentheses")
        self.pos = before
        self.pending = pending
        del self.damage[damage:]
        return None

    def _backquoted(self, *, quoted: bool) -> Part:
        source, start = self.source, self.pos
        pos = start + 1
        inner: list[str] = []
        escapable = '$`\\"' if quoted else "$`\\"
        while pos < self.size and source[pos] != "`":
            if source[pos] == "\\" and source[pos + 1 : pos + 2] and source[pos + 1] in escapable:
                pos += 1
            inner.append(source[pos])
            pos += 1
        if pos >= self.size:
            self.damage.append(start)
        self.pos = min(pos + 1, self.size)
        return Substitution(self.nested_text("".join(inner)), quoted=quoted)

    @abstractmethod
    def nested_text(self, text: str) -> Program:
        """Read another text as a script one level deeper."""

    def nested_word(self, text: str) -> Word:
        """Read a text that is expanded as if in double quotes."""
        inner = type(self)(text, nesting=self.nesting + 1, budget=self.budget)
        parts: list[Part] = []
        while inner.pos < inner.size:
            self.budget.tick()
            char = inner.source[inner.pos]
            if char == "\\" and inner.source[inner.pos + 1 : inner.pos + 2] in ("$", "`", "\\"):
                parts.append(Fixed(inner.source[inner.pos + 1], quoted=True))
                inner.pos += 2
            elif char == "\\" and inner.source[inner.pos + 1 : inner.pos + 2] == "\n":
                inner.pos += 2
            elif char == "$":
                inner._read_dollar(parts, quoted=True)
            elif char == "`":
                parts.append(inner._backquoted(quoted=True))
            else:
                match = _HEREDOC_RUN.match(inner.source, inner.pos)
                end = match.end() if match is not None else inner.pos + 1
                parts.append(Fixed(inner.source[inner.pos : end], quoted=True))
                inner.pos = end
        return Word(tuple(parts), 0, len(text))

    def _braced(self, *, quoted: bool) -> Part:
        """Read `${…}`."""
        source, start = self.source, self.pos
        self.pos += 2
        prefix = ""
        if source[self.pos : self.pos + 1] == "!" and source[self.pos + 1 : self.pos + 2] not in ("}", ""):
            prefix = "!"
            self.pos += 1
        elif source[self.pos : self.pos + 1] == "#" and _NAME.match(source, self.pos + 1):
            prefix = "#"
            self.pos += 1
        match = _NAME.match(source, self.pos)
        name = match.group() if match is not None else ""
        self.pos = match.end() if match is not None else self.pos
        index = None
        if source[self.pos : self.pos + 1] == "[":
            index = self.read_index()
        operator, operand = "", None
        if source[self.pos : self.pos + 1] != "}":
            found = _OPERATOR.match(source, self.pos)
            if found is not None:
                operator = found.group()
                self.pos = found.end()
            operand = self._operand(quoted=quoted)
        if source[self.pos : self.pos + 1] == "}":
            self.pos += 1
        else:
            self.damage.append(start)
        return Parameter(name, prefix + operator, operand, index, quoted)

    def _operand(self, *, quoted: bool) -> Word:
        start, parts = self.pos, list[Part]()
        source = self.source
        while self.pos < self.size and source[self.pos] != "}":
            char = source[self.pos]
            if char == "'" and quoted:
                parts.append(Fixed("'", quoted=False))
                self.pos += 1
            elif char in "\\'\"`$":
                self._read_piece(char, parts)
            else:
                match = _OPERAND_RUN.match(source, self.pos)
                end = match.end() if match is not None else self.pos + 1
                parts.append(Fixed(source[self.pos : end]))
                self.pos = end
        return Word(tuple(parts), start, self.pos)

    def read_index(self) -> Word:
        """Read `[…]` after a variable's name."""
        self.pos += 1
        start, parts, depth = self.pos, list[Part](), 0
        source = self.source
        while self.pos < self.size:
            char = source[self.pos]
            if char == "]" and depth == 0:
                self.pos += 1
                break
            depth += (char == "[") - (char == "]")
            if char in "\\'\"`$":
                self._read_piece(char, parts)
            else:
                parts.append(Fixed(char))
                self.pos += 1
        return Word(tuple(parts), start, self.pos)

    def _extended_glob(self, parts: list[Part]) -> bool:
        """Read `(…)` after one of `?*+@!` as part of a pattern."""
        last = parts[-1]
        if not isinstance(last, Fixed) or last.quoted or last.text[-1:] not in tuple("?*+@!"):
            return False
        depth = 0
        while self.pos < self.size:
            char = self.source[self.pos]
            if char in "\\'\"`$":
                self._read_piece(char, parts)
                continue
            if char in "\n":
                self.damage.append(self.pos)
                break
            depth += (char == "(") - (char == ")")
            parts.append(Fixed(char))
            self.pos += 1
            if depth == 0:
                break
        return True

    def read_heredocs(self) -> None:
        """Read the bodies that were announced on the line that has just ended."""
        pending, self.pending = self.pending, []
        for heredoc in pending:
            lines: list[str] = []
            while self.pos < self.size:
                end = self.source.find("\n", self.pos)
                end = self.size if end < 0 else end
                line = self.source[self.pos : end]
                self.pos = min(end + 1, self.size)
                if heredoc.strip_tabs:
                    line = line.lstrip("\t")
                if line == heredoc.delimiter or line.removesuffix("\r") == heredoc.delimiter:
                    break
                # bash also takes `EOF)` as the end inside a substitution, with a warning.
                if self.nesting and line.startswith(heredoc.delimiter + ")"):
                    self.pos = end - len(line) + len(heredoc.delimiter)
                    break
                lines.append(line + "\n")
            body = "".join(lines)
            if heredoc.quoted:
                heredoc.body = Word((Fixed(body, quoted=True),), 0, len(body))
            else:
                heredoc.body = self.nested_word(body)


def _coalesced(parts: list[Part]) -> list[Part]:
    """Join neighbours of the same kind of text, so that a tilde prefix or a brace is seen whole."""
    if len(parts) < 2:
        return parts
    joined: list[Part] = []
    run: list[str] = []
    quoted = False
    for part in parts:
        if isinstance(part, Fixed):
            if run and part.quoted != quoted:
                joined.append(Fixed("".join(run), quoted))
                run = []
            run.append(part.text)
            quoted = part.quoted
            continue
        if run:
            joined.append(Fixed("".join(run), quoted))
            run = []
        joined.append(part)
    if run:
        joined.append(Fixed("".join(run), quoted))
    return joined
