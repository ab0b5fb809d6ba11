"""Of a running call only the newest update waits; everything else goes out, in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nacre.json_lines.outbox import FULL_BYTES, Outbox

steps = st.lists(
    st.tuples(st.sampled_from(["put", "update", "end", "take"]), st.integers(0, 2), st.binary(max_size=4)), max_size=40
)


def drain(outbox: Outbox) -> list[bytes]:
    taken = []
    while outbox:
        taken.append(outbox.take())
    return taken


def test_a_newer_update_takes_the_place_of_the_one_that_waits() -> None:
    outbox = Outbox()
    outbox.put_update("first", lambda: b"1 old")
    outbox.put_update("second", lambda: b"2")
    outbox.put_update("first", lambda: b"1 new")
    assert drain(outbox) == [b"1 new", b"2"]


def test_an_answer_makes_the_update_that_waits_needless() -> None:
    outbox = Outbox()
    outbox.put_update("call", lambda: b"update")
    outbox.put(b"other")
    outbox.put(b"answer", ends="call")
    assert drain(outbox) == [b"other", b"answer"]


def test_it_is_full_only_of_what_must_go_out() -> None:
    outbox = Outbox()
    outbox.put_update("call", lambda: b"x" * FULL_BYTES)
    assert not outbox.full
    outbox.put(b"x" * FULL_BYTES)
    assert outbox.full
    outbox.take()
    outbox.take()
    assert not outbox.full


@given(steps)
def test_nothing_that_must_go_out_is_lost_and_no_more_than_one_update_a_call_waits(
    played: list[tuple[str, int, bytes]],
) -> None:
    outbox = Outbox()
    put: list[bytes] = []
    taken: list[bytes] = []
    for step, call, data in played:
        if step == "update":
            outbox.put_update(call, lambda data=data: b"u" + data)
        elif step == "take":
            taken += [outbox.take()] if outbox else []
        else:
            put.append(b"p" + data)
            outbox.put(put[-1], ends=call if step == "end" else None)
    rest = drain(outbox)
    assert sum(line.startswith(b"u") for line in rest) <= 3
    assert [line for line in [*taken, *rest] if line.startswith(b"p")] == put
