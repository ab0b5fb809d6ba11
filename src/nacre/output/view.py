"""What is shown of a captured stream: cut on character borders, measured as the text will be sent.

Undecodable bytes become U+FFFD and so grow when shown; limits are asked of the shown text, counts are of the bytes.
"""

from __future__ import annotations

from nacre.output.captured import Captured
from nacre.output.decode import fit_head, fit_tail
from nacre.result import Truncation


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
