"""One call as a person sees it: its command, its newest output, how it stands. Pure values, shared by every viewer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from nacre.output.lines import settle

# What is held of a call's output; the whole is in its artifact or its job's file.
TAIL_CHARACTERS = 256 * 1024
TAB_COLUMNS = 4

Status = Literal[
    "preview", "running", "waiting", "asking", "succeeded", "failed", "timedOut", "cancelled", "denied", "error"
]
"""How a call stands, for colours and filters: `error` is a call that did not start, or whose end is not known."""

# An ending by its outcome; `exited` is told apart by its code.
_ENDINGS: dict[str, Status] = {
    "signalled": "failed",
    "timedOut": "timedOut",
    "stopped": "cancelled",
    "denied": "denied",
    "lost": "error",
    "notStarted": "error",
    # A person's command that was left as a job; the job has an end of its own.
    "kept": "succeeded",
}


class Question(NamedTuple):
    """An approval that a person is asked for."""

    id: str
    rule: str | None
    message: str
    span: tuple[int, int] | None
    """Where in the command the risky part is."""
    deadline: float
    """When it becomes a denial: seconds since the epoch."""


class Tail:
    """The newest output of a call; its size is bounded."""

    def __init__(self) -> None:
        self._text = ""
        self._lines: list[str] | None = None
        self.missing_bytes = 0
        """What came before it and is not here."""
        self.missing_lines = 0
        """How many lines of that are known."""

    @property
    def text(self) -> str:
        return self._text

    @property
    def whole(self) -> bool:
        """True if it is all output so far."""
        return self.missing_bytes == 0

    def add(self, text: str, dropped_bytes: int = 0) -> None:
        if dropped_bytes:
            self._forget(len(self._text))
            self.missing_bytes += dropped_bytes
        self._text += text
        if len(self._text) > 2 * TAIL_CHARACTERS:
            self._forget(len(self._text) - TAIL_CHARACTERS)
        self._lines = None

    def _forget(self, count: int) -> None:
        gone, self._text = self._text[:count], self._text[count:]
        self.missing_bytes += len(gone.encode("utf-8", "replace"))
        self.missing_lines += gone.count("\n")

    @property
    def lines(self) -> list[str]:
        """The logical lines: redrawn lines in their last state, tabs as blanks."""
        if self._lines is None:
            text = settle(self._text).text.expandtabs(TAB_COLUMNS)
            self._lines = text.removesuffix("\n").split("\n") if text else []
        return self._lines


@dataclass(slots=True, kw_only=True)
class Card:
    """A call, from its first event to its last."""

    call: str
    command: str = ""
    env: dict[str, str] = field(default_factory=dict)
    cwd: str | None = None
    surface: str | None = None
    session: str | None = None
    project: str | None = None
    pid: int | None = None
    contract: str | None = None
    by: str = "model"
    pty: bool = False
    timeout: float | None = None
    requested_timeout: float | None = None
    started: float = 0.0
    ended: float | None = None
    seconds: float | None = None
    """Wall time, once it is known."""
    job_id: str | None = None
    attended: bool = False
    """Whether its caller still waits for the job that has its terminal."""
    outcome: str | None = None
    """How it ended, as the log spells it; None while it runs."""
    exit_code: int | None = None
    error: str | None = None
    """Why it has no result, if it has none."""
    rule: str | None = None
    """The rule that denied it."""
    notices: list[str] = field(default_factory=list)
    artifacts: list[str] = field(default_factory=list)
    prompt: str | None = None
    """What it waits for a person to answer."""
    hides_input: bool = False
    question: Question | None = None
    is_preview: bool = False
    """True while its arguments are still being written."""
    tail: Tail = field(default_factory=Tail)

    @property
    def running(self) -> bool:
        return self.outcome is None

    @property
    def status(self) -> Status:
        if self.is_preview:
            return "preview"
        if self.outcome is None:
            if self.question is not None:
                return "asking"
            return "running" if self.prompt is None else "waiting"
        if self.outcome == "exited":
            return "failed" if self.exit_code else "succeeded"
        return _ENDINGS.get(self.outcome, "error")

    @property
    def has_failed(self) -> bool:
        return self.outcome is not None and self.status != "succeeded"


def take(card: Card, event: dict[str, Any]) -> None:
    """Change a card by an event of its call."""
    for name in ("surface", "session", "project", "pid"):
        if event.get(name) is not None:
            setattr(card, name, event[name])
    kind = event.get("event")
    if kind in ("start", "preview"):
        _begin(card, event)
    elif kind == "output":
        card.tail.add(str(event.get("text") or ""), int(event.get("droppedBytes") or 0))
        card.prompt = None
    elif kind == "waiting":
        prompt = event.get("prompt")
        card.prompt, card.hides_input = None if prompt is None else str(prompt), bool(event.get("hidden"))
    elif kind == "approval":
        card.question = _question(event)
        if event.get("note"):
            card.notices.append(str(event["note"]))
    elif kind == "job":
        card.job_id, card.attended = event.get("jobId"), bool(event.get("attended"))
    elif kind == "end":
        _end(card, event)


def _begin(card: Card, event: dict[str, Any]) -> None:
    card.is_preview = event["event"] == "preview"
    card.command = str(event.get("command") or card.command)
    card.env = dict(event.get("env") or card.env)
    card.cwd, card.contract = event.get("cwd") or card.cwd, event.get("contract") or card.contract
    card.by, card.pty = event.get("by") or card.by, bool(event.get("pty", card.pty))
    card.timeout, card.requested_timeout = event.get("timeout"), event.get("requestedTimeout")
    card.started = float(event.get("startedAt") or event.get("time") or card.started)


def _question(event: dict[str, Any]) -> Question | None:
    if event.get("answer") is not None:
        return None
    span = event.get("span")
    return Question(
        id=str(event.get("question")),
        rule=event.get("rule"),
        message=str(event.get("message") or ""),
        span=(int(span[0]), int(span[1])) if span else None,
        deadline=float(event.get("deadline") or 0.0),
    )


def _end(card: Card, event: dict[str, Any]) -> None:
    card.outcome = str(event.get("outcome") or "lost")
    card.exit_code, card.error, card.rule = event.get("exitCode"), event.get("error"), event.get("rule")
    card.notices += [str(one) for one in event.get("notices") or ()]
    card.artifacts = [str(one) for one in event.get("artifacts") or ()]
    card.job_id = event.get("jobId") or card.job_id
    card.ended = float(event.get("time") or 0.0)
    took = event.get("durationMs")
    card.seconds = took / 1000 if isinstance(took, int | float) else None
    card.prompt = card.question = None
    card.is_preview = False
    if not card.command:
        card.command = str(event.get("command") or "")
