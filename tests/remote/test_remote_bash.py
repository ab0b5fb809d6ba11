"""Sessions on another place: their state, through cut links, killed far sides, and to their end."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import nacre
from nacre.remote.link_thread import links
from nacre.remote.remote_backend import RemoteBackend, connect
from nacre.remote.ssh_wire import SshDialer
from nacre.remote.wire import Dialer, PrefixDialer
from nacre.settings import PolicySettings
from nacre.warden import children
from remote.sshd import Sshd

PATIENCE_SECONDS = 30.0


def here() -> PrefixDialer:
    """This machine, through a program that only gives its standard streams."""
    return PrefixDialer(["env"], name="here")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


async def cut(place: RemoteBackend) -> None:
    """Cut the link as a network does; the far side is not told."""
    await asyncio.wrap_future(links.submit(place._link.cut()))


async def keeps_its_state(place: RemoteBackend, directory: Path) -> None:
    """What every place must hold: the state of a named session from call to call, apart from another's."""
    (directory / "sub").mkdir()
    # On a busy machine the guard refuses what it has no time to read.
    unguarded = nacre.Settings(policy=PolicySettings(guard="off"))
    async with (
        nacre.Tool("workspace", backend=place, cwd=directory, session="one", settings=unguarded) as one,
        nacre.Tool("workspace", backend=place, cwd=directory, session="two", settings=unguarded) as two,
    ):

        async def said(tool: nacre.Tool, command: str) -> str:
            return (await tool.call({"command": command})).text.split("\n\nWall time")[0]

        assert "One shell for all calls" in one.schema()["description"]
        await said(one, "cd sub && x=plain && export y=exported; f() { echo f $x; }; alias a='echo alias'")
        await said(one, "shopt -s expand_aliases extglob; set -o noclobber; exec 7>seven; (exit 5)")
        assert await said(one, "echo $?; pwd; f; a; sh -c 'echo $y'; shopt -p extglob; echo $-; echo to 7 >&7") == (
            f"5\n{directory}/sub\nf plain\nalias\nexported\nshopt -s extglob\nhBCc"
        )
        assert (directory / "sub" / "seven").read_text() == "to 7\n"
        assert await said(two, "echo ${x-unset}; pwd") == f"unset\n{directory}"
        # D3: a chain of && moves the session, other scripts run as written.
        await said(two, "cd sub && true")
        assert await said(two, "cd nope && ls || echo fallback; pwd") == (
            f"bash: line 1: cd: nope: No such file or directory\nfallback\n{directory}/sub"
        )


async def test_a_session_keeps_its_state_behind_a_prefix(tmp_path: Path) -> None:
    async with await connect(here()) as place:
        await keeps_its_state(place, tmp_path)


@pytest.mark.slow
async def test_a_session_keeps_its_state_by_ssh(sshd: Sshd, tmp_path: Path) -> None:
    async with await connect(SshDialer("127.0.0.1", **sshd.options)) as place:
        await keeps_its_state(place, tmp_path)


async def test_a_timeout_costs_the_shell_but_not_the_state(tmp_path: Path) -> None:
    async with await connect(here()) as place, nacre.Session(backend=place, cwd=tmp_path) as shell:
        await shell.run("x=kept; cd /usr")
        late = await shell.run("x=lost; cd /; echo $$ >pid; sleep 1000", timeout=1)
        assert isinstance(late.outcome, nacre.TimedOut)
        after = await shell.run("echo $x; pwd")
        assert after.text == "kept\n/usr\n"
        assert after.notices == (
            "new shell: the timeout ended the last one; directory, variables and functions as before",
        )


async def test_a_session_goes_on_through_a_cut_link(tmp_path: Path) -> None:
    async with await connect(here()) as place, nacre.Session(backend=place, cwd=tmp_path) as shell:
        first = await shell.run("x=kept; echo $$")
        await cut(place)
        after = await shell.run("echo $$")
        assert (after.text, after.notices) == (first.text, ())
        running = asyncio.create_task(
            shell.run(
                "echo began >>ran; printf '%s\\n' {1..200}; until [ -e go ]; do sleep 0.01; done; x=new; (exit 5)"
            )
        )
        await until((tmp_path / "ran").exists)
        await cut(place)
        (tmp_path / "go").touch()
        result = await running
        assert (result.outcome, result.text) == (nacre.Exited(5), "".join(f"{n}\n" for n in range(1, 201)))
        assert (await shell.run("echo $? $x; cat ran; echo $$")).text == f"5 new\nbegan\n{first.text}"


async def test_a_command_that_did_not_arrive_is_sent_again_and_runs_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await connect(here()) as place, nacre.Session(backend=place, cwd=tmp_path) as shell:
        await shell.run("x=kept")
        wire = place._link._wire
        assert wire is not None
        swallowed: list[bytes] = []
        monkeypatch.setattr(wire, "write", swallowed.append)
        running = asyncio.create_task(shell.run("echo $x >>ran; echo done"))
        await until(lambda: any(b"done" in data for data in swallowed))
        await cut(place)
        result = await running
        assert (result.outcome, result.text) == (nacre.Exited(0), "done\n")
        assert (tmp_path / "ran").read_text() == "kept\n"


