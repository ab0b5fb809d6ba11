"""What a runner says about a path."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from nacre.warden import protocol
from nacre.warden.path_lookup import answer


def look(what: str, path: Path, caller: int = -1) -> object:
    return answer(protocol.look(what, str(path)), caller)  # type: ignore[arg-type]


def test_content_is_that_of_a_regular_file_byte_by_byte(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\0one\xff\n")
    os.mkfifo(tmp_path / "fifo")
    assert look("content", tmp_path / "file") == protocol.looked("\0one\xff\n")
    assert look("content", tmp_path / "missing") == protocol.looked(None)
    assert look("content", tmp_path / "fifo") == protocol.looked(None, error="irregular")
    assert look("content", tmp_path / "file" / "below") == protocol.looked(None, error="unreadable")


def test_stamp_is_that_of_a_regular_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert look("stamp", tmp_path / "file") == protocol.looked((tmp_path / "file").stat().st_mtime_ns)
    assert look("stamp", tmp_path) == protocol.looked(None)


def test_project_is_the_nearest_directory_with_a_mark(tmp_path: Path) -> None:
    (tmp_path / "project" / "deep" / "down").mkdir(parents=True)
    (tmp_path / "project" / "nacre.toml").touch()
    assert look("project", tmp_path / "project" / "deep" / "down") == protocol.looked(str(tmp_path / "project"))


def test_wait_for_a_file_ends_with_the_file_or_with_the_caller(tmp_path: Path) -> None:
    near, far = socket.socketpair()
    (tmp_path / "file").touch()
    assert look("appears", tmp_path / "file", far.fileno()) == protocol.looked(str(tmp_path / "file"))
    near.close()
    assert look("appears", tmp_path / "missing", far.fileno()) == protocol.looked(None)
    far.close()
