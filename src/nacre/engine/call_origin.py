"""What a call brings along for a command that has a shell of its own."""

from __future__ import annotations

from typing import NamedTuple

from nacre.engine.observers import NO_OBSERVERS, Observers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.engine.wait import WaitPolicy
    from nacre.sessions.session import ShellSession


class CallOrigin(NamedTuple):
    """Where a call comes from, how long it waits, and what sees its output."""

    cwd: str
    session: ShellSession | None = None
    """The shell with whose state the command begins."""
    policy: WaitPolicy | None = None
    """How long the call waits; None waits to the end."""
    observers: Observers = NO_OBSERVERS
