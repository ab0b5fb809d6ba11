"""The words of a card: the line of its command, of its state and below its output. Pure."""

from __future__ import annotations

import os
import time

from nacre.feed.card import Card
from nacre.jobs.status import spell_seconds

# As they stand in a double-quoted word of the shell.
_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "$": "\\$", "`": "\\`", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_OUTCOMES = {
    "timedOut": "timed out",
    "stopped": "cancelled",
    "denied": "denied",
    "lost": "lost",
    "notStarted": "not started",
    "kept": "goes on as a job",
}


def command_text(card: Card, here: str | None = None) -> str:
    """Return the whole command with its directory and variables: `cd web && CI="1" make`.

    Args:
        here: the directory that needs no mention.
    """
    parts = []
    if card.cwd and card.cwd not in (here, card.project):
        parts.append(f"cd {_from(card.cwd, card.project)} &&")
    parts += [f'{name}="{value.translate(_ESCAPED)}"' for name, value in sorted(card.env.items())]
    command = "".join(one if one.isprintable() or one in "\n\t" else f"\\x{ord(one):02x}" for one in card.command)
    return " ".join([*parts, command.expandtabs(4)])


def _from(cwd: str, project: str | None) -> str:
    if project and cwd.startswith(f"{project}/"):
        return os.path.relpath(cwd, project)
    return cwd


def state_text(card: Card, now: float | None = None) -> str:
    """Return how it stands, in a few words; every ending has words of its own."""
    if card.is_preview:
        return "being written"
    if card.question is not None:
        left = max(0.0, card.question.deadline - (time.time() if now is None else now))
        return f"asks for approval, {left:.0f} s left"
    if card.prompt is not None:
        return f"waits for {'hidden input' if card.hides_input else 'input'}: {card.prompt.strip()}"
    if card.outcome is None:
        return "running"
    if card.outcome == "exited":
        return f"exit {card.exit_code}"
    if card.outcome == "signalled":
        return f"killed by a signal (exit {card.exit_code})"
    return _OUTCOMES.get(card.outcome, card.outcome)


def wall_seconds(card: Card, now: float | None = None) -> float:
    """Return how long it took, or has taken so far."""
    if card.seconds is not None:
        return card.seconds
    return max(0.0, (card.ended or (time.time() if now is None else now)) - card.started)


def footer_text(card: Card, now: float | None = None) -> str:
    """Return the line below the output: job, wall time, limit, artifact, how it stands."""
    parts = [card.job_id] if card.job_id else []
    if not card.is_preview:
        parts.append(spell_seconds(wall_seconds(card, now)))
    if card.timeout:
        asked = f", {card.requested_timeout:g} s asked for" if card.requested_timeout else ""
        parts.append(f"timeout {card.timeout:g} s{asked}")
    parts += [f"artifact {one}" for one in card.artifacts]
    parts.append(state_text(card, now))
    return f"[{' | '.join(parts)}]"


def origin_text(card: Card) -> str:
    """Return who runs it: surface, project and a person's mark."""
    project = os.path.basename(card.project or "") or card.project
    parts = [card.surface, project, "a person" if card.by == "person" else None]
    return " · ".join(part for part in parts if part)
