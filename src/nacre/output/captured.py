"""A captured stream, as the engine hands it to a contract: bytes at hand, exact counts, and where the rest is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from nacre.result import ArtifactRef, Output, Truncation


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """What was kept of one stream."""

    whole: bytes | None
    """Everything, when nothing was cut."""
    head: bytes
    tail: bytes
    total_bytes: int
    total_lines: int
    """Lines, an unterminated last one counted."""
    artifact: ArtifactRef | None = None

    def shown_as(self, text: str, truncation: Truncation | None, *, capped_lines: int = 0, redraws: int = 0) -> Output:
        """What a view makes of it."""
        return Output(
            text=text,
            total_bytes=self.total_bytes,
            total_lines=self.total_lines,
            truncation=truncation,
            capped_lines=capped_lines,
            redraws=redraws,
            artifact=self.artifact,
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


EVERYTHING = Selection()
