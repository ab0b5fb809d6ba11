"""Reading a script: statements, pipelines, lists and compound commands into one flat `Program`.

Invariant: text that is not valid shell is noted in `Program.damage` and read on from the next character; nothing is
skipped unseen.
"""

import re
from typing import Final

from nacre.bash.budget import Budget
from nacre.bash.constructs import BLANK_LINES, Constructs, Frame
from nacre.bash.scanner import END_OF_WORD
from nacre.bash.simple_commands import ASSIGNMENT, REDIRECT
from nacre.bash.tree import Branch, Command, Program, Word

_RESERVED: Final = re.compile(
    r"(?:if|then|elif|else|fi|while|until|do|done|for|select|case|esac|function|time|coproc|\{|\}|!|\[\[)(?=[\s;|&()<>]|$)"
)
_FUNCTION: Final = re.compile(r"[ \t]*\([ \t]*\)")
_NAME: Final = re.compile(r"[ \t]*([^\s;|&()<>]+)")
_COPROC_NAME: Final = re.compile(r"[ \t]+(?:[A-Za-z_]\w*[ \t]+(?=[{(]))?")
# Before an option other than -p, `time` is the program, not the keyword.
_TIME_PROGRAM: Final = re.compile(r"time[ \t]+-(?!p\s|-\s)")
_DECLARING: Final = frozenset(("declare", "typeset", "local", "export", "readonly", "alias", "eval", "env"))


