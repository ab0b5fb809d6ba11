"""A try shows everything that a command would change, and commits or discards it to the byte."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import nacre
from nacre.errors import InvalidRequestError
from nacre.settings import Settings, UndoSettings
from nacre.tries.committing import commit, discard
from nacre.tries.try_store import TryEntry, TryError, TryStore
from nacre.warden import overlay_entry

SCRIPT = "rm -rf *; echo x > new; printf 'a b\\n' > .hidden; sed -i s/keep/kept/ .config"


def can_mount(work: Path) -> bool:
    (work / "probe/upper").mkdir(parents=True)
    (work / "probe/work").mkdir()
    (work / "lower").mkdir()
    words = [str(work / "lower"), str(work / "probe"), "/", "", "/bin/sh", "sh", "-c", ":"]
    done = subprocess.run([sys.executable, "-I", "-S", overlay_entry.__file__, *words], check=False)
    return done.returncode == 0


@pytest.fixture(scope="module", autouse=True)
def overlays(tmp_path_factory: pytest.TempPathFactory) -> None:
    if not can_mount(tmp_path_factory.mktemp("probe")):
        pytest.skip("no overlay can be mounted here")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work, with: odd\\ name"
    for name, text in (("a", "a\n"), ("d/b", "b\n"), ("d/e/c", "c\n"), (".config", "keep\n"), ("run", "#!\n")):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text, encoding="utf-8")
    (work / "nacre.toml").write_text("", encoding="utf-8")
    (work / "run").chmod(0o755)
    (work / "link").symlink_to("d/b")
    os.link(work / "a", work / "twin")
    return work


def look(top: Path, *, times: bool = True) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in sorted(top.rglob("*")):
        facts = path.lstat()
        kind: object = None
        if path.is_symlink():
            kind = os.readlink(path)
        elif stat.S_ISREG(facts.st_mode):
            kind = path.read_bytes()
        changed = facts.st_mtime_ns if times and not path.is_dir() else 0
        found[str(path.relative_to(top))] = (stat.S_IFMT(facts.st_mode), stat.S_IMODE(facts.st_mode), kind, changed)
    return found


async def tried(work: Path, command: str, **fields: object) -> tuple[nacre.Reply, TryEntry]:
    async with nacre.Tool("workspace", cwd=work) as tool:
        reply = await tool.call({"command": command, "try": True, **fields})
    assert "try" in reply.details, reply.text
    return reply, TryStore(os.environ["NACRE_HOME"]).get(reply.details["try"]["id"])


async def test_a_try_shows_everything_and_changes_nothing_before_it_is_discarded(work: Path) -> None:
    before = look(work)
    reply, entry = await tried(work, SCRIPT)
    lines = reply.text.splitlines()
    listed = {line for line in lines if line.startswith(("added", "modified", "deleted"))}
    assert listed == {
        *(f"deleted   {path}" for path in ("a", "d/", "d/b", "d/e/", "d/e/c", "link", "nacre.toml", "run", "twin")),
        "modified  .config",
        "added     .hidden",
        "added     new",
    }
    assert reply.details["try"] == {"id": "try_1", "added": 2, "modified": 1, "deleted": 9}
    assert look(work) == before
    discard(entry)
    assert look(work) == before
    assert not os.path.exists(entry.upper)


SCRIPTS = [
    SCRIPT,
    "rm -rf d; mkdir d; echo n > d/n; ln -s n d/l",
    "mv d moved; mv run d",
    "rm link; mkdir link; echo i > link/i; rm -rf d; echo file > d",
    "chmod 600 a; chmod 700 d; touch -d @1000000000 run; ln run hard",
    "mkfifo pipe; mkdir -p x/y/z; echo deep > x/y/z/f; chmod 500 x/y; cp -a d x/copy",
    "echo more >> a; : > d/b; truncate -s 100 d/e/c",
]


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
async def test_a_commit_is_what_the_command_itself_would_have_done(script: str, work: Path, tmp_path: Path) -> None:
    real = tmp_path / "real"
    shutil.copytree(work, real, symlinks=True)
    subprocess.run(["bash", "-c", script], cwd=real, check=True)
    _, entry = await tried(work, script)
    settled = commit(entry)
    assert settled.conflicts == []
    assert look(work, times=False) == look(real, times=False)
    assert entry.state == "committed"
    assert not os.path.exists(entry.upper)
    for path in work.rglob("*"):
        assert not [name for name in os.listxattr(path, follow_symlinks=False) if "overlay" in name]


async def test_a_commit_by_path_leaves_the_rest_to_be_decided(work: Path) -> None:
    _, entry = await tried(work, "rm a; echo x > d/new; echo y > d/b; rm run")
    assert [change.path for change in commit(entry, ["d"]).done] == ["d/b", "d/new"]
    assert ((work / "d/b").read_text(encoding="utf-8"), (work / "a").exists()) == ("y\n", True)
    assert [change.path for change in discard(entry, ["a"]).left] == ["run"]
    commit(entry)
    assert ((work / "a").exists(), (work / "run").exists()) == (True, False)
    with pytest.raises(InvalidRequestError, match="try_1 is committed already"):
        commit(entry)


async def test_a_path_that_was_changed_in_the_workspace_since_is_a_conflict(work: Path) -> None:
    _, entry = await tried(work, "echo theirs > a; rm run; rm -r d")
    (work / "a").write_text("mine\n", encoding="utf-8")
    (work / "d/mine").write_text("mine\n", encoding="utf-8")
    settled = commit(entry)
    assert [conflict.path for conflict in settled.conflicts] == ["d", "a"]
    assert (work / "a").read_text(encoding="utf-8") == "mine\n"
    assert [path.name for path in (work / "d").iterdir()] == ["mine"]
    assert not (work / "run").exists()


async def test_an_interrupted_commit_goes_on_where_it_stopped(work: Path, tmp_path: Path) -> None:
    real = tmp_path / "real"
    shutil.copytree(work, real, symlinks=True)
    script = "for i in $(seq 300); do echo $i > f$i; done; rm -r d; echo new > a"
    subprocess.run(["bash", "-c", script], cwd=real, check=True)
    await tried(work, script)
    # The signal comes while files arrive: the program stops itself at the hundredth.
    program = (
        "import os, signal, sys\n"
        "from nacre.tries.committing import commit\n"
        "from nacre.tries.try_store import TryStore\n"
        "count = 0\n"
        "def trace(frame, event, argument):\n"
        "    global count\n"
        "    if frame.f_code.co_name == '_put' and event == 'call':\n"
        "        count += 1\n"
        "        if count == 100: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.setprofile(trace)\n"
        "commit(TryStore(os.environ['NACRE_HOME']).get('try_1'))\n"
    )
    killed = subprocess.run([sys.executable, "-c", program], check=False)
    assert killed.returncode == -signal.SIGKILL
    arrived = [path for path in work.glob("f*") if path.read_text(encoding="utf-8") == f"{path.name[1:]}\n"]
    assert len(arrived) == len(list(work.glob("f*"))) == 98
    again = TryStore(os.environ["NACRE_HOME"]).get("try_1")
    assert again.state == "committing"
    assert commit(again).conflicts == []
    assert look(work, times=False) == look(real, times=False)


async def test_files_outside_the_workspace_are_read_only_and_temporary_ones_private(work: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("safe\n", encoding="utf-8")
    command = (
        f'echo gone > {outside}; rm -f {outside}; echo t > "$TMPDIR/t" && cat "$TMPDIR/t"; mount -o remount,rw /; :'
    )
    async with nacre.Tool("workspace", cwd=work) as tool:
        reply = await tool.call({"command": command, "try": True})
    assert "Read-only file system" in reply.text
    assert "\nt\n" in f"\n{reply.text}"
    assert "the try has changed nothing in the workspace" in reply.text
    assert outside.read_text(encoding="utf-8") == "safe\n"


async def test_a_try_begins_with_the_session_and_leaves_it_as_it_was(work: Path) -> None:
    async with nacre.Tool("workspace", cwd=work) as tool:
        await tool.call({"command": "cd d; x=1; f() { echo from-f; }"})
        reply = await tool.call({"command": "pwd; echo $x; f; rm b; cd /; x=2", "try": True})
        after = await tool.call({"command": "pwd; echo $x"})
    assert reply.text.splitlines()[:3] == [str(work / "d"), "1", "from-f"]
    assert "deleted   d/b" in reply.text
    assert after.text.splitlines()[:2] == [str(work / "d"), "1"]
    assert (work / "d/b").exists()


async def test_the_timeout_ends_a_try_and_what_it_changed_can_still_be_discarded(work: Path) -> None:
    reply, entry = await tried(work, "rm a; sleep 60 & sleep 60", timeout=1)
    assert "timed out after 1 second" in reply.text
    assert [change.path for change in entry.changes()] == ["a"]
    discard(entry)


async def test_a_cancelled_try_leaves_nothing(work: Path, home: Path) -> None:
    async with nacre.Tool("workspace", cwd=work) as tool:
        call = asyncio.create_task(tool.call({"command": "rm a; sleep 60", "try": True}))
        while not list((home / "tries").glob("try_1/upper/a")):
            await asyncio.sleep(0.02)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert list((home / "tries").iterdir()) == []
    assert (work / "a").exists()


async def test_a_long_list_is_counted_and_kept_whole_while_deletions_are_all_named(work: Path) -> None:
    for number in range(60):
        (work / f"old{number}").write_text("o", encoding="utf-8")
    reply, _ = await tried(work, "rm old*; for i in $(seq 100); do echo > new$i; done")
    assert sum(line.startswith("deleted   old") for line in reply.text.splitlines()) == 60
    assert "… and 60 more paths added or modified; the whole list: artifact://" in reply.text
    async with nacre.Tool("read") as reader:
        whole = await reader.call({"id": reply.details["try"]["artifactId"], "grep": "^added"})
    assert whole.text.count("added     new") == 100


async def test_undo_saves_nothing_for_a_try(work: Path, home: Path) -> None:
    settings = Settings(undo=UndoSettings(mode="on"))
    async with nacre.Tool("workspace", cwd=work, settings=settings) as tool:
        await tool.call({"command": "rm a", "try": True})
    assert not (home / "undo").exists()


@pytest.mark.parametrize("other", [{"async": True}, {"pty": True}, {"until": {"quiet": 1}}])
async def test_fields_that_do_not_go_with_a_try_are_refused(other: dict[str, object], work: Path) -> None:
    async with nacre.Tool("workspace", cwd=work) as tool:
        reply = await tool.call({"command": "rm a", "try": True, **other})
    assert reply.text.startswith(f"fields 'try' and '{next(iter(other))}' cannot be combined")
    assert (work / "a").exists()


async def test_where_no_overlay_can_be_mounted_nothing_is_run(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_HOME", str(work / "state"))
    async with nacre.Tool("workspace", cwd=work) as tool:
        reply = await tool.call({"command": "touch ran", "try": True})
    assert reply.text.startswith("nothing was run: no overlay can be mounted here: the state directory ")
    assert not (work / "ran").exists()


async def test_without_the_warden_nothing_is_run(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_CONTAINMENT", "off")
    async with nacre.Tool("workspace", cwd=work) as tool:
        reply = await tool.call({"command": "touch ran", "try": True})
    assert reply.text == "nothing was run: no overlay can be mounted here: it needs nacre's warden on this machine"
    assert not (work / "ran").exists()


async def test_a_try_whose_processes_live_is_not_committed(work: Path) -> None:
    async with nacre.Tool("workspace", cwd=work) as tool, nacre.Tool("job") as jobs:
        reply = await tool.call({"command": "rm a; sleep 60 &", "try": True})
        entry = TryStore(os.environ["NACRE_HOME"]).get("try_1")
        with pytest.raises(TryError, match="try_1 still runs"):
            commit(entry)
        await jobs.call({"cancel": [reply.details["async"]["jobId"]]})
        await jobs.call({"poll": [reply.details["async"]["jobId"]]})
    assert "what it changes cannot be listed yet: try_1 still runs" in reply.text
    assert commit(entry).conflicts == []
    assert not (work / "a").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_plain_user_can_try_too(tmp_path: Path) -> None:
    """The entry alone: the interpreter of the tests may be out of reach for other users."""
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("no system interpreter that every user may run")
    place = Path(subprocess.check_output(["mktemp", "-d", "/var/tmp/nacre-try-XXXXXX"], text=True).strip())
    try:
        for name in ("lower/d", "try/upper", "try/work"):
            (place / name).mkdir(parents=True)
        (place / "lower/d/f").write_text("f\n", encoding="utf-8")
        shutil.copy(overlay_entry.__file__, place / "entry.py")
        for path in (place, *place.rglob("*")):
            os.chown(path, 65534, 65534)
        script = 'id -u; rm -r d; echo x > new; rm /var/tmp/nothing; touch "$TMPDIR/t"; unshare -Ur true; :'
        words = [str(place / name) for name in ("lower", "try", "lower")]
        done = subprocess.run(
            [python, "-I", "-S", str(place / "entry.py"), *words, "", "/bin/bash", "bash", "-c", script],
            user=65534,
            group=65534,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "65534\n"), done.stderr + (place / "try/refused").read_text()
        assert (place / "lower/d/f").exists()
        assert sorted(path.name for path in (place / "try/upper").iterdir()) == ["d", "new"]
        assert stat.S_ISCHR((place / "try/upper/d").lstat().st_mode)
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", str(place)], check=False)
        shutil.rmtree(place)
