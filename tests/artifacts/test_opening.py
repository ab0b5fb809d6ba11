import os
from pathlib import Path

import pytest

from nacre.artifacts.store import ArtifactStore
from nacre.artifacts.stored import Gap, Line, Piece

# Sixteen bytes of ring behind four of head.
CAP, HEAD = 20, 4


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


def keep(store: ArtifactStore, data: bytes, *, cap: int = CAP, head: int = HEAD) -> int:
    writer = store.create("bash", cap_bytes=cap, head_bytes=head)
    writer.write(data)
    ref = writer.close()
    assert ref is not None
    assert ref.bytes + ref.dropped_bytes == len(data)
    return ref.id


ALPHABET = bytes(range(65, 65 + 50))


def test_a_small_artifact_is_read_by_offset_and_limit(store: ArtifactStore) -> None:
    with store.open(keep(store, b"abcdefgh")) as artifact:
        assert artifact.read(2, 3) == Piece(2, b"cde")
        assert artifact.read(6, 100) == Piece(6, b"gh")
        assert artifact.read(8, 100) == Piece(8, b"")
        assert artifact.read(999, 1) == Piece(999, b"")


def test_over_the_cap_the_first_and_the_newest_bytes_are_read_and_the_gap_is_stated(store: ArtifactStore) -> None:
    with store.open(keep(store, ALPHABET)) as artifact:
        assert (artifact.entry.total_bytes, artifact.entry.stored_bytes, artifact.entry.dropped_bytes) == (50, 20, 30)
        assert artifact.read(0, 100) == Piece(0, ALPHABET[:4])
        assert artifact.read(4, 100) == Piece(34, ALPHABET[34:], 30)
        assert artifact.read(20, 2) == Piece(34, ALPHABET[34:36], 14)
        assert artifact.read(40, 3) == Piece(40, ALPHABET[40:43])
        assert list(artifact.blocks()) == [Piece(0, ALPHABET[:4]), Piece(34, ALPHABET[34:], 30)]


def test_lines_are_counted_from_one_and_the_gap_lies_between_them(store: ArtifactStore) -> None:
    text = b"".join(b"%02d\n" % n for n in range(20))
    with store.open(keep(store, text)) as artifact:
        newest = [Line(3, b""), *(Line(n - 11, b"%02d" % n) for n in range(15, 20))]
        assert list(artifact.lines()) == [Line(1, b"00"), Line(2, b"0"), Gap(40), *newest]
        assert list(artifact.lines(0, 1)) == [Line(1, b"00")]
        assert list(artifact.lines(3, 2)) == newest[1:3]


def test_a_last_line_without_newline_is_a_line(store: ArtifactStore) -> None:
    with store.open(keep(store, b"a\n\nb")) as artifact:
        assert list(artifact.lines()) == [Line(1, b"a"), Line(2, b""), Line(3, b"b")]


@pytest.mark.parametrize(
    ("data", "lines", "tail"),
    [
        (b"a\nb\nc\n", 2, b"b\nc\n"),
        (b"a\nb\nc", 2, b"b\nc"),
        (b"a\nb\n", 9, b"a\nb\n"),
        (b"a\n", 0, b""),
        (b"\n\n\n", 2, b"\n\n"),
        (b"0\n" * 25, 99, b"0\n" * 8),
    ],
)
def test_the_tail_is_the_last_lines_and_nothing_from_before_a_gap(
    store: ArtifactStore, data: bytes, lines: int, tail: bytes
) -> None:
    with store.open(keep(store, data)) as artifact:
        assert artifact.tail(lines) == Piece(len(data) - len(tail), tail)


def test_the_tail_of_one_endless_line_is_bounded(store: ArtifactStore) -> None:
    with store.open(keep(store, b"x" * 5_000_000, cap=10_000_000)) as artifact:
        assert len(artifact.tail(1, 1000).data) == 1000


