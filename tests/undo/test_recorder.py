"""What is saved before a command, and what its result tells: in every way to run one."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

import nacre
from nacre.settings import JobSettings, Settings, UndoSettings
from nacre.undo.restoring import plan, restore
from nacre.undo.undo_store import UndoEntry, UndoStore

ON = Settings(undo=UndoSettings(mode="on"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    for name in ("a", "b", "c"):
        (work / name).write_text(f"{name}\n" * 1000, encoding="utf-8")
    return work


def entries(home: Path) -> list[UndoEntry]:
    return UndoStore(str(home)).list()


def undo(home: Path, *, overwrite: bool = False) -> list[str]:
    """Undo the newest command; return what was skipped."""
    store = UndoStore(str(home))
    entry = store.newest()
    assert entry is not None
    return [step.path for step in restore(store, entry, plan(entry, overwrite=overwrite), ON.undo).skipped]


async def test_nothing_is_saved_unless_undo_is_on(work: Path, home: Path) -> None:
    result = await nacre.run("rm a", cwd=work)
    assert result.notices == ()
    assert not (home / "undo").exists()


@pytest.mark.parametrize("command", ["cat a b", "ls > /dev/null 2>&1", "echo x > new", "rm missing", "cat a >> new2"])
async def test_a_command_that_destroys_nothing_leaves_no_entry(command: str, work: Path, home: Path) -> None:
    result = await nacre.run(command, cwd=work, settings=ON)
    assert result.notices == ()
    assert entries(home) == []


async def test_a_file_that_the_command_did_not_change_after_all_is_not_kept(work: Path, home: Path) -> None:
    await nacre.run("if false; then rm a; fi; rm b", cwd=work, settings=ON)
    (entry,) = entries(home)
    assert [change.path for change in entry.changes() or ()] == [str(work / "b")]
    assert os.stat(work / "a").st_nlink == 1


async def test_a_session_saves_where_its_shell_is_and_with_its_functions(work: Path, home: Path) -> None:
    (work / "sub").mkdir()
    (work / "sub/deep").write_text("deep\n", encoding="utf-8")
    async with nacre.Session(cwd=work, settings=ON) as session:
        await session.run("cd sub; gone() { rm deep; }")
        result = await session.run("gone")
    assert result.notices == ("undo: `nacre undo undo_1` restores 1 deleted file",)
    assert undo(home) == []
    assert (work / "sub/deep").read_text(encoding="utf-8") == "deep\n"


async def test_a_command_saves_when_its_turn_in_the_session_has_come(work: Path, home: Path) -> None:
    async with nacre.Session(cwd=work, settings=ON) as session:
        first = asyncio.create_task(session.run("sleep 0.3; printf newer | cat > a; touch ready"))
        await asyncio.sleep(0)
        await session.run("rm a")
        await first
    undo(home)
    assert (work / "a").read_text(encoding="utf-8") == "newer"


@pytest.mark.parametrize("contract", ["workspace", "modes", "anthropic"])
async def test_every_contract_tells_the_model_of_the_undo(contract: str, work: Path, home: Path) -> None:
    async with nacre.Tool(contract, cwd=work, settings=ON) as tool:
        reply = await tool.call({"command": "rm a b"})
    assert "undo: `nacre undo undo_1` restores 2 deleted files" in reply.text


async def test_a_job_is_saved_and_undone_after_its_end(work: Path, home: Path) -> None:
    async with nacre.Tool("workspace", cwd=work, settings=ON) as tool:
        reply = await tool.call({"command": "rm a; sleep 0.1", "async": True})
        job = reply.details["async"]["jobId"]
        async with nacre.Tool("job", settings=ON) as jobs:
            await jobs.call({"poll": [job]})
    assert "restores what the job destroys, once it has ended" in reply.text
    assert entries(home)[0].facts["jobId"] == job
    undo(home)
    assert (work / "a").read_text(encoding="utf-8") == "a\n" * 1000


async def test_a_command_that_moves_to_the_background_keeps_its_entry(work: Path, home: Path) -> None:
    settings = Settings(undo=UndoSettings(mode="on"), jobs=JobSettings(auto_background_seconds=0.2))
    async with nacre.Tool("workspace", cwd=work, settings=settings) as tool:
        reply = await tool.call({"command": "rm a; sleep 1"})
        async with nacre.Tool("job", settings=settings) as jobs:
            await jobs.call({"poll": [reply.details["async"]["jobId"]]})
    assert entries(home)[0].facts["jobId"] == reply.details["async"]["jobId"]


async def test_a_timed_out_command_can_be_undone(work: Path, home: Path) -> None:
    result = await nacre.run("rm a; sleep 30", cwd=work, timeout=1, settings=ON)
    assert "restores 1 deleted file" in result.notices[-1]
    undo(home)
    assert (work / "a").exists()


async def test_a_cancelled_command_can_be_undone(work: Path, home: Path) -> None:
    call = asyncio.create_task(nacre.run("rm a; touch ready; sleep 30", cwd=work, settings=ON))
    while not (work / "ready").exists():
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert undo(home) == []
    assert (work / "a").exists()


async def test_what_was_changed_since_is_skipped_unless_the_caller_says_otherwise(work: Path, home: Path) -> None:
    await nacre.run("echo new > a; rm b", cwd=work, settings=ON)
    (work / "a").write_text("mine\n", encoding="utf-8")
    assert undo(home) == [str(work / "a")]
    assert ((work / "a").read_text(encoding="utf-8"), (work / "b").exists()) == ("mine\n", True)
    assert undo(home, overwrite=True) == []
    assert (work / "a").read_text(encoding="utf-8") == "a\n" * 1000


async def test_an_undo_can_be_undone(work: Path, home: Path) -> None:
    await nacre.run("rm a; echo x > b; mv c d", cwd=work, settings=ON)
    undo(home)
    assert sorted(os.listdir(work)) == ["a", "b", "c"]
    store = UndoStore(str(home))
    entry = store.get("undo_2")
    restore(store, entry, plan(entry), ON.undo)
    assert sorted(os.listdir(work)) == ["b", "d"]
    assert (work / "b").read_text(encoding="utf-8") == "x\n"


async def test_what_a_stranger_made_in_a_removed_directory_stays(work: Path, home: Path) -> None:
    (work / "build").mkdir()
    (work / "build/x").write_text("x\n", encoding="utf-8")
    await nacre.run('rm -rf "$(printf build)"', cwd=work, settings=ON)
    (work / "build").mkdir()
    (work / "build/mine").write_text("mine\n", encoding="utf-8")
    undo(home)
    assert sorted(os.listdir(work / "build")) == ["mine", "x"]


async def test_a_save_beyond_the_size_says_so(work: Path, home: Path) -> None:
    settings = Settings(undo=UndoSettings(mode="on", trash_bytes=3000))
    result = await nacre.run("rm a b", cwd=work, settings=settings)
    assert "not all was saved: it is more than the 3000 bytes that are kept" in result.notices[-1]


async def test_a_state_directory_that_cannot_be_used_is_a_notice_and_the_command_runs(work: Path, home: Path) -> None:
    home.mkdir()
    (home / "undo").write_text("in the way", encoding="utf-8")
    result = await nacre.run("rm a", cwd=work, settings=ON)
    assert result.notices[0].startswith("undo: nothing was saved before this command: ")
    assert not (work / "a").exists()


async def test_the_time_for_saving_is_the_command_s_own(work: Path, home: Path) -> None:
    settings = Settings(undo=UndoSettings(mode="on", save_seconds=0.0))
    result = await nacre.run("rm a", cwd=work, settings=settings)
    assert "the time for saving was over" in result.notices[-1]


async def test_a_link_that_was_written_in_place_is_not_taken_for_the_former_content(work: Path, home: Path) -> None:
    await nacre.run('python3 -c \'open("a", "w").write("in place")\'; rm a', cwd=work, settings=ON)
    store = UndoStore(str(home))
    entry = store.get("undo_1")
    kept = next(entry.before())
    outcome = restore(store, entry, plan(entry), ON.undo)
    if kept.linked:
        assert [step.reason for step in outcome.skipped] == [
            "it was written in place while the command ran, so its former content is gone"
        ]
    else:
        assert (work / "a").read_text(encoding="utf-8") == "a\n" * 1000


async def test_old_entries_make_room_for_new_ones(work: Path, home: Path) -> None:
    settings = Settings(undo=UndoSettings(mode="on", trash_bytes=5000))
    for name in ("a", "b", "c"):
        await nacre.run(f"rm {name}", cwd=work, settings=settings)
    assert [entry.id for entry in entries(home)] == ["undo_2", "undo_3"]
