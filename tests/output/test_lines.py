import pytest

from nacre.output.lines import CappedText, Settled, cap_lines, settle


@pytest.mark.parametrize(
    ("text", "settled", "redraws"),
    [
        ("plain\n", "plain\n", 0),
        ("a\r\nb\r\n", "a\nb\n", 0),
        ("a\r\r\nb", "a\nb", 0),
        (" 10%\r 50%\r100%\nnext", "100%\nnext", 2),
        (" 10%\r100%\r", "100%", 1),
        ("\r\r\r", "", 0),
        ("\rone", "one", 0),
        (
            "12%|█▌  | 3/25 [00:01<00:09, 9.9it/s]\r16%|██  | 4/25 [00:02, 1.1s/it]",
            "16%|██  | 4/25 [00:02, 1.1s/it]",
            1,
        ),
        ("| building\r/ building\r- building\r", "- building", 2),
        ("⠋ building\r⠙ building", "⠙ building", 1),
        ("got 9 kB, eta 0:10\rgot 1.2 MB", "got 1.2 MB", 1),
        ("Counting: 10% (1/10)\rCounting: 100% (10/10), done.\n", "Counting: 100% (10/10), done.\n", 1),
    ],
)
def test_line_ends_are_plain_and_a_progress_bar_shows_its_last_state(text: str, settled: str, redraws: int) -> None:
    assert settle(text) == Settled(settled, redraws)


@pytest.mark.parametrize(
    ("text", "settled", "redraws"),
    [
        ("ERROR: disk failed\rok\n", "ERROR: disk failed\nok\n", 0),
        ("no\ryes", "no\nyes", 0),
        ("loading 10%\rloading 90%\rERROR: disk failed\rok", "loading 90%\nERROR: disk failed\nok", 1),
        ("loading 10%\r           \rdone\n", "loading 10%\ndone\n", 0),
        ("loading 10%\r           \n", "loading 10%\n", 0),
        ("error 1 of a\r2\rerror 3 of b", "error 1 of a\nerror 3 of b", 1),
    ],
)
def test_what_is_no_redraw_of_the_same_line_is_shown_as_lines(text: str, settled: str, redraws: int) -> None:
    assert settle(text) == Settled(settled, redraws)


def test_of_a_line_with_countless_states_the_first_and_the_newest_are_shown_and_the_rest_is_counted() -> None:
    names = [f"z{one}{other}" for one in "abcdefghij" for other in "klmnopqrst"]
    shown = settle("\r".join(f"file {name} failed" for name in names))
    lines = shown.text.split("\n")
    assert lines[0] == "file zak failed"
    assert lines[5] == "[… 90 states of this line left out …]"
    assert lines[-1] == "file zjt failed"
    assert (len(lines), shown.redraws) == (11, 90)


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