def test_grep_finds_lines_by_text_and_states_the_gap(store: ArtifactStore) -> None:
    data = "ab\nnö 1\nx\nnö 2\n".encode()
    with store.open(keep(store, data, cap=100)) as artifact:
        assert list(artifact.grep(r"ö \d")) == [Line(2, "nö 1".encode()), Line(4, "nö 2".encode())]
    with store.open(keep(store, b"xx\n" * 20)) as artifact:
        assert list(artifact.grep("nothing")) == [Gap(40)]


def test_grep_says_what_of_an_endless_line_it_did_not_search(store: ArtifactStore) -> None:
    with store.open(keep(store, b"x" * 3_000_000 + b"needle\nhay\n", cap=10_000_000)) as artifact:
        assert list(artifact.grep("needle")) == [Gap(3_000_006 - 1024 * 1024, "unsearched")]


def test_an_artifact_whose_writer_died_is_readable_up_to_its_last_record(store: ArtifactStore) -> None:
    writer = store.create("bash", cap_bytes=HEAD + 160, head_bytes=HEAD)
    data = bytes(n % 251 for n in range(1000))
    for start in range(0, 1000, 7):
        writer.write(data[start : start + 7])
        with store.open(writer.id) as artifact:
            pieces = list(artifact.blocks())
        assert all(piece.data == data[piece.offset : piece.end] for piece in pieces)
        # Never more than two reserves of a sixteenth of the ring are given up.
        assert sum(len(piece.data) for piece in pieces) >= min(start + 7, HEAD + 160) - 20
    writer.drop(close=True)
    assert store.list()[0].state == "interrupted"


def test_without_its_record_an_unwrapped_artifact_is_still_readable(store: ArtifactStore) -> None:
    number = keep(store, b"abc")
    for damage in (b"", b"{}", b"[]", b"\xff" * 600):
        Path(store.root, f"{number}.json").write_bytes(damage)
        with store.open(number) as artifact:
            assert artifact.read(0, 9) == Piece(0, b"abc")
    os.unlink(os.path.join(store.root, f"{number}.json"))
    with store.open(number) as artifact:
        assert (artifact.read(0, 9), artifact.entry.state) == (Piece(0, b"abc"), "interrupted")


def test_a_file_that_somebody_shortened_gives_what_is_left(store: ArtifactStore) -> None:
    number = keep(store, ALPHABET)
    os.truncate(os.path.join(store.root, f"{number}.bash.log"), 2)
    with store.open(number) as artifact:
        assert list(artifact.blocks()) == [Piece(0, ALPHABET[:2])]
        assert artifact.entry.dropped_bytes == 48
    store.plain_path(number)


@pytest.mark.parametrize("head", [0, HEAD])
def test_the_plain_file_reads_in_order_with_the_gap_marked_and_offsets_unchanged(
    store: ArtifactStore, head: int
) -> None:
    number = keep(store, ALPHABET, head=head)
    with store.open(number) as before:
        path = store.plain_path(number)
        marker = b"\n[nacre: 30 bytes were dropped here]\n"
        assert Path(path).read_bytes() == ALPHABET[:head] + marker + ALPHABET[-(CAP - head) :]
        with store.open(number) as after:
            # A reader that had the ring open goes on reading the ring.
            assert list(before.blocks()) == list(after.blocks())
    assert store.plain_path(number) == path
    assert sorted(os.listdir(store.root)) == ["1.bash.log", "1.json", "counter"]


def test_the_plain_path_of_a_small_artifact_is_its_file(store: ArtifactStore) -> None:
    number = keep(store, b"abc")
    assert Path(store.plain_path(number)).read_bytes() == b"abc"


def test_a_fifo_in_place_of_an_artifact_does_not_block_the_list(store: ArtifactStore) -> None:
    keep(store, b"abc")
    os.mkfifo(os.path.join(store.root, "2.bash.log"))
    assert [entry.id for entry in store.list()] == [1]
