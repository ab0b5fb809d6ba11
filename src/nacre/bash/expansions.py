"""Reading what bash replaces inside a word: `$x`, `${…}`, `$(…)`, `$((…))`, backquotes, `<(…)`, `$'…'`."""

import re
from typing import Final, Literal

from nacre.bash import scanner
from nacre.bash.backslashes import ansi_c
from nacre.bash.cursor import Cursor
from nacre.bash.tree import Arithmetic, Parameter, Part, Program, Substitution, Text, Word

_OPERAND_RUN: Final = re.compile(r"""[^}\\'"`$]+""")
_ARITHMETIC_RUN: Final = re.compile(r"""[^()\\'"`$]+""")
_HEREDOC_RUN: Final = re.compile(r"[^\\$`]+")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
_SIMPLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_PREFIX: Final = re.compile(rf"!(?!\}}|\Z)|#(?={_NAME.pattern})")
_OPERATOR: Final = re.compile(r":[-=?+]|[-=?+]|##?|%%?|//?|\^\^?|,,?|@|:")


def read_dollar(cursor: Cursor, parts: list[Part], *, quoted: bool) -> None:
    """Read what begins with `$`."""
    cursor.enter()
    source, start = cursor.source, cursor.pos
    following = source[start + 1 : start + 2]
    if following == "(":
        parts.append(_dollar_paren(cursor, quoted=quoted))
    elif following == "{":
        parts.append(_braced(cursor, quoted=quoted))
    elif following == "'" and not quoted:
        text, cursor.pos, closed = ansi_c(source, start + 2)
        cursor.quotes.append((start, cursor.pos))
        if not closed:
            cursor.damage.append(start)
        parts.append(Text(text, quoted=True))
    elif following == '"' and not quoted:
        cursor.pos += 2
        scanner.read_double(cursor, parts)
    elif following == "[":
        end = source.find("]", start)
        cursor.pos = end + 1 if end > 0 else cursor.size
        parts.append(Arithmetic(read_expanded(cursor, source[start + 2 : max(end, start + 2)]), quoted=quoted))
    else:
        match = _SIMPLE_NAME.match(source, start + 1)
        cursor.pos = start + 1 if match is None else match.end()
        parts.append(Text("$", quoted) if match is None else Parameter(match.group(), quoted=quoted))
    cursor.nesting -= 1


def _dollar_paren(cursor: Cursor, *, quoted: bool) -> Part:
    if cursor.at("$(("):
        arithmetic = read_arithmetic(cursor, 3)
        if arithmetic is not None:
            return Arithmetic(arithmetic, quoted=quoted)
    cursor.pos += 2
    return Substitution(_nested_program(cursor), quoted=quoted)


def read_process_substitution(cursor: Cursor) -> Part:
    """Read `<(…)` or `>(…)`."""
    form: Literal["<", ">"] = "<" if cursor.char == "<" else ">"
    cursor.pos += 2
    return Substitution(_nested_program(cursor), form)


def _nested_program(cursor: Cursor) -> Program:
    cursor.enter()
    pending, cursor.pending = cursor.pending, []
    program = cursor.read_program(cursor, ")")
    cursor.pending = pending + cursor.pending
    cursor.nesting -= 1
    return program


def read_arithmetic(cursor: Cursor, skip: int) -> Word | None:
    """Read to the matching `))`; None when this is not arithmetic, with the position unmoved."""
    before = (cursor.pos, len(cursor.damage), len(cursor.quotes), list(cursor.pending))
    cursor.pos += skip
    start, depth, parts = cursor.pos, 0, list[Part]()
    while cursor.pos < cursor.size:
        if scanner.read_piece(cursor, parts):
            continue
        char = cursor.char
        if char == ")" and depth == 0:
            if not cursor.at("))"):
                break
            cursor.pos += 2
            return Word(tuple(parts), start, cursor.pos)
        if char in "()":
            depth += 1 if char == "(" else -1
            cursor.pos += 1
        else:
            parts.append(Text(cursor.take(_ARITHMETIC_RUN), quoted=True))
    cursor.rewound(*before)
    return None


def read_backquoted(cursor: Cursor, *, quoted: bool) -> Part:
    """Read a text in backquotes."""
    source, start = cursor.source, cursor.pos
    pos = start + 1
    inner: list[str] = []
    escapable = '$`\\"' if quoted else "$`\\"
    while pos < cursor.size and source[pos] != "`":
        if source[pos] == "\\" and source[pos + 1 : pos + 2] and source[pos + 1] in escapable:
            pos += 1
        inner.append(source[pos])
        pos += 1
    if pos >= cursor.size:
        cursor.damage.append(start)
    cursor.pos = min(pos + 1, cursor.size)
    nested = cursor.nested("".join(inner))
    program = cursor.read_program(nested, "")
    program.quotes = nested.quotes
    program.origin = start + 1 if len(inner) == pos - start - 1 else None
    if nested.damage:
        cursor.damage.append(cursor.pos)
    return Substitution(program, quoted=quoted)


def read_expanded(cursor: Cursor, text: str) -> Word:
    """Read a text of its own that is expanded as if in double quotes, such as a here-document."""
    inner, parts = cursor.nested(text), list[Part]()
    while inner.pos < inner.size:
        cursor.budget.tick()
        char = inner.char
        following = text[inner.pos + 1 : inner.pos + 2]
        if char == "\\" and following in ("$", "`", "\\"):
            parts.append(Text(following, quoted=True))
            inner.pos += 2
        elif char == "\\" and following == "\n":
            inner.pos += 2
        elif char == "$":
            read_dollar(inner, parts, quoted=True)
        elif char == "`":
            parts.append(read_backquoted(inner, quoted=True))
        else:
            parts.append(Text(inner.take(_HEREDOC_RUN), quoted=True))
    return Word(tuple(parts), 0, len(text))


def _braced(cursor: Cursor, *, quoted: bool) -> Part:
    """Read `${…}`."""
    start = cursor.pos
    cursor.pos += 2
    prefix, name = cursor.skip(_PREFIX), cursor.skip(_NAME)
    index = read_index(cursor) if cursor.char == "[" else None
    operator, operand = "", None
    if cursor.char != "}":
        found = cursor.skip(_OPERATOR)
        operator = found.group() if found is not None else ""
        operand = _operand(cursor, quoted=quoted)
    if cursor.char == "}":
        cursor.pos += 1
    else:
        cursor.damage.append(start)
    operator = (prefix.group() if prefix is not None else "") + operator
    return Parameter(name.group() if name is not None else "", operator, operand, index, quoted)


def _operand(cursor: Cursor, *, quoted: bool) -> Word:
    start, parts = cursor.pos, list[Part]()
    while cursor.pos < cursor.size and cursor.char != "}":
        if cursor.char == "'" and quoted:
            parts.append(Text("'"))
            cursor.pos += 1
        elif not scanner.read_piece(cursor, parts):
            parts.append(Text(cursor.take(_OPERAND_RUN)))
    return Word(tuple(parts), start, cursor.pos)


def read_index(cursor: Cursor) -> Word:
    """Read `[…]` after a variable's name."""
    cursor.pos += 1
    start, parts, depth = cursor.pos, list[Part](), 0
    while cursor.pos < cursor.size:
        char = cursor.char
        if char == "]" and depth == 0:
            cursor.pos += 1
            break
        depth += (char == "[") - (char == "]")
        if not scanner.read_piece(cursor, parts):
            parts.append(Text(char))
            cursor.pos += 1
    return Word(tuple(parts), start, cursor.pos)