class Reader(Constructs):
    """Reads statements; words come from the scanner below it."""

    def nested_text(self, text: str) -> Program:
        inner = Reader(text, nesting=self.nesting + 1, budget=self.budget)
        program = inner.read_program("")
        if inner.damage:
            self.damage.append(self.pos)
        return program

    def read_program(self, closer: str) -> Program:
        outer_steps, outer_frames = self.steps, self.frames
        self.steps, self.frames = [], [Frame(None)]
        damage = len(self.damage)
        while self._read_statement(closer):
            self.budget.tick()
        self.end_statement()
        program = Program(self.source, self.steps, self.damage[damage:], self.background)
        self.steps, self.frames = outer_steps, outer_frames
        return program

    def _read_statement(self, closer: str) -> bool:
        """Read one thing at command position; False when the program has ended."""
        self._skip_lines()
        if self.pos >= self.size:
            if closer or len(self.frames) > 1:
                self.damage.append(self.pos)
            if self.pending:
                self.read_heredocs()
            while len(self.frames) > 1:
                self.pop()
            return False
        source, frame = self.source, self.frames[-1]
        char = source[self.pos]
        if frame.in_pattern:
            self._case_pattern(frame)
        elif char == ")":
            return self._closing_paren(closer)
        elif char == "(":
            self._opening_paren()
        elif char in ";&|":
            self._stray_operator(frame)
        else:
            match = _RESERVED.match(source, self.pos) if char in "iteswfdc{}![u" else None
            if match is None or not self._reserved(match.group(), frame):
                self._simple_command()
        return True

    def _skip_lines(self) -> None:
        source = self.source
        while True:
            match = BLANK_LINES.match(source, self.pos)
            if match is not None:
                self.pos = match.end()
            char = source[self.pos : self.pos + 1]
            if char == "\n":
                self.end_statement(keep_pipe=True)
                self.pos += 1
                if self.pending:
                    self.read_heredocs()
            elif char == "#":
                end = source.find("\n", self.pos)
                self.pos = self.size if end < 0 else end
            else:
                return

    def _opening_paren(self) -> None:
        if self.source.startswith("((", self.pos):
            arithmetic = self._arithmetic(self.pos + 2)
            if arithmetic is not None:
                self.leaf("arithmetic", [arithmetic], self.source[arithmetic.start : arithmetic.end - 2])
                return
        self.push("subshell")
        self.pos += 1

    def _closing_paren(self, closer: str) -> bool:
        if self.frames[-1].kind == "subshell":
            self.pos += 1
            self.close_compound()
            return True
        self.pos += 1
        if closer == ")":
            if len(self.frames) > 1:
                self.damage.append(self.pos - 1)
            while len(self.frames) > 1:
                self.pop()
            return False
        self.damage.append(self.pos - 1)
        self.end_statement()
        return True

    def _stray_operator(self, frame: Frame) -> None:
        if self.source.startswith(";;", self.pos) or self.source.startswith(";&", self.pos):
            self.end_statement()
            if frame.kind == "case":
                frame.in_pattern = True
            else:
                self.damage.append(self.pos)
            self.pos += 3 if self.source.startswith(";;&", self.pos) else 2
            return
        match = REDIRECT.match(self.source, self.pos)
        if match is not None:
            self._simple_command()
            return
        self.damage.append(self.pos)
        self.end_statement()
        self.pos += 1

    def _reserved(self, word: str, frame: Frame) -> bool:
        """Handle a reserved word; False when it is an ordinary word here."""
        kind = frame.kind
        start = self.pos
        if word == "time" and _TIME_PROGRAM.match(self.source, start):
            return False
        self.pos += len(word)
        match word:
            case "!" | "then" | "do" | "time" | "elif" | "else" | "coproc":
                self._lead(word, frame)
            case "if":
                self.push("if")
            case "while" | "until":
                self.push("loop")
            case "{":
                if kind == "for" and not frame.braces:
                    frame.braces = True
                else:
                    self.push("group")
            case "for" | "select":
                self._for()
            case "case":
                self._case()
            case "function":
                name = _NAME.match(self.source, self.pos)
                self.pos = name.end() if name is not None else self.pos
                parens = _FUNCTION.match(self.source, self.pos)
                self.pos = parens.end() if parens is not None else self.pos
                self.push("function", name=name.group(1) if name is not None else "")
            case "[[":
                self._test()
            case _:
                expected = {"fi": ("if",), "done": ("loop", "for"), "esac": ("case",), "}": ("group", "for")}[word]
                if kind in expected:
                    self.close_compound()
                elif word == "}":
                    self.pos = start
                    self.damage.append(start)
                    return False
                else:
                    self.damage.append(start)
                    self.end_statement()
        return True

    def _lead(self, word: str, frame: Frame) -> None:
        if word in ("then", "elif", "else", "do"):
            self.end_statement()
        if word == "do":
            # The body has begun, so a brace opens a group in it.
            frame.braces = True
        if word == "time":
            match = re.compile(r"(?:[ \t]+(?:-p|--)(?=\s))*").match(self.source, self.pos)
            self.pos = match.end() if match is not None else self.pos
        elif word == "coproc":
            match = _COPROC_NAME.match(self.source, self.pos)
            self.pos = match.end() if match is not None else self.pos
        elif word in ("then", "elif", "else"):
            if frame.kind != "if" or frame.block is None:
                self.damage.append(self.pos)
                return
            frame.block.has_else = frame.block.has_else or word == "else"
            self.steps.append(Branch(frame.block, continues=word == "then"))

    def _for(self) -> None:
        self.skip_blanks()
        if self.source.startswith("((", self.pos):
            arithmetic = self._arithmetic(self.pos + 2)
            self.push("loop", words=[arithmetic] if arithmetic is not None else None)
            frame = self.frames[-1]
            self.skip_blanks()
            if self.source.startswith(";", self.pos):
                self.pos += 1
            self._skip_lines()
            if self.source.startswith("{", self.pos):
                frame.kind, frame.braces = "for", True
                self.pos += 1
            return
        name = _NAME.match(self.source, self.pos)
        self.pos = name.end() if name is not None else self.pos
        block = self.push("for", name=name.group(1) if name is not None else "")
        self._skip_lines()
        if re.compile(r"in(?=[\s;]|$)").match(self.source, self.pos):
            self.pos += 2
            block.words = self._words_to_line_end()
        self.skip_blanks()
        if self.source.startswith(";", self.pos):
            self.pos += 1

    def _words_to_line_end(self) -> list[Word]:
        words: list[Word] = []
        while True:
            self.skip_blanks()
            char = self.source[self.pos : self.pos + 1]
            if char in ("", "\n", ";", "&", "|", ")", "("):
                return words
            if char in "<>" and self.source[self.pos + 1 : self.pos + 2] != "(":
                self.damage.append(self.pos)
                return words
            words.append(self.read_word())

    def _case(self) -> None:
        self.skip_blanks()
        subject = self.read_word() if self.source[self.pos : self.pos + 1] not in ("", *END_OF_WORD) else None
        self.push("case", words=[subject] if subject is not None else [])
        self._skip_lines()
        if re.compile(r"in(?=\s|$)").match(self.source, self.pos):
            self.pos += 2
        else:
            self.damage.append(self.pos)
        self.frames[-1].in_pattern = True

    def _case_pattern(self, frame: Frame) -> None:
        if re.compile(r"esac(?=[\s;|&()<>]|$)").match(self.source, self.pos):
            self.pos += 4
            frame.in_pattern = False
            self.close_compound()
            return
        words: list[Word] = []
        if self.source[self.pos] == "(":
            self.pos += 1
        while self.pos < self.size:
            self.skip_blanks()
            char = self.source[self.pos : self.pos + 1]
            if char == "|":
                self.pos += 1
            elif char == ")":
                self.pos += 1
                break
            elif char in ("", "\n", ";", "&", "(", "<", ">"):
                self.damage.append(self.pos)
                self.pos += 1
                break
            else:
                words.append(self.read_word())
        frame.in_pattern = False
        if frame.block is not None:
            self.steps.append(Branch(frame.block, tuple(words)))

    def _test(self) -> None:
        words: list[Word] = []
        while True:
            self._skip_test_blanks()
            if self.pos >= self.size:
                self.damage.append(self.pos)
                break
            if self.source.startswith("]]", self.pos):
                self.pos += 2
                break
            if self.source[self.pos] in "()<>&|;":
                self.pos += 1
            else:
                words.append(self.read_word())
        self.leaf("test", words)

    def _skip_test_blanks(self) -> None:
        while self.pos < self.size and self.source[self.pos] in " \t\n":
            self.pos += 1

    def _simple_command(self) -> None:
        source, command = self.source, Command(self.pos)
        while True:
            self.skip_blanks()
            if self.pos >= self.size:
                break
            char = source[self.pos]
            if char in "\n;|)" or (char == "#" and (self.pos == 0 or source[self.pos - 1] in " \t\n;|&()")):
                break
            if char in "<>&0123456789{":
                match = REDIRECT.match(source, self.pos)
                if match is not None:
                    self.read_redirect(match, command.redirects)
                    continue
            if char == "&":
                break
            if char == "(":
                if self._function_or_damage(command):
                    return
                break
            if not command.words or command.words[0].fixed in _DECLARING:
                match = ASSIGNMENT.match(source, self.pos)
                if match is not None and self.read_assignment(match, command):
                    continue
            if command.words and self.plain_run(command.words):
                continue
            before = self.pos
            self.budget.tick()
            command.words.append(self.read_word())
            if self.pos == before:
                self.damage.append(self.pos)
                self.pos += 1
                break
        command.end = self.pos
        self.emit(command)
        self.after()

    def _function_or_damage(self, command: Command) -> bool:
        parens = _FUNCTION.match(self.source, self.pos)
        if parens is None or len(command.words) != 1 or command.redirects:
            self.damage.append(self.pos)
            return False
        word = command.words[0]
        self.pos = parens.end()
        self.push("function", name=self.source[word.start : word.end])
        return True


def read(source: str, budget: Budget | None = None) -> Program:
    """Read a whole script."""
    reader = Reader(source, budget=budget)
    program = reader.read_program("")
    program.damage = reader.damage
    return program
