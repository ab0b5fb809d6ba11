"""Reading a script: statements, pipelines, lists and compound commands into one flat `Program`.

Text that is not valid shell is noted in `Program.damage` and read on from the next character; nothing is skipped
unseen.
"""

import re
from typing import Final

from nacre.bash.budget import TimeBudget
from nacre.bash.constructs import BLANK_LINES, OpenConstruct, Outline
from nacre.bash.cursor import Cursor
from nacre.bash.expansions import read_arithmetic
from nacre.bash.scanner import END_OF_WORD, read_word
from nacre.bash.simple_commands import REDIRECT, read_heredocs, read_simple_command
from nacre.bash.tree import BlockKind, Branch, Program, Word

_RESERVED: Final = re.compile(
    r"(?:if|then|elif|else|fi|while|until|do|done|for|select|case|esac|function|time|coproc|\{|\}|!|\[\[)(?=[\s;|&()<>]|$)"
)
_FUNCTION: Final = re.compile(r"[ \t]*\([ \t]*\)")
_NAME: Final = re.compile(r"[ \t]*([^\s;|&()<>]+)")
_COPROC_NAME: Final = re.compile(r"[ \t]+(?:[A-Za-z_]\w*[ \t]+(?=[{(]))?")
# Before an option other than -p, `time` is the program, not the keyword.
_TIME_PROGRAM: Final = re.compile(r"time[ \t]+-(?!p\s|-\s)")
_TIME_OPTIONS: Final = re.compile(r"(?:[ \t]+(?:-p|--)(?=\s))*")
_IN: Final = re.compile(r"in(?=[\s;]|$)")
_ESAC: Final = re.compile(r"esac(?=[\s;|&()<>]|$)")
_TEST_BLANKS: Final = re.compile(r"[ \t\n]*")
_CLOSES: Final[dict[str, tuple[BlockKind, ...]]] = {
    "fi": ("if",),
    "done": ("loop", "for"),
    "esac": ("case",),
    "}": ("group", "for"),
}


def read(source: str, budget: TimeBudget | None = None) -> Program:
    """Read a whole script."""
    cursor = Cursor(source, _read_program, budget if budget is not None else TimeBudget())
    program = _read_program(cursor, "")
    program.damage, program.quotes, program.unfinished = cursor.damage, cursor.quotes, cursor.unfinished
    return program


def _read_program(cursor: Cursor, closer: str) -> Program:
    """Read statements until `closer`, which is consumed, or the end of the text."""
    outline, damage = Outline(cursor), len(cursor.damage)
    while _read_statement(cursor, outline, closer):
        cursor.budget.tick()
    outline.end_statement()
    return Program(cursor.source, outline.steps, cursor.damage[damage:], cursor.background)


def _read_statement(cursor: Cursor, outline: Outline, closer: str) -> bool:
    """Read one thing at command position; False when the program has ended."""
    _skip_lines(cursor, outline)
    if cursor.pos >= cursor.size:
        if closer or len(outline.open) > 1:
            cursor.damage.append(cursor.pos)
        if cursor.pending:
            read_heredocs(cursor)
        while len(outline.open) > 1:
            outline.pop()
        return False
    construct = outline.open[-1]
    char = cursor.source[cursor.pos]
    if construct.in_pattern:
        _case_pattern(cursor, outline, construct)
    elif char == ")":
        return _closing_paren(cursor, outline, closer)
    elif char == "(":
        _opening_paren(cursor, outline)
    elif char in ";&|":
        _stray_operator(cursor, outline, construct)
    else:
        match = _RESERVED.match(cursor.source, cursor.pos) if char in "iteswfdc{}![u" else None
        if match is None or not _reserved(cursor, outline, construct, match.group()):
            _simple_command(cursor, outline)
    return True


def _skip_lines(cursor: Cursor, outline: Outline) -> None:
    while True:
        cursor.skip(BLANK_LINES)
        char = cursor.char
        if char == "\n":
            outline.end_statement(keep_pipe=True)
            cursor.pos += 1
            if cursor.pending:
                read_heredocs(cursor)
        elif char == "#":
            cursor.skip_comment()
        else:
            return


def _opening_paren(cursor: Cursor, outline: Outline) -> None:
    start = cursor.pos
    if cursor.at("(("):
        arithmetic = read_arithmetic(cursor, 2)
        if arithmetic is not None:
            name = cursor.source[arithmetic.start : arithmetic.end - 2]
            outline.leaf("arithmetic", [arithmetic], start, name)
            return
    outline.push("subshell")
    cursor.pos += 1


def _closing_paren(cursor: Cursor, outline: Outline, closer: str) -> bool:
    cursor.pos += 1
    if outline.open[-1].kind == "subshell":
        outline.close_compound()
        return True
    if closer == ")":
        if len(outline.open) > 1:
            cursor.damage.append(cursor.pos - 1)
        while len(outline.open) > 1:
            outline.pop()
        return False
    cursor.damage.append(cursor.pos - 1)
    outline.end_statement()
    return True


def _stray_operator(cursor: Cursor, outline: Outline, construct: OpenConstruct) -> None:
    if cursor.at((";;", ";&")):
        outline.end_statement()
        if construct.kind == "case":
            construct.in_pattern = True
        else:
            cursor.damage.append(cursor.pos)
        cursor.pos += 3 if cursor.at(";;&") else 2
    elif REDIRECT.match(cursor.source, cursor.pos):
        _simple_command(cursor, outline)
    else:
        cursor.damage.append(cursor.pos)
        outline.end_statement()
        cursor.pos += 1


