"""The page says what the other viewers say, and holds a bounded part of an ended call."""

from __future__ import annotations

import pytest

from nacre.feed.card import Card, Question, Tail
from nacre.feed.card_texts import command_text, origin_text, state_text
from nacre.feed.folding import folded
from nacre.web.page_cards import COMMAND_CHARACTERS, ENDED_CHARACTERS, card_json, marked_parts, shortened_tail


def test_words_and_folds_are_those_of_every_viewer() -> None:
    card = Card(call="c", command="make", env={"CI": "1"}, cwd="/p/web", project="/p", surface="mcp", outcome="exited")
    card.exit_code = 2
    card.tail.add("".join(f"line {number} {'x' * 50}\n" for number in range(30)))
    shown = card_json(card, columns=40)
    fold = folded(card, 40)
    assert shown["command"] == command_text(card) == 'cd web && CI="1" make'
    assert (shown["state"], shown["origin"]) == (state_text(card), origin_text(card))
    assert (shown["lines"], shown["hint"]) == (fold.lines, fold.hint("show all"))
    assert len(shown["lines"]) == 10


def test_a_full_screen_program_has_no_lines() -> None:
    card = Card(call="c", pty=True, job_id="bg_1")
    card.tail.add("~\n" * 20)
    shown = card_json(card, columns=40, screen=True)
    assert (shown["lines"], shown["hint"], shown["output"], shown["terminal"]) == ([], None, True, True)


def test_questions_and_prompts_come_with_what_is_asked() -> None:
    card = Card(call="c", command="cd /x && rm -rf .", prompt=" Password: ", hides_input=True)
    card.question = Question(id="q", rule="r", message="m", span=(9, 17), deadline=5.0)
    shown = card_json(card, columns=40)
    assert shown["question"]["parts"] == ["cd /x && ", "rm -rf .", ""]
    assert shown["prompt"] == {"text": "Password:", "hidden": True}


@pytest.mark.parametrize("span", [None, (0, 0), (0, 99), (50, 60), (3, 1), (-5, 2)])
def test_the_parts_of_a_command_are_the_command(span: tuple[int, int] | None) -> None:
    assert "".join(marked_parts("rm -rf x", span)) == "rm -rf x"


def test_a_command_that_is_data_is_cut_and_counted() -> None:
    shown = card_json(Card(call="c", command="x" * (COMMAND_CHARACTERS + 5)), columns=80)
    assert (len(shown["command"]), shown["cut"]) == (COMMAND_CHARACTERS, 5)


def test_an_ended_call_holds_its_newest_output_and_counts_the_rest() -> None:
    tail = Tail()
    tail.add("é\n" * ENDED_CHARACTERS, 10)
    held = shortened_tail(tail)
    assert len(held.text) == ENDED_CHARACTERS
    assert held.missing_bytes == 10 + 3 * ENDED_CHARACTERS // 2
    assert held.missing_lines == ENDED_CHARACTERS // 2
    assert shortened_tail(held) is held
