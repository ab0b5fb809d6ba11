"""Lines of the far side are told from output, wherever the stream is cut."""

from __future__ import annotations

import pytest

from nacre.remote.marked_stream import MarkedStream

STREAM = b"one\x01\x01mmark pid 7\ntwo\n\x01mark exit 0\n\x01mar"


@pytest.mark.parametrize("size", range(1, len(STREAM) + 1))
def test_output_and_lines_come_in_order_in_pieces_of_any_size(size: int) -> None:
    marked = MarkedStream(b"\x01mark ")
    found: list[bytes | str] = []
    for at in range(0, len(STREAM), size):
        for piece in marked.feed(STREAM[at : at + size]):
            if isinstance(piece, bytes) and found and isinstance(found[-1], bytes):
                found[-1] += piece
            else:
                found.append(piece)
    assert found == [b"one\x01\x01mmark pid 7\ntwo\n", "exit 0"]
    assert marked.rest() == b"\x01mar"
    assert marked.rest() == b""
