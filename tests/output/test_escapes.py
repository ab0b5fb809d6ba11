import pytest

from nacre.output.escapes import EscapeFilter, strip


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("\x1b[1;31mred\x1b[0m", "red", id="colour"),
        pytest.param("a\x1b[2K\x1b[?25lb", "ab", id="erase and private mode"),
        pytest.param("\x1b]0;title\x07x", "x", id="title ended by BEL"),
        pytest.param("\x1b]52;c;c2VjcmV0\x1b\\x", "x", id="clipboard ended by ST"),
        pytest.param("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link", id="hyperlink keeps its text"),
        pytest.param("\x1bPq#0;2;0\n-\x1b\\x", "x", id="image with a line end inside"),
        pytest.param("\x1b_Gf=100;AAAA\x1b\\x", "x", id="kitty graphics"),
        pytest.param("\x1b(Bx\x1b=\x1b7y", "xy", id="charset and short sequences"),
        pytest.param("a\x00\x07\x08\x7fb\x0b\x0c", "ab", id="control characters"),
        pytest.param("a\tb\r\nc\n", "a\tb\r\nc\n", id="tab and line ends stay"),
        pytest.param("\x9b\x85é", "é", id="8-bit controls"),
        pytest.param("\x1b]0;unterminated\nnext line", "\nnext line", id="a broken title ends with its line"),
        pytest.param("\x1b[12\nx", "\nx", id="a broken colour ends with its line"),
        pytest.param("\x1b]0;a\x1b[31mred", "red", id="an escape breaks off a title"),
        pytest.param("end\x1b[", "end", id="unfinished at the end"),
        pytest.param("end\x1b", "end", id="bare escape at the end"),
    ],
)
def test_terminal_control_is_taken_out_and_text_stays(text: str, shown: str) -> None:
    assert strip(text) == shown
    stream = EscapeFilter()
    assert "".join(stream.feed(character) for character in text) == shown


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\x1b[" * 500_000, id="openings only"),
        pytest.param("\x1b]" * 500_000, id="strings only"),
        pytest.param("\x1b[" + "1;" * 500_000, id="endless parameters"),
        pytest.param("\x1bP" + "q" * 1_000_000, id="endless image"),
        pytest.param("\x1b[" + " " * 1_000_000, id="endless intermediates"),
        pytest.param("\x1b" * 1_000_000, id="escapes only"),
    ],
)
def test_a_megabyte_of_broken_escapes_takes_linear_time(text: str) -> None:
    # Quadratic work on a million characters would run into the test's time limit many times over.
    assert strip(text) == ""
    assert EscapeFilter().feed(text) == ""


def test_an_endless_control_string_is_not_held_in_memory() -> None:
    stream = EscapeFilter()
    shown = [stream.feed("\x1b]52;c;"), *(stream.feed("A" * 100_000) for _ in range(50)), stream.feed("\x07done")]
    assert "".join(shown) == "done"
