"""A whole output is shown row by row, whatever its size, and is never all in memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from nacre.artifacts.store import ArtifactStore
from nacre.feed.folding import rows_of
from nacre.tui.whole_output import WholeOutput


def kept(tmp_path: Path, *pieces: bytes, cap: int = 64 * 1024 * 1024, head: int = 8 * 1024 * 1024) -> WholeOutput:
    store = ArtifactStore(tmp_path / "artifacts")
    writer = store.create("output", cap_bytes=cap, head_bytes=head)
    for piece in pieces:
        writer.write(piece)
    writer.close()
    return WholeOutput(store.open(writer.id), 80)


def index(output: WholeOutput) -> None:
    while not output.complete:
        output.index(1.0)


def test_every_line_of_a_large_output_is_a_row(tmp_path: Path) -> None:
    output = kept(tmp_path, b"".join(b"line %d\n" % number for number in range(200_000)))
    index(output)
    assert output.rows == 200_000
    assert [output.row(number) for number in (0, 99_999, 199_999)] == ["line 0", "line 99999", "line 199999"]
    assert output.row(200_000) == ""
    output.close()


def test_long_wide_and_coloured_lines_are_broken_into_rows_that_fit(tmp_path: Path) -> None:
    output = kept(tmp_path, b"x" * 200 + b"\n\x1b[31mred\x1b[0m\n" + "界".encode() * 50 + b"\n\ta\n")
    index(output)
    rows = [output.row(number) for number in range(output.rows)]
    assert rows == ["x" * 80, "x" * 80, "x" * 40, "red", "界" * 40, "界" * 10, "    a"]
    output.close()


def test_what_the_cap_dropped_is_said_where_it_was(tmp_path: Path) -> None:
    output = kept(tmp_path, b"first\n", b"middle\n" * 30_000, b"last\n", cap=100_000, head=6)
    index(output)
    rows = [output.row(number) for number in range(output.rows)]
    assert rows[0] == "first"
    assert "dropped here" in rows[1]
    assert rows[-1] == "last"
    output.close()


@pytest.mark.parts
def test_memory_does_not_grow_with_the_output(tmp_path: Path) -> None:
    output = kept(tmp_path, *[b"y\n" * 500_000] * 16)
    tracemalloc.start()
    index(output)
    for number in range(0, output.rows, output.rows // 50):
        output.row(number)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert output.rows == 8_000_000
    # 16 MB of output; its rows as Python strings would be 400 MB.
    assert peak < 24 * 1024 * 1024
    output.close()


def test_a_text_is_found_forwards_and_backwards(tmp_path: Path) -> None:
    output = kept(tmp_path, b"".join(b"line %d\n" % number for number in range(50_000)) + b"ERROR here\nend\n")
    index(output)
    assert output.find("error", 0) == 50_000
    assert output.find("line 7", 100, backwards=True) == 79
    assert output.find("nothing", 0) is None
    output.close()


@pytest.mark.parametrize(("text", "rows"), [("", [""]), ("\n", [""]), ("a\n\nb", ["a", "", "b"]), ("a\n", ["a"])])
def test_rows_of_a_text(text: str, rows: list[str]) -> None:
    assert rows_of(text, 80) == rows
