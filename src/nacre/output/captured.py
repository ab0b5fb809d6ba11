"""A captured stream, as the engine hands it to a contract: bytes in memory, exact counts, and where the rest is."""

from __future__ import annotations

from typing import Literal, NamedTuple

from nacre.result import ArtifactRef, Output, Truncation
from nacre.settings import HEAD_BYTES, INLINE_BYTES, LINE_BYTES


class Captured(NamedTuple):
    """What was kept of one stream."""

    whole: bytes | None
    """Everything, when nothing was cut."""
    head: bytes
    tail: bytes
    total_bytes: int
    total_lines: int
    """Lines, an unterminated last one counted."""
    artifact: ArtifactRef | None = None

    def shown_as(
        self,
        text: str,
        truncation: Truncation | None,
        *,
        capped_lines: int = 0,
        line_bytes: int | None = None,
        redraws: int = 0,
    ) -> Output:
        """What a view makes of it."""
        return Output(
            text=text,
            total_bytes=self.total_bytes,
            total_lines=self.total_lines,
            truncation=truncation,
            artifact=self.artifact,
            capped_lines=capped_lines,
            line_bytes=line_bytes,
            redraws=redraws,
        )

    def omitted_lines(self, *shown: str) -> int:
        """Line ends that are in none of the pieces shown."""
        ends = self.total_lines - (self.total_bytes > 0 and not self.tail.endswith(b"\n"))
        return max(0, ends - sum(piece.count("\n") for piece in shown))


class Selection(NamedTuple):
    """Which lines are wanted; by default as many as fit."""

    head: int | None = None
    tail: int | None = None
    keep: Literal["both", "tail"] = "both"
    inline_bytes: int = INLINE_BYTES
    """Most bytes of text, where the view is sized by settings."""
    head_bytes: int = HEAD_BYTES
    """How many of them are for the first lines, where some are left out."""
    line_bytes: int = LINE_BYTES
    """Most bytes of a line."""


EVERYTHING = Selection()
