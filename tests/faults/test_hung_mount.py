"""A file system that never answers, cases 18 and 54: what waits for it cannot even be killed, and nacre still answers.

The mount is real (FUSE) and lives in a mount namespace of its own, so that it goes when its last process does.
"""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from outside import Program, alive, end, eventually

from nacre.warden import children

# Answers the greeting and swallows everything else, so that the kernel waits uninterruptibly; SIGUSR1 makes it recover.
HUNG_MOUNT = """
import asyncio, ctypes, json, os, select, signal, struct, sys, time
import nacre
from nacre.engine import run as engine_run
from nacre.settings import ExecutionSettings, Settings

INIT, FORGET, INTERRUPT = 26, 2, 36

def hang(path):
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"nacre-hung", path.encode(), b"fuse", 0, options) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    server = os.fork()
    if server:
        os.close(fd)
        return server
    os.dup2(os.open("/dev/null", os.O_RDWR), 1)
    os.dup2(1, 2)
    swallowed = []

    def answer(unique, body=b""):
        os.write(fd, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)

    def recover(*_):
        while swallowed:
            answer(swallowed.pop())

    signal.signal(signal.SIGUSR1, recover)
    # Ends by itself in any case, and with it all that waits.
    latest = time.monotonic() + 60
    while (left := latest - time.monotonic()) > 0 and select.select([fd], [], [], left)[0]:
        _, opcode, unique = struct.unpack_from("<IIQ", os.read(fd, 1 << 18))
        if opcode == INIT:
            answer(unique, struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0))
        elif opcode not in (FORGET, INTERRUPT):
            swallowed.append(unique)
    os._exit(0)

async def attempt(path, command, how):
    if how in ("async", "background"):
        # A call without a timeout waits this long for its start.
        engine_run.START_SECONDS = 1.0
        async with nacre.Tool("workspace" if how == "async" else "modes", cwd=path) as tool:
            given = {"async": True, "timeout": 1} if how == "async" else {"mode": "background"}
            reply = await tool.call({"command": command, **given})
        return {"error": "StartError" if reply.is_error else None, "words": reply.text}
    if how == "until":
        async with nacre.Tool("workspace") as tool:
            call = tool.call({"command": command, "until": {"file": path + "/x"}, "timeout": 3})
            try:
                reply = await asyncio.wait_for(call, 20)
            except TimeoutError:
                return {"words": "it did not come back"}
        return {"words": reply.text}
    if how == "tmpdir":
        os.environ["TMPDIR"] = path
        async with nacre.Tool("workspace", cwd="/") as tool:
            reply = await tool.call({"command": command, "timeout": 4})
            after = await tool.call({"command": "kill %1; echo killed", "timeout": 4})
        return {"words": reply.text + after.text, "failed": reply.is_error}
    if how == "home":
        os.environ["HOME"] = path
        async with nacre.Tool("workspace", cwd="/", settings=Settings()) as tool:
            reply = await tool.call({"command": command, "timeout": 4})
        os.environ["HOME"] = "/"
        return {"words": reply.text, "failed": reply.is_error}
    if how == "settings":
        async with nacre.Tool("workspace", tools=["read"]) as tool:
            reply = await asyncio.wait_for(tool.call({"command": command, "timeout": 3}), 20)
        return {"words": reply.text}
    if how == "tool":
        async with nacre.Tool("workspace", cwd=path) as tool:
            reply = await tool.call({"command": command, "timeout": 1})
        return {"error": "StartError" if reply.is_error else None, "words": reply.text}
    if how == "outside":
        # The runner gives a process up after 0.75 s; on a busy machine its answer may come later than is waited for.
        engine_run.WATCHDOG_SECONDS = 20.0
    options = {"cwd": path} if how != "outside" else {}
    if how == "outside":
        # The runner is to tell its end: on a busy machine the watchdog, which is for a silent one, may come first.
        engine_run.WATCHDOG_SECONDS = 30.0
    if how == "given settings":
        options["settings"] = Settings(execution=ExecutionSettings(grace_seconds=0.2))
    try:
        result = await nacre.run(command, timeout=2 if how == "outside" else 0.5, **options)
    except nacre.NacreError as error:
        return {"error": type(error).__name__, "words": str(error)}
    return {"outcome": repr(result.outcome), "text": result.text, "notices": result.notices}

async def main(path, command, how):
    server = hang(path)
    beats = 0

    async def beat():
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    heart = asyncio.create_task(beat())
    facts = await attempt(path, command, how)
    heart.cancel()
    print(json.dumps({**facts, "beats": beats, "then": (await nacre.run("echo next")).text, "server": server}))

asyncio.run(main(*sys.argv[1:]))
"""


