"""The limits of the workspace tool: what is shown is bounded, and counted to the byte."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workbench import Workbench, details, full, gone, layout, timeless

from nacre.output.captured import Captured, Selection
from nacre.output.render import render
from nacre.output.window import Window
from nacre.settings import INLINE_BYTES, ExecutionSettings, OutputSettings, Settings
from nacre.tool import Tool

# A marker of what is left out, and the last line end.
SLACK = 100


def captured(output: bytes) -> Captured:
    """As the engine captures it, with ends that are large enough for the view."""
    window = Window(64 * 1024, 64 * 1024, whole_bytes=512 * 1024)
    window.feed(output)
    return Captured(
        whole=window.whole,
        head=window.head,
        tail=window.tail,
        total_bytes=window.total_bytes,
        total_lines=window.total_lines,
    )


@pytest.mark.parametrize("size", [51_199, 51_200])
async def test_up_to_50_kib_nothing_is_left_out(size: int, bench: Workbench) -> None:
    reply = await bench.call({"command": f"yes 12345678 | head -c {size}"})
    assert reply.text.split("\n\nWall time")[0] == ("12345678\n" * 6000)[:size].rstrip("\n")
    assert "meta" not in reply.details


async def test_one_byte_over_50_kib_leaves_whole_lines_out(bench: Workbench) -> None:
    reply = await bench.call({"command": "yes 12345678 | head -c 51201"})
    truncation = reply.details["meta"]["truncation"]
    assert truncation["totalBytes"] == 51_201
    assert truncation["outputBytes"] + truncation["elidedBytes"] == 51_201
    assert truncation["elidedBytes"] % 9 == 0
    assert len(reply.text.split("\n\nWall time")[0].encode()) <= 51_200 + SLACK


@pytest.mark.parametrize(("size", "capped"), [(768, False), (769, True), (100_000, True), (700_000, True)])
async def test_a_line_is_cut_at_768_bytes_and_kept_whole_in_the_artifact(
    size: int, capped: bool, bench: Workbench
) -> None:
    tool = bench.tool()
    reply = await tool.call({"command": f"head -c {size} /dev/zero | tr '\\0' x; echo; echo end"})
    line, end = reply.text.split("\n\nWall time")[0].split("\n")[:: 2 if size > 600_000 else 1]
    assert (line, end) == ("x" * 765 + "…" if capped else "x" * size, "end")
    if not capped:
        assert "meta" not in reply.details
        return
    assert reply.details["meta"]["limits"] == {
        "columnTruncated": {"maxColumn": 768, "unit": "bytes", "artifactId": "1"}
    }
    assert "Some lines truncated to 768 bytes. " + full(1) in reply.text
    with open(tool.engine.artifacts.plain_path(1), "rb") as file:
        assert file.read() == b"x" * size + b"\nend\n"


async def test_a_line_that_is_all_of_a_large_output_is_shown_once(bench: Workbench) -> None:
    reply = await bench.call({"command": "head -c 2000000 /dev/zero | tr '\\0' x"})
    assert timeless(reply.text) == layout(
        "x" * 765 + "…",
        bracket="[Showing lines 1-1 of 1 (50.0KB limit); 1.8MB left out. Some lines truncated to 768 bytes. "
        f"{full(1)}]",
    )
    assert reply.details["meta"]["truncation"]["shownRange"] == [1, 1]


OUTPUTS = st.lists(
    st.tuples(st.sampled_from([b"", b"a", b"\xc3\xa4", b"\xff", b"x" * 500, b"y" * 3000]), st.integers(1, 400)),
    max_size=8,
).map(lambda runs: b"".join((text + b"\n") * count for text, count in runs))


@given(
    output=OUTPUTS,
    end=st.sampled_from([b"", b"open", b"\n"]),
    head=st.none() | st.integers(1, 3000),
    tail=st.none() | st.integers(1, 3000),
    keep=st.sampled_from(["both", "tail"]),
)
def test_whatever_is_shown_is_bounded_and_all_of_it_is_accounted_for(
    output: bytes, end: bytes, head: int | None, tail: int | None, keep: str
) -> None:
    output += end
    selection = Selection(head=head, tail=tail, keep=keep)  # type: ignore[arg-type]
    rendered = render(captured(output), selection)
    assert len(rendered.text.encode()) <= INLINE_BYTES + SLACK
    cut = rendered.truncation
    if cut is None:
        return
    lines = output.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    first, last = cut.skipped_lines, cut.skipped_lines + cut.head_lines
    shown = [*lines[first:last], *(lines[-cut.tail_lines :] if cut.tail_lines else [])]
    assert cut.omitted_lines == len(lines) - len(shown)
    # What the ranges name is what is shown: each line by its beginning.
    pieces = rendered.text.split("\n")
    texts = [line.decode("utf-8", "replace")[:100] for line in shown]
    if cut.head_lines and cut.tail_lines:
        texts.insert(cut.head_lines, "[… ")
    assert all(piece.startswith(text) for piece, text in zip(pieces, texts, strict=False))
    assert len(pieces) >= len(texts)


async def test_the_sizes_of_the_view_are_settings(bench: Workbench) -> None:
    small = Settings(output=OutputSettings(inline_bytes=2_000, head_bytes=500, line_bytes=100))
    reply = await bench.call({"command": "seq 1000 | sed 's/$/ number/'; printf 'x%.0s' {1..300}"}, small)
    shown = reply.text.split("\n\nWall time")[0]
    head, tail = re.split(r"\n\[… .* omitted …\]\n", shown)
    assert len(head.encode()) <= 500
    assert 1_000 < len(shown.encode()) <= 2_000 + SLACK
    assert len(tail.splitlines()[-1].encode()) == 100
    assert "(2.0KB limit)" in reply.text
    assert "Some lines truncated to 100 bytes" in reply.text
    assert reply.details["meta"]["truncation"]["maxBytes"] == 2_000
    assert reply.details["meta"]["limits"]["columnTruncated"]["maxColumn"] == 100


async def test_a_larger_size_shows_more_than_is_held_by_default(bench: Workbench) -> None:
    reply = await bench.call(
        {"command": "seq 200000"}, Settings(output=OutputSettings(inline_bytes=300_000, head_bytes=0))
    )
    shown = reply.text.split("\n\nWall time")[0]
    assert 299_000 < len(shown.encode()) <= 300_000
    assert shown.endswith("\n199999\n200000")
    assert "[…" not in shown


async def test_the_description_names_the_size() -> None:
    small = Settings(output=OutputSettings(inline_bytes=10 * 1024))
    assert "- Output over 10 KB is shown" in Tool("workspace", settings=small).schema()["description"]
    assert "- Output over 50 KB is shown" in Tool("workspace").schema()["description"]


def test_the_end_of_a_beginning_is_told_by_its_lines() -> None:
    found = render(captured(b"".join(b"%d\n" % n for n in range(1, 21))), Selection(head=10, tail=4))
    assert found.text == "7\n8\n9\n10\n"
    assert found.truncation is not None
    cut = found.truncation
    assert (cut.kept, cut.skipped_lines, cut.head_lines, cut.by, cut.omitted_lines) == ("head", 6, 4, "lines", 16)


def test_the_end_of_a_beginning_that_is_everything_is_the_end() -> None:
    found = render(captured(b"1\n2\n3\n"), Selection(head=10, tail=1))
    assert found.text == "3\n"
    assert found.truncation is not None
    assert (found.truncation.kept, found.truncation.tail_lines) == ("tail", 1)


async def test_what_ignores_the_polite_end_is_killed_after_the_grace(bench: Workbench) -> None:
    """Five seconds by default (003: `5_000ms`); the setting shortens it here."""
    assert bench.tool().engine.settings.execution.grace_seconds is None
    settings = Settings(execution=ExecutionSettings(grace_seconds=0.2))
    reply = await bench.call({"command": "trap '' TERM; echo $$; while :; do sleep 1; done", "timeout": 1}, settings)
    assert details(reply) == {"timeoutSeconds": 1, "timedOut": True, "cause": "limit", "clock": "timeout"}
    await gone(int(reply.text.split("\n")[0]))


async def test_a_wanted_number_of_lines_beyond_what_fits_is_cut_and_says_so(bench: Workbench) -> None:
    reply = await bench.call({"command": "seq 100000", "tail": 50000})
    truncation = reply.details["meta"]["truncation"]
    assert (truncation["direction"], truncation["truncatedBy"]) == ("tail", "bytes")
    first, last = truncation["shownRange"]
    assert reply.text.startswith(f"{first}\n")
    assert last == 100000
    assert f"[Showing lines {first}-100000 of 100000 (50.0KB limit); " in reply.text
