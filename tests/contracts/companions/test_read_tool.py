"""The `read` tool: all of an output that was shown in part."""

from __future__ import annotations

from pathlib import Path

import pytest

from nacre.artifacts.store import ArtifactStore
from nacre.settings import OutputSettings, Settings
from nacre.tool import Tool

KNOWN = "known fields: uri, id, lines, tail, grep, offset, limit"
UNFINISHED = "missing ), unterminated subpattern at position 0"
LINES = b"".join(b"line %05d\n" % n for n in range(10_000))


def artifact(home: Path, data: bytes, *, cap: int = 10_000_000) -> str:
    writer = ArtifactStore(home / "artifacts").create("bash", cap_bytes=cap, head_bytes=100)
    writer.write(data)
    ref = writer.close()
    assert ref is not None
    return str(ref.id)


@pytest.mark.parametrize("name", [{"uri": "artifact://1"}, {"id": 1}, {"id": "1"}, {"uri": "1", "id": None}])
async def test_an_artifact_is_named_by_uri_or_number(home: Path, name: dict[str, object]) -> None:
    artifact(home, b"hello\n")
    reply = await Tool("read").call(name)
    assert reply.json() == {
        "text": "hello",
        "is_error": False,
        "details": {"id": "1", "uri": "artifact://1", "offset": 0, "totalBytes": 6},
    }


async def test_pages_follow_each_other_and_hold_everything_once(home: Path) -> None:
    artifact(home, LINES)
    pages, arguments = [], {"id": 1}
    while True:
        reply = await Tool("read").call(arguments)
        assert len(reply.text.encode()) < 51_500
        pages.append(reply.text.rsplit("\n[bytes", 1)[0] + "\n")
        if "nextOffset" not in reply.details:
            break
        offset = reply.details["nextOffset"]
        assert reply.text.endswith(f"; go on with offset {offset}]")
        arguments = {"id": 1, "offset": offset}
    assert "".join(pages).encode() == LINES


async def test_the_last_lines_and_the_matching_lines_are_read_without_the_rest(home: Path) -> None:
    artifact(home, LINES)
    tail = await Tool("read").call({"id": 1, "tail": 2})
    assert tail.text == "line 09998\nline 09999\n[bytes 109978-110000 of 110000 (107.4KB)]"
    found = await Tool("read").call({"id": 1, "grep": "0999[89]$"})
    assert found.text == "9999:line 09998\n10000:line 09999\n[2 matching lines, as number:line]"
    assert found.details["matches"] == [
        {"line": 9999, "offset": 109978, "text": "line 09998"},
        {"line": 10000, "offset": 109989, "text": "line 09999"},
    ]
    nothing = await Tool("read").call({"id": 1, "grep": "absent", "offset": 100_000})
    assert nothing.text.startswith("(no match)\n[0 matching lines")


async def test_lines_are_read_by_their_numbers(home: Path) -> None:
    artifact(home, LINES)
    one = await Tool("read").call({"id": 1, "lines": "301:302"})
    assert one.text == "line 00300\nline 00301\n[lines 301-302, bytes 3300-3322 of 110000 (107.4KB)]"
    assert one.details["lines"] == [301, 302]
    assert "nextLine" not in one.details
    end = await Tool("read").call({"id": 1, "lines": "9999:"})
    assert end.text == "line 09998\nline 09999\n[lines 9999-10000, bytes 109978-110000 of 110000 (107.4KB)]"
    begin = await Tool("read").call({"id": 1, "lines": ":1"})
    assert begin.text == "line 00000\n[lines 1-1, bytes 0-11 of 110000 (107.4KB)]"
    beyond = await Tool("read").call({"id": 1, "lines": "10001:10002"})
    assert beyond.text == "(no such line)\n[line 10001 is beyond the end; there are 10000 lines]"


async def test_a_range_that_does_not_fit_is_continued_by_lines(home: Path) -> None:
    artifact(home, LINES)
    arguments: dict[str, object] = {"id": 1, "lines": "101:9000", "limit": 5_000}
    read = []
    while True:
        reply = await Tool("read").call(arguments)
        body, _, place = reply.text.rpartition("\n[lines ")
        read += body.split("\n")
        if "nextLine" not in reply.details:
            break
        again = f"{reply.details['nextLine']}:9000"
        assert place.endswith(f'; go on with lines "{again}"]')
        arguments["lines"] = again
    assert read == [f"line {n:05d}" for n in range(100, 9000)]


