"""What a coding agent's model sees of an output: whole lines, readable, bounded, with exact counts of the rest.

Escapes are stripped, a progress bar is its last state, a long line is cut. What does not fit is left out in the middle
(or at the front, or by the caller's own head and tail), on line borders, so ranges of line numbers can be told.
Counts are of the raw output; states of a line that are no redraws are shown as lines and count as that one. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nacre.output.captured import EVERYTHING, Captured, Selection
from nacre.output.decode import decode
from nacre.output.escapes import strip
from nacre.output.lines import cap_lines, settle
from nacre.output.plain_bytes import is_plain
from nacre.output.sizes import human_size
from nacre.result import Output, Truncation


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    raw_bytes: int
    capped: bool
    redraws: int

    @property
    def shown_bytes(self) -> int:
        return len(self.text.encode("utf-8", "surrogatepass")) + 1


def render(captured: Captured, selection: Selection = EVERYTHING) -> Output:
    """The view of a captured output."""
    if captured.whole is not None and selection.head is None and selection.tail is None:
        settled = settle(_readable(captured.whole))
        capped = cap_lines(settled.text, selection.line_bytes)
        if len(capped.text.encode("utf-8", "surrogatepass")) <= selection.inline_bytes:
            return Output(
                text=capped.text,
                total_bytes=captured.total_bytes,
                total_lines=captured.total_lines,
                capped_lines=capped.capped_lines,
                line_bytes=selection.line_bytes,
                redraws=settled.redraws,
                artifact=captured.artifact,
            )
    head, tail, skipped = _choose(captured, selection)
    shown = (*head, *tail)
    omitted_lines = max(0, captured.total_lines - len(shown))
    omitted_bytes = captured.total_bytes - sum(line.raw_bytes for line in shown)
    truncation = None
    if omitted_bytes > 0:
        wanted = [count for count in (selection.head, selection.tail) if count is not None]
        truncation = Truncation(
            kept="both" if head and tail else "head" if head else "tail",
            omitted_bytes=omitted_bytes,
            omitted_lines=omitted_lines,
            head_lines=len(head),
            tail_lines=len(tail),
            skipped_lines=skipped,
            by="lines" if wanted and len(shown) >= min(wanted) else "bytes",
            limit_bytes=selection.inline_bytes,
        )
    return captured.shown_as(
        _join(head, tail, omitted_lines, omitted_bytes, ends_open=_ends_open(captured)),
        truncation,
        capped_lines=sum(line.capped for line in shown),
        line_bytes=selection.line_bytes,
        redraws=sum(line.redraws for line in shown),
    )


def _readable(raw: bytes) -> str:
    return raw.decode("ascii") if is_plain(raw) else strip(decode(raw))


def _choose(captured: Captured, selection: Selection) -> tuple[list[_Line], list[_Line], int]:
    """The lines from the beginning and from the end that are shown, never the same twice; those skipped before."""
    if captured.whole is not None:
        first = _lines(captured.whole, selection.line_bytes)
        last = first
    else:
        first = _without_partial(_lines(captured.head, selection.line_bytes), at=-1)
        last = _without_partial(_lines(captured.tail, selection.line_bytes), at=0)
    wanted_head, wanted_tail = selection.head, selection.tail
    if wanted_head is not None and wanted_head < captured.total_lines:
        skipped = max(0, wanted_head - wanted_tail) if wanted_tail is not None and wanted_head <= len(first) else 0
        return _fitting(first[skipped:wanted_head], selection.inline_bytes), [], skipped
    if wanted_tail is not None:
        return [], _fitting(last[max(0, len(last) - wanted_tail) :], selection.inline_bytes, from_end=True), 0
    if captured.whole is None and captured.total_lines == 1:
        # Both windows look at the one line there is.
        first, last = ([], last) if selection.keep == "tail" else (first, [])
    head = [] if selection.keep == "tail" or not selection.head_bytes else _fitting(first, selection.head_bytes)
    used = sum(line.shown_bytes for line in head)
    rest = last[len(head) :] if captured.whole is not None else last
    return head, _fitting(rest, selection.inline_bytes - used, from_end=True), 0


def _lines(raw: bytes, line_bytes: int) -> list[_Line]:
    pieces = raw.split(b"\n")
    ended = pieces.pop() if pieces and pieces[-1] == b"" else None
    found = []
    for number, piece in enumerate(pieces):
        # The last piece has no newline of its own unless an empty one followed it.
        size = len(piece) + (1 if ended is not None or number < len(pieces) - 1 else 0)
        # A line is looked at only as far as it can be shown; megabytes behind the cap are not worth a pass.
        settled = settle(strip(decode(piece if b"\r" in piece or b"\x1b" in piece else piece[: line_bytes * 4])))
        capped = cap_lines(settled.text, line_bytes)
        cut = bool(capped.capped_lines) or len(piece) > line_bytes * 4
        found.append(_Line(capped.text, size, cut, settled.redraws))
    return found


def _without_partial(lines: list[_Line], *, at: int) -> list[_Line]:
    """Without the line that the window cut through, unless it is all there is."""
    if len(lines) > 1:
        del lines[at]
    return lines


def _fitting(lines: list[_Line], budget: int, *, from_end: bool = False) -> list[_Line]:
    chosen: list[_Line] = []
    ordered: Iterable[_Line] = reversed(lines) if from_end else lines
    for line in ordered:
        budget -= line.shown_bytes
        if budget < 0 and chosen:
            break
        chosen.append(line)
        if budget < 0:
            break
    return chosen[::-1] if from_end else chosen


def spell_omitted(lines: int, size: int) -> str:
    """How much is left out; only the size of a part of one line can be told."""
    return f"{lines} line{'' if lines == 1 else 's'}, {human_size(size)}" if lines else human_size(size)


def _ends_open(captured: Captured) -> bool:
    return not captured.tail.endswith(b"\n")


def _join(head: list[_Line], tail: list[_Line], omitted_lines: int, omitted_bytes: int, *, ends_open: bool) -> str:
    pieces = [line.text for line in head]
    if omitted_bytes and head and tail:
        pieces.append(f"[… {spell_omitted(omitted_lines, omitted_bytes)} omitted …]")
    pieces += [line.text for line in tail]
    text = "\n".join(pieces)
    return text if ends_open or not pieces else f"{text}\n"
