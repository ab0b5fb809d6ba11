import base64

from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.output import redact_search
from nacre.output.redact import Redactor
from nacre.output.redact_forms import is_worth_hiding

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
        broken = form[:begin] + b"\n" + form[begin:]
        pieces.append(draw(st.sampled_from([form, form[begin:end], noise, b"\n", b"\r\n", broken])))
    return {f"S{index}": value for index, value in enumerate(values)}, b"".join(pieces)


def chunked(data: st.DataObject, text: bytes) -> list[bytes]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(streams(), st.data())
@settings(max_examples=400, deadline=None)
def test_no_chunking_changes_what_is_shown(stream: tuple[dict[str, str], bytes], data: st.DataObject) -> None:
    secrets, text = stream
    whole, parts = Redactor(secrets), Redactor(secrets)
    expected = whole.feed(text) + whole.flush()
    shown = b"".join(parts.feed(chunk) for chunk in chunked(data, text)) + parts.idle_flush() + parts.flush()
    assert shown == expected
    assert parts.counts == whole.counts


@given(streams(), st.data())
@settings(max_examples=300, deadline=None)
def test_no_chunking_reveals_a_value(stream: tuple[dict[str, str], bytes], data: st.DataObject) -> None:
    secrets, text = stream
    redactor = Redactor(secrets)
    shown: list[bytes] = []
    for chunk in chunked(data, text):
        shown += (redactor.feed(chunk), redactor.idle_flush())
    shown.append(redactor.flush())
    # What is left between replacements may not hold a form; the marks themselves are ours.
    marks = {f"[redacted:{name}]".encode() for name in secrets}
    left = b"".join(shown)
    for mark in marks:
        left = left.replace(mark, b"\0")
    assert not any(form in left for _, form in redactor.to_forms())


@given(streams(), st.sampled_from([2, 4]))
@settings(max_examples=200, deadline=None)
def test_sampling_finds_what_searching_finds(stream: tuple[dict[str, str], bytes], stride: int) -> None:
    secrets, text = stream
    literals = [form for _, form in Redactor(secrets).to_forms() if len(form) >= redact_search.SHORTEST_AT_FOUR]
    text = text * 2 + b"\xd8\x00\xdc\x00" + text
    expected = {(place, literal) for literal in literals for place in redact_search.places(text, literal)}
    assert set(redact_search.Sample(literals, stride=stride).occurrences(text)) == expected


@given(st.lists(st.binary(max_size=50), max_size=5))
def test_nothing_is_changed_or_held_when_nothing_was_removed(chunks: list[bytes]) -> None:
    redactor = Redactor({})
    assert not redactor
    assert [redactor.feed(chunk) for chunk in chunks] == chunks
    assert redactor.flush() == b""
