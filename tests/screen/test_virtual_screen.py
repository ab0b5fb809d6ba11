"""One contract for both emulators: what a program writes is what a viewer sees."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from nacre.errors import InvalidRequestError
from nacre.screen import Modes, Span, Style, VirtualScreen, open_screen
from nacre.screen.virtual_screen import Emulator

pytest.importorskip("pyghostty", reason="the extra `screen` is not installed")
pytest.importorskip("pyte", reason="the extra `screen` is not installed")


@pytest.fixture(params=["ghostty", "pyte"])
def emulator(request: pytest.FixtureRequest) -> Emulator:
    return request.param


@pytest.fixture
def screen(emulator: Emulator) -> VirtualScreen:
    return open_screen(20, 5, emulator=emulator)


def test_the_named_emulator_is_the_one_that_is_used(emulator: Emulator) -> None:
    assert open_screen(20, 5, emulator=emulator).emulator == emulator


def test_text_stands_where_the_program_put_it(screen: VirtualScreen) -> None:
    screen.feed(b"one\r\ntwo\x1b[4;3Hfour\x1b[1;1HO")
    assert screen.text() == ["One", "two", "", "  four", ""]


def test_a_row_has_the_styles_of_its_text(screen: VirtualScreen) -> None:
    screen.feed(b"a\x1b[1;31mred\x1b[0;44m b \x1b[0m\x1b[4;7;9;3mx\x1b[0m")
    assert screen.row(0) == (
        Span("a"),
        Span("red", Style(fg=1, bold=True)),
        Span(" b ", Style(bg=4)),
        Span("x", Style(underline=True, inverse=True, strike=True, italic=True)),
    )


@pytest.mark.parametrize(
    ("sequence", "colour"),
    [(b"38;5;208", 208), (b"38;2;1;2;3", "#010203"), (b"95", 13), (b"38;5;16", 16)],
)
def test_colours_are_palette_numbers_or_red_green_blue(screen: VirtualScreen, sequence: bytes, colour: object) -> None:
    screen.feed(b"\x1b[" + sequence + b"mx")
    assert screen.row(0) == (Span("x", Style(fg=colour)),)  # type: ignore[arg-type]


def test_wide_characters_and_marks_are_one_character_of_text(screen: VirtualScreen) -> None:
    screen.feed("漢字 e\u0301!".encode())
    assert screen.text()[0] in ("漢字 e\u0301!", "漢字 é!")
    assert screen.cursor.column == 7


def test_sequences_and_characters_may_be_split_anywhere(emulator: Emulator) -> None:
    written = "a\x1b[1;32mgrün\x1b[0m\x1b]2;title\x07\x1b[3;2H漢\x1b[>4;2m\x1b[?1049h\x1bP+q\x1b\\z".encode()
    whole = open_screen(20, 5, emulator=emulator)
    whole.feed(written)
    for at in range(1, len(written)):
        split = open_screen(20, 5, emulator=emulator)
        split.feed(written[:at])
        split.feed(written[at:])
        assert (split.text(), split.title, split.modes) == (whole.text(), whole.title, whole.modes), at


def test_the_cursor_moves_and_hides(screen: VirtualScreen) -> None:
    screen.feed(b"ab\r\nc")
    assert tuple(screen.cursor) == (1, 1, True)
    screen.feed(b"\x1b[?25l")
    assert not screen.cursor.visible


def test_the_title_is_the_programs(screen: VirtualScreen) -> None:
    assert screen.title == ""
    screen.feed(b"\x1b]0;vim: notes.txt\x07")
    assert screen.title == "vim: notes.txt"


def test_the_alternate_screen_gives_the_first_one_back(screen: VirtualScreen) -> None:
    screen.feed(b"before\r\n$ ")
    screen.feed(b"\x1b[?1049h\x1b[2J\x1b[Hfull screen")
    assert screen.modes.alternate
    assert screen.text()[0] == "full screen"
    screen.feed(b"\x1b[?1049l")
    assert not screen.modes.alternate
    assert screen.text()[:2] == ["before", "$"]
    assert (screen.cursor.column, screen.cursor.row) == (2, 1)


def test_modes_are_those_that_keys_and_paste_depend_on(screen: VirtualScreen) -> None:
    assert screen.modes == Modes()
    screen.feed(b"\x1b[?1h\x1b[?2004h\x1b[?1002h")
    assert screen.modes == Modes(application_cursor=True, bracketed_paste=True, mouse=True)
    screen.feed(b"\x1b[?1l\x1b[?2004l\x1b[?1002l")
    assert screen.modes == Modes()


def test_only_changed_rows_are_dirty_and_only_once(screen: VirtualScreen) -> None:
    assert screen.take_dirty() == {0, 1, 2, 3, 4}
    assert screen.take_dirty() == set()
    screen.feed(b"\x1b[3;1Hx")
    assert screen.take_dirty() == {2}
    screen.feed(b"\x1b[3;1Hx")
    assert screen.take_dirty() == set()
    screen.feed(b"\x1b[5;1H\r\n")
    assert 1 in screen.take_dirty()


def test_a_resize_keeps_what_fits(screen: VirtualScreen) -> None:
    screen.feed(b"one\r\ntwo")
    screen.resize(30, 8)
    assert (screen.columns, screen.rows, len(screen.text())) == (30, 8, 8)
    assert screen.text()[:2] == ["one", "two"]
    assert screen.take_dirty() == set(range(8))
    screen.resize(10, 3)
    assert len(screen.text()) == 3
    screen.feed(b"\x1b[3;10Hz")
    assert screen.text()[2].endswith("z")


@pytest.mark.parametrize("size", [(0, 24), (80, 0), (100_000, 24), (80, 10_000), (True, 24), ("80", 24), (80.0, 24)])
def test_a_size_that_no_terminal_has_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(InvalidRequestError, match=r"columns|rows"):
        open_screen(*size)


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x1b[>4;2m\x1b[?4m\x1b[>c\x1b[=1u\x1b[<u",
        b"\x1b[?1;2r\x1b[?6n\x1b[?5W",
        b"\x1b[1;2;3;4;5A\x1b[9;9;9r\x1b[1;1;1;1H",
        b"\x1b[38;5m\x1b[38;5;999m\x1b[38;2;1mx\x1b[4:3mx\x1b[38:2::1:2:3mx",
        b"\x1b[3 q\x1b[!p\x1b[0$y",
        b"\xff\xfe\x00\x80" * 50,
        b"\x1b[?3h\x1b[?40h\x1b[?3l",
        b"\x1b" * 50,
        b"\x1b[" + b"9" * 5000 + b"m",
    ],
)
def test_nothing_that_a_program_writes_raises_or_stops_the_screen(screen: VirtualScreen, garbage: bytes) -> None:
    screen.feed(garbage)
    screen.feed(b"\x1b\\\x18\x1bc\x1b[Hstill here")
    assert screen.text()[0] == "still here"
    assert len(screen.text()) == 5


def test_random_bytes_raise_nothing(screen: VirtualScreen) -> None:
    source = random.Random(14)
    alphabet = [
        b"\x1b",
        b"[",
        b"]",
        b"?",
        b">",
        b";",
        b"1",
        b"25",
        b"h",
        b"l",
        b"m",
        b"H",
        b"J",
        b"r",
        b"P",
        b"\x07",
        b"a",
        b"\xe6",
    ]
    for _ in range(300):
        screen.feed(b"".join(source.choices(alphabet, k=40)))
        screen.take_dirty()
    assert len(screen.text()) == 5


def test_memory_stays_bounded_by_the_size(screen: VirtualScreen) -> None:
    pieces = (b"\x1b7", b"\x1b]2;" + b"t" * 3000, "e\u0301\u0301\u0301".encode() * 20, b"x" * 300 + b"\r\n")
    tracemalloc.start()
    try:
        for _ in range(20):
            for piece in pieces:
                screen.feed(piece)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            for piece in pieces:
                screen.feed(piece)
        assert tracemalloc.get_traced_memory()[0] - before < 200_000
    finally:
        tracemalloc.stop()


def test_ten_thousand_different_characters_are_each_shown(emulator: Emulator) -> None:
    screen = open_screen(80, 4, emulator=emulator)
    for first in range(0x4E00, 0x4E00 + 10_000, 40):
        text = "".join(map(chr, range(first, first + 40)))
        screen.feed(b"\r\x1b[2K" + text.encode())
        assert screen.row(0) == (Span(text),)
