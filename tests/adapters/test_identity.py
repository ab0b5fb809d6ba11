"""Acting as another user: what runs, what is read and written, and that the program itself stays who it is."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nacre import InvalidRequestError
from nacre.adapters.identity import User, access_files, may_execute, user_named
from nacre.adapters.program import program_profile, run_program

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that everybody can reach: those of tests are closed to others."""
    directory = Path(tempfile.mkdtemp(prefix="nacre-identity-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def nobody() -> User:
    user = user_named("nobody")
    assert user is not None
    return user


def test_who_runs_the_program_is_nobody_else() -> None:
    own = pwd.getpwuid(os.geteuid())
    assert (user_named(None), user_named(own.pw_name), user_named(str(own.pw_uid))) == (None, None, None)


def test_a_user_that_is_not_there_is_named() -> None:
    with pytest.raises(InvalidRequestError, match="there is no user 'no-such-user' on this machine"):
        user_named("no-such-user")


@pytest.fixture
def plain_user() -> Iterator[None]:
    """The test acts as somebody without any power, also where root runs the tests."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(nobody().uid)
    yield
    os.seteuid(before)


@pytest.mark.usefixtures("plain_user")
def test_others_can_act_as_themselves_only() -> None:
    with pytest.raises(InvalidRequestError, match="only root can act as 'root'"):
        user_named("root")


@needs_root
async def test_a_program_runs_as_the_user_with_no_power_of_root() -> None:
    user = nobody()
    command = "id -u; id -g; id -G; grep -E 'CapEff' /proc/self/status; echo $HOME $USER $LOGNAME"
    result = await run_program(["sh", "-c", command], program_profile("test", limit_bytes=1000), cwd="/", user=user)
    groups = " ".join(map(str, user.groups))
    assert result.text == (f"{user.uid}\n{user.gid}\n{groups}\nCapEff:\t0000000000000000\n{user.home} nobody nobody\n")


@needs_root
async def test_files_are_written_and_read_as_the_user(place: Path) -> None:
    user = nobody()
    os.chown(place, user.uid, user.gid)
    (place / "closed").write_text("root's", encoding="utf-8")
    (place / "closed").chmod(0o600)
    (place / "of_roots_group").write_text("root's", encoding="utf-8")
    (place / "of_roots_group").chmod(0o640)

    def write() -> None:
        (place / "made").write_text("theirs", encoding="utf-8")

    await access_files(user, write)
    assert (place / "made").stat().st_uid == user.uid
    for name in ("closed", "of_roots_group"):
        with pytest.raises(PermissionError):
            await access_files(user, (place / name).read_bytes)
        # The identity has ended with its thread.
        assert await access_files(None, (place / name).read_bytes) == b"root's"
        assert (place / name).read_bytes() == b"root's"


@pytest.mark.parametrize(
    ("mode", "owner", "group", "stranger", "root"),
    [
        (0o000, False, False, False, False),
        (0o100, True, False, False, True),
        (0o010, False, True, False, True),
        (0o001, False, False, True, True),
        (0o755, True, True, True, True),
        (0o644, False, False, False, False),
    ],
)
def test_who_may_execute_a_file_follows_from_its_mode(
    mode: int, owner: bool, group: bool, stranger: bool, root: bool, tmp_path: Path
) -> None:
    path = tmp_path / "program"
    path.touch()
    path.chmod(mode)
    status = path.stat()
    other = User("other", status.st_uid + 1, status.st_gid + 1, (), "/")
    members = replace(other, groups=(status.st_gid,))
    # Root is the owner here, or nobody of these; its right is another.
    owners = replace(other, uid=status.st_uid)
    expected_owner = root if status.st_uid == 0 else owner
    assert may_execute(owners, str(path)) == expected_owner
    assert may_execute(members, str(path)) == group
    assert may_execute(other, str(path)) == stranger
    assert may_execute(replace(other, uid=0), str(path)) == root


def test_a_directory_is_not_executed(tmp_path: Path) -> None:
    assert not may_execute(None, str(tmp_path))
