"""The audit log: one line a call, whole lines only, bounded, and never in a command's way."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nacre import audit
from nacre.engine.call_log import AuditLog

LARGE = 10**9


@pytest.fixture
def log(home: Path) -> Iterator[AuditLog]:
    made = AuditLog(home, cap_bytes=LARGE)
    yield made
    made.close()


def entries(home: Path) -> list[dict[str, Any]]:
    return list(audit.entries(home))


def test_entries_come_back_as_they_were_written_oldest_first(home: Path, log: AuditLog) -> None:
    written = [{"command": "echo 'é\n\ud800 \x1b[31m'", "exitCode": 0}, {"command": "b", "outcome": "stopped"}]
    assert [log.append(entry) for entry in written] == [None, None]
    assert entries(home) == written


def test_each_entry_is_one_line_of_ascii(home: Path, log: AuditLog) -> None:
    log.append({"command": "two\nlines \u202e"})
    assert (home / audit.NAME).read_bytes() == b'{"command":"two\\nlines \\u202e"}\n'


def test_the_log_is_private(home: Path, log: AuditLog) -> None:
    log.append({})
    assert [stat.S_IMODE(path.stat().st_mode) for path in (home, home / audit.NAME)] == [0o700, 0o600]


def test_a_log_that_is_removed_is_begun_again(home: Path, log: AuditLog) -> None:
    log.append({"command": "lost with the file"})
    os.unlink(home / audit.NAME)
    assert log.append({"command": "kept"}) is None
    assert entries(home) == [{"command": "kept"}]


@pytest.mark.parametrize("trap", ["directory", "link", "file in the way"])
def test_a_log_that_cannot_be_written_is_told_in_words(home: Path, tmp_path: Path, trap: str) -> None:
    match trap:
        case "directory":
            (home / audit.NAME).mkdir(parents=True)
            reason = "Is a directory"
        case "link":
            home.mkdir()
            (home / audit.NAME).symlink_to(tmp_path / "elsewhere")
            reason = "Too many levels of symbolic links"
        case _:
            home.write_text("", encoding="utf-8")
            reason = "Not a directory"
    log = AuditLog(home, cap_bytes=LARGE)
    assert log.append({"command": "echo"}) == f"the audit log could not be written: {reason}"
    assert not (tmp_path / "elsewhere").exists()


def test_a_full_disk_is_told_in_words_and_the_next_call_tries_again(home: Path) -> None:
    log = AuditLog(Path("/dev"), cap_bytes=LARGE)
    log._path = Path("/dev/full")
    for _ in range(2):
        assert log.append({}) == "the audit log could not be written: No space left on device"


def test_a_full_log_is_turned_over_and_one_older_part_is_kept(home: Path) -> None:
    log = AuditLog(home, cap_bytes=100)
    for number in range(12):
        log.append({"command": f"echo {number:02}", "filler": "x" * 20})
    log.close()
    sizes = {path.name: path.stat().st_size for path in home.iterdir()}
    line = len('{"command":"echo 00","filler":"xxxxxxxxxxxxxxxxxxxx"}\n')
    # Two lines pass the cap of 100 bytes, so twelve lines fill six logs, of which the last is kept.
    assert sizes == {f"{audit.NAME}.1": 2 * line}
    assert [entry["command"] for entry in entries(home)] == ["echo 10", "echo 11"]


def test_of_several_writers_that_find_the_log_full_only_one_turns_it_over(home: Path) -> None:
    first, second = AuditLog(home, cap_bytes=LARGE), AuditLog(home, cap_bytes=1)
    first.append({"command": "one"})
    second.append({"command": "two"})
    fresh = AuditLog(home, cap_bytes=LARGE)
    fresh.append({"command": "three"})
    late = AuditLog(home, cap_bytes=LARGE)
    # `first` still holds what is now the older part, and finds it full: the fresh log must not replace it.
    first._cap = 1
    first.append({"command": "four"})
    for log in (first, second, fresh, late):
        log.close()
    assert [entry["command"] for entry in entries(home)] == ["one", "two", "four", "three"]


def test_lines_of_several_processes_and_threads_never_mix(home: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from nacre.engine.call_log import AuditLog\n"
        "log = AuditLog(Path(sys.argv[1]), cap_bytes=10**9)\n"
        "for number in range(200): log.append({'writer': sys.argv[2], 'number': number, 'filler': 'x' * 5000})"
    )
    workers = [subprocess.Popen([sys.executable, "-c", script, str(home), str(writer)]) for writer in range(3)]
    log = AuditLog(home, cap_bytes=LARGE)

    def write(writer: str) -> None:
        for number in range(200):
            log.append({"writer": writer, "number": number, "filler": "x" * 5000})

    threads = [threading.Thread(target=write, args=[name]) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [worker.wait(30) for worker in workers] == [0, 0, 0]
    log.close()
    with open(home / audit.NAME, encoding="ascii") as file:
        lines = [json.loads(line) for line in file]
    for writer in ("0", "1", "2", "a", "b"):
        assert [line["number"] for line in lines if line["writer"] == writer] == list(range(200))


def test_a_damaged_line_is_skipped_and_the_rest_is_read(home: Path, log: AuditLog) -> None:
    log.append({"command": "before"})
    with open(home / audit.NAME, "ab") as file:
        file.write(b'{"half": \n\xff\xfe\n"a text"\n')
    log.append({"command": "after"})
    assert [entry["command"] for entry in entries(home)] == ["before", "after"]


def test_no_log_is_an_empty_one(home: Path) -> None:
    assert entries(home) == []
