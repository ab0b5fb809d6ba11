import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nacre.artifacts.expiry import PruneReport
from nacre.artifacts.store import ArtifactStore
from nacre.artifacts.writer import ArtifactWriter
from nacre.errors import ArtifactError, UnknownArtifactError
from nacre.result import ArtifactRef


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "state" / "artifacts")


def kept(store: ArtifactStore, data: bytes = b"output\n", kind: str = "bash") -> ArtifactRef:
    writer = store.create(kind)
    writer.write(data)
    ref = writer.close()
    assert ref is not None
    return ref


def test_nothing_is_made_before_the_first_artifact(store: ArtifactStore) -> None:
    assert store.list() == ()
    assert not os.path.exists(store.root)


def test_an_artifact_is_a_private_file_in_a_private_directory(store: ArtifactStore) -> None:
    ref = kept(store)
    assert ref == ArtifactRef(1, os.path.join(store.root, "1.bash.log"), 7, 0)
    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (store.root, ref.path, os.path.join(store.root, "1.json"))]
    assert modes == [0o700, 0o600, 0o600]
    assert Path(ref.path).read_bytes() == b"output\n"


def test_a_directory_open_to_others_is_closed(store: ArtifactStore) -> None:
    os.makedirs(store.root, mode=0o755)
    kept(store)
    assert stat.S_IMODE(os.stat(store.root).st_mode) == 0o700


def test_a_directory_that_is_a_link_is_refused(store: ArtifactStore, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    os.makedirs(os.path.dirname(store.root))
    os.symlink(tmp_path / "elsewhere", store.root)
    with pytest.raises(ArtifactError, match="links are not followed"):
        store.create("bash")
    assert os.listdir(tmp_path / "elsewhere") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: gives a directory to another user")
def test_a_directory_of_another_user_is_refused(store: ArtifactStore) -> None:
    os.makedirs(store.root)
    os.chown(store.root, 12345, -1)
    with pytest.raises(ArtifactError, match="belongs to user 12345"):
        store.create("bash")


def test_a_parent_that_is_a_file_is_an_artifact_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ArtifactError, match="not a directory"):
        ArtifactStore(tmp_path / "file" / "artifacts").create("bash")


def test_a_link_planted_at_the_target_is_never_followed(store: ArtifactStore, tmp_path: Path) -> None:
    kept(store)
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    os.symlink(victim, os.path.join(store.root, "2.bash.log"))
    ref = kept(store, b"new")
    assert (ref.id, victim.read_bytes()) == (3, b"precious")


@pytest.mark.parametrize("counter", [None, b"", b"garbage", b"1\n", b"-5", b"9" * 40])
def test_ids_grow_though_the_counter_is_lost_or_damaged(store: ArtifactStore, counter: bytes | None) -> None:
    refs = [kept(store, b"one"), kept(store, b"two")]
    path = Path(store.root, "counter")
    path.unlink() if counter is None else path.write_bytes(counter)
    refs.append(kept(store, b"three", kind="async"))
    assert [ref.id for ref in refs] == [1, 2, 3]
    assert [Path(ref.path).read_bytes() for ref in refs] == [b"one", b"two", b"three"]


def test_the_id_of_a_removed_artifact_is_not_given_again(store: ArtifactStore) -> None:
    assert store.remove(kept(store).id)
    assert kept(store).id == 2


def test_processes_that_create_at_once_get_different_ids(store: ArtifactStore) -> None:
    script = (
        "import sys; from nacre.artifacts.store import ArtifactStore\n"
        "store = ArtifactStore(sys.argv[1]); sys.stdin.read(1)\n"
        "for n in range(50):\n"
        "    writer = store.create('bash')\n"
        "    writer.write(b'%s %d' % (sys.argv[2].encode(), n))\n"
        "    print(writer.close().id)\n"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", script, store.root, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for number in range(4)
    ]
    for run in runs:
        assert run.stdin is not None
        run.stdin.write(b"x")
        run.stdin.flush()
    ids = [int(line) for run in runs for line in run.communicate(timeout=30)[0].split()]
    assert sorted(ids) == list(range(1, 201))
    contents = {Path(store.root, f"{number}.bash.log").read_bytes() for number in ids}
    assert contents == {b"%d %d" % (run, n) for run in range(4) for n in range(50)}


def test_an_unknown_id_is_answered_with_those_that_exist(store: ArtifactStore) -> None:
    kept(store)
    kept(store)
    with pytest.raises(UnknownArtifactError, match="no artifact 7; available: 1, 2"):
        store.open(7)


def test_the_list_tells_writing_complete_and_interrupted_apart(store: ArtifactStore) -> None:
    kept(store)
    died: ArtifactWriter = store.create("bash")
    died.write(b"half")
    died.drop(close=True)
    live = store.create("bash")
    live.write(b"so far")
    listed = [(entry.id, entry.state, entry.total_bytes) for entry in store.list()]
    live.discard()
    assert listed == [(1, "complete", 7), (2, "interrupted", 4), (3, "writing", 6)]


def test_pruning_by_size_keeps_the_newest(store: ArtifactStore) -> None:
    refs = [kept(store, b"x" * 100) for _ in range(5)]
    report = store.prune(max_age_seconds=1e9, max_total_bytes=250)
    assert report == PruneReport(removed=(1, 2, 3), freed_bytes=300, kept=2, kept_bytes=200)
    assert sorted(os.listdir(store.root)) == ["4.bash.log", "4.json", "5.bash.log", "5.json", "counter"]
    assert kept(store).id == len(refs) + 1


def test_pruning_by_age_removes_what_was_last_written_before(store: ArtifactStore) -> None:
    old, new = kept(store), kept(store)
    os.utime(old.path, (1000, 1000))
    os.utime(new.path, (2000, 2000))
    assert store.prune(max_age_seconds=500, max_total_bytes=10**9, now=2100).removed == (1,)
    assert [entry.id for entry in store.list()] == [2]


def test_pruning_never_takes_an_artifact_from_its_live_writer(store: ArtifactStore) -> None:
    writer = store.create("bash")
    writer.write(b"before ")
    assert store.prune(max_age_seconds=-1, max_total_bytes=0).removed == ()
    writer.write(b"after")
    ref = writer.close()
    assert ref is not None
    assert Path(ref.path).read_bytes() == b"before after"
    assert store.prune(max_age_seconds=-1, max_total_bytes=0).removed == (1,)


def test_pruning_clears_what_crashed_processes_left(store: ArtifactStore) -> None:
    kept(store)
    Path(store.root, "9.json").write_bytes(b"{}")
    Path(store.root, ".1.tmp").write_bytes(b"half a copy")
    store.prune(max_age_seconds=1e9, max_total_bytes=10**9)
    assert sorted(os.listdir(store.root)) == ["1.bash.log", "1.json", "counter"]


def test_foreign_files_in_the_directory_are_left_alone(store: ArtifactStore) -> None:
    kept(store)
    for name in ("notes.txt", "notes.tmp", "x.bash.log"):
        Path(store.root, name).write_bytes(b"mine")
    store.prune(max_age_seconds=-1, max_total_bytes=0)
    assert sorted(os.listdir(store.root)) == ["counter", "notes.tmp", "notes.txt", "x.bash.log"]


@pytest.mark.parametrize("kind", ["", "../x", "a/b", "A", "a.b", "a\0"])
def test_a_kind_that_could_leave_the_directory_is_refused(store: ArtifactStore, kind: str) -> None:
    with pytest.raises(ValueError, match="a-z, 0-9"):
        store.create(kind)
