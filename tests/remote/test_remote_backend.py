"""Commands on other machines: by words before `sh`, by ssh, on the oldest Python; cut links; jobs that go on."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import nacre
from nacre.backend import Backend
from nacre.errors import BackendUnavailableError
from nacre.remote.link_thread import links
from nacre.remote.remote_backend import RemoteBackend, connect
from nacre.remote.ssh_wire import SshDialer
from nacre.remote.wire import PrefixDialer
from nacre.testing.backend_contract import CHECKS
from nacre.warden import children
from remote.bare_machine import bare_path
from remote.sshd import PLAIN_UID, Sshd

# States of a process that has ended.
GONE = ("X", "Z")
OLDEST = next(map(str, Path.home().glob(".pyenv/versions/3.9.*/bin")), None)


def here(*words: str) -> PrefixDialer:
    """This machine, through a program that only gives its standard streams."""
    return PrefixDialer(["env", *words], name="here")


def by_ssh(sshd: Sshd) -> SshDialer:
    return SshDialer("127.0.0.1", **sshd.options)


def cut(backend: RemoteBackend) -> None:
    """Cut the link as a network does; the far side is not told."""
    links.submit(backend._link.cut())


# The contract of every backend.


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_the_contract_of_backends_holds_behind_a_prefix(check: Callable[[Backend], Awaitable[None]]) -> None:
    async with await connect(here()) as place:
        await check(place)


@pytest.mark.slow
async def test_the_contract_of_backends_holds_by_ssh(sshd: Sshd) -> None:
    async with await connect(by_ssh(sshd)) as place:
        await nacre.testing.check_backend(place)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare here")
async def test_the_contract_of_backends_holds_by_ssh_as_a_plain_user(tmp_path: Path) -> None:
    with Sshd(tmp_path, plain=True) as daemon:
        async with await connect(by_ssh(daemon)) as place:
            if place.place["python"] is None:
                pytest.skip("a plain user finds no Python here")
            assert (await nacre.run("id -u", backend=place)).text == f"{PLAIN_UID}\n"
            await nacre.testing.check_backend(place)


@pytest.mark.slow
async def test_a_host_without_python_is_served_by_ssh(tmp_path: Path) -> None:
    with Sshd(tmp_path, settings=f"SetEnv PATH={bare_path(tmp_path, 'dash')} HOME={tmp_path}") as daemon:
        async with await connect(by_ssh(daemon)) as place:
            assert place.place["python"] is None
            tool = nacre.Tool("basic", backend=place)
            async with tool:
                reply = await tool.call({"command": "echo out; echo err >&2; exit 3"})
            assert reply.json() == {"stdout": "out\n", "stderr": "err\n", "exitCode": 3}


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare")
async def test_the_contract_of_backends_holds_in_other_namespaces() -> None:
    prefix = ["unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--mount-proc"]
    async with await connect(PrefixDialer(prefix, name="namespaces")) as place:
        for check in CHECKS:
            # The survivor is told by its pid there, so this process cannot end it; the namespace does.
            if check.__name__ != "survivors_are_named_and_not_waited_for":
                await check(place)


@pytest.mark.slow
@pytest.mark.skipif(OLDEST is None, reason="no Python 3.9 here")
async def test_the_far_side_runs_on_python_3_9() -> None:
    async with await connect(here(f"PATH={OLDEST}:/usr/bin:/bin")) as place:
        assert place.place["python"].startswith("3.9.")
        await nacre.testing.check_backend(place)


# What a caller sees.


async def test_directory_and_variables_are_those_of_the_place(tmp_path: Path) -> None:
    async with await connect(here("-C", str(tmp_path), "THERE=yes", "SOME_API_KEY=k3y-of-the-place-1234")) as place:
        result = await nacre.run('echo "$PWD $THERE ${SOME_API_KEY-none}"', backend=place)
        assert result.text == f"{tmp_path} yes none\n"
        leak = await nacre.run(
            "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a SOME_API || true", backend=place
        )
        assert "k3y-of-the-place-1234" not in leak.text


async def test_a_program_that_cannot_reach_the_place_says_why() -> None:
    with pytest.raises(BackendUnavailableError, match="sorry, no such pod"):
        await connect(PrefixDialer(["bash", "-c", "echo 'sorry, no such pod' >&2; exit 1"], name="pod"))
    with pytest.raises(BackendUnavailableError, match="no-such-program"):
        await connect(PrefixDialer(["no-such-program"], name="nowhere"))


async def test_case_95_what_a_login_prints_is_not_output() -> None:
    noisy = PrefixDialer(["bash", "-c", 'echo "Welcome to the machine"; seq 1000; exec "$@"', "login"], name="noisy")
    async with await connect(noisy) as place:
        assert (await nacre.run("echo hi", backend=place)).text == "hi\n"


async def test_an_unknown_host_key_is_refused(sshd: Sshd) -> None:
    sshd.known_hosts.write_text("", encoding="utf-8")
    with pytest.raises(BackendUnavailableError, match="cannot be trusted"):
        await connect(by_ssh(sshd))


async def test_a_wrong_key_is_refused(sshd: Sshd) -> None:
    sshd.authorized.write_text("", encoding="utf-8")
    with pytest.raises(BackendUnavailableError, match="refused the login"):
        await connect(by_ssh(sshd))


@pytest.mark.parametrize(
    ("script", "budget", "clock"),
    [
        ("for i in $(seq 60); do sleep 30 & done; wait", nacre.Budget(processes=30), "processes"),
        ("while :; do :; done", nacre.Budget(cpu_seconds=0.3), "cpu_seconds"),
        ("exec head -c 3000000 /dev/zero >big", nacre.Budget(file_bytes=1 << 20), "file_bytes"),
        ("yes", nacre.Budget(output_bytes=4096), "output_bytes"),
    ],
)
async def test_a_budget_is_held_at_the_place(script: str, budget: nacre.Budget, clock: str, tmp_path: Path) -> None:
    async with await connect(here()) as place:
        result = await nacre.run(script, backend=place, cwd=tmp_path, budget=budget, timeout=30)
    assert (result.clock, result.cause) == (clock, "limit")


async def test_a_flood_comes_whole() -> None:
    async with await connect(here()) as place:
        result = await nacre.run("seq 2000000 | sha256sum; seq 2000000 >&2", backend=place)
        local = await nacre.run("seq 2000000 | sha256sum")
        assert result.text.startswith(local.text)
        assert result.output.total_bytes == len(local.text) + sum(len(str(n)) + 1 for n in range(1, 2000001))


async def test_many_commands_share_one_link() -> None:
    async with await connect(here()) as place:
        results = await asyncio.gather(*(nacre.run(f"echo $(({n} * 7))", backend=place) for n in range(100)))
        assert [result.text for result in results] == [f"{n * 7}\n" for n in range(100)]


def test_calls_without_a_loop_use_the_same_link() -> None:
    place = asyncio.run(connect(here()))
    assert [nacre.run_sync("echo $PPID", backend=place).ok for _ in range(3)] == [True, True, True]
    asyncio.run(place.aclose())


# A link that is cut.


async def test_case_94_a_command_goes_on_through_a_cut_link_and_runs_once(tmp_path: Path) -> None:
    async with await connect(here()) as place:
        running = asyncio.create_task(
            nacre.run(
                "echo began >>ran; printf 'line %s\\n' $(seq 200); until [ -e go ]; do sleep 0.01; done; exit 5",
                backend=place,
                cwd=tmp_path,
            )
        )
        while not (tmp_path / "ran").exists():
            await asyncio.sleep(0.01)
        cut(place)
        (tmp_path / "go").touch()
        result = await running
        assert result.outcome == nacre.Exited(5)
        assert result.text == "".join(f"line {i}\n" for i in range(1, 201))
        assert (tmp_path / "ran").read_text() == "began\n"


async def test_a_far_side_that_is_killed_is_a_loss_and_no_second_run(tmp_path: Path) -> None:
    async with await connect(here()) as place:
        running = asyncio.create_task(nacre.run("echo began >>ran; sleep 100", backend=place, cwd=tmp_path))
        while not (tmp_path / "ran").exists():
            await asyncio.sleep(0.01)
        os.kill(place.place["pid"], 9)
        result = await running
        assert isinstance(result.outcome, nacre.Lost)
        assert "does not know it any more" in result.outcome.reason
        assert (tmp_path / "ran").read_text() == "began\n"
        assert (await nacre.run("echo again", backend=place)).text == "again\n"


async def test_case_93_the_end_of_the_link_ends_the_command(sshd: Sshd, tmp_path: Path) -> None:
    place = await connect(by_ssh(sshd))
    running = asyncio.create_task(nacre.run("echo $$ >pid; exec sleep 1000", backend=place, cwd=tmp_path))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        await asyncio.sleep(0.01)
    pid = int((tmp_path / "pid").read_text())
    await place.aclose()
    while children.state(pid) not in GONE:
        await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.wait([running])


async def test_the_lease_of_a_cut_link_ends_its_commands(tmp_path: Path) -> None:
    place = await connect(here(), lease=0.5)
    running = asyncio.create_task(nacre.run("echo $$ >pid; exec sleep 1000", backend=place, cwd=tmp_path))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        await asyncio.sleep(0.01)
    pid = int((tmp_path / "pid").read_text())
    reachable, place._link.dialer = place._link.dialer, PrefixDialer(["false"], name="unreachable")
    cut(place)
    result = await running
    assert isinstance(result.outcome, nacre.Lost)
    while children.state(pid) not in GONE:
        await asyncio.sleep(0.01)
    place._link.dialer = reachable
    assert (await nacre.run("echo back", backend=place)).text == "back\n"
    await place.aclose()


# Jobs.


async def test_a_job_goes_on_through_a_cut_ssh_connection_and_runs_once(sshd: Sshd, tmp_path: Path) -> None:
    async with await connect(by_ssh(sshd)) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path) as tool:
        command = "echo began >>ran; seq 1000; until [ -e go ]; do sleep 0.01; done; echo end; exit 7"
        started = await tool.call({"command": command, "async": True})
        job_id = started.details["async"]["jobId"]
        while not (tmp_path / "ran").exists():
            await asyncio.sleep(0.01)
        sshd.cut()
        (tmp_path / "go").touch()
        async with nacre.Tool("job") as job:
            polled = await job.call({"poll": [job_id], "wait": 30})
        (status,) = polled.details["jobs"]
        assert (status["state"], status["exitCode"]) == ("exited", 7)
        output = Path(status["outputFile"]).read_text(encoding="utf-8")
        assert output == "".join(f"{n}\n" for n in range(1, 1001)) + "end\n"
        assert (tmp_path / "ran").read_text() == "began\n"


async def test_a_command_that_outlives_its_window_becomes_a_job(tmp_path: Path) -> None:
    async with await connect(here()) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path) as tool:
        command = "echo first; until [ -e go ]; do sleep 0.01; done; echo last; exit 3"
        kept = await tool.call({"command": command, "until": {"regex": "first"}})
        (tmp_path / "go").touch()
        async with nacre.Tool("job") as job:
            polled = await job.call({"poll": [kept.details["async"]["jobId"]], "wait": 30})
        assert polled.details["jobs"][0]["resultText"] == "first\nlast"
        assert polled.details["jobs"][0]["exitCode"] == 3


async def test_stopping_a_job_ends_the_command_there(tmp_path: Path) -> None:
    async with await connect(here()) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path) as tool:
        started = await tool.call({"command": "echo $$ >pid; exec sleep 1000", "async": True})
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            await asyncio.sleep(0.01)
        async with nacre.Tool("job") as job:
            await job.call({"cancel": [started.details["async"]["jobId"]]})
        assert children.state(int((tmp_path / "pid").read_text())) in GONE


async def test_what_a_command_leaves_running_becomes_a_job(tmp_path: Path) -> None:
    async with await connect(here()) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path) as tool:
        reply = await tool.call({"command": "(until [ -e go ]; do sleep 0.01; done; echo late; exit 9) & echo now"})
        job_id = reply.details["async"]["jobId"]
        (tmp_path / "go").touch()
        async with nacre.Tool("job") as job:
            polled = await job.call({"poll": [job_id], "wait": 30})
        assert polled.details["jobs"][0]["exitCode"] == 9
        assert "late" in polled.details["jobs"][0]["resultText"]


# What evaluators ask.


async def test_quiesce_stops_and_names_what_a_finished_command_has_left(tmp_path: Path) -> None:
    async with await connect(here()) as place:
        # Until it has become sleep, the child of bash is another bash.
        await nacre.run(
            "(setsid sleep 1000 & until grep -q ^sleep /proc/$!/cmdline; do :; done); true", backend=place, cwd=tmp_path
        )
        left = await place.quiesce()
        assert [one["argv"] for one in left] == [["sleep", "1000"]]
        while children.state(left[0]["pid"]) not in GONE:
            await asyncio.sleep(0.01)
        assert await place.quiesce() == []
        assert (await place.health())["host"]


async def test_quiesce_is_refused_while_a_command_runs(tmp_path: Path) -> None:
    async with await connect(here()) as place:
        running = asyncio.create_task(nacre.run("touch up; sleep 1000", backend=place, cwd=tmp_path))
        while not (tmp_path / "up").exists():
            await asyncio.sleep(0.01)
        with pytest.raises(nacre.BackendError, match="commands run on here"):
            await place.quiesce()
        running.cancel()
        await asyncio.wait([running])


# The command line.


@pytest.mark.slow
def test_the_command_line_runs_there() -> None:
    def nacre_says(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "nacre", *words], capture_output=True, text=True, check=False)

    there = "prefix:env THERE=yes"
    done = nacre_says("run", "--on", there, "--", "echo $THERE; exit 7")
    assert (done.stdout, done.returncode) == ("yes\n", 7)
    done = nacre_says("--on", there, "call", "basic", '{"command": "echo $THERE"}')
    assert done.stdout == '{"stdout": "yes\\n", "stderr": "", "exitCode": 0}\n'
    done = nacre_says("--on", "nowhere:x", "run", "--", "true")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.startswith("nacre: --on 'nowhere:x' names no place; it is one of docker:NAME, ")
