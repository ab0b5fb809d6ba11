"""A try in a sandbox: the overlay is inside its walls, and what is listed is committed or discarded as ever."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

import nacre
from nacre.sandbox.probing import landlock_abi
from nacre.settings import JobSettings
from nacre.tries.committing import commit, discard
from nacre.tries.try_store import TryEntry, TryStore
from nacre.warden.protocol import PLACEHOLDER_MODE
from sandbox.conftest import needs_bubblewrap, outside, python_of, settings
from tries.test_trying import SCRIPT, look, overlays, work

pytestmark = needs_bubblewrap
__all__ = ["outside", "overlays", "work"]
SOURCE = Path(__file__).resolve().parents[2] / "src"
# A user that no machine has; only its number matters.
PLAIN_USER = 54321


def own(top: Path, *, times: bool = True) -> dict[str, object]:
    """What is there beside the placeholders of sandboxes that have not ended yet."""
    while True:
        try:
            found = look(top, times=times)
            break
        except FileNotFoundError:
            # A sandbox has ended during the look and has taken its placeholders along: what is left is looked at anew.
            continue
    return {name: facts for name, facts in found.items() if facts[:2] != (stat.S_IFDIR, PLACEHOLDER_MODE)}  # type: ignore[index]


async def tried(
    work: Path, command: str, chosen: nacre.Settings | None = None, **fields: object
) -> tuple[nacre.Reply, TryEntry]:
    async with nacre.Tool("workspace", cwd=work, settings=chosen or settings()) as tool:
        reply = await tool.call({"command": command, "try": True, **fields})
    assert "try" in reply.details, reply.text
    return reply, TryStore(os.environ["NACRE_HOME"]).get(reply.details["try"]["id"])


async def test_a_try_in_a_sandbox_lists_discards_and_commits_to_the_byte(work: Path, tmp_path: Path) -> None:
    (work / "nacre.toml").unlink()
    (work / ".git").mkdir()
    before, real = own(work), tmp_path / "real"
    shutil.copytree(work, real, symlinks=True)
    subprocess.run(["bash", "-c", SCRIPT], cwd=real, check=True)
    reply, entry = await tried(work, SCRIPT)
    assert reply.details["try"] == {"id": "try_1", "added": 2, "modified": 1, "deleted": 8}
    assert reply.details["sandbox"]["backend"] == "bubblewrap"
    assert own(work) == before
    discard(entry)
    assert own(work) == before
    _, entry = await tried(work, SCRIPT)
    assert commit(entry).conflicts == []
    assert own(work, times=False) == own(real, times=False)


async def test_what_the_sandbox_refuses_is_refused_in_a_try(work: Path, outside: Path) -> None:
    attempts = [
        f"echo x > {outside}/written",
        "mkdir -p .git/hooks",
        "echo x >> nacre.toml",
        "unshare -Urm true",
        "exec 3<>/dev/tcp/127.0.0.1/9",
        "umount .",
        "mount -o remount,rw,bind /",
    ]
    script = "; ".join(f"({attempt}) 2>/dev/null && echo through {at}" for at, attempt in enumerate(attempts))
    reply, entry = await tried(work, f"{script}; echo y > a; grep CapEff /proc/self/status")
    assert "through" not in reply.text
    assert "CapEff:\t0000000000000000" in reply.text
    assert [change.path for change in commit(entry).done] == ["a"]
    assert list(outside.iterdir()) == []
    assert (work / "nacre.toml").read_text(encoding="utf-8") == ""
    assert not (work / ".git/hooks").exists()


async def test_the_model_commits_and_discards_by_path_from_a_sandbox(work: Path) -> None:
    async with nacre.Tool("workspace", cwd=work, settings=settings()) as tool:
        reply = await tool.call({"command": "rm a; echo x > d/new; echo y > d/b; rm run", "try": True})
        name = reply.details["try"]["id"]
        changes = nacre.Tool("changes", cwd=work, settings=settings())
        assert (await changes.call({"id": name, "commit": ["d"]})).details["done"] == 2
        assert (await changes.call({"id": name, "discard": ["a"]})).details["left"] == 1
        assert (await changes.call({"id": name, "commit": True})).details["state"] == "committed"
        # The next command of the same tool is in an ordinary sandbox again.
        assert (await tool.call({"command": "echo real > real"})).is_error is False
    assert sorted(path.name for path in work.iterdir() if not path.name.startswith(".")) == [
        "a",
        "d",
        "link",
        "nacre.toml",
        "real",
        "twin",
    ]
    assert ((work / "d/b").read_text(encoding="utf-8"), (work / "d/new").exists()) == ("y\n", True)


async def test_a_job_that_is_a_try_is_listed_after_its_end(work: Path) -> None:
    soon = replace(settings(), jobs=JobSettings(auto_background_seconds=0.5))
    async with nacre.Tool("workspace", cwd=work, settings=soon) as tool:
        reply = await tool.call({"command": "echo x > new; rm a; sleep 2", "try": True})
        job = nacre.Tool("job", cwd=work, settings=settings())
        polled = await job.call({"poll": [reply.details["async"]["jobId"]], "wait": 30})
        assert "exit code 0" in polled.text
    (entry,) = TryStore(os.environ["NACRE_HOME"]).list()
    found = [(change.kind, change.path) for change in entry.changes(patience=30)]
    assert found == [("deleted", "a"), ("added", "new")]
    assert (work / "a").exists()


async def test_full_access_writes_the_whole_overlay_and_nothing_else(work: Path, outside: Path) -> None:
    script = f"echo x > {outside}/written || echo z > nacre.toml; echo t > /tmp/t"
    _, entry = await tried(work, script, settings(access="full"))
    assert [change.path for change in commit(entry).done] == ["nacre.toml"]
    assert (work / "nacre.toml").read_text(encoding="utf-8") == "z\n"
    assert (list(outside.iterdir()), Path("/tmp/t").exists()) == ([], False)


async def test_read_only_access_is_read_only_on_the_overlay_too(work: Path) -> None:
    async with nacre.Tool("workspace", cwd=work, settings=settings(access="read-only")) as tool:
        reply = await tool.call({"command": "echo x > new", "try": True})
    assert "Read-only file system" in reply.text
    assert "the try has changed nothing" in reply.text


async def test_more_writable_directories_are_real_and_so_read_only_in_a_try(work: Path, outside: Path) -> None:
    chosen = settings(writable=(str(outside),))
    reply, entry = await tried(work, f"echo x > new; echo y > {outside}/y", chosen)
    assert "Read-only file system" in reply.text
    assert [change.path for change in entry.changes()] == ["new"]
    assert own(outside) == {}


async def test_a_person_is_not_asked_to_run_a_try_on_the_files_themselves(work: Path) -> None:
    asked = []

    def approver(command: str, verdict: nacre.Verdict) -> bool:
        asked.append((command, verdict))
        return True

    async with nacre.Tool("workspace", cwd=work, settings=settings(), approver=approver) as tool:
        reply = await tool.call({"command": "echo x > new; touch /etc/nacre-try", "try": True})
    assert "Read-only file system" in reply.text
    assert asked == []
    assert not (work / "new").exists()


RUN = """\
import asyncio, json, sys
import nacre
from nacre.settings import SandboxSettings, Settings, ShellSettings
async def main():
    mode, work, script = sys.argv[1:]
    settings = Settings(shell=ShellSettings(snapshot=False), sandbox=SandboxSettings(mode=mode))
    async with nacre.Tool("workspace", cwd=work, settings=settings) as tool:
        reply = await tool.call({"command": script, "try": True})
        shown = {name: reply.details.get(name) for name in ("try", "sandbox")}
        shown["text"] = reply.text
        if shown["try"]:
            changes = nacre.Tool("changes", cwd=work, settings=settings)
            shown["committed"] = (await changes.call({"id": shown["try"]["id"], "commit": True})).details
    print(json.dumps(shown))
