"""The constructs that are open while a script is read, and how commands in them are connected.

Invariant: they live on an explicit stack of frames, so depth costs memory, never Python frames. What opens and closes
which construct is the reader's business.
"""

import re
from dataclasses import dataclass
from typing import Final

from nacre.bash.budget import Budget
from nacre.bash.simple_commands import REDIRECT, SimpleCommands
from nacre.bash.tree import Block, BlockKind, Close, Command, Open, Step, Word

BLANK_LINES: Final = re.compile(r"(?:[ \t\r]|\\\n)*")


@dataclass(slots=True)
class Frame:
    """One construct that is still open."""

    block: Block | None
    kind: BlockKind | None = None
    chain: Block | None = None
    operator: str = ""
    head: Command | Block | None = None
    pipe_pending: bool = False
    in_pattern: bool = False
    braces: bool = False


class Constructs(SimpleCommands):
    """Writes the steps of a program, with one frame for each construct that is open."""

    def __init__(self, source: str, *, nesting: int = 0, budget: Budget | None = None) -> None:
        super().__init__(source, nesting=nesting, budget=budget)
        self.steps: list[Step] = []
        self.frames: list[Frame] = []
        self.background = False

    def emit(self, head: Command | Block) -> None:
        """Add a command or the beginning of a block."""
        frame = self.frames[-1]
        if frame.pipe_pending:
            head.pipe_in = True
            frame.pipe_pending = False
        frame.head = head
        self.steps.append(head if isinstance(head, Command) else Open(head))

    def push(self, kind: BlockKind, *, name: str = "", words: list[Word] | None = None) -> Block:
        """Open a construct."""
        block = Block(kind, self.pos, name, words)
        self.emit(block)
        self.frames.append(Frame(block, kind))
        return block

    def leaf(self, kind: BlockKind, words: list[Word], name: str = "") -> None:
        """Add a block that has nothing in it but words."""
        block = Block(kind, self.pos, name, words)
        self.emit(block)
        self.steps.append(Close(block))
        self.after(block)

    def pop(self) -> Block | None:
        """Close the innermost construct."""
        self.end_statement()
        block = self.frames.pop().block
        if block is not None:
            self.steps.append(Close(block))
        return block

    def close_compound(self) -> None:
        """Close a compound command, and the function whose body it is."""
        block = self.pop()
        self.after(block)
        if self.frames[-1].kind == "function":
            inner = self.frames[-1].head
            if inner is block:
                function = self.pop()
                if function is not None and block is not None:
                    function.redirects = block.redirects
                self.connect()

    def after(self, block: Block | None = None) -> None:
        """Read what may follow a finished command: redirections of a compound, then a connector."""
        if block is not None:
            while True:
                self.skip_blanks()
                match = REDIRECT.match(self.source, self.pos)
                if match is None:
                    break
                self.read_redirect(match, block.redirects)
            if self.frames[-1].kind == "function":
                return
        self.connect()

    def connect(self) -> None:
        """Read what connects a command with the next one."""
        self.skip_blanks()
        source, frame = self.source, self.frames[-1]
        char = source[self.pos : self.pos + 1]
        if source.startswith(("&&", "||"), self.pos):
            operator = source[self.pos : self.pos + 2]
            self.pos += 2
            if frame.chain is not None and not operator == frame.operator == "&&":
                # After `a && b || c` both b and c may be what has run; after `a && b && c` all have.
                self.steps.append(Close(frame.chain))
                frame.chain = None
            frame.operator = operator
            if frame.chain is None:
                frame.chain = Block("chain", self.pos)
                self.steps.append(Open(frame.chain))
            frame.head = None
            frame.pipe_pending = False
            self.skip_continuation()
        elif char == "|":
            self.pos += 2 if source.startswith("|&", self.pos) else 1
            if frame.head is not None:
                frame.head.pipe_out = True
            frame.pipe_pending = True
            self.skip_continuation()
        elif source.startswith((";;", ";&"), self.pos):
            return
        elif char in (";", "&"):
            self.background = self.background or char == "&"
            self.end_statement()
            self.pos += 1

    def skip_continuation(self) -> None:
        """After an operator the command may go on in the next line."""
        while True:
            match = BLANK_LINES.match(self.source, self.pos)
            self.pos = match.end() if match is not None else self.pos
            char = self.source[self.pos : self.pos + 1]
            if char == "\n":
                self.pos += 1
                if self.pending:
                    self.read_heredocs()
            elif char == "#":
                end = self.source.find("\n", self.pos)
                self.pos = self.size if end < 0 else end
            else:
                return

    def end_statement(self, *, keep_pipe: bool = False) -> None:
        """End a statement: what comes next is connected with nothing before it."""
        frame = self.frames[-1]
        if frame.pipe_pending:
            if keep_pipe:
                return
            frame.pipe_pending = False
            self.damage.append(self.pos)
        if frame.chain is not None:
            self.steps.append(Close(frame.chain))
            frame.chain = None
        frame.head = None
