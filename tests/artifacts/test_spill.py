import os
from pathlib import Path

import pytest

from nacre.artifacts.spill import Spill
from nacre.artifacts.store import ArtifactStore
from nacre.output.window import Window
from nacre.result import ArtifactRef


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


def spill(store: ArtifactStore) -> Spill:
    return Spill(Window(2, 2, whole_bytes=8), lambda: store.create("bash"))


def test_output_within_the_limit_makes_no_artifact(store: ArtifactStore) -> None:
    stream = spill(store)
    stream.feed(b"12345678")
    result = stream.finish()
    assert (result.window.whole, result.artifact, result.error) == (b"12345678", None, None)
    assert not os.path.exists(store.root)


def test_the_artifact_is_the_full_output_from_its_first_byte(store: ArtifactStore) -> None:
    stream, buffer = spill(store), bytearray(b"1234567STALE")
    stream.feed(buffer, 7)
    buffer[:2] = b"89"
    stream.feed(buffer, 2)
    stream.feed(b"0")
    result = stream.finish()
    assert result.artifact == ArtifactRef(1, os.path.join(store.root, "1.bash.log"), 10, 0)
    assert Path(result.artifact.path).read_bytes() == b"1234567890"
    assert (result.window.head, result.window.tail, result.window.omitted_bytes) == (b"12", b"90", 6)


def test_small_output_is_kept_when_asked_for(store: ArtifactStore) -> None:
    stream = spill(store)
    stream.feed(b"part")
    stream.keep()
    artifact = stream.finish().artifact
    assert artifact is not None
    assert Path(artifact.path).read_bytes() == b"part"


def test_empty_output_leaves_no_artifact_even_when_asked_for(store: ArtifactStore) -> None:
    stream = spill(store)
    stream.keep()
    result = stream.finish()
    assert (result.artifact, result.error, store.list()) == (None, None, ())


def test_a_store_that_cannot_be_used_leaves_the_window_exact_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    stream = spill(ArtifactStore(tmp_path / "file"))
    for _ in range(100):
        stream.feed(b"x" * 1000)
    result = stream.finish()
    assert (result.window.total_bytes, result.window.omitted_bytes, result.artifact) == (100_000, 99_996, None)
    assert result.error is not None
    assert "not a directory" in result.error


def test_a_discarded_stream_leaves_nothing(store: ArtifactStore) -> None:
    stream = spill(store)
    stream.feed(b"x" * 100)
    stream.discard()
    assert os.listdir(store.root) == ["counter"]
