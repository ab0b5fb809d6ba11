"""The calls of a feed as a list of cards: what watch, the TUI and the page show. Pure, and bounded in size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nacre.feed.card import Card, take

# Ended calls that are held; the log has the facts of older ones.
MOST_CARDS = 1_000


class Transcript:
    """Cards by call, in the order in which the calls began."""

    def __init__(self, most: int = MOST_CARDS) -> None:
        self._cards: dict[str, Card] = {}
        self._most = most
        self.forgotten = 0
        """Cards of ended calls that are not held any more."""

    def __iter__(self) -> Iterator[Card]:
        return iter(list(self._cards.values()))

    def __len__(self) -> int:
        return len(self._cards)

    def get(self, name: str) -> Card | None:
        """Return a card by the id of its call or of its job."""
        found = self._cards.get(name)
        return found or next((card for card in self._cards.values() if card.job_id == name), None)

    @property
    def running(self) -> list[Card]:
        return [card for card in self._cards.values() if card.running]

    def feed(self, event: dict[str, Any]) -> Card:
        """Take an event; returns the card that it changed."""
        call = str(event.get("call"))
        card = self._cards.get(call)
        if card is None:
            card = self._cards[call] = Card(call=call)
            self._forget()
        take(card, event)
        return card

    def _forget(self) -> None:
        if len(self._cards) <= self._most:
            return
        for call, card in self._cards.items():
            if not card.running:
                del self._cards[call]
                self.forgotten += 1
                return