async def test_a_line_that_does_not_fit_is_continued_by_bytes(home: Path) -> None:
    artifact(home, b"first\n" + b"x" * 3_000 + b"\nlast\n")
    reply = await Tool("read").call({"id": 1, "lines": "2:3", "limit": 1_000})
    assert reply.text == ("x" * 1_000 + "\n[lines 2-2, bytes 6-1006 of 3012 (2.9KB); go on with offset 1006]")


async def test_lines_behind_dropped_bytes_have_the_numbers_that_grep_gives(home: Path) -> None:
    artifact(home, LINES, cap=10_000)
    found = await Tool("read").call({"id": 1, "grep": "09998"})
    number = found.details["matches"][0]["line"]
    reply = await Tool("read").call({"id": 1, "lines": f"{number}:{number}"})
    assert reply.text.startswith("line 09998\n[lines ")


async def test_the_most_that_is_read_at_once_is_a_setting(home: Path) -> None:
    artifact(home, LINES)
    small = Settings(output=OutputSettings(inline_bytes=2_000))
    reply = await Tool("read", settings=small).call({"id": 1, "limit": 5_000})
    assert 1_900 < reply.details["nextOffset"] <= 2_000
    assert Tool("read", settings=small).schema()["input_schema"]["properties"]["limit"]["maximum"] == 2_000


async def test_many_matches_are_cut_and_searched_on(home: Path) -> None:
    artifact(home, LINES)
    first = await Tool("read").call({"id": 1, "grep": "line", "limit": 1000})
    offset = first.details["nextOffset"]
    second = await Tool("read").call({"id": 1, "grep": "line", "limit": 1000, "offset": offset})
    assert first.details["matches"][-1]["offset"] == offset - 11
    assert second.details["matches"][0]["offset"] == offset


async def test_the_dropped_middle_is_stated(home: Path) -> None:
    artifact(home, LINES, cap=10_000)
    reply = await Tool("read").call({"id": 1, "offset": 100})
    assert reply.details["droppedBytes"] == 100_000
    assert "[100000 bytes at offset 100 were dropped: the output is larger than what is kept of it]" in reply.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give exactly one of 'uri' (artifact://3) and 'id' (3)"),
        ({"uri": "artifact://1", "id": 1}, "give exactly one of 'uri' (artifact://3) and 'id' (3)"),
        (
            {"uri": "file:///etc/passwd"},
            "field 'uri' must name an artifact, as artifact://3 or 3, got \"file:///etc/passwd\"",
        ),
        ({"id": True}, "field 'id' must name an artifact, as artifact://3 or 3, got true"),
        ({"id": 7}, "no artifact 7; available: 1"),
        ({"id": 1, "offset": -1}, "field 'offset' must be a whole number of at least 0, got -1"),
        ({"id": 1, "limit": 0}, "field 'limit' must be a whole number of at least 1, got 0"),
        ({"id": 1, "tail": 5, "offset": 3}, "field 'tail' cannot be combined with offset or grep; leave one out"),
        ({"id": 1, "lines": "1:2", "tail": 3}, "field 'lines' cannot be combined with tail, grep or offset"),
        ({"id": 1, "lines": "5:4"}, 'field \'lines\' must be a range of lines such as "100:150", got "5:4"'),
        ({"id": 1, "lines": "a"}, 'field \'lines\' must be a range of lines such as "100:150", got "a"'),
        ({"id": 1, "grep": "("}, f"field 'grep' is \"(\": it is not a regular expression: {UNFINISHED}"),
        (
            {"id": 1, "grep": r"(a)\1"},
            "field 'grep' is \"(a)\\\\1\": it uses the back reference \\1, which is not supported",
        ),
        ({"id": 1, "ofset": 3}, "unknown field 'ofset' (value 3); did you mean 'offset'?"),
        ([], "arguments must be a JSON object, got []"),
    ],
)
async def test_what_cannot_be_read_is_an_answer_that_names_the_field(
    home: Path, arguments: object, message: str
) -> None:
    artifact(home, b"x")
    reply = await Tool("read").call(arguments)
    assert (reply.text, reply.is_error) == (message, True)


def test_the_schema_has_no_top_level_choice() -> None:
    schema = Tool("read").schema()
    assert schema["name"] == "read"
    assert set(schema["input_schema"]) == {"type", "properties", "additionalProperties"}
