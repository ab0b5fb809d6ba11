"""Artifacts on real disks that are full, read-only, limited or deleted (docs/faults.md, cases 42 and 44)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nacre.artifacts.directory import allot
from nacre.artifacts.layout import CAP_BYTES, HEAD_BYTES
from nacre.artifacts.spill import Spill
from nacre.artifacts.store import ArtifactStore
from nacre.artifacts.writer import ArtifactWriter
from nacre.output.window import Window

FLOOD = """
import os, sys
from nacre.artifacts.spill import Spill
from nacre.artifacts.store import ArtifactStore
from nacre.output.window import Window

def flood(root, before=lambda: None):
    stream = Spill(Window(4, 4), lambda: ArtifactStore(root).create("bash"))
    stream.feed(b"head" + b"x" * 5000)
    before()
    for _ in range(100):
        stream.feed(bytearray(b"y" * 4095 + b"\\n"))
    result = stream.finish()
    print(result.window.total_bytes, result.window.newlines, result.window.head, result.window.tail, result.artifact)
    print(result.error)
    print(sorted(os.listdir(root)) if os.path.isdir(root) else None)
"""
COUNTED = r"414604 100 b'head' b'yyy\n' None"


def in_private_mounts(script: str, tmp_path: Path) -> list[str]:
    """Run a shell script that may mount; skip where the machine does not let us."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("needs root: mounts a small file system")
    (tmp_path / "flood.py").write_text(FLOOD, encoding="utf-8")
    (tmp_path / "disk").mkdir()
    done = subprocess.run(
        ["unshare", "-m", "sh", "-ec", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_full_disk_costs_the_copy_but_not_the_output_and_gives_its_room_back(tmp_path: Path) -> None:
    counted, error, left = in_private_mounts(
        "mount -t tmpfs -o size=64k tmpfs disk; $PYTHON -c 'from flood import flood; flood(\"disk/artifacts\")'",
        tmp_path,
    )
    assert counted == COUNTED
    assert error.startswith("No space left on device")
    assert left == "['counter']"


def test_a_disk_without_any_room_is_said_to_have_none(tmp_path: Path) -> None:
    counted, error, _ = in_private_mounts(
        "mount -t tmpfs -o size=64k tmpfs disk; head -c 1M /dev/zero > disk/full 2>/dev/null || true;"
        "$PYTHON -c 'from flood import flood; flood(\"disk/artifacts\")'",
        tmp_path,
    )
    assert counted == COUNTED
    assert "no space left on device" in error
    assert "nacre artifacts prune" in error


def test_a_read_only_disk_costs_the_copy_but_not_the_output(tmp_path: Path) -> None:
    counted, error, _ = in_private_mounts(
        "mount -t tmpfs -o ro tmpfs disk; $PYTHON -c 'from flood import flood; flood(\"disk/artifacts\")'", tmp_path
    )
    assert counted == COUNTED
    assert "read-only file system" in error


def test_a_disk_that_goes_away_in_mid_run_costs_the_copy_but_not_the_output(tmp_path: Path) -> None:
    counted, error, _ = in_private_mounts(
        "mount -t tmpfs tmpfs disk; $PYTHON -c '"
        'import subprocess; from flood import flood\nflood("disk/artifacts", '
        'lambda: subprocess.run(["umount", "-l", "disk"], check=True))\'',
        tmp_path,
    )
    assert counted == COUNTED
    assert error.startswith("No such file or directory")


def test_a_file_size_limit_costs_the_copy_but_not_the_output(tmp_path: Path) -> None:
    script = FLOOD + (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000)); flood(sys.argv[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "artifacts")], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [COUNTED, f"File too large ({tmp_path}/artifacts/1.bash.log)", "['counter']"]


def test_a_directory_deleted_in_mid_run_is_noticed_at_the_end(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path / "artifacts")
    stream = Spill(Window(4, 4), lambda: store.create("bash"))
    stream.feed(b"x" * 100)
    shutil.rmtree(store.root)
    stream.feed(b"y" * 100)
    result = stream.finish()
    assert (result.artifact, result.window.total_bytes) == (None, 200)
    assert result.error == f"the file was deleted while it was written ({store.root}/1.bash.log)"


def test_a_failed_writer_lets_go_of_the_buffer_and_of_its_descriptor(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path / "artifacts")
    new = allot(store.root, "bash", cap_bytes=CAP_BYTES, head_bytes=HEAD_BYTES)
    writer = ArtifactWriter(new)
    buffer = bytearray(b"x" * 100)
    with open(os.devnull, "rb") as reused:
        # Writing to a descriptor that is open for reading only: a real EBADF.
        os.dup2(reused.fileno(), new.fd)
        writer.write(buffer)
    buffer += b"resized"
    assert isinstance(writer.error, OSError)
    assert writer.close() is None
