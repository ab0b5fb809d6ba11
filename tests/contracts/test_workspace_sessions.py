"""The commands of a workspace tool share one shell (D11, D12): what stays, what costs the shell, and what is said."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from workbench import Workbench, layout, quick, timeless

from nacre import Tool
from nacre.settings import JobSettings, SessionSettings, Settings, ShellSettings

RESTORED = "directory, variables and functions as before"


async def test_the_directory_of_a_cd_stays_and_is_shown(bench: Workbench) -> None:
    (bench.cwd / "sub").mkdir()
    async with bench.tool() as tool:
        assert timeless((await tool.call({"command": "cd sub && echo in"})).text) == layout("in")
        assert timeless((await tool.call({"command": "pwd"})).text) == layout(f"{bench.cwd}/sub")
        assert tool.cwd == f"{bench.cwd}/sub"
        assert tool.schema()["description"].endswith(f"Working directory: {bench.cwd}/sub")
        missing = await tool.call({"command": "cd nowhere && echo in"})
        assert (missing.is_error, missing.text) == (True, f"Working directory does not exist: {bench.cwd}/sub/nowhere")
        assert timeless((await tool.call({"command": "pwd"})).text) == layout(f"{bench.cwd}/sub")


@pytest.mark.parametrize("persist", [True, False])
async def test_a_cd_whose_failure_the_script_answers_runs_as_written(bench: Workbench, persist: bool) -> None:
    async with bench.tool(Settings(sessions=SessionSettings(persist=persist))) as tool:
        reply = await tool.call({"command": "cd nope 2>/dev/null && ls || echo fallback"})
        assert (timeless(reply.text), reply.is_error) == (layout("fallback"), False)
        reply = await tool.call({"command": "cd nope && ls || echo fallback"})
        assert (reply.text.splitlines()[1], reply.is_error) == ("fallback", False)
        reply = await tool.call({"command": "cd nope && ls; echo after"})
        assert (reply.text.splitlines()[1], reply.is_error) == ("after", False)


async def test_cd_minus_goes_back(bench: Workbench) -> None:
    async with bench.tool() as tool:
        await tool.call({"command": "cd /usr && pwd"})
        await tool.call({"command": "cd /etc && pwd"})
        assert timeless((await tool.call({"command": "cd - && pwd"})).text) == layout("/usr\n/usr")
        assert tool.cwd == "/usr"


async def test_a_cd_in_the_background_does_not_move_the_session(bench: Workbench) -> None:
    (bench.cwd / "web").mkdir()
    async with bench.tool() as tool:
        reply = await tool.call({"command": "cd web && sleep 100 &"})
        assert reply.details["async"]["jobId"] == "bg_1"
        assert tool.cwd == str(bench.cwd)
        assert timeless((await tool.call({"command": "pwd"})).text).startswith(f"{bench.cwd}\n")


async def test_a_pattern_in_a_cd_is_the_shell_s_to_expand(bench: Workbench) -> None:
    (bench.cwd / "only-one").mkdir()
    async with bench.tool() as tool:
        assert timeless((await tool.call({"command": "cd only* && pwd"})).text) == layout(f"{bench.cwd}/only-one")
        assert tool.cwd == f"{bench.cwd}/only-one"


async def test_cwd_and_env_of_a_call_are_its_own(bench: Workbench) -> None:
    (bench.cwd / "sub").mkdir()
    async with bench.tool() as tool:
        reply = await tool.call({"command": "pwd; sh -c 'echo $A'", "cwd": "sub", "env": {"A": "x y"}})
        assert timeless(reply.text) == layout(f"{bench.cwd}/sub\nx y")
        assert timeless((await tool.call({"command": "pwd; echo [$A]"})).text) == layout(f"{bench.cwd}\n[]")


async def test_without_persistence_each_command_has_a_shell_of_its_own(bench: Workbench) -> None:
    async with bench.tool(Settings(sessions=SessionSettings(persist=False))) as tool:
        await tool.call({"command": "x=1; cd /"})
        assert timeless((await tool.call({"command": "echo [$x]; pwd"})).text) == layout(f"[]\n{bench.cwd}")
        assert "does not carry over" in tool.schema()["description"]


async def test_tools_of_one_session_share_a_shell_and_others_do_not(bench: Workbench) -> None:
    settings = Settings()
    one, two = (bench.tool(settings, session="shared") for _ in range(2))
    other = bench.tool(settings)
    await one.call({"command": "x=shared"})
    assert timeless((await two.call({"command": "echo $x"})).text) == layout("shared")
    assert timeless((await other.call({"command": "echo [$x]"})).text) == layout("[]")


async def test_a_command_that_becomes_a_job_costs_the_shell_but_not_the_state(bench: Workbench) -> None:
    async with bench.tool(quick()) as tool:
        await tool.call({"command": "x=kept"})
        moved = await tool.call({"command": "x=lost; echo first; while [ ! -e go ]; do sleep 0.01; done; exit 5"})
        assert moved.details["async"]["jobId"] == "bg_1"
        after = await tool.call({"command": "echo $x; touch go"})
        notice = f"new shell: the last one went on with its job; {RESTORED}"
        assert timeless(after.text) == layout("kept", notice)
        job = await bench.ended("bg_1")
        assert (job.record["state"], job.record["exitCode"]) == ("exited", 5)
        assert bench.output("bg_1") == "first\n"


async def test_a_job_that_ends_without_exit_has_its_last_status(bench: Workbench) -> None:
    async with bench.tool(quick()) as tool:
        await tool.call({"command": "while [ ! -e go ]; do sleep 0.01; done; false | true; sh -c 'exit 6'"})
        (bench.cwd / "go").touch()
        assert (await bench.ended("bg_1")).record["exitCode"] == 6


async def test_what_a_command_leaves_running_becomes_a_job_and_the_state_stays(bench: Workbench) -> None:
    async with bench.tool() as tool:
        reply = await tool.call({"command": "x=new; cd /; sleep 100 & echo started"})
        assert reply.details["async"]["jobId"] == "bg_1"
        after = await tool.call({"command": "echo $x; pwd"})
        assert timeless(after.text) == layout("new\n/")


async def test_a_background_command_begins_with_the_state(bench: Workbench) -> None:
    async with bench.tool() as tool:
        await tool.call({"command": "cd /usr; export A=1 B=2; f() { echo f $A $B $PWD; }"})
        await tool.call({"command": "true"})
        await tool.call({"command": "f; sh -c 'echo $A $B'", "async": True, "env": {"B": "own"}})
        await bench.ended("bg_1")
        assert bench.output("bg_1") == "f 1 own /usr\n1 own\n"


async def test_an_event_makes_a_job_of_the_session_s_command(bench: Workbench) -> None:
    async with bench.tool() as tool:
        reply = await tool.call({"command": "echo ready; sleep 100", "until": {"regex": "ready"}})
        assert reply.text.startswith("ready\n\nHappened after ")
        assert not (await tool.call({"command": "echo free"})).is_error


async def test_a_lifted_tail_works_in_a_session(bench: Workbench) -> None:
    async with bench.tool() as tool:
        await tool.call({"command": "f() { seq 100; return 3; }"})
        reply = await tool.call({"command": "f | tail -n 2"})
        assert reply.text.startswith("99\n100\n")
        assert (reply.details["exitCode"], reply.details["artifactId"]) == (3, "1")


async def test_two_calls_at_once_run_one_after_the_other(bench: Workbench) -> None:
    async with bench.tool() as tool:
        first = asyncio.create_task(tool.call({"command": "touch here; while [ ! -e go ]; do sleep 0.01; done"}))
        while not (bench.cwd / "here").exists():
            await asyncio.sleep(0.005)
        late = await tool.call({"command": "echo x", "timeout": 1})
        assert late.is_error
        assert late.text.startswith("timed out after 1 s waiting for the session's running command: 'touch here;")
        (bench.cwd / "go").touch()
        assert not (await first).is_error


async def test_a_prefix_stands_before_every_command(bench: Workbench) -> None:
    settings = Settings(shell=ShellSettings(prefix="A=pre"), jobs=JobSettings())
    async with bench.tool(settings) as tool:
        assert timeless((await tool.call({"command": "sh -c 'echo $A'"})).text) == layout("pre")


async def test_shell_path_and_variables_hold_in_sessions_and_jobs(bench: Workbench, tmp_path: Path) -> None:
    shell = tmp_path / "bash-of-mine"
    shutil.copy("/bin/bash", shell)
    chosen = ShellSettings(path=str(shell), env=(("STAGE", "test"), ("CI", "false")))
    async with bench.tool(Settings(shell=chosen)) as tool:
        shown = {"command": "readlink /proc/$$/exe; echo $STAGE $CI"}
        assert timeless((await tool.call(shown)).text) == layout(f"{shell}\ntest false")
        assert timeless((await tool.call(shown | {"env": {"STAGE": "mine"}})).text) == layout(f"{shell}\nmine false")
        started = await tool.call(shown | {"async": True})
        ended = await bench.job({"poll": [started.details["async"]["jobId"]], "wait": 30})
        assert f"{shell}\ntest false" in ended.text


async def test_basic_keeps_its_shell_and_environment_whatever_the_settings_say(tmp_path: Path) -> None:
    shell = tmp_path / "bash-of-mine"
    shutil.copy("/bin/bash", shell)
    settings = Settings(shell=ShellSettings(path=str(shell), env=(("STAGE", "test"),)))
    async with Tool("basic", cwd=tmp_path, settings=settings) as tool:
        reply = await tool.call({"command": "readlink /proc/$$/exe; echo [$STAGE]"})
        assert reply.json()["stdout"] == f"{Path('/bin/bash').resolve()}\n[]\n"


async def test_a_session_begins_with_the_user_s_rc(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".bashrc-of-a-test").write_text(
        "echo noise; alias greet='echo hello' rm='echo no'; word=world; my_token=abcdefgh12345678\n"
        "shout() { echo ${word^^} $my_token; }; ls() { echo no; }; PATH=$PATH:/rc\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    async with bench.tool() as tool:
        reply = await tool.call({"command": "greet you; shout; type -t rm ls; echo ${PATH##*:}; exit 0"})
        assert timeless(reply.text) == layout("hello you\nWORLD\nfile\nfile\n/rc")
        assert timeless((await tool.call({"command": "shout"})).text).startswith("WORLD\n")