asyncio.run(main())
"""


def run_as(user: int, mode: str, script: str, *, path: str) -> dict[str, object]:
    """Try and commit as a user; returns what was answered, and what is there then."""
    python = python_of(user)
    if python is None:
        pytest.skip(f"there is no Python {sys.version_info[:2]} here that user {user} can start")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as base:
        place = Path(base)
        for name in ("work", "home", "outside"):
            (place / name).mkdir()
        (place / "work/kept").write_text("kept\n", encoding="utf-8")
        for one in (place, *place.rglob("*")):
            os.chown(one, user, user)
        modules = [str(SOURCE), *(one for one in sys.path if one.endswith("site-packages"))]
        done = subprocess.run(
            [python, "-c", RUN, mode, str(place / "work"), script.replace("OUTSIDE", str(place / "outside"))],
            capture_output=True,
            text=True,
            user=user,
            group=user,
            extra_groups=[],
            env={
                "PATH": path,
                "HOME": str(place / "home"),
                "NACRE_HOME": str(place / "state"),
                "PYTHONPATH": os.pathsep.join(modules),
            },
            cwd="/",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        left = {one.name: one.read_text(encoding="utf-8") for one in (place / "work").iterdir() if one.is_file()}
        return {**json.loads(done.stdout), "left": left, "outside": list((place / "outside").iterdir())}


ESCAPES = "rm kept; echo n > new; echo x > OUTSIDE/x; mount -t tmpfs t /mnt; echo t > $TMPDIR/t && echo own-$TMPDIR; :"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_plain_user_tries_in_a_sandbox() -> None:
    found = run_as(PLAIN_USER, "required", ESCAPES, path=os.environ["PATH"])
    assert found["sandbox"]["backend"] == "bubblewrap"  # type: ignore[index]
    assert (found["left"], found["outside"]) == ({"new": "n\n"}, []), found["text"]


@pytest.mark.skipif(landlock_abi() < 6, reason="Landlock of this kernel keeps no signals and sockets inside")
@pytest.mark.parametrize("user", [0, PLAIN_USER] if os.getuid() == 0 else [os.getuid()])
def test_a_try_holds_under_landlock_too(user: int) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as programs:
        os.chmod(programs, 0o755)
        for directory in os.environ["PATH"].split(os.pathsep):
            for program in Path(directory).iterdir() if os.path.isdir(directory) else ():
                link = Path(programs, program.name)
                if program.name != "bwrap" and not link.is_symlink():
                    link.symlink_to(program)
        found = run_as(user, "auto", ESCAPES, path=programs)
    assert found["sandbox"], found["text"]
    assert found["sandbox"]["backend"] == "landlock"  # type: ignore[index]
    assert (found["left"], found["outside"]) == ({"new": "n\n"}, []), found["text"]
    assert "own-" in str(found["text"])
