"""Fits stdout and stderr into one limit of characters: room that one stream leaves is used by the other. Pure.

The view of a stream does not know the other stream, so it leaves the cut unmarked; `Stream.fit` makes the last cut and
marks it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nacre.output.captured import EVERYTHING, Captured, Selection
from nacre.output.decode import CHARACTER_BYTES, decode
from nacre.output.view import both_ends
from nacre.profile import CaptureShape
from nacre.result import Output, Truncation

# In output that is cut, the first error and the last lines matter most.
HEAD_SHARE = 2 / 5


def capture_of(limit: int) -> CaptureShape:
    """Capture enough to show `limit` characters, and a little more, so that cuts are made at character borders."""
    return CaptureShape(
        whole_bytes=CHARACTER_BYTES * (limit + 2),
        head_bytes=_head_of(limit) + CHARACTER_BYTES,
        tail_bytes=limit - _head_of(limit) + CHARACTER_BYTES,
    )


def view(limit: int, captured: Captured, selection: Selection = EVERYTHING) -> Output:
    """Show a stream of at most `limit` characters; the beginning and the end of a longer one, not yet marked."""
    text = decode(captured.whole) if captured.whole is not None else None
    if text is None or len(text) > limit:
        head, tail, truncation = both_ends(captured, _head_of(limit), limit - _head_of(limit))
        return captured.shown_as(head + tail, replace(truncation, head_characters=len(head)))
    # The other stream may leave only half of the limit for this one: then the rest must be on disk.
    crowded = len(text) > limit // 2
    nothing_yet = Truncation(kept="both", omitted_bytes=0, omitted_lines=0, head_characters=len(text))
    return captured.shown_as(text, nothing_yet if crowded else None)


def _head_of(limit: int) -> int:
    return int(limit * HEAD_SHARE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """The text of a stream that can be shown: all of it, or its two ends."""

    name: str
    head: str
    tail: str
    whole: bool
    total_bytes: int
    path: str | None
    """The file with all of it."""

    @classmethod
    def of(cls, output: Output, name: str) -> Stream:
        cut = output.truncation
        border = len(output.text) if cut is None else cut.head_characters
        return cls(
            name=name,
            head=output.text[:border],
            tail=output.text[border:],
            whole=cut is None or not cut.omitted_bytes,
            total_bytes=output.total_bytes,
            path=None if output.artifact is None else output.artifact.path,
        )

    def ending_with(self, text: str) -> Stream:
        shown = self.head + self.tail
        glue = "\n" if text and shown and not shown.endswith("\n") else ""
        return replace(self, tail=f"{self.tail}{glue}{text}")

    @property
    def wants(self) -> int:
        """The characters that the whole text takes."""
        length = len(self.head) + len(self.tail)
        return length if self.whole else length + len(self._mark)

    def fit(self, room: int) -> str:
        """Return at most `room` characters, with a mark where text is left out."""
        if self.whole and self.wants <= room:
            return self.head + self.tail
        mark = "…" if self.unsaid(room) else self._mark
        left = room - len(mark)
        if left < 0:
            return ""
        # The two ends of a whole stream are cut from all of it.
        head, tail = (self.head + self.tail,) * 2 if self.whole else (self.head, self.tail)
        head_kept = min(len(head), _head_of(left))
        tail_kept = min(len(tail), left - head_kept)
        return head[:head_kept] + mark + tail[len(tail) - tail_kept :]

    def unsaid(self, room: int) -> list[str]:
        """Return the note about text left out if `room` is too small for it."""
        if (self.whole and self.wants <= room) or room >= 2 * len(self._mark):
            return []
        return [self._mark.strip("\n[… ]")]

    @property
    def _mark(self) -> str:
        where = f"; all of it: {self.path}" if self.path is not None else " and not kept"
        return f"\n[… the middle of {self.total_bytes} bytes of {self.name} is left out{where} …]\n"


def shares(first: int, second: int, limit: int) -> tuple[int, int]:
    """Divide the limit between two streams: room that one does not need goes to the other."""
    half = limit // 2
    if first <= half:
        return first, limit - first
    if second <= half:
        return limit - second, second
    return limit - half, half
