import tracemalloc

import pytest

from nacre.output.window import FLOOD_BYTES, Window


def fed(window: Window, *chunks: bytes) -> Window:
    for chunk in chunks:
        window.feed(chunk)
    return window


def test_an_empty_stream_is_whole_and_has_no_lines() -> None:
    window = Window(4, 4)
    assert (window.whole, window.total_bytes, window.total_lines, window.omitted_bytes) == (b"", 0, 0, 0)


def test_exactly_the_limit_is_kept_whole() -> None:
    window = fed(Window(4, 4), b"abcd", b"efgh")
    assert (window.whole, window.overflowed, window.omitted_bytes) == (b"abcdefgh", False, 0)


def test_one_byte_over_the_limit_omits_one_byte() -> None:
    window = fed(Window(4, 4), b"abcdefgh", b"i")
    assert (window.whole, window.head, window.tail, window.omitted_bytes) == (None, b"abcd", b"fghi", 1)


def test_between_head_plus_tail_and_the_whole_limit_nothing_is_cut() -> None:
    window = Window(2, 2, whole_bytes=8)
    assert fed(window, b"abcdefgh").whole == b"abcdefgh"
    window.feed(b"i")
    assert (window.head, window.tail, window.omitted_bytes) == (b"ab", b"hi", 5)


def test_a_head_only_window_keeps_the_first_bytes() -> None:
    window = fed(Window(4, 0), b"ab", b"cdef", b"gh")
    assert (window.head, window.tail, window.omitted_bytes) == (b"abcd", b"", 4)


def test_a_tail_only_window_keeps_the_newest_bytes() -> None:
    window = fed(Window(0, 4), b"ab", b"cdef", b"gh")
    assert (window.head, window.tail, window.omitted_bytes) == (b"", b"efgh", 4)


def test_the_tail_can_be_read_while_the_stream_goes_on() -> None:
    window = fed(Window(2, 4), b"abc")
    assert window.tail == b"abc"
    assert fed(window, b"defghij").tail == b"ghij"
    assert fed(window, b"k").tail == b"hijk"


@pytest.mark.parametrize(
    ("data", "newlines", "lines"), [(b"", 0, 0), (b"a", 0, 1), (b"a\n", 1, 1), (b"a\nb", 1, 2), (b"\n\n\n", 3, 3)]
)
def test_an_unterminated_last_line_counts_as_a_line(data: bytes, newlines: int, lines: int) -> None:
    window = fed(Window(1, 1), data)
    assert (window.newlines, window.total_lines, window.unterminated) == (newlines, lines, lines > newlines)


def test_one_endless_line_omits_bytes_but_no_lines() -> None:
    window = fed(Window(4, 4), *[b"x" * 1000] * 100)
    assert (window.omitted_bytes, window.omitted_lines, window.total_lines) == (99_992, 0, 1)


def test_only_the_first_n_bytes_of_a_reused_buffer_are_taken() -> None:
    buffer = bytearray(b"abc\nSTALE\n")
    window = Window(2, 2)
    window.feed(buffer, 4)
    buffer[:] = b"defgh\nOLD\n"
    window.feed(buffer, 6)
    assert (window.head, window.tail, window.total_bytes, window.newlines) == (b"ab", b"h\n", 10, 2)


def test_memory_stays_bounded_whatever_the_size_of_the_stream() -> None:
    window, chunk = Window(4096, 4096, whole_bytes=131_072), bytearray(b"x" * 65_535 + b"\n")
    tracemalloc.start()
    try:
        for _ in range(2000):
            window.feed(chunk, len(chunk))
            window.feed(b"small\n")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * 131_072 + 65_536


def test_a_whole_limit_below_head_and_tail_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot hold a head of 4 and a tail of 4"):
        Window(4, 4, whole_bytes=7)


@pytest.mark.parametrize(
    ("unit", "end"),
    [
        (b"y\n", b""),
        (b"y\n", b"z"),
        (b"y\n", b"\n"),
        (b"the same line\n", b"the sa"),
        (b"e line\nthe sam", b""),
        (b"one\ntwo\n", b""),
        (b"\n", b"no more"),
        (b"no line at all", b""),
        (b"no line at all", b"\n"),
    ],
)
def test_a_flood_of_one_line_is_counted_exactly(unit: bytes, end: bytes) -> None:
    chunk = unit * (2 * FLOOD_BYTES // len(unit)) + end
    assert fed(Window(4, 4), chunk).newlines == chunk.count(b"\n")
