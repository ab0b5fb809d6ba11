"""What a program has left switched on in a terminal is undone, and nothing else."""

from __future__ import annotations

import pytest

from nacre.cli.left_modes import LeftModes


def undone(*pieces: bytes) -> bytes:
    modes = LeftModes()
    for piece in pieces:
        modes.feed(piece)
    return modes.undo()


@pytest.mark.parametrize(
    "output",
    [
        b"plain text\r\n\x1b[31mred\x1b[0m",
        b"\x1b[?1049h\x1b[?25l a screen \x1b[?25h\x1b[?1049l",
        b"\x1b[?1h\x1b=\x1b[?2004h\x1b[?2004l\x1b[?1l\x1b>",
        b"\x1b[>1u typed \x1b[<u",
        b"\x1b[3;20r scrolls \x1b[r",
        b"\x1b[?2026h one frame",
        b"\x1b[?1049h\x1b[?1000hreset\x1bc",
    ],
)
def test_a_program_that_tidies_up_costs_nothing(output: bytes) -> None:
    assert undone(output) == b""


@pytest.mark.parametrize(
    ("output", "undo"),
    [
        (b"\x1b[?1049h", b"\x1b[?1049l\x1b[0m"),
        (b"\x1b[?25l", b"\x1b[?25h\x1b[0m"),
        (b"\x1b[?7l", b"\x1b[?7h\x1b[0m"),
        (b"\x1b[?1000;1006h", b"\x1b[?1000l\x1b[?1006l\x1b[0m"),
        (b"\x1b=", b"\x1b>\x1b[0m"),
        (b"\x1b[>1u\x1b[>3u\x1b[<u", b"\x1b[<1u\x1b[0m"),
        (b"\x1b[>4;2m", b"\x1b[>4;0m\x1b[0m"),
        (b"\x1b[2;10r", b"\x1b7\x1b[r\x1b8\x1b[0m"),
    ],
)
def test_what_is_left_on_is_switched_off(output: bytes, undo: bytes) -> None:
    assert undone(output) == undo


def test_a_sequence_may_be_split_anywhere() -> None:
    output = b"text\x1b[?1049;1002hmore\x1b[?25l"
    for at in range(len(output)):
        assert undone(output[:at], output[at:]) == undone(output)
    assert undone(*(output[at : at + 1] for at in range(len(output)))) == undone(output)
