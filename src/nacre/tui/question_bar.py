"""What waits for a person: an approval, or the prompt of a program. It takes no key until it is given the focus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static

from nacre.feed.approval_choices import CHOICES, Scope
from nacre.feed.card import Card


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """Something that a person is asked."""

    id: str
    kind: Literal["approval", "prompt"]
    text: str
    """The message of the rule, or the prompt."""
    command: str
    span: tuple[int, int] | None = None
    """The part of the command that is asked about."""
    hidden: bool = False
    """Whether what is typed must not be shown."""
    scopes: tuple[Scope, ...] = ("once", "session", "always", "deny")


class QuestionBar(Vertical, can_focus=True):
    """The oldest open question.

    Half of its methods are the handlers that Textual calls by name.
    """

    DEFAULT_CSS = """
    QuestionBar {
        display: none; height: auto; max-height: 10; padding: 0 1; background: $warning 12%;
        border-left: outer $warning;
    }
    QuestionBar.-open { display: block; }
    QuestionBar:focus, QuestionBar:focus-within { background: $warning 24%; }
    QuestionBar > #question-command { max-height: 4; }
    QuestionBar > Input { display: none; border: none; height: 1; padding: 0; background: $surface; }
    QuestionBar.-prompt > Input { display: block; }
    """

    class Answered(Message):
        """The person answered: a scope for an approval, the typed text for a prompt."""

        def __init__(self, question: OpenQuestion, answer: str) -> None:
            super().__init__()
            self.question = question
            self.answer = answer

    BINDINGS: ClassVar = []

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._questions: dict[str, OpenQuestion] = {}
        self._text, self._command, self._offered = Static(), Static(id="question-command"), Static()
        self._input = Input()

    def compose(self) -> ComposeResult:
        yield self._text
        yield self._command
        yield self._input
        yield self._offered

    @property
    def current(self) -> OpenQuestion | None:
        return next(iter(self._questions.values()), None)

    @property
    def count(self) -> int:
        return len(self._questions)

    def ask(self, question: OpenQuestion) -> None:
        """Show a question after those that are open."""
        fresh = question.id not in self._questions
        self._questions[question.id] = question
        self._show()
        if fresh:
            self.app.bell()

    def withdraw(self, question: str) -> None:
        """Take back a question: it was answered elsewhere, or is over."""
        if self._questions.pop(question, None) is not None:
            self._show()

    def _show(self) -> None:
        question = self.current
        self.set_class(question is not None, "-open")
        self.set_class(question is not None and question.kind == "prompt", "-prompt")
        if question is None:
            if self.has_focus_within or self.has_focus:
                self.screen.focus_next()
            return
        more = f" (1 of {self.count})" if self.count > 1 else ""
        head = "Approve?" if question.kind == "approval" else "It waits for input:"
        line = Text.assemble((f"{head}{more} ", "bold"), question.text)
        self._text.update(line)
        self._command.update(marked(question, self.app.theme_variables))
        entry = self._input
        entry.password = question.hidden
        entry.placeholder = "hidden: it is recorded nowhere" if question.hidden else ""
        self._offered.update(self._keys(question))

    def _keys(self, question: OpenQuestion) -> Text:
        has_keys = self.has_focus or self.has_focus_within
        line = Text() if has_keys else Text("F4, then ", "dim")
        if question.kind == "prompt":
            return line.append("Enter", "bold").append(" sends · ").append("Esc", "bold").append(" leaves")
        for key, scope, text in CHOICES:
            if scope in question.scopes:
                line.append(key, "bold").append(f" {text} · ")
        return line.append("Esc", "bold").append(" leaves")

    def on_descendant_focus(self) -> None:
        self._show()

    def on_descendant_blur(self) -> None:
        self._show()

    def on_focus(self) -> None:
        self._show()

    def on_blur(self) -> None:
        self._show()

    def give_focus(self) -> None:
        """Let the person answer."""
        question = self.current
        if question is not None:
            if question.kind == "prompt":
                self._input.focus()
            else:
                self.focus()

    def on_key(self, event: events.Key) -> None:
        question = self.current
        if event.key == "escape":
            event.stop()
            self.screen.focus_next()
        elif question is not None and question.kind == "approval" and self.has_focus:
            for key, scope, _ in CHOICES:
                if event.key == key and scope in question.scopes:
                    event.stop()
                    self._answer(question, scope)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        question = self.current
        if question is not None and question.kind == "prompt":
            text, event.input.value = event.value, ""
            self._answer(question, text)

    def _answer(self, question: OpenQuestion, answer: str) -> None:
        self.post_message(self.Answered(question, answer))
        self.withdraw(question.id)


def open_questions(card: Card) -> list[OpenQuestion]:
    """Return what a card asks a person for now."""
    found = []
    if card.question is not None:
        asked = card.question
        found.append(
            OpenQuestion(
                id=f"approval {card.call}", kind="approval", text=asked.message, command=card.command, span=asked.span
            )
        )
    if card.prompt is not None:
        text, hidden = card.prompt.strip(), card.hides_input
        found.append(
            OpenQuestion(id=f"prompt {card.call}", kind="prompt", text=text, command=card.command, hidden=hidden)
        )
    return found


def marked(question: OpenQuestion, colours: dict[str, str]) -> Text:
    """Return the command with the part marked that is asked about."""
    line = Text(question.command)
    if question.span is not None:
        line.stylize(f"bold {colours['background']} on {colours['error']}", *question.span)
    return Text("$ ").append_text(line)
