"""Lines survive any chunking, and none is too long for us."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nacre.json_lines.line_reader import LineReader, TooLong

LIMIT = 8
parts = st.lists(st.binary(max_size=20).map(lambda data: data.replace(b"\n", b"")), max_size=6)


@given(parts, st.binary(max_size=20), st.lists(st.integers(1, 9)))
def test_chunking_never_changes_the_lines(sent: list[bytes], rest: bytes, sizes: list[int]) -> None:
    rest = rest.replace(b"\n", b"")
    data = b"".join(line + b"\n" for line in sent) + rest
    lines = LineReader(LIMIT)
    received = []
    at = 0
    for size in [*sizes, len(data) + 1]:
        received += lines.feed(data[at : at + size])
        at += size
    expected = [line if len(line) <= LIMIT else TooLong(len(line)) for line in [*sent, rest]]
    assert received == expected[:-1]
    assert lines.end() == (expected[-1] if rest else None)
    assert lines.end() is None


def test_a_line_over_the_limit_is_not_held() -> None:
    lines = LineReader(LIMIT)
    for _ in range(1000):
        assert lines.feed(b"x" * 100) == []
        assert len(lines._held) <= LIMIT
    assert lines.feed(b"\nnext\n") == [TooLong(100_000), b"next"]
