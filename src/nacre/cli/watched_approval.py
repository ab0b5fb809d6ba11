"""The approval that a person answers in `nacre watch`: one key shows the question whole, the next one answers it."""

from __future__ import annotations

from nacre.feed.approval_choices import CHOICES
from nacre.feed.card import Card
from nacre.feed.card_texts import command_text
from nacre.feed.follower import Follower

ESCAPE = "\x1b"
OFFER = " · ".join(f"{key} {text}" for key, _, text in CHOICES)
GONE = "it was answered elsewhere, or its program is gone"


class WatchedApproval:
    """The question that was opened, until a key answers it or it is over."""

    def __init__(self, feed: Follower) -> None:
        self._feed = feed
        self._card: Card | None = None
        self._question = ""

    def open(self, cards: list[Card]) -> list[str]:
        """Open the oldest question; returns what is printed of it, nothing without one."""
        asking = [card for card in cards if card.question is not None]
        if not asking or asking[0].question is None:
            return []
        self._card, self._question = asking[0], asking[0].question.id
        return question_lines(self._card)

    @property
    def line(self) -> str | None:
        """What the keys do now; None while no question is open here."""
        if not self._is_open:
            return None
        return f"Approve? {OFFER} · Esc leaves"

    @property
    def _is_open(self) -> bool:
        question = None if self._card is None else self._card.question
        if question is None or question.id != self._question:
            self._card = None
        return self._card is not None

    def takes(self, key: str) -> str | None:
        """Take a key; None if it is none for a question, else what is said about it."""
        if not self._is_open or self._card is None:
            return None
        for wanted, scope, text in CHOICES:
            if key == wanted:
                call, self._card = self._card.call, None
                return f"answered: {text}" if self._feed.answer(call, self._question, scope) else GONE
        if key == ESCAPE:
            self._card = None
            return "left open"
        return None


def question_lines(card: Card) -> list[str]:
    """Return a question with the whole command: what is approved was seen."""
    assert card.question is not None
    span = card.question.span
    risky = "" if span is None else " ".join(card.command[span[0] : span[1]].split())
    return [
        "Approve?",
        *(f"  $ {line}" for line in command_text(card).split("\n")),
        *(f"  {line}" for line in card.question.message.splitlines()),
        *([f"  The part asked about: {risky}"] if risky and risky != " ".join(card.command.split()) else []),
    ]
