"""What the harness wants of a tool under test, and what it gets back."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Awaitable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model would read, and the exit code where the tool gives one."""

    text: str
    code: int | None = None


class Tool:
    """One tool, driven through its public interface from inside its own environment.

    `run` may be a coroutine or block; each is called the way its own users call it.
    """

    version = ""

    async def start(self) -> None:
        """Whatever is done once: a session opened, a server started."""

    def run(self, script: str, timeout: float) -> Answer | Awaitable[Answer]:
        raise NotImplementedError

    async def close(self) -> None:
        """Give back what `start` took."""

    def pids(self) -> list[int]:
        """Processes of the tool's own beside the worker, whose memory counts as the tool's."""
        return []


def version_of(*distributions: str) -> str:
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in distributions)
