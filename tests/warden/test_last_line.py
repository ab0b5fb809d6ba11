"""The unfinished line of a terminal's output: where a prompt stands."""

from __future__ import annotations

import pytest

from nacre.warden.last_line import MOST_BYTES, LastLine


def line_of(*pieces: bytes) -> LastLine:
    line = LastLine()
    for piece in pieces:
        line.feed(piece)
    return line


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ((b"Password: ",), "Password: "),
        ((b"a\r\nb\r\nPass", b"wort: "), "Passwort: "),
        (("Mot de passe\u00a0: ".encode(),), "Mot de passe\u00a0: "),
        (("パスワ".encode()[:4], "パスワ".encode()[4:]), "パスワ"),
        ((b"done\r\n",), ""),
        ((b"10%\r20%\r30%",), "30%"),
        ((b"\x1b[1;32mContinue?\x1b[0m [y/N] ",), "Continue? [y/N] "),
        ((b"\x1b]0;title\x07name: ",), "name: "),
        ((b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\: ",), "link: "),
        ((b"ab\x08c",), "ac"),
        ((b"\x1b[?2004h>>> ",), ">>> "),
        ((b"\x1b[",), ""),
        ((b"",), ""),
    ],
)
def test_the_line_is_what_a_person_sees(pieces: tuple[bytes, ...], text: str) -> None:
    assert line_of(*pieces).text == text


def test_the_line_before_is_the_last_that_is_not_blank() -> None:
    assert line_of(b"one\r\nYour name?\r\n\r\n").previous == "Your name?"
    assert line_of(b"Your na", b"me?\r", b"\n").previous == "Your name?"
    assert line_of(b"").previous == ""


@pytest.mark.parametrize(
    ("output", "draws"),
    [(b"name: ", False), (b"\x1b[1mname:\x1b[0m ", False), (b"\r\x1b[K:", True), (b"\x1b[24;1H:", True)],
)
def test_a_line_that_moves_the_cursor_is_a_screen_not_a_question(output: bytes, draws: bool) -> None:
    assert line_of(output).draws is draws


def test_memory_is_bounded_without_a_line_end() -> None:
    assert len(line_of(*[b"x" * 4096] * 50).text) <= MOST_BYTES
