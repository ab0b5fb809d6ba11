"""Where the bytes of an output lie in its file: the first `head_bytes` for good, the rest as a ring.

A ring, because overwriting pages that are already cached was measured at twice the speed of appending to a file and
punching holes behind. Pure arithmetic and the small record kept beside the file; no file is touched here.
"""

from __future__ import annotations

# 64 MiB of an output are kept: its first 8 MiB and its newest 56.
CAP_BYTES = 64 * 1024 * 1024
HEAD_BYTES = 8 * 1024 * 1024

# The record is rewritten in place, so it always takes this much: no temporary file, no new block on a full disk.
RECORD_BYTES = 512

_RECORD = (
    '{"state": "%s", "head_bytes": %d, "cap_bytes": %d, "total_bytes": %d,'
    ' "plain_inode": %d, "marker_bytes": %d, "created_at": %.3f}'
)


def reserve_bytes(head_bytes: int, cap_bytes: int) -> int:
    """Return how far the ring may be written ahead of its record, so that a crash leaves it readable up to there."""
    return max(1, (cap_bytes - head_bytes) // 16)


def ring_pieces(start: int, end: int, *, head_bytes: int, cap_bytes: int) -> list[tuple[int, int, int]]:
    """Return where the bytes from `start` to `end`, all past the head, lie: (start, offset in the file, length)."""
    ring = cap_bytes - head_bytes
    pieces = []
    while start < end:
        offset = head_bytes + (start - head_bytes) % ring
        length = min(end - start, cap_bytes - offset)
        pieces.append((start, offset, length))
        start += length
    return pieces


def encode_record(
    *,
    state: str,
    head_bytes: int,
    cap_bytes: int,
    total_bytes: int,
    created_at: float,
    plain_inode: int = 0,
    marker_bytes: int = 0,
) -> bytes:
    """Return the record as one padded line of JSON, written by hand as the far side does without `json`."""
    text = _RECORD % (state, head_bytes, cap_bytes, total_bytes, plain_inode, marker_bytes, created_at)
    return text.ljust(RECORD_BYTES - 1).encode() + b"\n"
