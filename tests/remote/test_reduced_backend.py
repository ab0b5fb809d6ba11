"""Commands on a machine without Python: the part of the contract that a sh can hold, and what it refuses."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

import nacre
from nacre.backend import Backend, Ending
from nacre.command import Command, Overlay, TerminalSize
from nacre.engine.run import Run
from nacre.errors import BackendUnavailableError
from nacre.remote.link_thread import links
from nacre.remote.reduced_backend import MOST_SCRIPT_BYTES, ReducedBackend
from nacre.remote.remote_backend import connect
from nacre.remote.wire import PrefixDialer
from nacre.testing.backend_contract import CHECKS, Collected
from nacre.warden import children
from remote.bare_machine import Kind, bare

GONE = ("X", "Z")
# What a command leaves is ended with its shell there, and named in a notice.
NEVER_HELD = {"survivors_are_named_and_not_waited_for"}
NOT_HELD_BY_SH = {"the_stages_of_a_pipeline_are_told"}


def held(kind: Kind) -> list[Callable[[Backend], Awaitable[None]]]:
    missing = NEVER_HELD | (NOT_HELD_BY_SH if kind == "busybox" else set())
    return [check for check in CHECKS if check.__name__ not in missing]


async def place_of(directory: Path, kind: Kind = "dash", *words: str) -> ReducedBackend:
    place = await connect(bare(directory, kind, *words))
    assert isinstance(place, ReducedBackend)
    return place


def command(script: str, **changes: object) -> Command:
    plain = Command(script=script, cwd="/", env={"PATH": os.environ["PATH"]}, timeout=60.0, grace=5.0)
    return replace(plain, **changes)  # type: ignore[arg-type]


async def ran(place: Backend, wanted: Command) -> tuple[Ending, dict[int, bytes]]:
    sink = Collected()
    run = Run.start(place, wanted, sink)
    try:
        return await run.wait(), sink.streams
    finally:
        run.release()


async def pid_in(path: Path) -> int:
    while not path.exists() or not path.read_text(encoding="utf-8").endswith("\n"):
        await asyncio.sleep(0.01)
    return int(path.read_text(encoding="utf-8"))


async def ended(pid: int) -> None:
    while children.state(pid) not in GONE:
        await asyncio.sleep(0.01)


# The contract.


@pytest.mark.parametrize(
    ("kind", "check"),
    [(kind, check) for kind in ("dash", "busybox") for check in held(kind)],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
async def test_what_a_sh_can_hold_of_the_contract_of_backends(
    kind: Kind, check: Callable[[Backend], Awaitable[None]], tmp_path: Path
) -> None:
    async with await place_of(tmp_path, kind) as place:
        await check(place)


@pytest.mark.slow
async def test_a_bash_that_is_the_sh_holds_the_same(tmp_path: Path) -> None:
    async with await place_of(tmp_path, "bash") as place:
        for check in held("bash"):
            await check(place)


# What a caller sees.


@pytest.mark.parametrize("kind", ["dash", "busybox"])
async def test_every_result_says_what_is_not_promised(kind: Kind, tmp_path: Path) -> None:
    async with await place_of(tmp_path, kind, "THERE=yes") as place:
        result = await nacre.run("echo $THERE", backend=place)
        assert (result.text, result.outcome) == ("yes\n", nacre.Exited(0))
        (notice,) = result.notices
        assert notice.startswith("bare has no Python 3.9 or newer, so less is promised: ")
        assert "a process that leaves its session is not found" in notice
        assert ("there is no bash" in notice) == (kind == "busybox")
        health = await place.health()
        assert (health["python"], health["environ"]["THERE"]) == (None, "yes")
        assert all(missing in notice for missing in health["notPromised"])
        offered = nacre.Tool("workspace", backend=place).schema()
        assert "async" not in offered["input_schema"]["properties"]
        assert "One shell for all calls" not in offered["description"]


@pytest.mark.parametrize("kind", ["dash", "busybox"])
@pytest.mark.parametrize("streams", ["merged", "split"])
async def test_every_byte_comes_on_its_stream(kind: Kind, streams: str, tmp_path: Path) -> None:
    data = bytes(range(256)) * 4096
    for name in ("out", "err"):
        (tmp_path / name).write_bytes(name.encode("ascii") + data)
    async with await place_of(tmp_path, kind) as place:
        ending, got = await ran(place, command("cat out; cat err >&2", cwd=str(tmp_path), streams=streams))
    out, err = b"out" + data, b"err" + data
    assert ending.code == 0
    assert got == ({1: out + err, 2: b""} if streams == "merged" else {1: out, 2: err})


async def test_the_environment_is_the_callers_and_in_no_argument_list(tmp_path: Path) -> None:
    look = 'case $(tr "\\0" " " <"$f") in *"$VALUE"*) echo "seen in $f";; esac'
    script = f'echo "$VALUE|${{GONE-unset}}"; for f in /proc/[0-9]*/cmdline; do {look}; done 2>/dev/null'
    value = "several\nlines, 'quotes' and Ünïcödé-7431"
    env = {"PATH": os.environ["PATH"], "VALUE": value, "BASH_FUNC_f%%": "() { :; }"}
    async with await place_of(tmp_path, "dash", "GONE=login") as place:
        ending, got = await ran(place, command(script, env=env))
    assert got[1].decode("utf-8") == f"{value}|unset\n"
    assert ending.notices == ("variables that its sh cannot set were left out: BASH_FUNC_f%%",)


@pytest.mark.parametrize("kind", ["dash", "busybox"])
async def test_a_variable_that_is_kept_from_a_command_is_not_in_proc_either(kind: Kind, tmp_path: Path) -> None:
    async with await place_of(tmp_path, kind, "SOME_API_KEY=k3y-of-the-place-1234") as place:
        shown = await nacre.run(
            "echo ${SOME_API_KEY-none}; cat /proc/$$/environ /proc/$PPID/environ | tr '\\0' '\\n'", backend=place
        )
        # Read, and there is nothing of it.
        assert shown.text.startswith("none\n")
        assert "PATH=" in shown.text
        assert "SOME_API_KEY" not in shown.text
        assert "k3y-of-the-place" not in shown.text


async def test_a_machine_without_env_says_that_variables_can_be_read(tmp_path: Path) -> None:
    place = await connect(bare(tmp_path, "dash", without="env"))
    async with place:
        assert any("because there is no env" in missing for missing in place.place["notPromised"])
        assert (await nacre.run("echo hi", backend=place)).text == "hi\n"


async def test_what_a_command_leaves_is_ended_and_named(tmp_path: Path) -> None:
    async with await place_of(tmp_path) as place:
        result = await nacre.run("sleep 1000 & echo $! >pid; echo done", backend=place, cwd=tmp_path)
        pid = await pid_in(tmp_path / "pid")
        assert (result.text, result.outcome) == ("done\n", nacre.Exited(0))
        assert f"ended with its shell, because nothing can go on there: sleep 1000 (pid {pid})" in result.notices
        assert children.state(pid) in GONE


async def test_the_guards_prologue_runs_before_the_script_and_its_notes_come(tmp_path: Path) -> None:
    async with await place_of(tmp_path) as place:
        ending, got = await ran(
            place, command("f; false | true", prologue="f() { @notes@ echo refused /x; }", stages=True)
        )
        assert (ending.refused, ending.stages, got[1]) == (("/x",), (1, 0), b"")


# A link that is cut.


async def test_a_cut_link_ends_the_command_which_is_lost(tmp_path: Path) -> None:
    async with await place_of(tmp_path) as place:
        running = asyncio.create_task(
            nacre.run("echo began >>ran; sleep 1000 & echo $! >pid; wait", backend=place, cwd=tmp_path)
        )
        pid = await pid_in(tmp_path / "pid")
        (process,) = place._running
        assert process._wire is not None
        await asyncio.wrap_future(links.submit(process._wire.close()))
        result = await running
        assert isinstance(result.outcome, nacre.Lost)
        assert "the link to bare was cut" in result.outcome.reason
        await ended(pid)
        assert (tmp_path / "ran").read_text(encoding="utf-8") == "began\n"
        assert (await nacre.run("echo again", backend=place)).text == "again\n"


async def test_closing_the_place_ends_what_runs_there(tmp_path: Path) -> None:
    place = await place_of(tmp_path, "busybox")
    running = asyncio.create_task(nacre.run("echo $$ >pid; exec sleep 1000", backend=place, cwd=tmp_path))
    pid = await pid_in(tmp_path / "pid")
    await place.aclose()
    await ended(pid)
    running.cancel()
    await asyncio.wait([running])


def test_calls_without_a_loop_work_too(tmp_path: Path) -> None:
    place = asyncio.run(place_of(tmp_path))
    assert [nacre.run_sync("echo hi", backend=place).text for _ in range(2)] == ["hi\n", "hi\n"]
    asyncio.run(place.aclose())


# What is refused.


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"terminal": TerminalSize()}, "cannot be given a terminal"),
        ({"overlay": Overlay("/", "/tmp")}, "no command can be confined there; run it without a sandbox"),
        ({"stdin": "/tmp/fifo"}, "cannot read a fifo"),
        ({"script": "x" * (MOST_SCRIPT_BYTES + 1)}, f"at most {MOST_SCRIPT_BYTES} bytes; send it as a file"),
    ],
    ids=["terminal", "sandbox", "fifo", "long script"],
)
async def test_what_it_cannot_do_is_refused_with_the_reason(
    changes: dict[str, object], reason: str, tmp_path: Path
) -> None:
    async with await place_of(tmp_path) as place:
        with pytest.raises(nacre.StartError, match=reason):
            await ran(place, command("true", **changes) if "script" not in changes else command(**changes))  # type: ignore[arg-type]


async def test_a_job_is_refused_and_so_is_the_search_for_leftovers(tmp_path: Path) -> None:
    async with await place_of(tmp_path) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path) as tool:
        reply = await tool.call({"command": "touch ran", "async": True})
        assert reply.is_error
        assert "no command can go on there in the background" in reply.text
        with pytest.raises(nacre.BackendError, match="what commands have left cannot be found"):
            await place.quiesce()
    assert not (tmp_path / "ran").exists()


async def test_no_shell_is_kept_and_the_result_says_so(tmp_path: Path) -> None:
    async with await place_of(tmp_path) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path) as tool:
        await tool.call({"command": "kept=yes; cd /"})
        reply = await tool.call({"command": "echo ${kept-no} $PWD"})
        assert reply.text.startswith(f"no {tmp_path}\n")
        assert "no shell is kept" in reply.text
        async with nacre.Session(backend=place) as session:
            with pytest.raises(BackendUnavailableError, match="no shells for sessions"):
                await session.run("true")


async def test_a_guard_that_needs_bash_is_not_left_out(tmp_path: Path) -> None:
    async with await place_of(tmp_path, "busybox") as place:
        with pytest.raises(nacre.StartError, match="has no bash, so the guard cannot watch"):
            await ran(place, command("true", prologue="rm() { :; }"))


async def test_streams_that_the_way_joins_cannot_be_split(tmp_path: Path) -> None:
    there = bare(tmp_path, "dash")
    joined = PrefixDialer(["sh", "-c", 'exec "$@" 2>&1', "way", *there.prefix], name="joined")
    async with await connect(joined) as place:
        assert (await nacre.run("echo one; echo two >&2", backend=place)).text == "one\ntwo\n"
        with pytest.raises(nacre.StartError, match="does not keep stderr apart; ask for both streams as one"):
            await ran(place, command("true", streams="split"))


async def test_a_machine_without_python_and_setsid_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailableError, match=r"neither Python 3\.9 or newer nor setsid; install Python there"):
        await connect(bare(tmp_path, "dash", without="setsid"))


@pytest.mark.slow
async def test_the_command_line_runs_there(tmp_path: Path) -> None:
    words = " ".join(bare(tmp_path, "dash").prefix)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "nacre", "--on", f"prefix:{words}", "call", "basic"),
        '{"command": "echo out; echo err >&2; exit 3"}',
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    assert b'"stdout": "out\\n", "stderr": "err\\n", "exitCode": 3' in said
