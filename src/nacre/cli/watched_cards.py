"""The lines of a card in `nacre watch`. Pure."""

from __future__ import annotations

import time
from typing import NamedTuple

from nacre.feed.card import Card
from nacre.feed.card_texts import command_text, footer_text, origin_text
from nacre.feed.folding import Density, cut_to, folded, unfolded

# Where the whole output is, where a line scrolled by is not folded by a key.
UNFOLD = "d shows all"
WHERE_ANSWERED = "`nacre watch` on a terminal (key a), `nacre tui` and `nacre web` answer it"


class CardFilter(NamedTuple):
    """Which calls are shown."""

    name: str | None = None
    session: str | None = None
    directory: str | None = None
    failed: bool = False

    def takes(self, card: Card) -> bool:
        if self.name is not None and self.name not in (card.call, card.job_id):
            return False
        if self.session is not None and self.session not in (card.session or ""):
            return False
        if self.directory is not None and not f"{card.cwd or ''}/".startswith(f"{self.directory.rstrip('/')}/"):
            return False
        return not self.failed or card.has_failed


def started_lines(card: Card) -> list[str]:
    """Return what is printed when a call starts, waits or asks, where nothing is redrawn."""
    lines = [_head(card)]
    if card.question is not None:
        lines += [f"  {card.question.message}", f"  {WHERE_ANSWERED}"]
    return [*lines, f"  {footer_text(card)}"]


def finished_lines(card: Card, density: Density, columns: int) -> list[str]:
    """Return what scrolls by when a call has ended."""
    if density == "count":
        return [cut_to(f"{footer_text(card)} {_one_line(card)}", columns)]
    fold = unfolded(card, columns - 2) if density == "all" else folded(card, columns - 2)
    hint = fold.hint(_where(card))
    notices = [card.error] if card.error else []
    return [
        _head(card),
        *([f"  {hint}"] if hint is not None else []),
        *(f"  {line}" for line in fold.lines),
        *(f"  {line}" for one in [*notices, *card.notices] for line in one.splitlines()),
        f"  {footer_text(card)}",
    ]


def running_lines(card: Card, density: Density, columns: int) -> list[str]:
    """Return what is drawn of a call that runs; every line fits."""
    footer = footer_text(card, time.time())
    width = columns - 1
    if density == "count":
        return [cut_to(f"{footer} {_one_line(card)}", width)]
    fold = folded(card, width - 2)
    hint = fold.hint(UNFOLD)
    lines = [f"$ {_one_line(card)}", *([f"  {hint}"] if hint else []), *(f"  {line}" for line in fold.lines)]
    if card.question is not None:
        lines.append(f"  {card.question.message}")
    return [cut_to(line, width) for line in [*lines, f"  {footer}"]]


def _head(card: Card) -> str:
    """The whole command, with where it comes from."""
    origin = origin_text(card)
    return f"$ {command_text(card)}" + (f"   ({origin})" if origin else "")


def _one_line(card: Card) -> str:
    return " ".join(command_text(card).split())


def _where(card: Card) -> str:
    """How the whole output is read afterwards."""
    if card.artifacts:
        return f"nacre artifacts show {card.artifacts[0]}"
    return f"nacre jobs logs {card.job_id}" if card.job_id else "--density all"
