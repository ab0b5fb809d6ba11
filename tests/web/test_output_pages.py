"""A whole output is read in pages of whole lines, whose texts add up to all of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nacre.artifacts.stored import Piece
from nacre.feed.card import Card
from nacre.web.output_pages import PAGE_BYTES, held_page, page_of


class Bytes:
    """An output in memory, with bytes that were dropped before `start`."""

    def __init__(self, data: bytes, start: int = 0) -> None:
        self._data, self._start = data, start

    @property
    def end(self) -> int:
        return self._start + len(self._data)

    def read(self, offset: int, limit: int) -> Piece:
        begin = max(offset, self._start)
        data = self._data[begin - self._start :][:limit]
        return Piece(begin, data, begin - offset if data else 0)


LINES = st.lists(st.text("aé€😀 ", max_size=40), max_size=40).map("\n".join)


@given(LINES, st.integers(1, 4000))
def test_pages_add_up_to_the_output(text: str, times: int) -> None:
    data = (text * times).encode()[: 4 * PAGE_BYTES].decode("utf-8", "ignore").encode()
    kept, offset, read = Bytes(data), 0, ""
    while offset < len(data):
        page = page_of(kept, offset)
        assert page["offset"] == offset
        assert page["next"] > offset
        read += page["text"]
        offset = page["next"]
    assert read == data.decode()


def test_the_last_page_begins_with_a_line_and_ends_with_the_output() -> None:
    data = "".join(f"{number}\n" for number in range(30_000)).encode()
    page = page_of(Bytes(data), -1)
    assert page["next"] == page["end"] == len(data)
    assert data[page["offset"] - 1 : page["offset"]] == b"\n"
    assert page["text"].endswith("29999\n")


def test_what_a_cap_has_dropped_is_counted() -> None:
    page = page_of(Bytes(b"the rest\n", start=5000), 0)
    assert (page["text"], page["offset"], page["droppedBytes"]) == ("the rest\n", 5000, 5000)


def test_terminal_control_is_taken_out() -> None:
    assert page_of(Bytes(b"\x1b[31mred\x1b[0m\r\n10%\r100%\n"), 0)["text"] == "red\n100%\n"


def test_a_card_without_a_file_shows_what_it_holds() -> None:
    card = Card(call="c")
    card.tail.add("one\ntwo\n", 7)
    assert held_page(card) == {"text": "one\ntwo\n", "offset": 0, "next": 8, "end": 8, "droppedBytes": 7}
