"""Output made readable: the same in any chunks, free of control characters, within its size."""

import atheris
from harness import instrumented, pieces, start

with instrumented():
    from nacre.output.captured import Captured, Selection
    from nacre.output.decode import IncrementalDecoder, decode
    from nacre.output.escapes import EscapeFilter, strip
    from nacre.output.lines import cap_lines, settle
    from nacre.output.render import render
    from nacre.output.window import Window
    from nacre.settings import INLINE_BYTES

# The line that says what was left out stands beside the text.
NOTICE_BYTES = 400
CONTROLS = frozenset(map(chr, (*range(0x20), 0x7F))) - frozenset("\t\n\r")


def one_input(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    head, tail = provider.ConsumeIntInRange(1, 64), provider.ConsumeIntInRange(1, 64)
    wanted = (provider.ConsumeIntInRange(-1, 8), provider.ConsumeIntInRange(-1, 8))
    limit = provider.ConsumeIntInRange(4, 40)
    text = provider.ConsumeBytes(2000)
    if provider.ConsumeBool():
        text *= provider.ConsumeIntInRange(1, 80)
    parts = pieces(provider, text)

    stream, escapes = IncrementalDecoder("replace"), EscapeFilter()
    decoded = [stream.decode(part) for part in parts] + [stream.decode(b"", final=True)]
    assert "".join(decoded) == decode(text)
    plain = strip(decode(text))
    assert "".join(escapes.feed(part) for part in decoded) == plain
    assert not CONTROLS & set(plain)

    settled = settle(plain).text
    capped = cap_lines(settled, limit)
    assert all(len(line.encode("utf-8", "surrogatepass")) <= limit for line in capped.text.split("\n"))
    assert capped.text.count("\n") == settled.count("\n")

    window = Window(head, tail, whole_bytes=head + tail)
    for part in parts:
        window.feed(part)
    captured = Captured(
        whole=window.whole,
        head=window.head,
        tail=window.tail,
        total_bytes=window.total_bytes,
        total_lines=window.total_lines,
    )
    selection = Selection(head=None if wanted[0] < 0 else wanted[0], tail=None if wanted[1] < 0 else wanted[1])
    shown = render(captured, selection)
    assert len(shown.text.encode("utf-8", "surrogatepass")) <= INLINE_BYTES + NOTICE_BYTES
    assert not CONTROLS & set(shown.text)
    assert shown.truncation is None or 0 < shown.truncation.omitted_bytes <= len(text)


if __name__ == "__main__":
    start(one_input)
