"""The lines of `nacre rpc`: in any chunks the same, and what is no request is refused by BadLineError only."""

import json

import atheris
from harness import instrumented, pieces, start

with instrumented():
    from nacre.json_lines.line_reader import LineReader, TooLong
    from nacre.rpc import json_messages as messages

LIMIT = 256


def lines(parts: list[bytes]) -> list[bytes | TooLong]:
    cut = LineReader(LIMIT)
    found = [line for part in parts for line in cut.feed(part)]
    rest = cut.end()
    return [*found, *([] if rest is None else [rest])]


def check(line: bytes | TooLong) -> None:
    """Whatever it is, it can be answered in one line of ASCII that is JSON, with the id it came with."""
    try:
        request = messages.decode(line)
    except messages.BadLineError as error:
        answer, id = messages.bad_line(error), error.id
    else:
        if request is None:
            assert isinstance(line, bytes)
            assert not line.strip()
            return
        answer, id = messages.answer(request, {}), request.id
    assert answer.endswith(b"\n")
    assert answer.count(b"\n") == 1
    assert json.loads(answer.decode("ascii"))["id"] == id


def one_input(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    begins = b'{"id": 1, "type": "bash", "command": ' if provider.ConsumeBool() else b""
    sent = begins + provider.ConsumeBytes(600)
    found = lines([sent])
    assert lines(pieces(provider, sent)) == found
    for line in found:
        check(line)


if __name__ == "__main__":
    start(one_input)
