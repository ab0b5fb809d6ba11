"""Files of a place: whole, as they are, for a user, and past the guard and the log."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from nacre.adapters import place_files
from nacre.remote.link_thread import links
from nacre.remote.remote_backend import RemoteBackend, connect
from nacre.remote.wire import PrefixDialer


@pytest.fixture(autouse=True)
def no_links(no_leaks: None) -> Iterator[None]:
    yield
    links.end()


@pytest.fixture
async def there() -> AsyncIterator[RemoteBackend]:
    async with await connect(PrefixDialer(["env"], name="here")) as place:
        yield place


@pytest.mark.parametrize("size", [0, 1, place_files.CHUNK_BYTES, place_files.CHUNK_BYTES * 2 + 1])
async def test_a_file_comes_back_as_it_went(there: RemoteBackend, tmp_path: Path, size: int) -> None:
    data, path = os.urandom(size), str(tmp_path / "new folder" / "it's")
    await place_files.write(there, path, data)
    assert await place_files.read(there, path) == data
    assert await place_files.read(there, path, most=3) == data[:3]
    assert os.listdir(tmp_path / "new folder") == ["it's"]


async def test_a_file_that_is_there_keeps_its_mode(there: RemoteBackend, tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_text("old", encoding="utf-8")
    file.chmod(0o751)
    await place_files.write(there, str(file), b"new")
    assert (file.read_text(encoding="utf-8"), file.stat().st_mode & 0o777) == ("new", 0o751)


async def test_a_step_that_fails_says_what_it_said(there: RemoteBackend, tmp_path: Path) -> None:
    with pytest.raises(place_files.PlaceFileError, match="No such file"):
        await place_files.read(there, str(tmp_path / "nothing"))
    with pytest.raises(place_files.PlaceFileError, match="the step ended with 3"):
        await place_files.step(there, "exit 3")
    with pytest.raises(place_files.PlaceFileError, match="no such user"):
        await place_files.step(there, "true", user="no-such-user")


async def test_a_directory_is_removed_with_all_that_is_in_it(there: RemoteBackend, tmp_path: Path) -> None:
    (tmp_path / "gone" / "deep").mkdir(parents=True)
    await place_files.remove(there, str(tmp_path / "gone"))
    assert not (tmp_path / "gone").exists()


async def test_nothing_of_it_is_in_the_log(there: RemoteBackend, tmp_path: Path, home: Path) -> None:
    await place_files.write(there, str(tmp_path / "a"), b"x")
    assert not (home / "log.jsonl").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
async def test_a_step_runs_as_another_user(there: RemoteBackend) -> None:
    assert await place_files.step(there, 'id -un; echo "$USER"', user="nobody") == b"nobody\nnobody\n"
    assert await place_files.step(there, "id -un", user=0) == b"root\n"
