"""Files that the settings name: read from this machine's own file systems at once, from others by a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from nacre import regular_file
from nacre.errors import ConfigError
from nacre.regular_file import read_regular, stamp_of


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that counts as a mount which may not answer."""
    place = tmp_path / "far"
    place.mkdir()
    monkeypatch.setattr(regular_file, "_far_mounts", lambda: frozenset({str(place)}))
    monkeypatch.setattr(regular_file, "_answers", {})
    return place


def test_a_far_file_is_read_as_it_is(far: Path) -> None:
    path = far / "it's\n a file"
    path.write_bytes(b"\0one\xff\n")
    assert read_regular(str(path)) == b"\0one\xff\n"
    assert stamp_of(str(path)) is not None


def test_a_far_file_that_is_missing_wrong_or_large_is_named(far: Path) -> None:
    assert stamp_of(str(far / "missing")) is None
    with pytest.raises(ConfigError, match="missing cannot be read: no such file"):
        read_regular(str(far / "missing"))
    (far / "directory").mkdir()
    with pytest.raises(ConfigError, match="directory is no regular file; put a regular file there"):
        read_regular(str(far / "directory"))
    (far / "large").write_bytes(b"x" * 11)
    with pytest.raises(ConfigError, match="large is larger than 10 bytes"):
        read_regular(str(far / "large"), most_bytes=10)


@pytest.mark.parametrize(
    ("way", "is_far"),
    [
        ("far/x", True),
        ("near/../far/x", True),
        ("link/x", True),
        ("near/relative", True),
        ("far/../near/x", True),
        ("near/x", False),
        ("farther/x", False),
        ("circle/x", False),
    ],
)
def test_every_way_into_a_far_file_system_is_seen(far: Path, way: str, is_far: bool) -> None:
    root = far.parent
    for name in ("near", "farther"):
        (root / name).mkdir()
    (root / "link").symlink_to(far)
    (root / "near" / "relative").symlink_to("../link/deep/x")
    (root / "circle").symlink_to("circle")
    assert regular_file.is_far(str(root / way)) == is_far


def test_a_mount_is_far_unless_it_is_this_machine_s_own() -> None:
    # Those of the machine that runs the tests.
    far = regular_file._far_mounts()
    assert "/" not in far
    assert "/proc" not in far
    assert all(place.startswith("/") for place in far)
