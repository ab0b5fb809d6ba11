import tempfile

from hypothesis import given
from hypothesis import strategies as st

from nacre.artifacts.spill import Spill
from nacre.artifacts.store import ArtifactStore
from nacre.output.window import Window

CHUNKS = st.lists(st.binary(max_size=90), max_size=15)


@given(CHUNKS, st.integers(0, 20), st.integers(1, 60))
def test_a_ring_gives_back_exactly_the_first_and_the_newest_bytes(chunks: list[bytes], head: int, ring: int) -> None:
    data = b"".join(chunks)
    with tempfile.TemporaryDirectory() as root:
        store = ArtifactStore(root)
        writer = store.create("bash", cap_bytes=head + ring, head_bytes=head)
        for chunk in chunks:
            writer.write(bytearray(chunk) + b"stale", len(chunk))
        ref = writer.close()
        assert ref is not None
        for read in ("as a ring", "in plain order"):
            with store.open(ref.id) as artifact:
                pieces = list(artifact.blocks())
                stored = b"".join(piece.data for piece in pieces)
                expected = data if len(data) <= head + ring else data[:head] + data[-ring:]
                assert stored == expected, read
                assert all(piece.data == data[piece.offset : piece.end] for piece in pieces)
                skipped = sum(piece.skipped_bytes for piece in pieces)
                assert skipped == artifact.entry.dropped_bytes == ref.dropped_bytes
                assert ref.bytes + ref.dropped_bytes == artifact.entry.total_bytes == len(data)
            store.plain_path(ref.id)


@given(CHUNKS, st.integers(0, 40), st.integers(1, 200))
def test_what_a_window_omits_is_always_in_the_artifact(chunks: list[bytes], limit: int, cap: int) -> None:
    data = b"".join(chunks)
    with tempfile.TemporaryDirectory() as root:
        store = ArtifactStore(root)
        stream = Spill(
            Window(limit // 2, limit - limit // 2), lambda: store.create("bash", cap_bytes=cap, head_bytes=0)
        )
        for chunk in chunks:
            stream.feed(chunk)
        result = stream.finish()
        assert (result.artifact is None) == (len(data) <= limit)
        if result.artifact is not None:
            assert result.artifact.bytes + result.artifact.dropped_bytes == len(data)
            with store.open(result.artifact.id) as artifact:
                assert b"".join(piece.data for piece in artifact.blocks()) == data[-cap:]
