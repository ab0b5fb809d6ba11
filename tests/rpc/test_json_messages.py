"""What is a request, what is not, and how that is said."""

from __future__ import annotations

import json

import pytest

from nacre.errors import InvalidRequestError
from nacre.json_lines.line_reader import MAX_LINE_BYTES, TooLong
from nacre.rpc import json_messages as messages
from nacre.rpc.json_messages import BadLineError, Request

BAD_LINES = [
    pytest.param(b"{", "the line is not JSON: ", id="half an object"),
    pytest.param(b"\0", "the line is not JSON: ", id="NUL"),
    pytest.param(b'{"id": 1, "type": "bash", "command": "\0"}', "the line is not JSON: ", id="NUL in a text"),
    pytest.param(b'{"id": NaN}', "the line is not JSON: NaN is no number of JSON", id="NaN"),
    pytest.param(b'{"id": -Infinity}', "the line is not JSON: -Infinity is no number of JSON", id="infinite"),
    pytest.param(b'{"id": 1' + b"0" * 5000 + b"}", "the line is not JSON: ", id="a number of 5000 digits"),
    pytest.param(b'{"id": "\xff"}', "the line is not UTF-8: byte 0xff at 8", id="not UTF-8"),
    pytest.param("{}".encode("utf-16"), "the line is not UTF-8: byte 0xff at 0", id="UTF-16"),
    pytest.param(b"[" * 100_000, "the line is nested too deeply", id="nested too deeply"),
    pytest.param(b"[]", "the line must be a JSON object, got []", id="a list"),
    pytest.param(b"null", "the line must be a JSON object, got null", id="null"),
    pytest.param(TooLong(MAX_LINE_BYTES + 1), "the line has 16777217 bytes; at most 16777216 are read", id="too long"),
    pytest.param(b'{"id": [1], "type": "bash"}', "field 'id' must be a number or a text", id="id is a list"),
    pytest.param(b'{"id": true, "type": "bash"}', "field 'id' must be a number or a text", id="id is a truth"),
    pytest.param(b'{"id": 1e999, "type": "bash"}', "field 'id' must be a number or a text", id="id is infinite"),
    pytest.param(
        json.dumps({"id": "x" * 257}).encode(), "field 'id' must be a number or a text of at most 256", id="id too long"
    ),
]
KNOWN = "known types: bash, abort_bash, job, read, changes, check"


@pytest.mark.parametrize(("line", "error"), BAD_LINES)
def test_what_is_no_request_is_named(line: bytes | TooLong, error: str) -> None:
    with pytest.raises(BadLineError) as caught:
        messages.decode(line)
    assert str(caught.value).startswith(error)
    assert caught.value.id is None
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("line", "id", "error"),
    [
        (b'{"id": 7}', 7, f"field 'type' is missing; {KNOWN}"),
        (b'{"id": "a", "type": "Bash"}', "a", f'unknown type "Bash"; {KNOWN}'),
        (b'{"type": ["bash"]}', None, f'unknown type ["bash"]; {KNOWN}'),
        (b'{"id": 7.5, "type": 1}', 7.5, f"unknown type 1; {KNOWN}"),
    ],
)
def test_an_unknown_type_is_named_and_the_id_comes_back(line: bytes, id: messages.Id, error: str) -> None:
    with pytest.raises(BadLineError) as caught:
        messages.decode(line)
    assert json.loads(messages.bad_line(caught.value)) == {
        "id": id,
        "type": "response",
        "success": False,
        "error": error,
    }


@pytest.mark.parametrize("line", [b"", b" ", b"\t \r", b"\x0b\x0c"])
def test_a_blank_line_is_no_request_and_no_error(line: bytes) -> None:
    assert messages.decode(line) is None


@pytest.mark.parametrize("id", ["", "a", "\ud800", "日本", 0, -1, 1.5, 10**200, None])
def test_an_id_comes_back_as_it_was(id: messages.Id) -> None:
    request = messages.decode(json.dumps({"id": id, "type": "job", "list": True}).encode() + b"\r")
    assert request == Request(id, "job", {"list": True})
    line = messages.answer(request, {"text": "ä\n\u2028"})
    assert (line.isascii(), line.count(b"\n"), line[-1:]) == (True, 1, b"\n")
    assert json.loads(line) == {
        "id": id,
        "type": "response",
        "command": "job",
        "success": True,
        "data": {"text": "ä\n\u2028"},
    }


def test_what_to_abort_is_an_id_or_everything() -> None:
    assert messages.target_of(Request(1, "abort_bash", {})) is None
    assert messages.target_of(Request(1, "abort_bash", {"target": "a"})) == "a"
    with pytest.raises(InvalidRequestError, match=r"field 'target' must be the id of a call, got \[1\]"):
        messages.target_of(Request(1, "abort_bash", {"target": [1]}))
    with pytest.raises(InvalidRequestError, match="unknown field 'ids'"):
        messages.target_of(Request(1, "abort_bash", {"ids": [1]}))
