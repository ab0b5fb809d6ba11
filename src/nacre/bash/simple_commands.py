"""Reading a simple command: assignments, redirections, words, and the bodies of its here-documents."""

import re
from itertools import islice
from typing import Final

from nacre.bash.cursor import Cursor
from nacre.bash.expansions import read_expanded, read_index
from nacre.bash.scanner import END_OF_WORD, PLAIN_WORD, read_word
from nacre.bash.tree import Assignment, Heredoc, Redirect, SimpleCommand, Text, Word

REDIRECT: Final = re.compile(r"(?P<fd>\d+|\{[A-Za-z_]\w*\})?(?P<op><<<|<<-?|<>|<&|>>|>\||>&|&>>|&>|(?:<|>)(?!\())")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_EQUALS: Final = re.compile(r"\+?=")
_PLAIN_RUN: Final = re.compile(PLAIN_WORD.pattern + r"(?:[ \t]+" + PLAIN_WORD.pattern + r")+(?=[\n;|&)]|$|[ \t]+[^<>])")
_BEFORE_COMMENT: Final = frozenset(" \t\n;|&()")
_DECLARING: Final = frozenset(("declare", "typeset", "local", "export", "readonly", "alias", "eval", "env"))
# How many words are read between two looks at the clock.
_BATCH: Final = 4_096


def read_simple_command(cursor: Cursor) -> SimpleCommand:
    """Read up to what ends a command; an opening parenthesis ends it too."""
    source, command = cursor.source, SimpleCommand(cursor.pos)
    while True:
        cursor.skip_blanks()
        if cursor.pos >= cursor.size:
            break
        char = source[cursor.pos]
        if char in "\n;|)(" or (char == "#" and (cursor.pos == 0 or source[cursor.pos - 1] in _BEFORE_COMMENT)):
            break
        if char in "<>&0123456789{" and read_redirect(cursor, command.redirects):
            continue
        if char == "&":
            break
        declares = not command.words or command.words[0].fixed in _DECLARING
        if (declares and _read_assignment(cursor, command)) or (
            command.words and _read_plain_run(cursor, command.words)
        ):
            continue
        before = cursor.pos
        cursor.budget.tick()
        command.words.append(read_word(cursor))
        if cursor.pos == before:
            cursor.damage.append(cursor.pos)
            cursor.pos += 1
            break
    command.end = cursor.pos
    return command


def _read_plain_run(cursor: Cursor, words: list[Word]) -> bool:
    """Read several plain words at once: most arguments are, and a long command has very many."""
    run = _PLAIN_RUN.match(cursor.source, cursor.pos)
    if run is None:
        return False
    found = PLAIN_WORD.finditer(cursor.source, cursor.pos, run.end())
    while batch := [Word((), item.start(), item.end(), item.group()) for item in islice(found, _BATCH)]:
        words.extend(batch)
        cursor.budget.look()
    cursor.pos = run.end()
    return True


def _read_assignment(cursor: Cursor, command: SimpleCommand) -> bool:
    """Read an assignment; False, unmoved, when it is a word."""
    start, match = cursor.pos, cursor.skip(_ASSIGNMENT)
    if match is None:
        return False
    name, operator = match.groups()
    index = None
    if operator == "[":
        cursor.pos -= 1
        index = read_index(cursor)
        follow = cursor.skip(_EQUALS)
        if follow is None:
            cursor.pos = start
            return False
        operator = follow.group()
    append = operator == "+="
    if cursor.char == "(":
        cursor.pos += 1
        command.assignments.append(Assignment(name, None, _array_values(cursor), append, index))
    elif command.words:
        # An argument of declare, export …: a word to the program, an assignment to the shell.
        cursor.pos = start
        command.words.append(read_word(cursor))
    else:
        value = read_word(cursor) if _word_follows(cursor) else None
        command.assignments.append(Assignment(name, value, None, append, index))
    return True


def _word_follows(cursor: Cursor) -> bool:
    return cursor.char not in ("", *END_OF_WORD) or cursor.at(("<(", ">("))


def _array_values(cursor: Cursor) -> tuple[Word, ...]:
    words: list[Word] = []
    while True:
        while cursor.pos < cursor.size and cursor.char in " \t\n":
            cursor.pos += 1
        if cursor.char == "#":
            cursor.skip_comment()
        elif _word_follows(cursor):
            words.append(read_word(cursor))
        else:
            if cursor.char != ")":
                cursor.damage.append(cursor.pos)
            cursor.pos += 1
            return tuple(words)


def read_redirect(cursor: Cursor, redirects: list[Redirect]) -> bool:
    """Read a redirection; False when none begins here."""
    match = cursor.skip(REDIRECT)
    if match is None:
        return False
    operator, descriptor = match["op"], match["fd"] or ""
    cursor.skip_blanks()
    if not _word_follows(cursor):
        cursor.damage.append(cursor.pos)
        return True
    word = read_word(cursor)
    if operator not in ("<<", "<<-"):
        redirects.append(Redirect(operator, descriptor, word))
        return True
    quoted = any(isinstance(part, Text) and part.quoted for part in word.parts)
    delimiter = cursor.source[word.start : word.end]
    if quoted:
        delimiter = "".join(part.text for part in word.parts if isinstance(part, Text))
    heredoc = Heredoc(delimiter, quoted, operator == "<<-")
    cursor.pending.append(heredoc)
    redirects.append(Redirect(operator, descriptor, heredoc))
    return True


def read_heredocs(cursor: Cursor) -> None:
    """Read the bodies that were announced on the line that has just ended."""
    pending, cursor.pending = cursor.pending, []
    for heredoc in pending:
        lines: list[str] = []
        while True:
            if cursor.pos >= cursor.size:
                cursor.unfinished = True
                break
            start = cursor.pos
            cursor.skip_comment()
            line, end = cursor.source[start : cursor.pos], cursor.pos
            cursor.pos = min(end + 1, cursor.size)
            if heredoc.strip_tabs:
                line = line.lstrip("\t")
            if line.removesuffix("\r") == heredoc.delimiter or line == heredoc.delimiter:
                break
            # bash also takes `EOF)` as the end inside a substitution, with a warning.
            if cursor.nesting and line.startswith(heredoc.delimiter + ")"):
                cursor.pos = end - len(line) + len(heredoc.delimiter)
                break
            lines.append(line + "\n")
        body = "".join(lines)
        quoted = Word((Text(body, quoted=True),), 0, len(body)) if heredoc.quoted else None
        heredoc.body = quoted or read_expanded(cursor, body)
