"""Walking a script: what every command would be called with, in order, without running anything.

The walk is over-inclusive: both sides of every condition are walked, functions are walked where they are defined and
where they are called, and every text that some shell would run is read in turn. Blocks are kept on an explicit stack;
only a script inside a script (substitution, eval, function) costs Python frames, and that depth is bounded: beyond the
bounds the walk raises `UnreadableError`.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from nacre.bash.budget import TimeBudget
from nacre.bash.reader import read
from nacre.bash.second_reading import second_reading
from nacre.bash.tree import Branch, Close, Open, Program, SimpleCommand, UnreadableError
from nacre.guard.interpret import blocks, commands, definitions
from nacre.guard.interpret.alphabet import MADE, PWD, UNKNOWN, clean, is_opaque, plain, settled
from nacre.guard.interpret.invocation import Call, Invocation, ScriptReading
from nacre.guard.interpret.scope import Function, ScriptScope
from nacre.guard.interpret.shell_state import ShellState
from nacre.guard.programs.inner import basename
from nacre.guard.programs.shells import INTERPRETERS
from nacre.guard.rules.fork_bombs import fork_bomb

# Codex flags more than eight wrappers too; people do not write that by hand.
MAX_WRAPPERS: Final = 8
# Substitutions, functions and wrappers together; each level is about ten Python frames.
_MAX_LEVELS: Final = 40
# Texts that go into filters that are not followed.
_MAX_MADE: Final = 8
# Code that takes its text from outside.
_READS: Final = re.compile(r"open|read|argv|environ|ENV|glob|list|file|sub|system|exec|spawn|http|url|request|stdin|<")


@dataclass(slots=True)
class Walk:
    """The state of one walk."""

    budget: TimeBudget
    scope: ScriptScope
    state: ShellState | None = None
    """What the session's shell has defined."""
    taken: set[str] = field(default_factory=set)
    """The names whose definitions were taken over from the session."""
    source: str | None = None
    found: list[Invocation] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    stdin: str | None = None
    piped: str | None = None
    upstream: tuple[str, ...] = ()
    consumers: dict[str, Program] = field(default_factory=dict)
    """The programs of `>(…)`, by their paths."""
    wrappers: int = 0
    via: tuple[str, ...] = ()
    levels: int = 0
    iterations: int = 0
    span: tuple[int, int] | None = None
    """Where the text that is walked came from; None in the command itself."""
    damaged: bool = False
    fork_bomb: str | None = None
    calling: list[str] = field(default_factory=list)
    last_argv: tuple[str, ...] = ()
    made: list[str] = field(default_factory=list)
    """Texts that the script spells out and gives to a program that is not followed."""
    hidden: tuple[int, int] | None = None

    def substitute(self, program: Program) -> str:
        """Return what `$(program)` would print, trailing newlines removed."""
        return self.captured(program, self.stdin).rstrip("\n")

    def process_file(self, program: Program, form: str) -> str:
        """Return the path that `<(program)` would become."""
        path = f"/dev/fd/{63 + len(self.consumers) + len(self.scope.files)}"
        printed = self.captured(program)
        if form == "<":
            self.scope.files[path] = printed
        else:
            self.consumers[path] = program
        return path

    def captured(self, program: Program, stdin: str | None = None) -> str:
        """Walk a program in a subshell and give what it would print."""
        if not program.steps:
            return ""
        outer = (self.scope, self.output, self.stdin, self.piped, self.upstream)
        self.scope, self.output, self.stdin = self.scope.copy(), [], stdin
        self.walk(program)
        text = "".join(self.output)
        if PWD in text and self.scope.directory != outer[0].directory:
            # `$(cd x && pwd)` names x, not the current directory.
            text = text.replace(PWD, self.scope.directory)
        files = {path: content for path, content in self.scope.files.items() if path not in outer[0].files}
        self.scope, self.output, self.stdin, self.piped, self.upstream = outer
        self.scope.files.update(files)
        return text

    def walk(self, program: Program, first: int = 0, last: int | None = None) -> None:
        """Walk the steps of a program from `first` to `last`."""
        self.levels += 1
        if self.levels > _MAX_LEVELS:
            raise UnreadableError("scripts are nested too deeply")
        if last is None and self.fork_bomb is None:
            self.fork_bomb = fork_bomb(program)
        steps, index = program.steps, first
        end = len(steps) if last is None else last
        stack: list[blocks.OpenBlock] = []
        while index < end:
            self.budget.tick()
            step = steps[index]
            index += 1
            match step:
                case SimpleCommand():
                    commands.run_command(self, step)
                case Open():
                    stack.append(blocks.open_block(self, step.block, index))
                case Branch():
                    blocks.next_branch(self, stack[-1], step)
                case Close():
                    if blocks.goes_round(self, stack[-1]):
                        index = stack[-1].first
                    else:
                        opened = stack.pop()
                        blocks.close_block(self, opened, Function(program, opened.first, index - 1))
        self.levels -= 1

    def run_text(
        self, text: str, call: Call, *, wrapper: str, isolated: bool = False, positional: tuple[str, ...] | None = None
    ) -> str:
        """Read and walk a text that a shell would run."""
        if MADE in text:
            # Where a filter is not followed, what goes into it is judged as if it came out.
            self.hidden = call.span
            for visible in self.made[-_MAX_MADE:]:
                self.run_text(visible, call, wrapper=wrapper, isolated=True)
        if self.wrappers >= MAX_WRAPPERS:
            raise UnreadableError(f"more than {MAX_WRAPPERS} commands inside commands")
        self.wrappers += 1
        outer = (self.output, self.stdin, self.piped, self.upstream, self.span, self.via)
        outer_scope = self.scope
        self.span, self.via = call.span, call.via
        if isolated:
            self.scope = self.scope.copy()
        if positional is not None:
            self.scope.positional = (tuple(settled(word) for word in positional),)
            self.scope.assign("0", (wrapper,))
        self.output, self.stdin = [], call.stdin
        definitions.take_over(self, text)
        self.walk_text(read(plain(text), self.budget))
        printed = "".join(self.output)
        self.output, self.stdin, self.piped, self.upstream, self.span, self.via = outer
        if isolated:
            self.scope = outer_scope
        self.wrappers -= 1
        return printed

    def call_function(self, name: str, argv: tuple[str, ...], call: Call) -> str:
        """Walk the bodies a function name may stand for."""
        if name in self.calling:
            return UNKNOWN
        self.calling.append(name)
        outer = (self.output, self.stdin, self.span)
        positional = self.scope.positional
        self.output, self.stdin = [], call.stdin if call.stdin is not None else self.stdin
        for body in self.scope.functions[name]:
            self.scope.positional = (tuple(settled(word) for word in argv[1:]),)
            # A span is a place in the command, not in a function of the session.
            self.span = outer[2] if body.program.source is self.source else call.span
            self.walk(body.program, body.first, body.last)
        printed = "".join(self.output)
        self.output, self.stdin, self.span = outer
        self.scope.positional = positional
        self.calling.pop()
        return printed

    def unfollowed(self, argv: tuple[str, ...], stdin: str | None) -> str:
        """Return the mark for output that is not followed: unknown, or made from text of the script."""
        if stdin is not None and stdin.strip() and not is_opaque(stdin):
            self.made.append(stdin)
            return MADE
        if stdin is not None:
            return MADE if MADE in stdin else UNKNOWN
        inline = basename(argv[0]) in INTERPRETERS and any(plain(word) in ("-c", "-e", "-r") for word in argv)
        return MADE if inline and not _READS.search(" ".join(argv)) else UNKNOWN

    def walk_text(self, program: Program) -> None:
        """Walk a whole text, and where it is damaged every command that the second reader makes of it."""
        self.walk(program)
        if not program.damage:
            return
        self.damaged = True
        for start, end in second_reading(program.source, self.budget):
            for step in read(program.source[start:end], self.budget).steps:
                if isinstance(step, SimpleCommand):
                    step.start += start
                    step.end += start
                    step.pipe_in = step.pipe_out = False
                    commands.run_command(self, step)


def read_script(
    source: str,
    *,
    budget: TimeBudget | None = None,
    environment: dict[str, str] | None = None,
    state: ShellState | None = None,
) -> ScriptReading:
    """Read a script, in a shell that knows the state, and find everything it would start."""
    source = clean(source)
    walk = Walk(budget if budget is not None else TimeBudget(), ScriptScope(environment=environment or {}), state)
    definitions.take_over_state(walk, source)
    program = read(source, walk.budget)
    walk.source = program.source
    walk.walk_text(program)
    return ScriptReading(tuple(walk.found), walk.damaged, walk.fork_bomb, walk.hidden)
