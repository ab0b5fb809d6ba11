"""The open questions: approvals of the person's own commands, approvals and prompts of agents' calls."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from nacre.feed.card import Card
from nacre.tui.agent_calls import AgentCalls
from nacre.tui.question_bar import OpenQuestion, QuestionBar, open_questions

if TYPE_CHECKING:
    from nacre.feed.follower import Decision
    from nacre.guard.verdict import Verdict


class AskedQuestions:
    """What is asked in the bar, and who waits for each answer."""

    def __init__(self, bar: QuestionBar, calls: AgentCalls) -> None:
        self._bar = bar
        self._calls = calls
        self._own: dict[str, asyncio.Future[bool]] = {}
        self._cards: dict[str, Card] = {}
        """The cards of open questions, by question."""

    def show(self, card: Card) -> None:
        """Ask what a card asks now, and withdraw what it asks no more."""
        found = open_questions(card)
        for question in found:
            self._cards[question.id] = card
            self._bar.ask(question)
        for name in {f"approval {card.call}", f"prompt {card.call}"} - {question.id for question in found}:
            if self._cards.pop(name, None) is not None:
                self._bar.withdraw(name)

    async def approve(self, command: str, verdict: Verdict) -> bool:
        """Ask the person about a command of their own."""
        name = f"own-{id(verdict)}"
        answer = self._own[name] = asyncio.Future[bool]()
        self._bar.ask(
            OpenQuestion(
                id=name,
                kind="approval",
                text=verdict.message,
                command=command,
                span=verdict.span,
                scopes=("once", "deny"),
            )
        )
        self._bar.give_focus()
        try:
            return await answer
        finally:
            self._own.pop(name, None)
            self._bar.withdraw(name)

    def answered(self, event: QuestionBar.Answered) -> bool:
        """Pass an answer on; False if what asked is gone."""
        name = event.question.id
        own, card = self._own.get(name), self._cards.pop(name, None)
        if own is not None and not own.done():
            own.set_result(event.answer == "once")
        elif card is not None and event.question.kind == "prompt":
            return self._calls.answer(card, event.answer)
        elif card is not None:
            return self._calls.decide(card, cast("Decision", event.answer))
        return True
