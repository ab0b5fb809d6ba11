"""Looks at a growing text are joined to what was written, or say where they are not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nacre.output.snapshots import GAP, Snapshots

cuts = st.lists(st.integers(0, 400), max_size=6).map(sorted)


def joined(looks: list[tuple[str, bool]]) -> str:
    snapshots = Snapshots()
    return "".join(snapshots.feed(text, truncated=truncated) for text, truncated in looks)


@given(st.text(max_size=400), cuts)
def test_a_text_that_only_grows_is_joined_exactly(text: str, ends: list[int]) -> None:
    assert joined([(text[:end], False) for end in [*ends, len(text)]]) == text


@given(st.integers(100, 400), cuts)
def test_looks_that_overlap_are_joined_exactly(limit: int, ends: list[int]) -> None:
    text = "".join(f"{number:05}\n" for number in range(100))
    looks = []
    last = 0
    for end in [*ends, 400]:
        # Never so much at once that the terminal loses what was not looked at, less what must be recognised.
        end = min(end, last + limit - 64)
        if end > last:
            looks.append((text[max(0, end - limit) : end], end > limit))
            last = end
    assert joined(looks) == text[:last]


def test_a_look_that_has_nothing_of_the_last_says_so() -> None:
    assert joined([("one\n", False), ("three\n", True)]) == f"one\n{GAP}three\n"
    assert joined([("one", False), ("three\n", True)]) == f"one\n{GAP}three\n"


def test_a_first_look_without_the_beginning_says_so() -> None:
    assert joined([("end\n", True), ("end\nmore\n", True)]) == f"{GAP}end\nmore\n"


def test_what_repeats_itself_is_not_taken_twice() -> None:
    assert joined([("y\n" * 100, False), ("y\n" * 100, True)]) == "y\n" * 100
