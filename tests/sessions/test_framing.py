"""Reports of a session's shell: whole or nothing, whatever else is on the socket."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.sessions.framing import MOST_BYTES, ReportReader, TurnReport

WHOLE = b"n1\x000 1 0\x0042\x00trap -- 'echo bye' EXIT\n\x00/a dir\n\x00n1\x00"
REPORT = TurnReport((0, 1, 0), "42", "trap -- 'echo bye' EXIT\n", "/a dir")


def expecting(nonce: str) -> ReportReader:
    reports = ReportReader()
    reports.expect(nonce)
    return reports


def test_a_report_is_status_last_process_and_directory() -> None:
    report = expecting("n1").feed(WHOLE)
    assert report == REPORT


@given(st.lists(st.integers(0, len(WHOLE)), max_size=6), st.binary(max_size=20).filter(lambda data: b"n1" not in data))
def test_a_report_is_the_same_in_any_pieces_and_after_any_noise(cuts: list[int], noise: bytes) -> None:
    data = noise + WHOLE
    reports = expecting("n1")
    found = []
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    for start, end in itertools.pairwise(edges):
        if data[start:end]:
            found.append(reports.feed(data[start:end]))
    assert [report for report in found if report is not None] == [REPORT]


def test_the_report_of_another_turn_is_none() -> None:
    reports = expecting("n2")
    assert reports.feed(WHOLE) is None
    assert reports.feed(b"n2\x003\x00\x00\x00/\n\x00n2\x00") == TurnReport((3,), "", "", "/")


@pytest.mark.parametrize(
    ("traps", "directory", "cwd", "action"),
    [
        (b"", b"/\n", "/", ""),
        (b"", b"/line\nbreak\n", "/line\nbreak", ""),
        (b"", b"/docs\ntrap -- $(touch here) x\n", "/docs\ntrap -- $(touch here) x", ""),
        (b"trap -- 'it'\\''s' EXIT\n", b"/\n", "/", "it's"),
        (b"trap -- 'a\nb' EXIT\ntrap -- 'd' DEBUG\n", b"/\n", "/", "a\nb"),
        (b"trap -- - EXIT\n", b"/\n", "/", ""),
        (b"trap -- $(touch here) EXIT\n", b"/\n", "/", ""),
        (b"", b"/\xff\n", "/\udcff", ""),
    ],
)
def test_directory_and_trap_cannot_be_taken_for_each_other(
    traps: bytes, directory: bytes, cwd: str, action: str
) -> None:
    report = expecting("n").feed(b"n\x000\x00\x00" + traps + b"\x00" + directory + b"\x00n\x00")
    assert report is not None
    assert (report.cwd, report.action("EXIT")) == (cwd, action)


@pytest.mark.parametrize(
    ("status", "codes", "problem"),
    [(b"3", (3,), ""), (b"spent 4", (4,), "spent"), (b"cwd", (), "cwd"), (b"pipe", (), "pipe"), (b"nonsense", (), "")],
)
def test_a_report_says_what_kept_the_script_or_its_shell_from_going_on(
    status: bytes, codes: tuple[int, ...], problem: str
) -> None:
    report = expecting("n").feed(b"n\x00" + status + b"\x00\x00\x00/\n\x00n\x00")
    assert report is not None
    assert (report.codes, report.problem) == (codes, problem)


def test_a_flood_on_the_socket_is_not_kept() -> None:
    reports = expecting("n1")
    for _ in range(40):
        assert reports.feed(b"x" * 65536) is None
    assert len(reports._held) <= MOST_BYTES
    assert reports.feed(WHOLE) is not None
