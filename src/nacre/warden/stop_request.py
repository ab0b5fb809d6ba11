"""Signals that ask a runner, or a keeper, to stop what it runs. The zygote sets the handlers for all of them."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Stoppable(Protocol):
        def request_stop(self, why: str) -> None: ...


current: Stoppable | None = None
"""What the requests are for."""


def stop(*_: object) -> None:
    """STOP_SIGNAL: `nacre jobs stop` sends it to a job's runner, from any process of the same user."""
    if current is not None:
        current.request_stop("stop")


def terminate(*_: object) -> None:
    """SIGTERM, which nacre never sends to a runner: the command ends, and the reason is told."""
    if current is None:
        os._exit(128 + signal.SIGTERM)
    current.request_stop("SIGTERM")
