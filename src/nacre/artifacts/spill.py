"""One captured stream: a window over it, and the artifact that appears once the window has to omit something.

Until then nothing is created; then the artifact receives what the window held, and from there on every chunk, so it is
the full output. A failed artifact never disturbs the window: the error is stated at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from nacre.artifacts.writer import ArtifactWriter
from nacre.errors import ArtifactError
from nacre.output.window import Window
from nacre.result import ArtifactRef


class SpillResult(NamedTuple):
    """What is left of a stream."""

    window: Window
    artifact: ArtifactRef | None
    """The full output, when it was larger than the window keeps whole, or asked for."""
    error: str | None
    """Why there is no artifact although there should be one."""


class Spill:
    """Feed a stream; have its ends in memory and all of it on disk."""

    __slots__ = ("_create", "_error", "_writer", "window")

    def __init__(self, window: Window, create: Callable[[], ArtifactWriter]) -> None:
        """Take `create`, usually `lambda: store.create("bash")`, called at most once and only when needed."""
        self.window = window
        self._create = create
        self._writer: ArtifactWriter | None = None
        self._error: str | None = None

    def feed(self, buffer: bytes | bytearray, n: int | None = None) -> None:
        """Take the first `n` bytes of `buffer` (all by default); the buffer may be reused at once."""
        if n is None:
            n = len(buffer)
        window = self.window
        if self._writer is None and window.total_bytes + n > window.whole_bytes:
            self.keep()
        if self._writer is not None:
            self._writer.write(buffer, n)
        window.feed(buffer, n)

    def keep(self) -> None:
        """Keep the output on disk even if it is small; from its beginning, as nothing was omitted yet."""
        held = self.window.whole
        if self._writer is not None or self._error is not None or held is None:
            return
        try:
            self._writer = self._create()
        except ArtifactError as error:
            self._error = str(error)
        else:
            self._writer.write(held)

    def finish(self) -> SpillResult:
        """Close the artifact, if there is one, and say what there is. A second call gives no artifact."""
        writer, self._writer = self._writer, None
        artifact = None
        if writer is not None:
            if writer.total_bytes == 0 and writer.error is None:
                writer.discard()
            artifact = writer.close()
            if writer.error is not None:
                self._error = f"{writer.error.strerror or writer.error} ({writer.path})"
        return SpillResult(window=self.window, artifact=artifact, error=self._error)

    def whole(self, most_bytes: int) -> bytes:
        """All output so far, from memory or from the artifact; empty if it is larger or could not be kept."""
        held = self.window.whole
        if held is not None:
            return held
        writer = self._writer
        if writer is None or writer.error is not None or self.window.total_bytes > most_bytes:
            return b""
        try:
            with open(writer.path, "rb") as file:
                data = file.read(most_bytes)
        except OSError:
            # The caller goes on without it, as it does for larger output.
            return b""
        return data if len(data) == self.window.total_bytes else b""

    def discard(self) -> None:
        """Give everything back without a result: an artifact that was begun is removed."""
        if self._writer is not None:
            self._writer.discard()
            self._writer = None
