"""Keys, paste and mouse as programs on a terminal expect them."""

from __future__ import annotations

import pytest

from nacre.screen import Modes, encode_key, encode_mouse, encode_paste

PLAIN = Modes()
APPLICATION = Modes(application_cursor=True)
KITTY = Modes(kitty=1)


@pytest.mark.parametrize(
    ("key", "sent"),
    [
        ("a", b"a"),
        ("A", b"A"),
        ("ü", "ü".encode()),
        ("+", b"+"),
        ("enter", b"\r"),
        ("tab", b"\t"),
        ("shift+tab", b"\x1b[Z"),
        ("backspace", b"\x7f"),
        ("escape", b"\x1b"),
        ("space", b" "),
        ("ctrl+a", b"\x01"),
        ("ctrl+z", b"\x1a"),
        ("ctrl+c", b"\x03"),
        ("ctrl+@", b"\x00"),
        ("ctrl+right_square_bracket", b"\x1d"),
        ("ctrl+underscore", b"\x1f"),
        ("alt+x", b"\x1bx"),
        ("alt+enter", b"\x1b\r"),
        ("ctrl+alt+a", b"\x1b\x01"),
        ("shift+a", b"A"),
        ("up", b"\x1b[A"),
        ("ctrl+right", b"\x1b[1;5C"),
        ("shift+up", b"\x1b[1;2A"),
        ("home", b"\x1b[H"),
        ("end", b"\x1b[F"),
        ("pageup", b"\x1b[5~"),
        ("pagedown", b"\x1b[6~"),
        ("insert", b"\x1b[2~"),
        ("delete", b"\x1b[3~"),
        ("ctrl+delete", b"\x1b[3;5~"),
        ("f1", b"\x1bOP"),
        ("f4", b"\x1bOS"),
        ("shift+f1", b"\x1b[1;2P"),
        ("f5", b"\x1b[15~"),
        ("f12", b"\x1b[24~"),
        ("ctrl+shift+f5", b"\x1b[15;6~"),
        ("shift", b""),
        ("hyper+x", b""),
        ("", b""),
    ],
)
def test_a_key_is_what_terminals_send_for_it(key: str, sent: bytes) -> None:
    assert encode_key(key, PLAIN) == sent


@pytest.mark.parametrize(
    ("key", "sent"), [("up", b"\x1bOA"), ("left", b"\x1bOD"), ("home", b"\x1bOH"), ("end", b"\x1bOF")]
)
def test_cursor_keys_follow_the_application_mode(key: str, sent: bytes) -> None:
    assert encode_key(key, APPLICATION) == sent
    assert encode_key(f"ctrl+{key}", APPLICATION) == encode_key(f"ctrl+{key}", PLAIN)


@pytest.mark.parametrize(
    ("key", "sent"),
    [
        ("escape", b"\x1b[27u"),
        ("ctrl+c", b"\x1b[99;5u"),
        ("alt+x", b"\x1b[120;3u"),
        ("ctrl+shift+a", b"\x1b[97;6u"),
        ("shift+enter", b"\x1b[13;2u"),
        ("enter", b"\r"),
        ("tab", b"\t"),
        ("a", b"a"),
        ("A", b"A"),
        ("up", b"\x1b[A"),
    ],
)
def test_kitty_sequences_are_sent_only_to_a_program_that_asked(key: str, sent: bytes) -> None:
    assert encode_key(key, KITTY) == sent


def test_a_paste_is_bracketed_where_the_program_asked_and_cannot_leave_its_brackets() -> None:
    assert encode_paste("a\nb\r\nc", PLAIN) == b"a\rb\rc"
    bracketed = Modes(bracketed_paste=True)
    assert encode_paste("x\x1b[201~rm -rf", bracketed) == b"\x1b[200~x[201~rm -rf\x1b[201~"


def test_the_mouse_is_told_only_to_a_program_that_asked() -> None:
    assert encode_mouse("press", 1, 0, 0, PLAIN) == b""
    mouse = Modes(mouse=True)
    assert encode_mouse("press", 1, 4, 2, mouse) == b"\x1b[<0;5;3M"
    assert encode_mouse("release", 1, 4, 2, mouse) == b"\x1b[<0;5;3m"
    assert encode_mouse("scroll_down", 0, 0, 0, mouse) == b"\x1b[<65;1;1M"
    assert encode_mouse("move", 3, 0, 0, mouse, modifiers=frozenset({"ctrl"})) == b"\x1b[<50;1;1M"
