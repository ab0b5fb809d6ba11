"""Windows on a job's output: exact, bounded, honest about what is missing."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.artifacts.excerpt import Excerpt, Found, Matches, read_tail, read_window, search
from nacre.artifacts.stored import Extent, Stored
from nacre.errors import JobError
from nacre.jobs.job import Job
from nacre.jobs.output_file import JobFile
from nacre.jobs.table import JobTable
from nacre.regex.automaton import Regex
from nacre.warden.kept_job import JobOutput, open_output, punch_hole

BLOCK = 4096


def kept(home: Path, data: bytes, **facts: Any) -> Job:
    """A job with this output."""
    job_id, directory = JobTable(home).allot()
    (directory / "output").write_bytes(data)
    return Job(directory, {"id": job_id, "state": "running", "startedAt": time.time(), **facts})


def punched(home: Path, *, head: int, hole: int, tail: int, **facts: Any) -> Job:
    """A job whose middle was given back to the file system."""
    job = kept(home, b"h" * head + b"x" * hole + b"t" * tail, **facts)
    fd = os.open(job.output_file, os.O_RDWR)
    done = punch_hole(fd, head, hole)
    os.close(fd)
    if not done:
        pytest.skip("this file system cannot punch holes")
    return job


def windows(job: Job, limit: int, *, growing: bool = False) -> list[Excerpt]:
    found = []
    offset = 0
    while True:
        with JobFile.open(job) as file:
            window = read_window(file, offset, limit, growing=growing)
        found.append(window)
        if not window.more:
            return found
        assert window.next_offset > offset
        offset = window.next_offset


async def test_what_a_redrawn_line_leaves_out_is_counted_and_found(home: Path) -> None:
    data = b"start\r\n10% of it\r50% of it\r99% of it\rend\r\n"
    with JobFile.open(kept(home, data)) as file:
        window, tail = read_window(file, 0, 1000), read_tail(file, 5, 1000)
        found = await search(file, Regex("50|^$"), 0, 1000)
    told = ("2 earlier states of redrawn lines left out; grep finds them",)
    assert (window.text, window.notices) == ("start\n99% of it\nend\n", told)
    assert (tail.text, tail.notices) == ("start\n99% of it\nend\n", told)
    assert found.found == (Found(data.index(b"50%"), "50% of it", 2),)


def test_a_window_begins_at_its_offset_and_ends_between_lines(home: Path) -> None:
    job = kept(home, b"".join(b"line %04d\n" % n for n in range(1000)))
    with JobFile.open(job) as file:
        assert read_window(file, 5000, 25) == Excerpt(
            text="line 0500\nline 0501\n", offset=5000, next_offset=5020, total_bytes=10_000
        )
        assert read_window(file, 9990, 1000) == Excerpt(
            text="line 0999\n", offset=9990, next_offset=10_000, total_bytes=10_000
        )


@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs"], include_characters="\n"), max_size=400), st.integers(1, 70)
)
def test_windows_one_after_another_show_every_character_once(text: str, limit: int) -> None:
    data = text.encode()
    read, write = os.pipe()
    os.close(write)
    with Stored(fd=read, extents=()) as nothing:
        assert read_window(nothing, 0, limit).text == ""
    fd = os.memfd_create("output")
    os.write(fd, data)
    with Stored(fd=fd, extents=(Extent(0, 0, len(data)),) if data else ()) as stored:
        shown, offset = [], 0
        while offset < len(data):
            window = read_window(stored, offset, limit)
            assert window.offset == offset < window.next_offset
            assert len(window.text.encode()) <= max(limit, 4)
            shown.append(window.text)
            offset = window.next_offset
    assert "".join(shown) == text


def test_an_escape_sequence_is_never_cut_in_two(home: Path) -> None:
    job = kept(home, b"\x1b[31mred\x1b[0m " * 50)
    for limit in range(1, 40):
        assert "".join(window.text for window in windows(job, limit)) == "red " * 50


def test_bytes_that_are_no_text_are_shown_within_the_limit_and_none_is_passed_over(home: Path) -> None:
    job = kept(home, b"\xff" * 1000)
    found = windows(job, 100)
    assert "".join(window.text for window in found) == "\ufffd" * 1000
    assert max(len(window.text.encode()) for window in found) <= 100


def test_a_character_that_is_still_being_written_is_left_for_the_next_window(home: Path) -> None:
    job = kept(home, "fünf €".encode()[:-1])
    with JobFile.open(job) as file:
        window = read_window(file, 0, 100, growing=True)
        assert (window.text, window.next_offset) == ("fünf ", 6)
        assert read_window(file, 6, 100, growing=True).next_offset == 6
    with open(job.output_file, "ab") as output:
        output.write("€".encode()[-1:])
    with JobFile.open(job) as file:
        assert read_window(file, 6, 100, growing=True).text == "€"


def test_progress_bars_are_settled_and_crlf_is_plain(home: Path) -> None:
    job = kept(home, b"10%\r50%\r100%\r\ndone\r\n")
    with JobFile.open(job) as file:
        assert read_window(file, 0, 100).text == "100%\ndone\n"
        assert read_tail(file, 2, 100).text == "100%\ndone\n"


def test_the_hole_of_a_capped_file_is_counted_and_never_shown(home: Path) -> None:
    job = punched(home, head=2 * BLOCK, hole=10 * BLOCK, tail=BLOCK)
    with JobFile.open(job) as file:
        head = read_window(file, 0, 100_000)
        assert (head.text, head.next_offset) == ("h" * 2 * BLOCK, 2 * BLOCK)
        assert read_window(file, head.next_offset, 100_000) == Excerpt(
            text="t" * BLOCK,
            offset=12 * BLOCK,
            next_offset=13 * BLOCK,
            total_bytes=13 * BLOCK,
            skipped_bytes=10 * BLOCK,
            notices=("40960 bytes at offset 8192 were dropped: the output is larger than what is kept of it",),
        )
        assert read_window(file, 5 * BLOCK, 3).skipped_bytes == 7 * BLOCK


def test_a_hole_that_does_not_lie_on_blocks_is_counted_to_the_byte(home: Path) -> None:
    job = punched(home, head=BLOCK + 100, hole=10 * BLOCK + 5, tail=77)
    with JobFile.open(job) as file:
        assert file.extents == (Extent(0, 0, BLOCK + 100), Extent(11 * BLOCK + 105, 11 * BLOCK + 105, 77))
        assert read_tail(file, 1, 1000).text == "t" * 77


def test_a_hole_that_grows_while_the_file_is_open_is_not_read_as_zeros(home: Path) -> None:
    job = punched(home, head=BLOCK, hole=BLOCK, tail=8 * BLOCK)
    with JobFile.open(job) as file:
        fd = os.open(job.output_file, os.O_RDWR)
        punch_hole(fd, BLOCK, 4 * BLOCK)
        os.close(fd)
        piece = file.read(2 * BLOCK, BLOCK)
        assert (piece.offset, piece.data, piece.skipped_bytes) == (5 * BLOCK, b"t" * BLOCK, 3 * BLOCK)


def test_zeros_that_the_command_wrote_are_not_a_hole(home: Path) -> None:
    job = kept(home, b"a" + bytes(100_000) + b"b")
    with JobFile.open(job) as file:
        assert file.extents == (Extent(0, 0, 100_002),)


def test_a_file_over_the_cap_of_a_real_writer_reads_as_its_first_and_its_newest_bytes(home: Path) -> None:
    job = kept(home, b"")
    head, cap = 10_000, 6 * 1024 * 1024
    output = JobOutput(open_output(str(job.output_file)), head_bytes=head, cap_bytes=cap)
    lines = [b"%09d\n" % n for n in range(2_000_000)]
    for start in range(0, len(lines), 50_000):
        output.write(memoryview(b"".join(lines[start : start + 50_000])))
    output.close()
    if not output.dropped:
        pytest.skip("this file system cannot punch holes")
    with JobFile.open(job) as file:
        first, newest = file.extents
        assert (first.length, newest.start - first.end) == (head, output.dropped)
        assert read_window(file, newest.start, 10).text == f"{newest.start // 10:09d}\n"[newest.start % 10 :]
        assert read_tail(file, 1, 100).text == "001999999\n"


def test_the_tail_is_the_last_lines_and_says_where_earlier_ones_are(home: Path) -> None:
    job = kept(home, b"".join(b"%03d\n" % n for n in range(100)))
    with JobFile.open(job) as file:
        assert read_tail(file, 2, 1000) == Excerpt(text="098\n099\n", offset=392, next_offset=400, total_bytes=400)
        assert read_tail(file, 50, 8) == Excerpt(
            text="098\n099\n",
            offset=392,
            next_offset=400,
            total_bytes=400,
            notices=("fewer than 50 lines fit; earlier ones are read with an offset below 392",),
        )


async def test_matching_lines_come_with_their_offsets_and_numbers(home: Path) -> None:
    data = "one\nerror: zwölf\n\x1b[31merror\x1b[0m: red\n50%\r99% error\rdone\nlast error".encode()
    with JobFile.open(kept(home, data)) as file:
        found = await search(file, Regex("error"), 0, 1000)
    offsets = [data.index(b"error: zw"), data.index(b"\x1b[31m"), data.index(b"99%"), data.index(b"last")]
    texts = ["error: zwölf", "error: red", "99% error", "last error"]
    assert found == Matches(
        found=tuple(map(Found, offsets, texts, [2, 3, 4, 5])), offset=0, next_offset=len(data), total_bytes=len(data)
    )


@pytest.mark.parametrize("source", ["7$", "^0", "", "x?", "^$", "99", r"\d5"])
async def test_plain_and_coloured_blocks_give_the_same_lines(home: Path, source: str) -> None:
    plain = b"".join(b"%d\n\n" % n for n in range(200))
    with JobFile.open(kept(home, plain)) as file:
        one = await search(file, Regex(source), 0, 100_000)
    with JobFile.open(kept(home, plain + b"\x1b[0m")) as file:
        other = await search(file, Regex(source), 0, 100_000)
    expected = [line for line in plain.decode().splitlines() if Regex(source).find(line) >= 0]
    assert [found.text for found in one.found] == expected
    assert one.found == tuple(found for found in other.found if found.offset < len(plain))


async def test_a_search_is_bounded_and_goes_on_where_it_stopped(home: Path) -> None:
    with JobFile.open(kept(home, b"".join(b"line %06d\n" % n for n in range(100_000)))) as file:
        texts, offset = [], 0
        while True:
            found = await search(file, Regex("7$"), offset, 5000)
            assert sum(len(one.text) for one in found.found) <= 5000
            texts += [one.text for one in found.found]
            if not found.more:
                break
            offset = found.next_offset
    assert texts == [f"line {n:06d}" for n in range(7, 100_000, 10)]


async def test_an_endless_line_is_searched_in_pieces_and_shown_around_the_match(home: Path) -> None:
    with JobFile.open(kept(home, b"x" * 600_000 + b"needle" + b"y" * 600_000)) as file:
        found = await search(file, Regex("needle"), 0, 5000)
    assert found.notices == ("lines longer than 262144 bytes were searched in pieces",)
    [one] = found.found
    assert one.text.startswith("…xxx")
    assert "needle" in one.text
    assert len(one.text) < 600


async def test_a_search_says_that_the_hole_was_not_searched(home: Path) -> None:
    job = punched(home, head=BLOCK, hole=4 * BLOCK, tail=BLOCK)
    with JobFile.open(job) as file:
        found = await search(file, Regex("x"), 0, 1000)
    assert (found.found, found.skipped_bytes) == ((), 4 * BLOCK)
    assert found.notices == ("16384 bytes were dropped: the output is larger than what is kept of it",)


def test_75_an_output_file_that_was_deleted_is_empty_with_a_notice(home: Path) -> None:
    job = kept(home, b"abc")
    job.output_file.unlink()
    with JobFile.open(job) as file:
        assert read_window(file, 0, 100).text == ""
        assert file.notices == (f"the output file {job.output_file} is gone: it was deleted",)


def test_75_an_output_file_that_was_shortened_gives_what_is_left_with_a_notice(home: Path) -> None:
    job = kept(home, b"abc", outputBytes=1000)
    with JobFile.open(job) as file:
        assert file.notices == ("1000 bytes were written, only 3 left: the output file was shortened",)
        assert read_window(file, 500, 100) == Excerpt(
            text="",
            offset=3,
            next_offset=3,
            total_bytes=3,
            notices=("offset 500 is beyond the end, which is at 3 bytes; if there were more, the file was shortened",),
        )


@pytest.mark.parametrize("kind", ["link", "fifo"])
def test_something_else_in_the_place_of_the_output_is_refused(home: Path, tmp_path: Path, kind: str) -> None:
    job = kept(home, b"")
    job.output_file.unlink()
    if kind == "link":
        job.output_file.symlink_to("/etc/passwd")
    else:
        os.mkfifo(job.output_file)
    with pytest.raises(JobError, match=f"the output of {job.id} cannot be read"):
        JobFile.open(job)


def test_77_readers_that_follow_a_growing_file_get_every_byte_once(home: Path) -> None:
    job = kept(home, b"")
    expected = "".join(f"zeile {n} ü€\n" for n in range(20_000))
    results: list[str] = []

    def write() -> None:
        data = expected.encode()
        with open(job.output_file, "ab", buffering=0) as output:
            for start in range(0, len(data), 997):
                output.write(data[start : start + 997])

    def follow(limit: int) -> None:
        shown, offset = [], 0
        while offset < len(expected.encode()):
            with JobFile.open(job) as file:
                window = read_window(file, offset, limit, growing=True)
            shown.append(window.text)
            offset = window.next_offset
        results.append("".join(shown))

    threads = [threading.Thread(target=follow, args=[limit]) for limit in (4096, 5001, 50_000)]
    threads.append(threading.Thread(target=write))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == [expected] * 3
