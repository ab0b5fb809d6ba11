"""The transcript follows the newest call, stays where the person reads, and is bounded."""

from __future__ import annotations

from tests.tui.pilots import until
from textual.app import App, ComposeResult

from nacre.feed.card import Card
from nacre.tui.transcript_view import MOST_CARDS, TranscriptView


class Shown(App[None]):
    def compose(self) -> ComposeResult:
        yield TranscriptView()

    @property
    def view(self) -> TranscriptView:
        return self.query_one(TranscriptView)


def ended(number: int, count: int = 30) -> Card:
    card = Card(call=f"c-{number}", command=f"make {number}", outcome="exited", exit_code=0, seconds=0.1)
    card.tail.add("".join(f"line {one}\n" for one in range(count)))
    return card


def row_of(view: TranscriptView, text: str) -> int:
    return next(row for row in range(view.size.height) if text in view.render_line(row).text)


async def test_the_newest_call_stays_in_view_until_the_person_scrolls_back() -> None:
    app = Shown()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.view
        view.focus()
        for number in range(20):
            view.show_card(ended(number))
        await until(pilot, lambda: view.max_scroll_y > 0 and "make 19" in _text(view))
        await pilot.press("g")
        await until(pilot, lambda: "make 0" in _text(view))
        view.show_card(ended(20))
        await until(pilot, lambda: len(view.cards) == 21 and not view._dirty)
        assert "make 0" in _text(view)
        assert not view.follows
        await pilot.press("G")
        await until(pilot, lambda: "make 20" in _text(view))


async def test_the_scroll_position_stays_on_expand_and_while_other_cards_grow() -> None:
    app = Shown()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.view
        view.focus()
        for number in range(10):
            view.show_card(ended(number))
        await until(pilot, lambda: view.max_scroll_y > 0)
        await pilot.press("up", "up", "up")
        await pilot.pause()
        command = f"make {view.selected.removeprefix('c-')}"  # type: ignore[union-attr]
        before = row_of(view, command)
        await pilot.press("o")
        await pilot.pause()
        assert row_of(view, command) == before
        await pilot.press("o")
        await pilot.pause()
        assert row_of(view, command) == before
        first = view.cards[0]
        first.tail.add("more\n")
        view.view_of("c-0").fold()  # type: ignore[union-attr]
        view.show_card(first)
        await until(pilot, lambda: not view._dirty)
        assert row_of(view, command) == before


async def test_the_history_is_bounded_and_says_how_many_calls_it_forgot() -> None:
    app = Shown()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.view
        for number in range(MOST_CARDS + 50):
            view.show_card(ended(number, 2))
        await until(pilot, lambda: view.forgotten)
        assert len(view.cards) == MOST_CARDS
        assert view.forgotten == 50


async def test_search_marks_the_text_and_n_goes_on() -> None:
    app = Shown()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.view
        view.focus()
        for number in range(12):
            view.show_card(ended(number))
        await until(pilot, lambda: len(view.cards) == 12 and not view._dirty)
        assert view.find("MAKE 3") == 1
        await pilot.pause()
        assert "make 3" in _text(view)
        assert view.selected == "c-3"
        assert view.find("line 29") == 12
        await pilot.press("N")
        assert view.selected == "c-10"
        assert view.find("nowhere") == 0


async def test_a_click_selects_a_call() -> None:
    app = Shown()
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.view
        for number in range(3):
            view.show_card(ended(number, 1))
        await until(pilot, lambda: len(view.cards) == 3 and not view._dirty)
        await pilot.click(TranscriptView, offset=(5, 0))
        assert view.selected == "c-0"


def _text(view: TranscriptView) -> str:
    return "\n".join(view.render_line(row).text for row in range(view.size.height))