async def test_a_far_side_that_was_killed_costs_the_shell_and_the_next_result_says_so(tmp_path: Path) -> None:
    async with await connect(here()) as place, nacre.Session(backend=place, cwd=tmp_path) as shell:
        first = await shell.run("x=kept; cd /usr; f() { echo f; }; echo $$")
        await shell.run("true")
        os.kill(place.place["pid"], signal.SIGKILL)
        await until(lambda: children.state(int(first.text)) in ("X", "Z"))
        await until(lambda: not place._link.is_up or place._link.hello is not place.place)
        after = await shell.run("echo $x; pwd; f")
        assert after.text == "kept\n/usr\nf\n"
        (notice,) = after.notices
        assert notice.startswith("new shell: the last one is lost (the far side on here does not know it any more")
        assert notice.endswith("directory, variables and functions as before")
        assert (await shell.run("echo $x")).notices == ()


async def test_a_far_side_that_is_killed_during_a_command_is_a_loss_and_no_second_run(tmp_path: Path) -> None:
    async with await connect(here()) as place, nacre.Session(backend=place, cwd=tmp_path) as shell:
        await shell.run("x=kept")
        running = asyncio.create_task(shell.run("x=lost; echo began >>ran; sleep 1000"))
        await until((tmp_path / "ran").exists)
        os.kill(place.place["pid"], signal.SIGKILL)
        result = await running
        assert isinstance(result.outcome, nacre.Lost)
        after = await shell.run("echo $x; cat ran")
        assert after.text == "kept\nbegan\n"
        (notice,) = after.notices
        assert notice.startswith("new shell: the last one is lost (")


async def test_a_lease_that_has_run_out_costs_the_shell_and_the_next_result_says_so(tmp_path: Path) -> None:
    async with await connect(here(), lease=0.5) as place, nacre.Session(backend=place, cwd=tmp_path) as shell:
        pid = int((await shell.run("x=kept; echo $$")).text)
        await shell.run("true")
        reachable: Dialer = place._link.dialer
        place._link.dialer = PrefixDialer(["false"], name="unreachable")
        await cut(place)
        await until(lambda: children.state(pid) in ("X", "Z"))
        place._link.dialer = reachable
        after = await shell.run("echo $x")
        assert after.text == "kept\n"
        (notice,) = after.notices
        assert notice.startswith("new shell: the last one is lost (")


async def test_the_guard_knows_what_the_session_has_defined_there(tmp_path: Path) -> None:
    async with await connect(here()) as place, nacre.Session(backend=place, cwd=tmp_path) as shell:
        await shell.run("shopt -s expand_aliases; alias wipe='rm -rf'; where=/; push() { git push \"$@\"; }")
        for command in ("wipe /", 'rm -rf "$where"', "push --force"):
            with pytest.raises(nacre.DeniedError):
                await shell.run(command)
        assert (await shell.run("where=/nowhere; echo $where")).text == "/nowhere\n"


async def test_nothing_remains_there_after_the_end_of_a_session(tmp_path: Path) -> None:
    async with await connect(here()) as place:
        async with nacre.Session(backend=place, cwd=tmp_path) as shell:
            pid = int((await shell.run("echo $$")).text)
            # A session that waits for its next command is none that runs, and is not left over.
            assert await place.quiesce() == []
            assert (await shell.run("echo $$")).text == f"{pid}\n"
        await until(lambda: children.state(pid) in ("X", "Z"))
        assert (await nacre.run("echo other", backend=place)).text == "other\n"


async def test_what_a_command_leaves_running_becomes_a_job_and_the_state_stays(tmp_path: Path) -> None:
    async with await connect(here()) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path) as tool:
        started = await tool.call({"command": "x=kept; until [ -e go ]; do sleep 0.01; done & cd /usr"})
        assert "it goes on as background job" in started.text
        after = (await tool.call({"command": "echo $x; pwd"})).text
        assert after.startswith("kept\n/usr\n")
        assert "$!, jobs and wait start empty" in after
        (tmp_path / "go").touch()
        async with nacre.Tool("job") as job:
            polled = await job.call({"poll": [started.text.rpartition("background job ")[2].split()[0]], "wait": 30})
        assert polled.details["jobs"][0]["state"] == "exited"


async def test_a_command_of_a_session_that_moves_to_the_background_ends_there(tmp_path: Path) -> None:
    async with await connect(here()) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path) as tool:
        await tool.call({"command": "x=kept"})
        moved = await tool.call(
            {
                "command": "echo ready $x; until [ -e go ]; do sleep 0.01; done; echo end; (exit 7)",
                "until": {"regex": "^ready"},
            }
        )
        job_id = moved.details["async"]["jobId"]
        (tmp_path / "go").touch()
        async with nacre.Tool("job") as job:
            polled = await job.call({"poll": [job_id], "wait": 30})
        (status,) = polled.details["jobs"]
        assert (status["state"], status["exitCode"]) == ("exited", 7)
        assert Path(status["outputFile"]).read_text(encoding="utf-8") == "ready kept\nend\n"
        assert (await tool.call({"command": "echo $x"})).text.startswith("kept\n")