def _reserved(cursor: Cursor, outline: Outline, construct: OpenConstruct, word: str) -> bool:
    """Handle a reserved word; False when it is an ordinary word here."""
    start = cursor.pos
    if word == "time" and _TIME_PROGRAM.match(cursor.source, start):
        return False
    cursor.pos += len(word)
    match word:
        case "if":
            outline.push("if")
        case "while" | "until":
            outline.push("loop")
        case "{" if construct.kind == "for" and not construct.braces:
            construct.braces = True
        case "{":
            outline.push("group")
        case "for" | "select":
            _for(cursor, outline)
        case "case":
            _case(cursor, outline)
        case "function":
            name = cursor.skip(_NAME)
            cursor.skip(_FUNCTION)
            outline.push("function", name=name.group(1) if name is not None else "")
        case "[[":
            _test(cursor, outline, start)
        case "fi" | "done" | "esac" | "}":
            if construct.kind in _CLOSES[word]:
                outline.close_compound()
                return True
            cursor.damage.append(start)
            if word == "}":
                cursor.pos = start
                return False
            outline.end_statement()
        case _:
            _lead(cursor, outline, construct, word)
    return True


def _lead(cursor: Cursor, outline: Outline, construct: OpenConstruct, word: str) -> None:
    """Handle a word in front of a command: `then`, `elif`, `else`, `do`, `time`, `coproc`, `!`."""
    if word in ("then", "elif", "else", "do"):
        outline.end_statement()
    if word == "do":
        # The body has begun, so a brace opens a group in it.
        construct.braces = True
    elif word == "time":
        cursor.skip(_TIME_OPTIONS)
    elif word == "coproc":
        cursor.skip(_COPROC_NAME)
    elif word != "!":
        if construct.kind != "if" or construct.block is None:
            cursor.damage.append(cursor.pos)
            return
        construct.block.has_else = construct.block.has_else or word == "else"
        outline.steps.append(Branch(construct.block, continues=word == "then"))


def _for(cursor: Cursor, outline: Outline) -> None:
    cursor.skip_blanks()
    if cursor.at("(("):
        arithmetic = read_arithmetic(cursor, 2)
        outline.push("loop", words=[arithmetic] if arithmetic is not None else None)
        _skip_semicolon(cursor)
        _skip_lines(cursor, outline)
        if cursor.char == "{":
            construct = outline.open[-1]
            construct.kind, construct.braces = "for", True
            cursor.pos += 1
        return
    name = cursor.skip(_NAME)
    block = outline.push("for", name=name.group(1) if name is not None else "")
    _skip_lines(cursor, outline)
    if cursor.skip(_IN):
        block.words = _words_to_line_end(cursor)
    _skip_semicolon(cursor)


def _skip_semicolon(cursor: Cursor) -> None:
    cursor.skip_blanks()
    if cursor.char == ";":
        cursor.pos += 1


def _words_to_line_end(cursor: Cursor) -> list[Word]:
    words: list[Word] = []
    while True:
        cursor.skip_blanks()
        char = cursor.char
        if char in ("", "\n", ";", "&", "|", ")", "("):
            return words
        if char in "<>" and not cursor.at(("<(", ">(")):
            cursor.damage.append(cursor.pos)
            return words
        words.append(read_word(cursor))


def _case(cursor: Cursor, outline: Outline) -> None:
    cursor.skip_blanks()
    subject = [read_word(cursor)] if cursor.char not in ("", *END_OF_WORD) else []
    outline.push("case", words=subject)
    _skip_lines(cursor, outline)
    if not cursor.skip(_IN):
        cursor.damage.append(cursor.pos)
    outline.open[-1].in_pattern = True


def _case_pattern(cursor: Cursor, outline: Outline, construct: OpenConstruct) -> None:
    construct.in_pattern = False
    if cursor.skip(_ESAC):
        outline.close_compound()
        return
    words: list[Word] = []
    if cursor.char == "(":
        cursor.pos += 1
    while cursor.pos < cursor.size:
        cursor.skip_blanks()
        char = cursor.char
        if char == "|":
            cursor.pos += 1
        elif char in ("", "\n", ";", "&", "(", "<", ">", ")"):
            if char != ")":
                cursor.damage.append(cursor.pos)
            cursor.pos += 1
            break
        else:
            words.append(read_word(cursor))
    if construct.block is not None:
        outline.steps.append(Branch(construct.block, tuple(words)))


def _test(cursor: Cursor, outline: Outline, start: int) -> None:
    words: list[Word] = []
    while True:
        cursor.skip(_TEST_BLANKS)
        if cursor.pos >= cursor.size:
            cursor.damage.append(cursor.pos)
            break
        if cursor.at("]]"):
            cursor.pos += 2
            break
        if cursor.char in "()<>&|;":
            cursor.pos += 1
        else:
            words.append(read_word(cursor))
    outline.leaf("test", words, start)


def _simple_command(cursor: Cursor, outline: Outline) -> None:
    command = read_simple_command(cursor)
    if cursor.char == "(":
        parens = _FUNCTION.match(cursor.source, cursor.pos)
        if parens is not None and len(command.words) == 1 and not command.redirects:
            cursor.pos = parens.end()
            outline.push("function", name=cursor.source[command.words[0].start : command.words[0].end])
            return
        cursor.damage.append(cursor.pos)
    outline.emit(command)
    outline.after()
