"""Windows on a kept output, as text for a model: by offset, by lines, by last lines, by expression.

Offsets count the bytes of the output. Windows that follow each other by `next_offset` show every byte once: a window
ends between lines where it can, never within a character or an escape sequence. What is shown is what a person would
have seen: escapes taken out, progress bars settled. Bytes that a cap dropped are counted, never shown as anything else.
A search finds every state of a redrawn line, so what a window leaves out of one can be had.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from nacre.artifacts.stored import BLOCK_BYTES, LineCounter, Piece, Stored
from nacre.output.decode import decode, fit_head, fit_tail, trim_head, trim_tail
from nacre.output.escapes import strip
from nacre.output.lines import Settled, settle
from nacre.output.plain_bytes import is_plain
from nacre.regex.automaton import Regex, WorkBudget
from nacre.wording import counted, were

# Room for one character and the escape sequences before it, however little was asked for.
LEAST_READ_BYTES = 256
# A matching line is shown up to this length, around the match.
MATCH_CHARACTERS = 500
# A search over a gigabyte may take longer; then it says how far it came.
SEARCH_SECONDS = 10.0

# A line, or one state of a line that is redrawn.
_STATE = re.compile(rb"([^\r\n]*+)(?:\r*+\n|\r++|\Z)")
_OPEN_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b\n]*\x1b?|[ -/]*)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of an output that was read or searched."""

    offset: int
    """Of its first byte."""
    next_offset: int
    """Of the first byte behind it."""
    total_bytes: int
    """How long the output is so far."""
    skipped_bytes: int = 0
    """Dropped bytes that lie between the offset asked for and the first byte shown."""
    notices: tuple[str, ...] = ()

    @property
    def more(self) -> bool:
        return self.next_offset < self.total_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt(Part):
    """A window on an output."""

    text: str
    lines: tuple[int, int] | None = None
    """The numbers of its first and last line, where it was read by lines."""
    next_line: int | None = None
    """The first line wanted that did not fit, where one did not and this ends with a whole line."""


