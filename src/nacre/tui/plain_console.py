"""`nacre tui --plain`: the console as flat text for screen readers: one line an event, numbered menus, no redrawing.

The terminal stays as it is: its own cursor, its own line editing, its own scrollback.
"""

from __future__ import annotations

import asyncio
import sys
import termios
import threading
from collections.abc import Callable
from functools import partial
from typing import TextIO

from nacre.engine.engine import Engine
from nacre.feed.card import Card
from nacre.feed.card_texts import command_text, state_text, wall_seconds
from nacre.feed.folding import rows_of
from nacre.feed.follower import Decision
from nacre.jobs.status import spell_seconds
from nacre.tui.agent_calls import AgentCalls
from nacre.tui.job_words import job_state
from nacre.tui.person import PersonSession
from nacre.tui.person_commands import PersonCommands, handover
from nacre.tui.typed_line import Bang, Move, Search, read_line
from nacre.tui.whole_output import Kept
from nacre.warden_client.terminal_watcher import TerminalWatcher
from nacre.wording import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.guard.verdict import Verdict

WELCOME = "nacre console, plain. Type ! and a command, or a number. Type 0 for the menu, q to end."
MENU = (
    "calls",
    "jobs",
    "open questions",
    "choose the agent that reads your ! commands",
    "help",
)
HELP = """\
!COMMAND runs a command; the chosen agent reads it and its output once.
!!COMMAND runs a command that no agent reads.
cd DIRECTORY moves your session.
/TEXT lists the calls that hold a text.
A number chooses from the last list. 0 is the menu. q ends the console; agents and jobs go on.
Each call is told in one line when it begins and in one when it ends; choose its number to read its output."""
SCOPES: tuple[tuple[str, Decision], ...] = (
    ("approve once", "once"),
    ("approve for this session", "session"),
    ("approve always, as a rule", "always"),
    ("deny", "deny"),
)
MOST_LISTED = 20
WIDTH = 10_000

Choice = tuple[str, Callable[[], None]]


