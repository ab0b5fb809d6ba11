"""What a person ran and an agent is to read: kept here until the next answer of the agent's session takes it (D36)."""

from __future__ import annotations

# The most texts that wait for one session; the newest stay.
MOST_TEXTS = 20

waiting: dict[str, tuple[str, ...]] = {}
"""By session. It is asked on every call, so it is empty while nothing waits."""


def put(session: str, text: str) -> None:
    """Keep a text for a session."""
    waiting[session] = (*waiting.get(session, ()), text)[-MOST_TEXTS:]


def take(session: str | None) -> tuple[str, ...]:
    """Return what waits for a session, which is then handed over."""
    return () if session is None else waiting.pop(session, ())