@dataclass(frozen=True, slots=True)
class Found:
    """A line that matches."""

    offset: int
    text: str
    line: int = 1
    """Its number, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches(Part):
    """What a search found."""

    found: tuple[Found, ...]


async def read_lines(stored: Stored, first: int, last: int | None, limit: int, *, growing: bool = False) -> Excerpt:
    """Return the lines from `first` to `last` (None is the end), as many as fit in `limit` bytes of text."""
    start, found = await _start_of_line(stored, first)
    if found < first or start >= stored.end:
        there = counted(found - (start >= stored.end and found > 0), "line")
        notices = (f"line {first} is beyond the end; there are {there}",)
        return Excerpt(text="", offset=stored.end, next_offset=stored.end, total_bytes=stored.end, notices=notices)
    size = max(limit, LEAST_READ_BYTES)
    if last is not None:
        size = _behind_newlines(stored.read(start, size).data, max(0, last - first + 1))
    if not size:
        return Excerpt(text="", offset=start, next_offset=start, total_bytes=stored.end)
    excerpt = read_window(stored, start, limit, most=size, growing=growing)
    data = stored.read(excerpt.offset, excerpt.next_offset - excerpt.offset).data
    ends_whole = data.endswith(b"\n") or not excerpt.more
    shown = first + data.count(b"\n") - (data.endswith(b"\n"))
    more = excerpt.more and (last is None or shown < last)
    return replace(excerpt, lines=(first, shown), next_line=shown + 1 if more and ends_whole else None)


async def _start_of_line(stored: Stored, wanted: int) -> tuple[int, int]:
    """Return where a line begins and its number; the end and the number of the line there if there are fewer."""
    counter = LineCounter()
    for piece in stored.blocks():
        counter.pass_gap(piece)
        ends = wanted - counter.number
        if ends <= 0:
            return piece.offset, counter.number
        if piece.data.count(b"\n") >= ends:
            start = _behind_newlines(piece.data, ends)
            return piece.offset + start, wanted
        counter.feed(piece)
        await asyncio.sleep(0)
    return stored.end, counter.number


async def _line_at(stored: Stored, offset: int) -> LineCounter:
    """Return a counter that has counted the lines before an offset."""
    counter = LineCounter()
    for piece in stored.blocks():
        if piece.offset >= offset:
            break
        counter.feed(replace(piece, data=piece.data[: offset - piece.offset]))
        await asyncio.sleep(0)
    return counter


def _behind_newlines(data: bytes, count: int) -> int:
    """Return the position behind so many newlines, or the end."""
    at = 0
    for _ in range(count):
        found = data.find(b"\n", at)
        if found < 0:
            return len(data)
        at = found + 1
    return at


def read_window(stored: Stored, offset: int, limit: int, *, most: int | None = None, growing: bool = False) -> Excerpt:
    """Return text of at most `limit` bytes from `offset` on; of an output that still grows, whole characters only.

    Args:
        most: read no more bytes than this.
    """
    size = max(limit, LEAST_READ_BYTES)
    piece = stored.read(offset, size if most is None else min(size, most))
    total = stored.end
    if not piece.data:
        notices = (beyond_end(offset, total),) if offset > total else ()
        return Excerpt(text="", offset=total, next_offset=total, total_bytes=total, notices=notices)
    data = piece.data
    if piece.end < total or growing:
        data = _whole(data)
    if not data and piece.end < total:
        data = piece.data
    text, kept = fit_head(data, limit)
    if kept < len(data) or piece.end < total:
        kept = _cut(data, kept)
        text = decode(data[:kept])
    shown = settle(strip(text))
    notices = (dropped(piece.skipped_bytes, offset),) if piece.skipped_bytes else ()
    return Excerpt(
        text=shown.text,
        offset=piece.offset,
        next_offset=piece.offset + kept,
        total_bytes=total,
        skipped_bytes=piece.skipped_bytes,
        notices=(*notices, *redrawn(shown)),
    )


def read_tail(stored: Stored, lines: int | None, limit: int, *, growing: bool = False) -> Excerpt:
    """Return the last `lines` lines, or as many as fit, in at most `limit` bytes of text."""
    piece = stored.tail(limit if lines is None else lines, max(limit, LEAST_READ_BYTES))
    data = trim_tail(piece.data)
    if growing:
        data = _whole(data)
    end = piece.end - (len(trim_tail(piece.data)) - len(data))
    text, kept = fit_tail(data, limit)
    start = end - kept
    if start and stored.read(start - 1, 1).data != b"\n":
        # Rather a line less than one without its beginning, unless that would give up more than half.
        line = data.find(b"\n", len(data) - kept) + 1 - (len(data) - kept)
        if 0 < line <= kept // 2:
            kept -= line
            text = decode(data[len(data) - kept :])
    notices = []
    if lines is not None and text.count("\n") + (not text.endswith("\n")) < lines and end - kept > 0:
        notices.append(
            f"fewer than {counted(lines, 'line')} fit; earlier ones are read with an offset below {end - kept}"
        )
    shown = settle(strip(text))
    notices += redrawn(shown)
    return Excerpt(text=shown.text, offset=end - kept, next_offset=end, total_bytes=stored.end, notices=tuple(notices))


async def search(stored: Stored, regex: Regex, offset: int, limit: int, *, seconds: float = SEARCH_SECONDS) -> Matches:
    """Return the lines that match from `offset` on, at most `limit` bytes of them; other tasks get their turns.

    Raises:
        RegexWorkError: the expression takes too much work on this output.
    """
    work = Search(stored, regex, offset, WorkBudget(), await _line_at(stored, offset))
    found: list[Found] = []
    room, end = limit, time.monotonic() + seconds
    while not work.done and room > 0 and time.monotonic() < end:
        room = work.step(found, room)
        await asyncio.sleep(0)
    skipped = work.skipped_bytes
    notices = [dropped(skipped, None)] if skipped else []
    if work.cut_lines:
        notices.append(f"lines longer than {BLOCK_BYTES} bytes were searched in pieces")
    if offset > stored.end:
        notices.append(beyond_end(offset, stored.end))
    return Matches(
        found=tuple(found),
        offset=min(offset, stored.end),
        next_offset=min(work.position, stored.end),
        total_bytes=stored.end,
        skipped_bytes=skipped,
        notices=tuple(notices),
    )


@dataclass(slots=True)
class Search:
    """A search that goes on block by block."""

    stored: Stored
    regex: Regex
    position: int
    """The first byte that was not searched."""
    budget: WorkBudget
    lines: LineCounter
    skipped_bytes: int = 0
    cut_lines: int = 0
    done: bool = field(default=False)

    def step(self, found: list[Found], room: int) -> int:
        """Search one block, add what matches while there is room for it; return the room that is left."""
        piece = self.stored.read(self.position, BLOCK_BYTES)
        if not piece.data:
            self.done = True
            return room
        self.skipped_bytes += piece.skipped_bytes
        data = piece.data
        if piece.end < self.stored.end and len(data) == BLOCK_BYTES:
            lines = data.rfind(b"\n") + 1
            self.cut_lines += not lines
            data = data[:lines] if lines else _whole(data) or data
        self.position = piece.offset + len(data)
        self.budget.earn(len(data))
        self.lines.pass_gap(piece)
        number, counted_to = self.lines.number, 0
        self.lines.feed(Piece(piece.offset, data))
        for one in _matching(self.regex, data, self.budget):
            number += data.count(b"\n", counted_to, one.offset)
            counted_to = one.offset
            size = len(one.text.encode()) + 16
            if size > room and found:
                self.position = piece.offset + one.offset
                return 0
            found.append(Found(piece.offset + one.offset, one.text, number))
            room -= size
        return room


def _matching(regex: Regex, data: bytes, budget: WorkBudget) -> Iterator[Found]:
    """Yield the lines of a block that match, with their offsets in it."""
    if is_plain(data) and b"\r" not in data:
        # The view changes nothing, so text and bytes have the same offsets.
        yield from _matching_text(regex, data.decode("ascii"), budget)
        return
    for state in _STATE.finditer(data):
        if state.start() == len(data):
            break
        line = strip(decode(state[1]))
        if (place := regex.find(line, budget=budget)) >= 0:
            yield Found(state.start(), _around(line, place))


def _matching_text(regex: Regex, text: str, budget: WorkBudget) -> Iterator[Found]:
    start = 0
    while start < len(text) and (end := regex.find(text, start, budget=budget)) >= 0:
        inside = max(start, end - 1)
        if inside >= len(text):
            break
        line_start = text.rfind("\n", start, inside) + 1 or start
        line_end = text.find("\n", inside)
        line_end = len(text) if line_end < 0 else line_end
        yield Found(line_start, _around(text[line_start:line_end], end - line_start))
        start = line_end + 1


def _around(line: str, place: int) -> str:
    if len(line) <= MATCH_CHARACTERS:
        return line
    start = max(0, min(place - MATCH_CHARACTERS // 2, len(line) - MATCH_CHARACTERS))
    end = start + MATCH_CHARACTERS
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def view(text: str) -> str:
    """Return what a person would have seen."""
    return settle(strip(text)).text


def redrawn(shown: Settled) -> list[str]:
    if not shown.redraws:
        return []
    return [f"{counted(shown.redraws, 'earlier state')} of redrawn lines left out; grep finds them"]


def dropped(count: int, offset: int | None) -> str:
    where = "" if offset is None else f" at offset {offset}"
    return f"{were(count, 'byte', where)} dropped: the output is larger than what is kept of it"


def beyond_end(offset: int, total: int) -> str:
    size = counted(total, "byte")
    return f"offset {offset} is beyond the end, which is at {size}; if there were more, the file was shortened"


def _whole(data: bytes) -> bytes:
    """Return the data without a character or an escape sequence that its end cuts off."""
    data = trim_head(data)
    unfinished = _OPEN_ESCAPE.search(data, max(0, len(data) - LEAST_READ_BYTES // 2))
    return data if unfinished is None else data[: unfinished.start()]


def _cut(data: bytes, fits: int) -> int:
    """Return where to end a window of which `fits` bytes fit: between lines, unless that gives up more than half."""
    end = data.rfind(b"\n", 0, fits) + 1
    if end <= fits // 2:
        end = len(_whole(data[:fits]))
    while not end and fits < len(data):
        # Not even one character fits, or it comes behind an escape sequence: then it is shown all the same.
        fits += 1
        end = len(_whole(data[:fits]))
    return end or fits
