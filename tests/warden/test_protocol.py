"""Frames survive any chunking, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.warden.protocol import MAX_FRAME_BYTES, FrameError, FrameReader, exited, frame, plain_end

values = st.one_of(st.integers(), st.text(), st.none(), st.booleans())
messages = st.lists(
    st.dictionaries(st.text(max_size=8), values, max_size=5).map(lambda facts: {**facts, "event": "x"}), max_size=6
)


@given(messages, st.lists(st.integers(1, 9)))
def test_chunking_never_changes_what_is_received(sent: list[dict[str, object]], sizes: list[int]) -> None:
    data = b"".join(frame(message) for message in sent)
    frames = FrameReader()
    received = []
    at = 0
    for size in [*sizes, len(data) + 1]:
        received += frames.events(data[at : at + size])
        at += size
    assert received == sent


def test_undecodable_bytes_come_through_unharmed() -> None:
    script = b"echo \xff\xfe".decode("utf-8", "surrogateescape")
    assert FrameReader().events(frame({"event": script})) == [{"event": script}]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param((MAX_FRAME_BYTES + 1).to_bytes(4, "big"), id="too large"),
        pytest.param(b"\0\0\0\x02{]", id="not JSON"),
        pytest.param(b"\0\0\0\x02[]", id="not an object"),
        pytest.param(b"\0\0\0\x02{}", id="no event"),
        pytest.param((100_000).to_bytes(4, "big") + b"[" * 100_000, id="nested too deeply"),
    ],
)
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(FrameError):
        FrameReader().events(data)


def test_the_first_wrong_frame_is_refused_first() -> None:
    no_json, too_large = b"\0\0\0\1x", b"\xff\xff\xff\xff"
    with pytest.raises(FrameError, match="not JSON"):
        FrameReader().events(no_json + too_large)


def test_a_plain_end_is_what_the_long_way_would_say() -> None:
    (message,) = FrameReader().events(plain_end(4711, 3))
    assert message == exited({"pid": 4711, "why": None, "forced": False, "code": 3}, left=False)
