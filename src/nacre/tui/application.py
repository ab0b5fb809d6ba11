"""`nacre tui`: the agents' calls live, the person's own commands, jobs, approvals and consoles."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, work
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import Footer, Input, Static

from nacre import config
from nacre.engine.engine import Engine, from_environment
from nacre.feed.card import Card
from nacre.feed.folding import DENSITIES
from nacre.tui.agent_calls import AgentCalls
from nacre.tui.asked_questions import AskedQuestions
from nacre.tui.command_input import CommandInput
from nacre.tui.console import Console
from nacre.tui.consoles import Consoles
from nacre.tui.help_screen import HelpScreen
from nacre.tui.jobs_panel import JobsPanel
from nacre.tui.line_history import LineHistory
from nacre.tui.output_screen import OutputScreen
from nacre.tui.person_commands import PersonCommands, handover, open_session
from nacre.tui.place_lines import head_line, shortened
from nacre.tui.question_bar import QuestionBar
from nacre.tui.themes import DARK, LIGHT
from nacre.tui.transcript_view import TranscriptView
from nacre.tui.typed_line import Bang, Move, Search, read_line
from nacre.tui.whole_output import Kept

if TYPE_CHECKING:
    from nacre.settings import Settings

# Below this width the jobs take the place of the transcript instead of standing beside it.
BESIDE_COLUMNS = 110
# A console that opens by itself must not get keys that were meant for something else.
QUIET_SECONDS = 1.0


class NacreApp(App[None]):
    """The console of a person.

    Most of its methods are the handlers and actions that Textual calls by name.
    """

    TITLE = "nacre"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #head { height: 1; background: $panel; padding: 0 1; }
    #main { height: 1fr; }
    #transcript { width: 1fr; }
    #jobs { width: 1fr; display: none; }
    #jobs.-open { display: block; }
    .-narrow #transcript.-behind { display: none; }
    #line { height: 1; background: $surface; padding: 0 1; }
    #line > #where { width: auto; max-width: 60%; color: $accent; }
    #line > CommandInput { width: 1fr; background: $surface; background-tint: $surface 0%; padding: 0; }
    Footer { background: $panel; }
    """
    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        Binding("f1", "help", "Help"),
        Binding("f2", "jobs", "Jobs"),
        Binding("f3", "agent", "Agent"),
        Binding("f4", "answer", "Answer"),
        Binding("f5", "console", "Console"),
        Binding("ctrl+t", "theme", "Theme", show=False),
        Binding("ctrl+c", "interrupt", "Stop", show=False, priority=True),
        Binding("ctrl+q", "quit", "Quit", priority=True),
    ]

    def __init__(
        self,
        *,
        cwd: str | None = None,
        settings: Settings | None = None,
        dark: bool = True,
        shown: Callable[[], None] = lambda: None,
    ) -> None:
        """Make it; `shown` is called when the terminal is its own."""
        super().__init__()
        self._shown = shown
        self._engine: Engine = from_environment(settings=settings)
        # Before the first screen: afterwards it would have all styles parsed anew.
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = (DARK if dark else LIGHT).name
        self.history = LineHistory(self._engine.state_dir, hide=self._engine.redactor.redact_text)
        engine = self._engine
        self.calls = AgentCalls(engine.state_dir, engine.jobs, engine.artifacts, self, engine.redactor)
        # Held, not looked up: another screen may be in front, and events still come while the app ends.
        self._head, self._where = Static(id="head"), Static(id="where")
        self.transcript = TranscriptView(id="transcript")
        self._panel = JobsPanel(self._engine.jobs, id="jobs")
        self._questions = QuestionBar(id="questions")
        self.asked = AskedQuestions(self._questions, self.calls)
        self.consoles = Consoles(self, engine.jobs, self.calls, engine.settings.pty.escape)
        self._key_at = -QUIET_SECONDS
        session = partial(open_session, cwd=cwd, settings=settings, approver=self.asked.approve)
        attend = self.consoles.open_call
        self.person = PersonCommands(session, engine.artifacts, self._show_own, cwd=cwd, attend=attend)
        self._typed = CommandInput(self.history, cwd=lambda: self.person.cwd, id="typed")
        self.agent: str | None = None
        """The agent's session that reads the person's `!` commands."""

    def compose(self) -> ComposeResult:
        yield self._head
        with Horizontal(id="main"):
            yield self.transcript
            yield self._panel
        yield self._questions
        with Horizontal(id="line"):
            yield self._where
            yield self._typed
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self._shown()
        self._typed.focus()
        self._show_place()
        self.transcript.here = config.working_directory()
        self.set_interval(0.5, self.show_head)
        self.show_head()
        self.run_worker(self.calls.follow(), group="feed")

    def on_ready(self) -> None:
        """The first frame is drawn."""
        if not gc.isenabled():
            gc.freeze()
            gc.enable()

    def on_resize(self) -> None:
        self.screen.set_class(self.size.width < BESIDE_COLUMNS, "-narrow")
        self._show_place()

    async def on_unmount(self) -> None:
        await self.person.aclose()

    # What is shown.

    def _show_own(self, card: Card, open_whole: Callable[[], Kept | None], prompt: str) -> None:
        self.transcript.show_card(card, open_whole, prompt=prompt)

    def show_head(self) -> None:
        """Show where the console is, what runs and what waits."""
        questions = self._questions.count
        running = sum(card.running for card in self.transcript.cards)
        follows = self.transcript.follows
        self._head.update(head_line(config.working_directory(), running, questions, self.size.width, follows=follows))

    def _show_place(self) -> None:
        agent = f"→ {self.calls.sessions[self.agent]}  " if self.agent is not None else ""
        room = max(12, self.size.width // 3 - len(agent))
        self._where.update(Text(f"{agent}{shortened(self.person.cwd, room)} ❯ "))

    # What agents do.

    shows_terminals = True

    def show_call(self, card: Card, kind: str, open_whole: Callable[[], Kept | None]) -> None:
        """Show what has happened in an agent's call."""
        self.transcript.show_card(card, open_whole, prompt="!" if card.by == "person" else "$")
        self.asked.show(card)
        if kind == "job" and card.attended:
            self._offer_console(card)

    def _offer_console(self, card: Card) -> None:
        """Open the console of a call on a terminal, unless the person is in the middle of something."""
        busy = len(self.screen_stack) > 1 or self._typed.value or time.monotonic() - self._key_at < QUIET_SECONDS
        if busy:
            self.notify(f"F5 opens the console of {card.command!r}", timeout=10)
        else:
            self.consoles.open_call(card)

    def show_problem(self, text: str) -> None:
        self.notify(f"agents cannot be followed: {text}", severity="error", timeout=30)

    # What a person types.

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id != "typed":
            return
        line, event.input.value = event.value, ""
        match read_line(line):
            case None:
                return
            case Search(text):
                found = self.transcript.find(text)
                self.transcript.focus()
                if not found:
                    self.notify(f"{text!r} is in no card")
            case Bang(command, seen):
                self._keep(line)
                self.run_own(command, seen=seen)
            case Move(command):
                self._keep(line)
                self.run_own(command, seen=False)
            case str(hint):
                event.input.value = line
                event.input.cursor_position = len(line)
                self.notify(hint, severity="warning")

    def _keep(self, line: str) -> None:
        self.history.add(line)
        if self.history.problem is not None:
            self.notify(self.history.problem, severity="warning")
            self.history.problem = None

    @work(group="own")
    async def run_own(self, command: str, *, seen: bool) -> None:
        """Run a person's command; with an agent selected, the agent reads it once."""
        if self.person.busy:
            self.notify("your last command still runs; Ctrl+C stops it", severity="warning")
            return
        agent = self.agent if seen else None
        result = await self.person.run(command, seen=seen)
        self._show_place()
        if result is not None and agent is not None and not self.calls.hand_over(agent, handover(command, result)):
            self.notify("the agent is gone: nothing was handed over", severity="warning")

    def on_command_input_left(self) -> None:
        self.transcript.focus()

    def on_command_input_candidates(self, event: CommandInput.Candidates) -> None:
        listed = event.found[:12]
        more = f" … {len(event.found) - len(listed)} more" if len(event.found) > len(listed) else ""
        self.notify("  ".join(listed) + more, timeout=3)

    def on_key(self, event: object) -> None:
        """In the transcript, keys that begin a line go to it."""
        key = getattr(event, "character", None)
        if self.transcript.has_focus and key in ("1", "2", "3"):
            self.transcript.set_density(DENSITIES[int(key) - 1])
        elif self.transcript.has_focus and key in ("s", "y", "t"):
            {"s": self._stop, "y": self._copy, "t": self.action_console}[key]()
        elif self.transcript.has_focus and key in ("!", "/", "i"):
            typed = self._typed
            typed.value = "" if key == "i" else str(key)
            typed.focus()
            typed.cursor_position = len(typed.value)

    def on_question_bar_answered(self, event: QuestionBar.Answered) -> None:
        if not self.asked.answered(event):
            self.notify("it was answered elsewhere, or its program is gone", severity="warning")
        self._typed.focus()

    # Actions.

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self._key_at = time.monotonic()
        await super().on_event(event)

    def action_console(self) -> None:
        """Open the console of the selected call, else of the newest one that has one."""
        found = [card for card in self.transcript.cards if card.running and card.pty and card.job_id is not None]
        chosen = self._selected if self._selected in found else None
        if chosen is not None or found:
            self.consoles.open_call(chosen or found[-1])
        else:
            self.notify("no call runs on a terminal")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In a console every key is the program's."""
        if action in ("quit", "interrupt", "console", "help", "jobs", "agent", "answer", "theme") and isinstance(
            self.focused, Console
        ):
            return False
        return super().check_action(action, parameters)

    def action_help(self) -> None:
        self.push_screen(HelpScreen())

    def action_theme(self) -> None:
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def action_jobs(self) -> None:
        panel = self._panel
        is_open = not panel.has_class("-open")
        panel.set_class(is_open, "-open")
        self.transcript.set_class(is_open, "-behind")
        if is_open:
            panel.look()
            panel.query_one("#jobs-list").focus()
        else:
            self._typed.focus()

    @property
    def _selected(self) -> Card | None:
        view = None if self.transcript.selected is None else self.transcript.view_of(self.transcript.selected)
        return None if view is None else view.card

    def _stop(self) -> None:
        """Stop the selected call; what it has written stays."""
        card = self._selected
        if card is None or not card.running:
            return
        if card.call.startswith("person-"):
            self.person.stop()
        elif not self.calls.stop(card):
            self.notify("it cannot be reached", severity="warning")

    def _copy(self) -> None:
        card = self._selected
        if card is not None:
            self.copy_to_clipboard(f"$ {card.command}\n{card.tail.text}")
            self.notify("copied")

    def action_agent(self) -> None:
        """Select the next agent; after the last one none."""
        known: list[str | None] = [None, *self.calls.sessions]
        self.agent = known[(known.index(self.agent) + 1) % len(known)] if self.agent in known else None
        if len(known) == 1:
            self.notify("no agent has run a command yet")
        self._show_place()

    def action_answer(self) -> None:
        bar = self._questions
        if bar.current is None:
            self.notify("no question is open")
        bar.give_focus()

    def action_interrupt(self) -> None:
        if not self.person.stop():
            self.notify("Ctrl+Q ends the console; agents and jobs go on")

    def on_jobs_panel_entered(self, event: JobsPanel.Entered) -> None:
        self.consoles.open_job(event.job)

    def on_jobs_panel_left(self) -> None:
        self.action_jobs()

    def on_jobs_panel_chosen(self, event: JobsPanel.Chosen) -> None:
        from nacre.jobs.output_file import JobFile

        self.push_screen(OutputScreen(f"{event.job.id}  {event.job.record['command']}", JobFile.open(event.job)))
