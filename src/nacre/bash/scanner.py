"""Reading one word: quotes, escapes, and where an expansion begins, as bash itself scans them.

Every character is looked at a bounded number of times. Text that is not valid shell is noted as damage and read on;
bad input never raises, only nesting beyond `MAX_NESTING` does (each substitution inside a substitution is one level).
"""

import re
from itertools import groupby
from typing import Final

# Modules, because words and expansions contain each other.
from nacre.bash import expansions
from nacre.bash.cursor import Cursor
from nacre.bash.tree import Part, Text, Word

PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9_./:,+@%=^-]+")
END_OF_WORD: Final = frozenset(" \t\n;|&()<>")
_SPECIAL: Final = frozenset("\\'\"`$")
# A word goes on with these: `@(a|b)`, `--file=<(x)`.
_GLUED: Final = re.compile(r"[+@]\(|.[<>]\(")
_UNQUOTED_RUN: Final = re.compile(r"""[^\s;|&()<>\\'"`$*?+@!]+""")
_DOUBLE_RUN: Final = re.compile(r'[^"\\$`]+')


def read_word(cursor: Cursor) -> Word:
    """Read one word at the current position; the caller made sure that one begins here."""
    source, start = cursor.source, cursor.pos
    match = PLAIN_WORD.match(source, start)
    if match is not None:
        end = match.end()
        if end == cursor.size or (source[end] in END_OF_WORD and not _GLUED.match(source, end - 1)):
            cursor.pos = end
            return Word((), start, end, match.group())
    parts: list[Part] = []
    while cursor.pos < cursor.size:
        cursor.budget.tick()
        char = source[cursor.pos]
        if char in END_OF_WORD:
            if char in "<>" and source[cursor.pos + 1 : cursor.pos + 2] == "(":
                parts.append(expansions.read_process_substitution(cursor))
                continue
            if char == "(" and parts and _extended_glob(cursor, parts):
                continue
            break
        if char in _SPECIAL:
            read_piece(cursor, parts)
        else:
            parts.append(Text(cursor.take(_UNQUOTED_RUN)))
    return Word(tuple(_joined(parts)) if len(parts) > 1 else tuple(parts), start, cursor.pos)


def read_piece(cursor: Cursor, parts: list[Part]) -> bool:
    """Read a quoted text, an escape or an expansion; False when none begins here."""
    source, start = cursor.source, cursor.pos
    match source[start]:
        case "'":
            end = source.find("'", start + 1)
            if end < 0:
                cursor.damage.append(start)
                end = cursor.size
            cursor.pos = min(end + 1, cursor.size)
            cursor.quotes.append((start, end + 1))
            parts.append(Text(source[start + 1 : end], quoted=True))
        case '"':
            cursor.pos += 1
            read_double(cursor, parts)
        case "\\":
            cursor.pos += 2
            if cursor.pos > cursor.size:
                # bash drops nothing here: a lone backslash at the end stands for itself.
                cursor.pos, cursor.unfinished = cursor.size, True
                parts.append(Text("\\", quoted=True))
            elif source[cursor.pos - 1] != "\n":
                parts.append(Text(source[cursor.pos - 1], quoted=True))
        case "$":
            expansions.read_dollar(cursor, parts, quoted=False)
        case "`":
            parts.append(expansions.read_backquoted(cursor, quoted=False))
        case _:
            return False
    return True


def read_double(cursor: Cursor, parts: list[Part]) -> None:
    """Read up to the closing double quote; the opening one is behind us."""
    source, opened = cursor.source, cursor.pos - 1
    parts.append(Text("", quoted=True))
    while cursor.pos < cursor.size:
        cursor.budget.tick()
        char = source[cursor.pos]
        if char == '"':
            cursor.pos += 1
            cursor.quotes.append((opened, cursor.pos))
            return
        if char == "\\":
            escaped = source[cursor.pos + 1 : cursor.pos + 2]
            cursor.pos += 2
            if escaped in ('"', "\\", "$", "`"):
                parts.append(Text(escaped, quoted=True))
            elif escaped != "\n":
                parts.append(Text("\\" + escaped, quoted=True))
        elif char == "$":
            expansions.read_dollar(cursor, parts, quoted=True)
        elif char == "`":
            parts.append(expansions.read_backquoted(cursor, quoted=True))
        else:
            parts.append(Text(cursor.take(_DOUBLE_RUN), quoted=True))
    cursor.pos = cursor.size
    cursor.quotes.append((opened, cursor.size + 1))
    cursor.damage.append(opened)


def _extended_glob(cursor: Cursor, parts: list[Part]) -> bool:
    """Read `(…)` after one of `?*+@!` as part of a pattern."""
    last = parts[-1]
    if not isinstance(last, Text) or last.quoted or last.text[-1:] not in tuple("?*+@!"):
        return False
    depth = 0
    while cursor.pos < cursor.size:
        if read_piece(cursor, parts):
            continue
        char = cursor.char
        if char == "\n":
            cursor.damage.append(cursor.pos)
            break
        depth += (char == "(") - (char == ")")
        parts.append(Text(char))
        cursor.pos += 1
        if depth == 0:
            break
    return True


def _joined(parts: list[Part]) -> list[Part]:
    """Join neighbours of the same kind of text, so that a tilde prefix or a brace is seen whole."""
    joined: list[Part] = []
    for quoted, run in groupby(parts, lambda part: part.quoted if isinstance(part, Text) else None):
        if quoted is None:
            joined.extend(run)
        else:
            joined.append(Text("".join(part.text for part in run if isinstance(part, Text)), quoted))
    return joined
