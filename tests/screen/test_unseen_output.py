"""What is not drawn of a flood changes nothing on the screen."""

from __future__ import annotations

import random

import pytest

from nacre.screen import open_screen
from nacre.screen.unseen_output import DRAWN_BYTES, UnseenOutput, decisive
from nacre.screen.virtual_screen import Emulator

pytest.importorskip("pyghostty", reason="the extra `screen` is not installed")
pytest.importorskip("pyte", reason="the extra `screen` is not installed")

COLUMNS, ROWS = 20, 6
EMULATORS = pytest.mark.parametrize("emulator", ["ghostty", "pyte"])
# What a screen may show before: a full one with the cursor at its top, a line in colour, a region that scrolls.
BEFORE = [
    b"",
    b"half a line",
    b"\x1b[2J" + b"".join(b"\x1b[%d;1Hrow %d %s" % (row, row, b"#" * 12) for row in range(1, 7)) + b"\x1b[2;5H",
    b"\x1b[31mred ",
    b"head\x1b[2;5r\x1b[3;1H",
]


def lines(seed: int) -> bytes:
    chance = random.Random(seed)
    words = ["y", "", "a\tb", "back\b\bspace", "über", "日本", "x" * 19, "x" * 20, "x" * 21, "z" * 65, "over\rwritten"]
    return "\r\n".join(chance.choice(words) for _ in range(200)).encode()


@EMULATORS
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("seed", range(5))
def test_the_lines_that_stay_draw_the_same_screen(emulator: Emulator, before: bytes, seed: int) -> None:
    whole, short = (open_screen(COLUMNS, ROWS, emulator=emulator) for _ in range(2))
    data = lines(seed)
    kept = decisive(data, ROWS)
    assert len(kept) < len(data) / 2
    for screen, fed in ((whole, data), (short, kept)):
        screen.feed(before)
        screen.feed(fed)
        screen.feed(b" and more")
    assert [short.row(number) for number in range(ROWS)] == [whole.row(number) for number in range(ROWS)]
    assert short.cursor == whole.cursor


@pytest.mark.parametrize("control", [b"\x1b[31m", b"\x07", b"\x0e", b"\x9b".decode("latin-1").encode(), b"\x18"])
def test_output_with_controls_is_drawn_whole(control: bytes) -> None:
    data = b"one\r\n" + control + lines(1)
    assert decisive(data, ROWS) == data
    # Those in the lines that stay are drawn in any case.
    assert decisive(lines(1) + control + b"end", ROWS).endswith(control + b"end")


def test_output_of_few_lines_is_drawn_whole() -> None:
    assert decisive(b"y\r\n" * 2 * ROWS, ROWS) == b"y\r\n" * 2 * ROWS
    assert decisive(b"y\n" * 1000, ROWS) == b"y\n" * 1000


@EMULATORS
def test_a_flood_is_drawn_when_it_is_looked_at(emulator: Emulator) -> None:
    screen = open_screen(COLUMNS, ROWS, emulator=emulator)
    unseen = UnseenOutput(screen)
    for _ in range(5):
        unseen.add(b"y\r\n" * DRAWN_BYTES[screen.emulator])
    assert not any(screen.text())
    unseen.add(b"newest")
    unseen.draw()
    assert screen.text() == ["y"] * (ROWS - 1) + ["newest"]