def facts_of(command: str, how: str, tmp_path: Path, *, cwd: Path | None = None) -> dict[str, Any]:
    """What a program said of a command that meets the mount; the mount's server is left to the caller to end."""
    if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK) or shutil.which("unshare") is None:
        pytest.skip("a hung file system needs root, /dev/fuse and unshare")
    mount = tmp_path / "hung"
    mount.mkdir()
    program = Program(
        HUNG_MOUNT,
        str(mount),
        command,
        how,
        before=["unshare", "--mount", "--propagation", "private", *(["env", "--chdir", str(cwd)] if cwd else [])],
        env={"NACRE_GRACE_SECONDS": "0.2"},
    )
    facts: dict[str, Any] = program.json()
    program.succeed()
    # What looked at the mount does not keep the program from its end.
    assert alive(facts["server"])
    return facts


@pytest.mark.parametrize(
    "how",
    [
        "given settings",
        "settings from files",
        "tool",
        "async",
        "background",
    ],
)
def test_case_18_hung_working_directory_is_an_error_and_the_loop_stays_alive(
    how: str, home: Path, tmp_path: Path
) -> None:
    facts = facts_of(f"touch {tmp_path}/started", how, tmp_path)
    end(facts["server"])
    assert facts["error"] in ("StartError", "WorkingDirectoryError")
    assert facts["beats"] > 10
    assert facts["then"] == "next\n"
    assert not (tmp_path / "started").exists()
    assert list(home.glob("jobs/bg_*")) == []


def test_case_18_directory_that_recovers_later_starts_nothing_any_more(tmp_path: Path) -> None:
    facts = facts_of(f"touch {tmp_path}/started", "given settings", tmp_path)
    assert "error" in facts
    os.kill(facts["server"], signal.SIGUSR1)
    eventually(
        lambda: [pid for pid in children.descendants(os.getpid()) if alive(pid)] == [facts["server"]],
        "the end of the runner that hung",
    )
    end(facts["server"])
    assert not (tmp_path / "started").exists()


def test_case_54_process_that_cannot_be_killed_is_named_and_not_waited_for(tmp_path: Path) -> None:
    facts = facts_of(f"echo up; cat {tmp_path}/hung/file", "outside", tmp_path)
    end(facts["server"])
    assert facts["outcome"] == "TimedOut(limit=2, ended_by='SIGKILL')"
    assert facts["text"] == "up\n"
    (notice,) = facts["notices"]
    assert notice.startswith("could not be killed: pid ")
    assert notice.endswith("), state D")
    assert "(cat " in notice
    assert facts["beats"] > 10
    assert facts["then"] == "next\n"


@pytest.mark.parametrize("which", ["the project's file", "its interceptor file"])
def test_settings_on_a_hung_file_system_stop_no_call_and_are_named(which: str, tmp_path: Path) -> None:
    hung, project = tmp_path / "hung", tmp_path / "project"
    project.mkdir()
    if which == "the project's file":
        (tmp_path / "way").symlink_to("hung")
        (project / "nacre.toml").symlink_to("../way/nacre.toml")
    else:
        text = f"[policy]\ninterceptor = true\ninterceptor_file = '{hung}/rules.toml'\n"
        (project / "nacre.toml").write_text(text, encoding="utf-8")
    facts = facts_of("echo up", "settings", tmp_path, cwd=project)
    end(facts["server"])
    assert facts["words"].startswith("up\n")
    named = project / "nacre.toml" if which == "the project's file" else hung / "rules.toml"
    assert f"{named} was not read: its file system did not answer within 1 s" in facts["words"]
    assert facts["then"] == "next\n"


def test_until_a_file_on_a_hung_file_system_blocks_neither_the_loop_nor_the_end_of_the_program(tmp_path: Path) -> None:
    facts = facts_of("echo up; sleep 0.5; echo down", "until", tmp_path)
    end(facts["server"])
    assert "up\ndown\n" in facts["words"]
    assert "the command ended before this happened" in facts["words"]
    assert facts["beats"] > 10
    assert facts["then"] == "next\n"


def test_a_home_directory_that_does_not_answer_costs_the_rc_alone(tmp_path: Path) -> None:
    facts = facts_of("echo up", "home", tmp_path)
    end(facts["server"])
    assert not facts["failed"]
    assert facts["words"].startswith("up\n")
    assert "the user's rc was not read, so its functions and aliases are missing: " in facts["words"]
    assert facts["words"].count("/.bashrc did not answer in time") == 1
    assert facts["beats"] > 10
    assert facts["then"] == "next\n"


def test_a_temporary_directory_that_does_not_answer_costs_nothing(tmp_path: Path) -> None:
    facts = facts_of("echo up; sleep 50 &", "tmpdir", tmp_path)
    end(facts["server"])
    assert not facts["failed"]
    assert facts["words"].startswith("up\n")
    assert "killed\n" in facts["words"]
    assert facts["then"] == "next\n"
