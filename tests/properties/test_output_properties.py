import functools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nacre import api
from nacre.contracts import basic, modes, two_streams, workspace
from nacre.output.captured import EVERYTHING, Captured
from nacre.output.decode import decode, fit_head, fit_tail, trim_head, trim_tail
from nacre.output.escapes import EscapeFilter, strip
from nacre.output.lines import cap_lines, settle
from nacre.output.render import render
from nacre.output.window import Window
from nacre.settings import INLINE_BYTES

# Few distinct bytes, so that newlines, escapes and pieces of characters meet often.
CHUNKS = st.lists(st.binary(max_size=40) | st.text("ab\n€𝄞", max_size=20).map(str.encode), max_size=12)
# Bytes that begin, continue or break a character: here text and bytes differ most in length.
BROKEN = st.lists(
    st.sampled_from([b"\xed", b"\xa0", b"\x80", b"\xf0\x90", b"\xe2\x82", b"\xf4", b"\xff", b"a", b"\0", b"\n"])
).map(b"".join)
TERMINAL = st.text("ab1;[]PX^_\\?( \x1b\x07\x18\n\r\t\x9b€", max_size=60)


@given(CHUNKS, st.integers(0, 30), st.integers(0, 30), st.integers(0, 60))
def test_chunking_never_changes_a_window_and_nothing_goes_uncounted(
    chunks: list[bytes], head: int, tail: int, more: int
) -> None:
    data = b"".join(chunks)
    window, at_once = (Window(head, tail, whole_bytes=head + tail + more) for _ in range(2))
    for chunk in chunks:
        window.feed(bytearray(chunk) + b"\nstale\n", len(chunk))
    at_once.feed(data)
    for one in (window, at_once):
        assert (one.total_bytes, one.newlines) == (len(data), data.count(b"\n"))
        if len(data) <= head + tail + more:
            assert one.whole == data
        else:
            assert one.whole is None
            assert one.head == data[:head]
            assert one.tail == (data[-tail:] if tail else b"")
            assert len(one.head) + len(one.tail) + one.omitted_bytes == len(data)
            omitted = data[head : len(data) - tail]
            assert (one.omitted_bytes, one.omitted_lines) == (len(omitted), omitted.count(b"\n"))


@given(st.text("aé€𝄞\n"), st.integers(0, 60))
def test_a_cut_never_splits_a_character(text: str, at: int) -> None:
    data = text.encode()
    head, tail = trim_head(data[:at]), trim_tail(data[at:])
    assert text.startswith(head.decode())
    assert text.endswith(tail.decode())
    assert len(head) > at - 4 or len(head) == len(data)
    assert len(tail) > len(data) - at - 4


@given(
    st.binary(max_size=5000) | st.text("a€𝄞\n").map(str.encode) | st.builds(bytes.__mul__, BROKEN, st.integers(1, 50)),
    st.integers(0, 60) | st.integers(0, 6000),
)
@example(bytes.fromhex("a0000080808080ed") * 20, 22)
def test_fitted_text_stays_within_the_limit_and_stands_for_the_bytes_it_names(data: bytes, limit: int) -> None:
    head, head_kept = fit_head(data, limit)
    assert len(head.encode()) <= limit
    assert head == decode(data[:head_kept])
    assert decode(data).startswith(head)
    tail, tail_kept = fit_tail(data, limit)
    assert len(tail.encode()) <= limit
    assert tail == decode(data[len(data) - tail_kept :])
    if len(decode(data).encode()) <= limit:
        assert (head_kept, tail_kept) == (len(data), len(data))


def _bytes(text: str) -> int:
    return len(text.encode())


# How much each view may show at most: its limit, and what stands for what is left out.
_MARKER = 80
VIEWS = {
    "modes": (modes.view, modes.Modes.profile.capture, _bytes, modes.LIMIT_BYTES),
    "run": (api.head_and_tail, api.PROFILE.capture, _bytes, INLINE_BYTES + _MARKER),
    "workspace": (render, workspace.Workspace.profile.capture, _bytes, INLINE_BYTES + _MARKER),
    "basic": (basic.view, basic.Basic.profile.capture, _bytes, basic.LIMIT_BYTES + len(basic.SUFFIX)),
    "openai": (functools.partial(two_streams.view, 9000), two_streams.capture_of(9000), len, 9000),
}


@pytest.mark.parametrize("contract", VIEWS)
@given(pattern=BROKEN.filter(len), end=BROKEN, more=st.integers(0, 5000))
@settings(max_examples=10, deadline=None)
def test_no_output_is_shown_beyond_the_limit_of_its_contract(
    contract: str, pattern: bytes, end: bytes, more: int
) -> None:
    view, shape, measure, most = VIEWS[contract]
    window = Window(shape.head_bytes, shape.tail_bytes, whole_bytes=shape.whole_bytes)
    times = (shape.whole_bytes // 3 + more) // len(pattern) + 1
    # What is whole in memory and grows when shown, then what is not.
    for repeated in (1, 4):
        window.feed(pattern * times * repeated + end)
        shown = view(
            Captured(
                whole=window.whole,
                head=window.head,
                tail=window.tail,
                total_bytes=window.total_bytes,
                total_lines=window.total_lines,
            ),
            EVERYTHING,
        )
        assert measure(shown.text) <= most
        if contract == "modes" and shown.truncation is not None:
            assert _bytes(shown.text) <= 2 * modes.SNIP_BYTES + len(modes.SNIP)


@given(st.lists(TERMINAL, max_size=8))
def test_chunking_never_changes_what_escapes_leave(chunks: list[str]) -> None:
    stream = EscapeFilter()
    assert "".join(stream.feed(chunk) for chunk in chunks) == strip("".join(chunks))


@given(TERMINAL)
def test_stripped_text_holds_no_control_but_tab_and_line_ends(text: str) -> None:
    shown = strip(text)
    assert not {c for c in shown if ord(c) < 32 or 127 <= ord(c) < 160} - set("\t\n\r")


@given(st.text("ab€𝄞\n", max_size=200), st.integers(4, 40))
def test_capped_lines_never_exceed_the_cap_and_dropped_plus_kept_is_all(text: str, limit: int) -> None:
    capped = cap_lines(text, limit)
    assert max(len(line.encode()) for line in capped.text.split("\n")) <= limit
    assert len(capped.text.encode()) - 3 * capped.capped_lines + capped.dropped_bytes == len(text.encode())


@given(st.text("ab1 \r\n", max_size=60))
def test_settled_text_counts_every_state_of_a_line_that_it_leaves_out(text: str) -> None:
    settled = settle(text)
    assert "\r" not in settled.text
    states = [state for line in text.split("\n") for state in line.split("\r") if state.strip()]
    shown = [line for line in settled.text.split("\n") if line.strip() and not line.startswith("[…")]
    assert len(shown) + settled.redraws == len(states)
    assert settled.text.count("\n") >= text.count("\n")
