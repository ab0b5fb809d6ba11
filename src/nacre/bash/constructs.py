"""The constructs that are open while a script is read, and how the commands in them are connected.

They live on an explicit stack, so depth costs memory and never Python frames. The reader decides what opens and
closes which construct.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from nacre.bash.cursor import Cursor
from nacre.bash.simple_commands import read_heredocs, read_redirect
from nacre.bash.tree import Block, BlockKind, Close, Open, SimpleCommand, Step, Word

BLANK_LINES: Final = re.compile(r"(?:[ \t\r]|\\\n)*")


@dataclass(slots=True)
class OpenConstruct:
    """One construct that is still open."""

    block: Block | None
    kind: BlockKind | None = None
    chain: Block | None = None
    operator: str = ""
    head: SimpleCommand | Block | None = None
    pipe_pending: bool = False
    in_pattern: bool = False
    braces: bool = False


@dataclass(slots=True)
class Outline:
    """The steps of a program up to here, and the constructs that are open."""

    cursor: Cursor
    steps: list[Step] = field(default_factory=list)
    open: list[OpenConstruct] = field(default_factory=lambda: [OpenConstruct(None)])

    def emit(self, head: SimpleCommand | Block) -> None:
        """Add a command or the beginning of a block."""
        construct = self.open[-1]
        if construct.pipe_pending:
            head.pipe_in = True
            construct.pipe_pending = False
        construct.head = head
        self.steps.append(head if isinstance(head, SimpleCommand) else Open(head))

    def push(self, kind: BlockKind, *, name: str = "", words: list[Word] | None = None) -> Block:
        """Open a construct."""
        block = Block(kind, self.cursor.pos, name, words)
        self.emit(block)
        self.open.append(OpenConstruct(block, kind))
        return block

    def leaf(self, kind: BlockKind, words: list[Word], start: int, name: str = "") -> None:
        """Add a block that has nothing in it but words."""
        block = Block(kind, start, name, words)
        self.emit(block)
        self.steps.append(Close(block))
        self.after(block)

    def pop(self) -> Block | None:
        """Close the innermost construct."""
        self.end_statement()
        block = self.open.pop().block
        if block is not None:
            block.end = self.cursor.pos
            self.steps.append(Close(block))
        return block

    def close_compound(self) -> None:
        """Close a compound command, and the function whose body it is."""
        block = self.pop()
        self.after(block)
        outer = self.open[-1]
        if outer.kind == "function" and outer.head is block:
            function = self.pop()
            if function is not None and block is not None:
                function.redirects = block.redirects
            self.connect()

    def after(self, block: Block | None = None) -> None:
        """Read what may follow a finished command: redirections of a compound, then a connector."""
        if block is not None:
            self.cursor.skip_blanks()
            while read_redirect(self.cursor, block.redirects):
                self.cursor.skip_blanks()
            block.end = self.cursor.pos
            if self.open[-1].kind == "function":
                return
        self.connect()

    def connect(self) -> None:
        """Read what connects a command with the next one."""
        cursor, construct = self.cursor, self.open[-1]
        cursor.skip_blanks()
        if cursor.at(("&&", "||")):
            operator = cursor.source[cursor.pos : cursor.pos + 2]
            cursor.pos += 2
            if construct.chain is not None and not operator == construct.operator == "&&":
                # After `a && b || c` both b and c may be what has run; after `a && b && c` all have.
                self.steps.append(Close(construct.chain))
                construct.chain = None
            construct.operator = operator
            if construct.chain is None:
                construct.chain = Block("chain", cursor.pos)
                self.steps.append(Open(construct.chain))
            construct.head = None
            construct.pipe_pending = False
            skip_continuation(cursor)
        elif cursor.at((";;", ";&")):
            return
        elif cursor.char == "|":
            cursor.pos += 2 if cursor.at("|&") else 1
            if construct.head is not None:
                construct.head.pipe_out = True
            construct.pipe_pending = True
            skip_continuation(cursor)
        elif cursor.at((";", "&")):
            cursor.background = cursor.background or cursor.char == "&"
            self.end_statement()
            cursor.pos += 1

    def end_statement(self, *, keep_pipe: bool = False) -> None:
        """End a statement: what comes next is connected with nothing before it."""
        construct = self.open[-1]
        if construct.pipe_pending:
            if keep_pipe:
                return
            construct.pipe_pending = False
            self.cursor.damage.append(self.cursor.pos)
        if construct.chain is not None:
            self.steps.append(Close(construct.chain))
            construct.chain = None
        construct.head = None


def skip_continuation(cursor: Cursor) -> None:
    """After an operator the command may go on in the next line."""
    while True:
        cursor.skip(BLANK_LINES)
        if cursor.char == "\n":
            cursor.pos += 1
            if cursor.pending:
                read_heredocs(cursor)
        elif cursor.char == "#":
            cursor.skip_comment()
        else:
            cursor.unfinished = cursor.unfinished or cursor.pos >= cursor.size
            return
