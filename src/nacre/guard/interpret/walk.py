"""Walking a script: what every command would be called with, in order, without running anything.

Invariant: the walk is over-inclusive. Both sides of every condition are walked, functions are walked where they are
defined and where they are called, and every text that some shell would run is read in turn. Blocks are kept on an
explicit stack; only a script inside a script (substitution, eval, function) costs Python frames, and that depth is
bounded: beyond the bounds the walk raises `UnreadableError`.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from nacre.bash.budget import TimeBudget
from nacre.bash.reader import read
from nacre.bash.second_reading import second_reading
from nacre.bash.tree import Block, Branch, Close, Heredoc, Open, Program, SimpleCommand, UnreadableError
from nacre.guard.interpret import builtins as shell_builtins
from nacre.guard.interpret.alphabet import MADE, PWD, UNKNOWN, clean, is_opaque, plain, settled
from nacre.guard.interpret.dataflow import MAX_ALTERNATIVES, Alternatives, Function, Scope, Value, merge
from nacre.guard.interpret.effects import Effects
from nacre.guard.interpret.execute import execute
from nacre.guard.interpret.invocation import Invocation, Reading
from nacre.guard.interpret.shell_state import IDENTIFIERS, WORDS, ShellState
from nacre.guard.interpret.words import expand_text, expand_words
from nacre.guard.programs.inner import basename
from nacre.guard.programs.known_programs import NOT_RUNNING_OTHERS
from nacre.guard.programs.shells import INTERPRETERS

# codex flags more than eight wrappers; nobody writes that by hand.
MAX_WRAPPERS: Final = 8
# Substitutions, functions and wrappers together; each level is about ten Python frames.
_MAX_LEVELS: Final = 40
# A loop is walked once per value up to here, then in batches of alternatives.
_MAX_UNROLLED: Final = 32
_MAX_ITERATIONS: Final = 2_000
# A loop that shifts its arguments is walked again with those that remain.
_MAX_SHIFTING_ROUNDS: Final = 8
# A longer function is not an agent's; as one of the user's own it is taken for a program.
_MAX_FUNCTION: Final = 20_000
# Texts that go into filters that are not followed.
_MAX_MADE: Final = 8
# Code that takes its text from outside.
_READS: Final = re.compile(r"open|read|argv|environ|ENV|glob|list|file|sub|system|exec|spawn|http|url|request|stdin|<")
_SETTING_NOTHING: Final = NOT_RUNNING_OTHERS - shell_builtins.BUILTINS.keys() - {"tee", "cp", "mv", "ln", "install"}


@dataclass(slots=True)
class _OpenBlock:
    """A block whose end has not been reached."""

    block: Block
    first: int
    base: Scope
    output: list[str]
    stdin: str | None
    branches: list[Scope] = field(default_factory=list)
    waiting: list[Alternatives] = field(default_factory=list)
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """The surroundings of one simple command."""

    span: tuple[int, int]
    stdin: str | None = None
    upstream: tuple[str, ...] = ()
    targets: tuple[tuple[str, str], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    via: tuple[str, ...] = ()


class Walk(Effects):
    """The state of one walk."""

    def __init__(self, budget: TimeBudget, scope: Scope, state: ShellState | None = None) -> None:
        super().__init__(budget, scope)
        self.state = state
        self.taken: set[str] = set()
        self.source: str | None = None
        self.found: list[Invocation] = []
        self.output: list[str] = []
        self.stdin: str | None = None
        self.piped: str | None = None
        self.upstream: tuple[str, ...] = ()
        self.wrappers = 0
        self.via: tuple[str, ...] = ()
        self.levels = 0
        self.iterations = 0
        self.span: tuple[int, int] | None = None
        self.damaged = False
        self.background = False
        self.calling: list[str] = []
        self.recursive: list[str] = []
        self.last_argv: tuple[str, ...] = ()
        self.made: list[str] = []
        self.hidden: tuple[int, int] | None = None

    # What the session has defined.

    def take_over(self, text: str) -> None:
        """Define what the text names and the session has defined, and what these definitions name in turn."""
        state = self.state
        texts = [text] if state is not None else []
        while texts and state is not None:
            text = texts.pop()
            for name in {*IDENTIFIERS.findall(text), *WORDS.findall(text)} - self.taken:
                variable, function, alias = (of.get(name) for of in (state.variables, state.functions, state.aliases))
                if variable is None and function is None and alias is None:
                    continue
                self.taken.add(name)
                if variable is not None:
                    found = len(self.found)
                    self.walk(read(clean(variable), self.budget))
                    del self.found[found:]
                if function is not None and len(function) <= _MAX_FUNCTION:
                    program = read(clean(function), self.budget)
                    # The definition itself is the first and the last step.
                    self.scope.functions[name] = (Function(program, 1, max(len(program.steps) - 1, 1)),)
                if alias is not None:
                    self.scope.aliases[name] = alias
                texts += [definition[:_MAX_FUNCTION] for definition in (variable, function, alias) if definition]

    # What words need.

    def substitute(self, program: Program) -> str:
        return self.captured(program, self.stdin).rstrip("\n")

    def process_file(self, program: Program, form: str) -> str:
        path = f"/dev/fd/{63 + len(self.consumers) + len(self.scope.files)}"
        if form == "<":
            self.scope.files[path] = self.captured(program)
        else:
            self.consumers[path] = program
            self.captured(program)
        return path

    def captured(self, program: Program, stdin: str | None = None) -> str:
        """Walk a program in a subshell and give what it would print."""
        if not program.steps:
            return ""
        outer = (self.scope, self.output, self.stdin, self.piped, self.upstream)
        self.scope, self.output = self.scope.copy(), []
        self.stdin = stdin
        self.walk(program)
        text = "".join(self.output)
        if PWD in text and self.scope.directory != outer[0].directory:
            # `$(cd x && pwd)` is about x, not about where we are.
            text = text.replace(PWD, self.scope.directory)
        files = {path: text_ for path, text_ in self.scope.files.items() if path not in outer[0].files}
        self.scope, self.output, self.stdin, self.piped, self.upstream = outer
        self.scope.files.update(files)
        return text

    # The loop.

    def walk(self, program: Program, first: int = 0, last: int | None = None) -> None:
        """Walk the steps of a program from `first` to `last`."""
        self.levels += 1
        if self.levels > _MAX_LEVELS:
            raise UnreadableError("scripts are nested too deeply")
        steps, index = program.steps, first
        end = len(steps) if last is None else last
        stack: list[_OpenBlock] = []
        while index < end:
            self.budget.tick()
            step = steps[index]
            index += 1
            match step:
                case SimpleCommand():
                    self._command(step)
                case Open():
                    stack.append(self._opened(step.block, index))
                case Branch():
                    self._branched(stack[-1], step)
                case Close():
                    opened = stack[-1]
                    if opened.waiting:
                        self.scope.assign(opened.block.name, opened.waiting.pop())
                        index = opened.first
                        continue
                    shifted = opened.block.kind == "loop" and self.scope.positional != opened.base.positional
                    if shifted and opened.rounds < _MAX_SHIFTING_ROUNDS and any(self.scope.positional):
                        opened.rounds += 1
                        opened.base = merge([opened.base, self.scope])
                        opened.base.positional = self.scope.positional
                        index = opened.first
                        continue
                    stack.pop()
                    self._closed(opened, Function(program, opened.first, index - 1))
        self.levels -= 1

    def _opened(self, block: Block, first: int) -> _OpenBlock:
        opened = _OpenBlock(block, first, self.scope, self.output, self.stdin)
        stdin, _, _ = self.open_redirects(block.redirects) if block.redirects else (None, (), None)
        if block.pipe_in:
            self.stdin = self.piped
        elif stdin is not None:
            self.stdin = stdin
        if block.kind != "chain" or block.pipe_out:
            self.output = []
        match block.kind:
            case "group":
                if block.pipe_in or block.pipe_out:
                    self.scope = self.scope.copy()
            case "function":
                self.scope = self.scope.copy()
                self.scope.positional = ((UNKNOWN,),)
            case "for":
                self._for_values(block, opened)
            case _:
                self.scope = self.scope.copy()
                for word in block.words or ():
                    expand_text(word, self)
                if block.kind == "arithmetic" and " " in block.name.strip():
                    # To bash this is arithmetic, to dash and busybox two subshells.
                    self.run_text(block.name, Call((block.end, block.end), via=self.via), wrapper="((", isolated=True)
        return opened

    def _branched(self, opened: _OpenBlock, branch: Branch) -> None:
        if branch.continues:
            if not opened.branches:
                # The first condition has run in any case.
                opened.base, self.scope = self.scope, self.scope.copy()
            return
        opened.branches.append(self.scope)
        self.scope = opened.base.copy()
        for word in branch.words:
            expand_text(word, self)

    def _for_values(self, block: Block, opened: _OpenBlock) -> None:
        self.scope = self.scope.copy()
        lists: list[tuple[str, ...]]
        if block.words is None:
            lists = [item if not isinstance(item, str) else (item,) for item in self.scope.positional]
        else:
            lists = expand_words(block.words, self)
        values = list(dict.fromkeys(value for fields in lists for value in fields))
        if len(values) > 4 and all(value.isdigit() for value in values):
            # Counting loops: what is done with one number is done with all.
            values = [values[0], UNKNOWN]
        batches: list[Alternatives] = [(settled(value),) for value in values[:_MAX_UNROLLED]]
        rest = [settled(value) for value in values[_MAX_UNROLLED:]]
        batches += [tuple(rest[i : i + MAX_ALTERNATIVES]) for i in range(0, len(rest), MAX_ALTERNATIVES)]
        self.iterations += len(batches)
        if self.iterations > _MAX_ITERATIONS:
            raise UnreadableError("loops have too many values")
        batches.reverse()
        if block.name:
            self.scope.assign(block.name, batches.pop() if batches else (UNKNOWN,))
            opened.waiting = batches

    def _closed(self, opened: _OpenBlock, body: Function) -> None:
        block = opened.block
        text = "".join(self.output) if self.output is not opened.output else ""
        self.stdin = opened.stdin
        output_changed = self.output is not opened.output
        self.output = opened.output
        match block.kind:
            case "function":
                self.scope = opened.base
                self.scope.functions[block.name] = (body,)
                text = ""
            case "subshell" | "coproc":
                self.scope = opened.base
            case "if" | "case":
                ways = [*opened.branches, self.scope]
                self.scope = merge(ways if block.has_else else [opened.base, *ways])
            case "loop" | "chain":
                self.scope = merge([opened.base, self.scope])
            case _:
                pass
        if block.pipe_in or block.pipe_out:
            self.scope = opened.base
        if block.kind == "chain":
            if output_changed:
                self.output.append(text)
            return
        for redirect in block.redirects:
            if redirect.operator in (">", ">>", ">|", "&>") and not isinstance(redirect.target, Heredoc):
                self.write_file(expand_text(redirect.target, self)[0], text, append=redirect.operator == ">>")
        if block.pipe_out:
            self.piped, self.upstream = text, self.last_argv
        else:
            self.output.append(text)

    # Simple commands.

    def _command(self, command: SimpleCommand) -> None:
        isolated = (command.pipe_in or command.pipe_out) and self._may_set(command)
        outer = self.scope
        if isolated:
            self.scope = self.scope.copy()
        outer_stdin = self.stdin
        if command.pipe_in:
            # Substitutions among the words read from the pipe as well.
            self.stdin = self.piped
        upstream = self.upstream if command.pipe_in else ()
        text = self._run(command, self.stdin, upstream)
        self.stdin = outer_stdin
        if isolated:
            outer.files.update(self.scope.files)
            self.scope = outer
        if text in (UNKNOWN, MADE):
            text += "\n"
        if command.pipe_out:
            self.piped, self.upstream = text, self.last_argv
        elif text:
            self.output.append(text)

    def _may_set(self, command: SimpleCommand) -> bool:
        """Whether the command could change the scope, so that a pipeline must keep it apart."""
        name = command.words[0].fixed if command.words else None
        if name is None or command.assignments or command.redirects:
            return True
        scope = self.scope
        return name not in _SETTING_NOTHING or name in scope.functions or name in scope.aliases

    def _run(self, command: SimpleCommand, stdin: str | None, upstream: tuple[str, ...]) -> str:
        span = self.span if self.span is not None else (command.start, command.end)
        targets: tuple[tuple[str, str], ...] = ()
        sink: tuple[str, str] | None = None
        if command.redirects:
            given, targets, sink = self.open_redirects(command.redirects)
            stdin = given if given is not None else stdin
        words = command.words
        if not words:
            self.assign_all(command.assignments)
            if targets:
                self.found.append(Invocation((), span, targets=targets, directory=self.scope.directory))
            # `$(<file)` gives the file's text.
            reads = len(command.redirects) == 1 and command.redirects[0].operator == "<" and not command.assignments
            return stdin if reads and stdin is not None else ""
        environment: tuple[tuple[str, str], ...] = ()
        kept: dict[str, Alternatives | None] = {}
        if command.assignments:
            if words[0].fixed not in shell_builtins.DECLARING:
                kept = {item.name: self.scope.variables.get(item.name) for item in command.assignments}
            self.assign_all(command.assignments)
            environment = tuple((a.name, _scalar(self.scope.lookup(a.name)[0])) for a in command.assignments)
        call = Call(span, stdin, upstream, targets, environment, self.via)
        output = ""
        first_word = words[0].fixed
        if first_word is not None and first_word in self.scope.aliases and first_word not in self.calling:
            output = self._alias(first_word, command, call)
        lists = expand_words(words, self)
        for position, argv in enumerate(dict.fromkeys(lists)):
            printed = execute(self, argv, call) if argv else ""
            output = printed if position == 0 and not output else output
            self.last_argv = argv
        for name, before in kept.items():
            if before is None:
                self.scope.variables.pop(name, None)
            else:
                self.scope.variables[name] = before
        if sink is not None:
            self.write_file(sink[1], output, append=sink[0] == ">>")
            return ""
        return output

    def _alias(self, name: str, command: SimpleCommand, call: Call) -> str:
        text, words = self.scope.aliases[name], command.words[1:]
        # `alias sudo='sudo '`: behind a blank the next word may be an alias too.
        while text.endswith((" ", "\t")) and words and (words[0].fixed or "") in self.scope.aliases:
            text, words = text + self.scope.aliases[words[0].fixed or ""], words[1:]
        lists = expand_words(words, self)
        rest = " ".join(_requoted(word) for word in lists[0])
        self.calling.append(name)
        output = self.run_text(f"{text} {rest}", call, wrapper="alias")
        self.calling.pop()
        return output

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
        outer_span, self.span = self.span, call.span
        outer_via, self.via = self.via, call.via
        outer = (self.scope, self.output, self.stdin, self.piped, self.upstream)
        if isolated:
            self.scope = self.scope.copy()
        if positional is not None:
            self.scope.positional = (tuple(settled(word) for word in positional),)
            self.scope.assign("0", (wrapper,))
        self.output, self.stdin = [], call.stdin
        self.take_over(text)
        program = read(plain(text), self.budget)
        self.background = self.background or program.background
        self.walk(program)
        if program.damage:
            self._read_again(program)
        printed = "".join(self.output)
        kept = self.scope
        self.scope, self.output, self.stdin, self.piped, self.upstream = outer
        if not isolated:
            self.scope = kept
        self.span, self.via = outer_span, outer_via
        self.wrappers -= 1
        return printed

    def unfollowed(self, argv: tuple[str, ...], stdin: str | None) -> str:
        """What a program prints that is not followed: unknown, or made from what the script itself spells out."""
        if stdin is not None and stdin.strip() and not is_opaque(stdin):
            self.made.append(stdin)
            return MADE
        if stdin is not None:
            return MADE if MADE in stdin else UNKNOWN
        inline = basename(argv[0]) in INTERPRETERS and any(plain(word) in ("-c", "-e", "-r") for word in argv)
        return MADE if inline and not _READS.search(" ".join(argv)) else UNKNOWN

    def call_function(self, name: str, argv: tuple[str, ...], call: Call) -> str:
        """Walk the bodies a function name may stand for."""
        if name in self.calling:
            self.recursive.append(name)
            return UNKNOWN
        self.calling.append(name)
        outer, positional = self.output, self.scope.positional
        outer_stdin, self.stdin = self.stdin, call.stdin if call.stdin is not None else self.stdin
        outer_span = self.span
        self.output = []
        for body in self.scope.functions[name]:
            self.scope.positional = (tuple(settled(word) for word in argv[1:]),)
            # A place in another text than the command says nothing.
            self.span = outer_span if body.program.source is self.source else call.span
            self.walk(body.program, body.first, body.last)
        self.span = outer_span
        printed = "".join(self.output)
        self.output, self.scope.positional, self.stdin = outer, positional, outer_stdin
        self.calling.pop()
        return printed

    def _read_again(self, program: Program) -> None:
        """Damaged text: walk every command that the second reader makes of it."""
        self.damaged = True
        for start, end in second_reading(program.source, self.budget):
            part = read(program.source[start:end], self.budget)
            for step in part.steps:
                if isinstance(step, SimpleCommand):
                    step.start += start
                    step.end += start
                    step.pipe_in = step.pipe_out = False
                    self._command(step)


def _scalar(value: Value) -> str:
    return value if isinstance(value, str) else " ".join(value)


def _requoted(word: str) -> str:
    """A field as source text again: shielded characters get their quotes back."""
    text = plain(word)
    if text == word and not any(char in text for char in " \t\n;|&()<>'\"\\$`"):
        return text or "''"
    return "'" + text.replace("'", "'\\''") + "'"


def read_script(
    source: str,
    *,
    budget: TimeBudget | None = None,
    environment: dict[str, str] | None = None,
    state: ShellState | None = None,
) -> Reading:
    """Read a script, in a shell that knows the state, and find everything it would start."""
    budget = budget if budget is not None else TimeBudget()
    source = clean(source)
    walk = Walk(budget, Scope(environment=environment or {}), state)
    if state is not None:
        # `cd -` and every word that is split need variables that are not named.
        usual = "\\t\\n" in state.variables.get("IFS", "\\t\\n")
        walk.take_over(f"{source}{'' if usual else ' IFS'}{' OLDPWD' if 'cd -' in source else ''} BASH_ENV ENV")
        if state.arguments:
            walk.walk(read(f"set -- {clean(state.arguments)}", budget))
            walk.found.clear()
        else:
            walk.scope.positional = ((),)
    program = read(source, budget)
    walk.source = program.source
    walk.walk(program)
    if program.damage:
        walk._read_again(program)
    return Reading(
        tuple(walk.found),
        walk.damaged,
        tuple(dict.fromkeys(walk.recursive)),
        walk.background or program.background,
        walk.hidden,
    )
