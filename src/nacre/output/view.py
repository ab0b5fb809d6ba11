"""What is shown of a captured stream: cut on character borders, measured as the text will be sent.

Undecodable bytes become U+FFFD and so grow when shown; limits are asked of the shown text, counts are of the bytes.
"""

from __future__ import annotations

from nacre.output.captured import EVERYTHING, Captured, Selection
from nacre.output.decode import fit_head, fit_tail
from nacre.output.sizes import human_size
from nacre.result import Output, Truncation
from nacre.settings import HEAD_BYTES, INLINE_BYTES
from nacre.wording import counted

TAIL_BYTES = INLINE_BYTES - HEAD_BYTES


def both_ends(captured: Captured, head_bytes: int, tail_bytes: int) -> tuple[str, str, Truncation]:
    """Return the beginning and the end of a stream within these limits, and the size of the part between them."""
    head, head_kept = fit_head(captured.head, head_bytes)
    tail, tail_kept = fit_tail(captured.tail, tail_bytes)
    omitted = Truncation(
        kept="both",
        omitted_bytes=captured.total_bytes - head_kept - tail_kept,
        omitted_lines=captured.omitted_lines(head, tail),
    )
    return head, tail, omitted


def head_and_tail(captured: Captured, selection: Selection = EVERYTHING) -> Output:
    """All of a small output; of a larger one the beginning and the end around an exact omission marker."""
    text = None if captured.whole is None else captured.whole.decode("utf-8", "replace")
    truncation = None
    if text is None or len(text.encode()) > INLINE_BYTES:
        head, tail, truncation = both_ends(captured, HEAD_BYTES, TAIL_BYTES)
        where = f": artifact {captured.artifact.id}" if captured.artifact is not None else ""
        omitted = f"{counted(truncation.omitted_lines, 'line')}, {human_size(truncation.omitted_bytes)} omitted"
        text = f"{head}{'' if head.endswith(chr(10)) else chr(10)}[… {omitted}{where} …]\n{tail}"
    return Output(
        text=text,
        total_bytes=captured.total_bytes,
        total_lines=captured.total_lines,
        truncation=truncation,
        artifact=captured.artifact,
    )
