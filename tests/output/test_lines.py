import pytest

from nacre.output.lines import CappedText, cap_lines, settle


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("plain\n", "plain\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\r\r\nb", "a\nb"),
        (" 10%\r 50%\r100%\nnext", "100%\nnext"),
        (" 10%\r100%\r", "100%"),
        ("\r\r\r", ""),
    ],
)
def test_line_ends_are_plain_and_a_progress_bar_shows_its_last_state(text: str, settled: str) -> None:
    assert settle(text) == settled


def test_lines_within_the_cap_are_untouched() -> None:
    assert cap_lines("12345678\nab\n", 8) == CappedText(text="12345678\nab\n", dropped_bytes=0, capped_lines=0)


def test_a_long_line_is_cut_and_what_it_lost_is_counted() -> None:
    assert cap_lines("123456789\nab\n" + "x" * 100, 8) == CappedText(
        text="12345…\nab\nxxxxx…", dropped_bytes=4 + 95, capped_lines=2
    )


def test_the_cap_counts_bytes_and_does_not_split_a_character() -> None:
    assert cap_lines("€€€", 8) == CappedText(text="€…", dropped_bytes=6, capped_lines=1)


def test_a_cap_without_room_for_its_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 4"):
        cap_lines("x", 3)


@pytest.mark.parametrize("place", [0, 1, 50, 99])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_long_line_is_found_wherever_it_is(place: int, end: str) -> None:
    lines = ["12"] * 100
    lines[place] = "123456789"
    capped = cap_lines("\n".join(lines) + end, 8)
    lines[place] = "12345…"
    assert capped == CappedText(text="\n".join(lines) + end, dropped_bytes=4, capped_lines=1)
