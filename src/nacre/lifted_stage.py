"""The last stage of a pipeline that only selects what is shown of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifted:
    """A trailing `| head` or `| tail`: the model reads what it selects, but the command is the producer before it."""

    stage: str
    """As it was written."""
    producer: int
    """Which of the stage codes is the producer's, counted from the end."""
    side: bool
    """Whether the producer's whole output comes on the side stream."""
    unit: Literal["lines", "bytes"] = "lines"
    count: int = 10
    plain_script: str = ""
    """With a side stream: the script without the copy."""

    def hides(self, *, lines: int, size: int) -> bool:
        """Whether the stage shows less than all of an output of so many lines and bytes."""
        return (size if self.unit == "bytes" else lines) > self.count
