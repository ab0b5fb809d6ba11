"""A card shows the newest lines, says what it leaves out and by which key that is seen."""

from __future__ import annotations

from nacre.feed.card import TAIL_CHARACTERS, Card
from nacre.feed.folding import PERSON_CHARACTERS, folded, unfolded, wrapped


def _card(text: str, *, by: str = "model", dropped: int = 0) -> Card:
    card = Card(call="c-1", by=by)
    card.tail.add(text, dropped)
    return card


def _lines(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


def test_an_agents_call_is_folded_to_its_last_ten_visual_lines() -> None:
    fold = folded(_card(_lines(30)), 80)
    assert fold.lines == [f"line {number}" for number in range(21, 31)]
    assert fold.hint("enter") == "… 20 earlier lines (enter)"
    long = folded(_card("x" * 200 + "\n" + "y" * 100 + "\n"), 20)
    assert long.lines == ["x" * 20] * 5 + ["y" * 20] * 5
    assert long.hidden_lines == 5


def test_nothing_is_folded_to_hide_one_line() -> None:
    assert folded(_card(_lines(11)), 80).hint("enter") is None
    assert len(folded(_card(_lines(11)), 80).lines) == 11
    assert folded(_card(_lines(12)), 80).hidden_lines == 2
    assert folded(_card(_lines(21), by="person"), 80).hidden_lines == 0
    assert folded(_card(_lines(22), by="person"), 80).hidden_lines == 2


def test_a_persons_command_is_folded_to_twenty_logical_lines_of_four_thousand_characters() -> None:
    fold = folded(_card(_lines(50) + "z" * 5000 + "\n", by="person"), 40)
    assert len(fold.lines) == 20
    assert fold.hidden_lines == 31
    assert fold.lines[-1] == "z" * PERSON_CHARACTERS + "… [1000 more characters]"


def test_a_flood_is_bounded_and_what_is_missing_is_counted_exactly() -> None:
    card = Card(call="c-1")
    for _ in range(400):
        card.tail.add("y\n" * 16_000)
    card.tail.add("last\n", dropped_bytes=1_000_000)
    assert len(card.tail.text) <= 2 * TAIL_CHARACTERS
    assert card.tail.missing_bytes == 400 * 32_000 + 1_000_000
    assert card.tail.missing_lines == 400 * 16_000
    assert folded(card, 80).lines == ["last"]


def test_a_progress_bar_is_shown_in_its_last_state_and_tabs_as_blanks() -> None:
    card = _card("10%\r50%\r")
    card.tail.add("100%\na\tb\n")
    assert card.tail.lines == ["100%", "a   b"]


def test_wide_and_joined_characters_take_the_columns_that_a_terminal_gives_them() -> None:
    assert wrapped("日本語日本語日本語", 10) == ["日本語日本", "語日本語"]
    assert wrapped("e\u0301" * 12, 10) == ["e\u0301" * 10, "e\u0301" * 2]
    assert unfolded(_card(""), 80).lines == []
