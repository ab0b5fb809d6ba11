import pytest

from nacre.output.newlines import GLANCE_BYTES, REPETITION_MIN_BYTES, count_newlines

LARGE = 4 * REPETITION_MIN_BYTES


@pytest.mark.parametrize(
    "chunk",
    [
        pytest.param(b"y\n" * LARGE, id="one short line again and again"),
        pytest.param(b"\n" * LARGE, id="only newlines"),
        pytest.param(b"\0" * LARGE, id="no newline"),
        pytest.param(b"lo, world\n" + b"hello, world\n" * LARGE, id="repeats from the middle of a line"),
        pytest.param(b"x" * 5000 + b"\n" + (b"x" * 5000 + b"\n") * 9, id="lines longer than the stretch"),
        pytest.param(b"y\n" * LARGE + b"n\n\n", id="repeats up to the last bytes"),
        pytest.param(b"y\n" * GLANCE_BYTES + b"\n" + b"y\n" * LARGE, id="out of step once"),
        pytest.param(b"".join(b"%d\n" % n for n in range(LARGE)), id="all lines differ"),
    ],
)
def test_counting_equals_the_plain_count(chunk: bytes) -> None:
    buffer = bytearray(chunk)
    for n in (len(buffer), len(buffer) - 1, len(buffer) // 2, REPETITION_MIN_BYTES, 1, 0):
        assert count_newlines(buffer, n) == chunk.count(b"\n", 0, n)


def test_the_buffer_can_be_resized_after_counting() -> None:
    buffer = bytearray(b"y\n" * LARGE)
    count_newlines(buffer, len(buffer))
    buffer += b"more"
