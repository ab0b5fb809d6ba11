import base64

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nacre.output.redaction import search
from nacre.output.redaction.form_table import MAP_AFTER_QUESTIONS, UNBROKEN, Windows
from nacre.output.redaction.forms import is_worth_hiding
from nacre.output.redaction.redactor import Redactor

SMALL = st.text(alphabet="ab\nc-é'/", min_size=8, max_size=24)
ANY = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=8, max_size=40)
VALUES = st.one_of(SMALL, ANY)


@st.composite
def streams(draw: st.DrawFn) -> tuple[dict[str, str], bytes]:
    """Secrets, and a text made of them, of parts of them and of other things."""
    values = draw(st.lists(VALUES.filter(is_worth_hiding), min_size=1, max_size=4, unique=True))
    pieces: list[bytes] = []
    for _ in range(draw(st.integers(0, 12))):
        raw = draw(st.sampled_from(values)).encode()
        encoded = [base64.b64encode(text) for text in (raw, b"x" + raw, raw + b"\n")]
        form = draw(st.sampled_from([raw, *encoded]))
        begin = draw(st.integers(0, len(form)))
        end = draw(st.integers(begin, len(form)))
        noise = draw(st.binary(max_size=6))
        between = draw(st.sampled_from([b"\n", b"\0", b"\x1b[31m", b"\x1b]0;x\x07", b"\x1b[3", b"\b"]))
        broken = form[:begin] + between + form[begin:]
        pieces.append(draw(st.sampled_from([form, form[begin:end], noise, b"\n", b"\r\n", broken])))
    return {f"S{index}": value for index, value in enumerate(values)}, b"".join(pieces)


def chunked(data: st.DataObject, text: bytes) -> list[bytes]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(streams(), st.data())
@settings(max_examples=400)
def test_no_chunking_changes_what_is_shown(stream: tuple[dict[str, str], bytes], data: st.DataObject) -> None:
    secrets, text = stream
    whole, parts = Redactor(secrets), Redactor(secrets)
    expected = whole.feed(text) + whole.flush()
    shown = b"".join(parts.feed(chunk) for chunk in chunked(data, text)) + parts.flush()
    assert shown == expected
    assert parts.counts == whole.counts


@given(streams(), st.integers(2, 12))
@settings(max_examples=200)
def test_many_occurrences_are_replaced_as_a_few_are(stream: tuple[dict[str, str], bytes], times: int) -> None:
    secrets, text = stream
    text *= times
    whole, parts = Redactor(secrets), Redactor(secrets)
    expected = b"".join(parts.feed(text[at : at + 50]) for at in range(0, len(text), 50)) + parts.flush()
    assert whole.feed(text) + whole.flush() == expected
    assert whole.counts == parts.counts


@given(st.binary(max_size=60), st.lists(st.binary(min_size=UNBROKEN, max_size=UNBROKEN), max_size=5))
def test_the_map_of_a_text_answers_as_the_text_does(text: bytes, others: list[bytes]) -> None:
    windows = Windows(text)
    for _ in range(MAP_AFTER_QUESTIONS + 1):
        windows.find(b"x" * UNBROKEN)
    own = [text[at : at + UNBROKEN] for at in range(len(text) - UNBROKEN + 1)]
    assert [windows.find(one) for one in (*own, *others)] == [text.find(one) for one in (*own, *others)]


@given(streams(), st.data())
@settings(max_examples=300)
def test_no_chunking_reveals_a_value(stream: tuple[dict[str, str], bytes], data: st.DataObject) -> None:
    secrets, text = stream
    redactor = Redactor(secrets)
    shown: list[bytes] = []
    for chunk in chunked(data, text):
        shown.append(redactor.feed(chunk))
    shown.append(redactor.flush())
    # What is left between replacements may not hold a form; the marks themselves are ours.
    marks = {f"[redacted:{name}]".encode() for name in secrets}
    left = b"".join(shown)
    for mark in marks:
        left = left.replace(mark, b"\0")
    assert not any(form in left for _, form in redactor.to_forms())


@given(streams(), st.sampled_from([2, 4]))
@settings(max_examples=200)
def test_sampling_finds_what_searching_finds(stream: tuple[dict[str, str], bytes], stride: int) -> None:
    secrets, text = stream
    literals = [form for _, form in Redactor(secrets).to_forms() if len(form) >= search.SHORTEST_AT_FOUR]
    assume(literals)
    text = text * 2 + b"\xd8\x00\xdc\x00" + text
    expected = {(place, literal) for literal in literals for place in search.places(text, literal)}
    assert set(search.Sample(literals, stride=stride).occurrences(text)) == expected


@given(st.lists(st.binary(max_size=50), max_size=5))
def test_nothing_is_changed_or_held_when_nothing_was_removed(chunks: list[bytes]) -> None:
    redactor = Redactor({})
    assert not redactor
    assert [redactor.feed(chunk) for chunk in chunks] == chunks
    assert redactor.flush() == b""