class PlainConsole:
    """Reads lines, writes lines.

    It has a method for each word of its menu, and they share the one place where lines are read.
    """

    def __init__(self, engine: Engine, *, cwd: str | None = None, out: TextIO | None = None) -> None:
        self._engine = engine
        self._out = sys.stdout if out is None else out
        session = partial(PersonSession, cwd=cwd, approver=self._approve)
        self._person = PersonCommands(session, engine.artifacts, self._show_own, cwd=cwd)
        self._calls = AgentCalls(engine.state_dir, engine.jobs, engine.artifacts, self, engine.redactor)
        self._choices: list[Choice] = []
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._reads: Callable[[str], None] | None = None
        """Takes the next line as an answer, where one is asked for."""
        self._agent: str | None = None
        self._cards: dict[str, tuple[Card, Callable[[], Kept | None]]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._input: TextIO | None = None
        self._watcher: TerminalWatcher | None = None
        """There while the terminal shows nothing of what is typed."""

    def say(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()

    # The loop.

    async def run(self, lines: TextIO) -> None:
        """Serve until `q` or the end of input."""
        self._input = lines
        self.say(WELCOME)
        loop = asyncio.get_running_loop()
        following = asyncio.create_task(self._calls.follow())
        # A blocking read cannot be awaited; the thread ends with the program.
        threading.Thread(target=_read, args=(lines, loop, self._lines), name="nacre-lines", daemon=True).start()
        try:
            while (line := await self._lines.get()) is not None and line.strip() != "q":
                self._typed(line.rstrip("\n"))
            if line is None:
                # The end of a script: its last command has its time.
                await asyncio.gather(*self._running)
        finally:
            self._echo(on=True)
            following.cancel()
            for task in list(self._running):
                task.cancel()
            await asyncio.gather(following, *self._running, return_exceptions=True)
            await self._person.aclose()

    def _typed(self, line: str) -> None:
        if self._reads is not None:
            answer, self._reads = self._reads, None
            answer(line)
            return
        text = line.strip()
        if text.isdigit():
            self._choose(int(text))
            return
        match read_line(line):
            case None:
                return
            case Search(text):
                self._list_calls([card for card, _ in self._cards.values() if _holds(card, text)])
            case Bang(command, seen):
                self._start(command, seen=seen)
            case Move(command):
                self._start(command, seen=False)
            case str(hint):
                self.say(f"Not understood: {hint}. Type 0 for the menu.")

    def _choose(self, number: int) -> None:
        if number == 0:
            self._offer("Menu:", [(text, action) for text, action in zip(MENU, self._menu(), strict=True)])
        elif number <= len(self._choices):
            self._choices[number - 1][1]()
        else:
            self.say(f"There is no {number} in the last list. Type 0 for the menu.")

    def _menu(self) -> list[Callable[[], None]]:
        return [
            lambda: self._list_calls([card for card, _ in self._cards.values()]),
            self._list_jobs,
            self._list_questions,
            self._list_agents,
            lambda: self.say(HELP),
        ]

    def _offer(self, title: str, choices: list[Choice]) -> None:
        self._choices = choices
        self.say(title)
        for number, (text, _) in enumerate(choices, 1):
            self.say(f"{number}. {text}")

    # Lists.

    def _list_calls(self, cards: list[Card]) -> None:
        shown = cards[-MOST_LISTED:]
        title = f"{counted(len(cards), 'call')}, the newest {len(shown)}:" if len(shown) < len(cards) else "Calls:"
        self._offer(
            title if cards else "No calls.",
            [(_summary(card), partial(self._open_call, card)) for card in shown],
        )

    def _open_call(self, card: Card) -> None:
        choices: list[Choice] = [("read the end of its output", partial(self._read_end, card))]
        choices.append(("read its whole output", partial(self._read_whole, card)))
        if card.running:
            choices.append(("stop it", partial(self._stop, card)))
        self._offer(f"{_summary(card)}.", choices)

    def _read_end(self, card: Card) -> None:
        lines = card.tail.lines[-20:]
        self.say("\n".join(lines) if lines else "No output.")
        self.say("End of output.")

    def _read_whole(self, card: Card) -> None:
        kept = self._cards[card.call][1]()
        if kept is None:
            self.say(card.tail.text.rstrip("\n") or "No output.")
        else:
            offset = 0
            while (piece := kept.read(offset, 256 * 1024)).data:
                for row in rows_of(piece.data.decode("utf-8", "replace"), WIDTH):
                    self.say(row)
                offset = piece.end
            kept.close()
        self.say("End of output.")

    def _stop(self, card: Card) -> None:
        self.say("Stopped." if self._calls.stop(card) else "It cannot be reached.")

    def _list_jobs(self) -> None:
        jobs = self._engine.jobs.list().jobs
        self._offer(
            "Jobs; choose one to stop it:" if jobs else "No jobs.",
            [(f"{job.id}, {job_state(job)}: {job.record['command']}", partial(self._stop_job, job.id)) for job in jobs],
        )

    def _stop_job(self, job_id: str) -> None:
        self._engine.jobs.stop(job_id)
        self.say(f"{job_id} is being stopped.")

    def _list_questions(self) -> None:
        asking = [card for card, _ in self._cards.values() if card.question is not None or card.prompt is not None]
        choices: list[Choice] = [(_summary(card), partial(self._ask, card)) for card in asking]
        self._offer("Open questions:" if asking else "No open questions.", choices)

    def _ask(self, card: Card) -> None:
        if card.question is not None:
            self._offer(
                f"{card.question.message}. The command is: {card.command}.{_risk(card)}",
                [(text, partial(self._decide, card, scope)) for text, scope in SCOPES],
            )
        elif card.prompt is not None:
            hidden = " What you type is not shown, and recorded nowhere." if card.hides_input else ""
            # Before a word of it: who is asked may type at once.
            if card.hides_input:
                self._echo(on=False)
            self.say(f"It asks: {card.prompt.strip()}{hidden} Type the answer and Enter.")
            self._reads = partial(self._send, card)

    def _send(self, card: Card, line: str) -> None:
        self._echo(on=True)
        self.say("Sent." if self._calls.answer(card, line) else "It cannot be reached.")

    def _echo(self, *, on: bool) -> None:
        """Have the terminal show what is typed, or not."""
        if self._input is None or not self._input.isatty() or on == (self._watcher is None):
            return
        watcher = self._watcher or TerminalWatcher(self._input.fileno())
        state = termios.tcgetattr(self._input)
        state[3] = state[3] | termios.ECHO if on else state[3] & ~termios.ECHO
        termios.tcsetattr(self._input, termios.TCSANOW, state)
        if on:
            watcher.close()
        else:
            watcher.begin()
        self._watcher = None if on else watcher

    def _decide(self, card: Card, scope: Decision) -> None:
        self.say(
            "Answered." if self._calls.decide(card, scope) else "It was answered elsewhere, or its program is gone."
        )

    def _list_agents(self) -> None:
        agents: list[Choice] = [("no agent", partial(self._select, None))]
        agents += [(where, partial(self._select, session)) for session, where in self._calls.sessions.items()]
        self._offer("Which agent reads your ! commands?", agents)

    def _select(self, session: str | None) -> None:
        self._agent = session
        self.say("No agent reads them." if session is None else f"Chosen: {self._calls.sessions[session]}.")

    # The person's own commands.

    def _start(self, command: str, *, seen: bool) -> None:
        if self._person.busy:
            self.say("Your last command still runs.")
            return
        task = asyncio.create_task(self._run(command, seen=seen))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run(self, command: str, *, seen: bool) -> None:
        agent = self._agent if seen else None
        result = await self._person.run(command, seen=seen)
        if result is not None and agent is not None and not self._calls.hand_over(agent, handover(command, result)):
            self.say("The agent is gone: it was not handed over.")

    def _show_own(self, card: Card, open_whole: Callable[[], Kept | None], prompt: str) -> None:
        self._cards[card.call] = (card, open_whole)
        if not card.running:
            for line in (card.tail.text.rstrip("\n"), card.error, *card.notices):
                if line:
                    self.say(line)
            self.say(f"Ended: {state_text(card)}, {spell_seconds(wall_seconds(card))}.")

    async def _approve(self, command: str, verdict: Verdict) -> bool:
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.say(f"{verdict.message}. Type yes to run it all the same, anything else to leave it.")
        self._reads = partial(_settle, answer)
        return await answer

    # What agents do.

    shows_terminals = False

    def show_call(self, card: Card, kind: str, open_whole: Callable[[], Kept | None]) -> None:
        """Tell a beginning, an end and a question; output is read when it is asked for."""
        self._cards[card.call] = (card, open_whole)
        if kind == "start":
            self.say(f"Began: {command_text(card)}.")
        elif kind == "end":
            self.say(f"Ended: {_summary(card)}.")
        elif kind == "job":
            self.say(f"Goes on as {card.job_id}: {command_text(card)}.")
        elif (kind == "approval" and card.question is not None) or (kind == "waiting" and card.prompt is not None):
            self._list_questions()

    def show_problem(self, text: str) -> None:
        self.say(f"Agents cannot be followed: {text}.")


def _settle(answer: asyncio.Future[bool], line: str) -> None:
    if not answer.done():
        answer.set_result(line.strip().lower() in ("y", "yes"))


def _summary(card: Card) -> str:
    lines = counted(len(card.tail.lines), "line")
    return f"{' '.join(command_text(card).split())}: {state_text(card)}, {spell_seconds(wall_seconds(card))}, {lines}"


def _risk(card: Card) -> str:
    span = None if card.question is None else card.question.span
    return "" if span is None else f" The part asked about is: {card.command[span[0] : span[1]]}."


def _holds(card: Card, text: str) -> bool:
    return text.lower() in card.command.lower() or text.lower() in card.tail.text.lower()


def _read(lines: TextIO, loop: asyncio.AbstractEventLoop, queue: asyncio.Queue[str | None]) -> None:
    for line in lines:
        loop.call_soon_threadsafe(queue.put_nowait, line)
    loop.call_soon_threadsafe(queue.put_nowait, None)
