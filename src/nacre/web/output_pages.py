"""Whole outputs, page by page: of a job, an artifact or a call (its artifact, job's file or what its card holds)."""

from __future__ import annotations

import contextlib
from typing import Any, Literal, Protocol

from nacre.artifacts.store import ArtifactStore
from nacre.artifacts.stored import Piece
from nacre.errors import InvalidRequestError, NacreError
from nacre.feed.card import Card
from nacre.jobs.output_file import JobFile
from nacre.jobs.table import JobTable
from nacre.output.decode import decode, trim_head
from nacre.output.escapes import strip
from nacre.output.lines import settle

PAGE_BYTES = 64 * 1024

Kind = Literal["call", "job", "artifact"]


class Kept(Protocol):
    """An output that is open for reading (`nacre.artifacts.stored.Stored`)."""

    @property
    def end(self) -> int: ...
    def read(self, offset: int, limit: int) -> Piece: ...


def output_page(
    kind: Kind, name: str, offset: int, *, card: Card | None, artifacts: ArtifactStore, jobs: JobTable
) -> dict[str, Any]:
    """Return one page as JSON: its text, where it is, and where the next begins.

    Args:
        offset: of its first byte; -1 for the last page.

    Raises:
        NacreError: there is no such output, or it is gone.
    """
    if kind == "artifact":
        if not (name.isascii() and name.isdigit() and len(name) < 16):
            raise InvalidRequestError(f"an artifact is a number, got {name!r}", field="artifact")
        with artifacts.open(int(name)) as kept:
            return page_of(kept, offset)
    if kind == "call" and card is not None:
        # Pruned or removed in between, or another job has its name now: what the card holds is shown.
        with contextlib.suppress(NacreError):
            if card.artifacts:
                return output_page("artifact", card.artifacts[0], offset, card=None, artifacts=artifacts, jobs=jobs)
            if card.job_id is not None and jobs.get(card.job_id).record.get("call") == card.call:
                return output_page("job", card.job_id, offset, card=None, artifacts=artifacts, jobs=jobs)
        return held_page(card)
    if kind == "call":
        raise NacreError(f"call {name} is not shown any more; `nacre log` has its facts")
    with JobFile.open(jobs.get(name)) as kept:
        return {**page_of(kept, offset), "notices": list(kept.notices)}


def page_of(kept: Kept, offset: int) -> dict[str, Any]:
    """Return the page at an offset, of whole lines where there are any."""
    start = max(0, kept.end - PAGE_BYTES) if offset < 0 else offset
    piece = kept.read(start, PAGE_BYTES)
    data, begin = piece.data, piece.offset
    if offset < 0 and start > 0 and (cut := data.find(b"\n") + 1) and cut < len(data):
        data, begin = data[cut:], begin + cut
    data = _whole_lines(data) if begin + len(data) < kept.end else data
    return {
        "text": settle(strip(decode(data))).text,
        "offset": begin,
        "next": begin + len(data),
        "end": kept.end,
        "droppedBytes": piece.skipped_bytes,
    }


def held_page(card: Card) -> dict[str, Any]:
    """Return what a card holds as the only page."""
    text = settle(card.tail.text).text
    size = len(text.encode("utf-8", "replace"))
    return {"text": text, "offset": 0, "next": size, "end": size, "droppedBytes": card.tail.missing_bytes}


def _whole_lines(data: bytes) -> bytes:
    """Return the bytes up to the last line end; all but a cut character where there is none."""
    end = data.rfind(b"\n") + 1
    return data[:end] if end else trim_head(data) or data
