"""A backend that begins every command before it attends it, as the engine does where nobody would be kept waiting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nacre.backend import Ending, Listener, LocalBackend, Process, Survivor
from nacre.backends.inline_wait import tell
from nacre.command import Command


class BegunFirst:
    """What ended at once is told to the listener in one go; the rest goes on like any command."""

    def __init__(self, inner: LocalBackend) -> None:
        self._inner = inner
        self.notice = inner.notice
        self.keeps = inner.keeps
        self.at_once = 0
        """How many commands ended so."""

    def start(self, command: Command, listener: Listener, *, job: Mapping[str, Any] | None = None) -> Process:
        assert job is None
        begun = self._inner.begin(command)
        if begun is None:
            return self._inner.start(command, listener)
        try:
            short = begun.at_once()
            if short is None:
                return begun.start(command, listener)
        finally:
            begun.close()
        self.at_once += 1
        tell(listener, short.outputs)
        for stream, _ in enumerate(short.outputs, start=1):
            listener.closed(stream)
        listener.exited(Ending(pid=0, code=short.code, stages=short.stages))
        return _Over()


class _Over:
    """A process of which nothing is left."""

    def stop(self) -> None: ...

    def signal(self, number: int) -> None: ...

    async def survivors(self) -> tuple[Survivor, ...]:
        return ()

    def pause(self) -> None: ...

    async def keep(self, job: Mapping[str, Any] | None, *, adopt: int | None = None) -> None: ...

    def release(self) -> None: ...
