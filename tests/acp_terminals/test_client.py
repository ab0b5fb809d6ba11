"""The workspace tool in an editor's terminals: the same answers, and every terminal given back."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from acp.schema import ClientCapabilities

from acp_terminals.conftest import Wire, connected
from acp_terminals.editor import Editor
from faults.outside import alive
from nacre.acp import ClientTerminals
from nacre.backends import client_terminal
from nacre.contracts.contract import Reply
from nacre.errors import BackendUnavailableError, InvalidRequestError
from nacre.settings import JobSettings, PolicySettings, Settings
from nacre.tool import Tool
from nacre.tool_events import Update

SECRET = "AKIAIOSFODNN7EXAMPLE0secret"


@contextlib.asynccontextmanager
async def editing(work: Path, **options: Any) -> AsyncIterator[tuple[Wire, Editor]]:
    editor = Editor(**options)
    async with connected(editor, work) as wire:
        try:
            yield wire, editor
        finally:
            editor.close()


def timeless(reply: Reply) -> str:
    return re.sub(r"Wall time: \d+\.\d\d seconds", "Wall time: T seconds", reply.text)


async def until(path: Path) -> str:
    while not path.exists() or not path.read_text(encoding="utf-8"):
        await asyncio.sleep(0.005)
    return path.read_text(encoding="utf-8")


# Results.


async def test_a_command_runs_in_the_editor_s_terminal_and_answers_as_ever(work: Path) -> None:
    async with editing(work) as (wire, editor):
        reply = await wire.tool().call(
            {"command": "pwd; echo err >&2; echo $GREETING; exit 3", "env": {"GREETING": "hi"}}
        )
    assert timeless(reply) == f"{work}\nerr\nhi\n\nWall time: T seconds\n\nCommand exited with code 3"
    assert {name: value for name, value in reply.details.items() if name != "wallTimeMs"} == {
        "timeoutSeconds": 300,
        "exitCode": 3,
        "terminalId": "t1",
    }
    assert (reply.is_error, editor.created, editor.panes) == (True, 1, {})


@pytest.mark.parametrize(("name", "code"), [("KILL", 137), ("TERM", 143), ("SEGV", 139)])
async def test_a_signal_is_128_and_its_number(work: Path, name: str, code: int) -> None:
    async with editing(work) as (wire, editor):
        reply = await wire.tool().call({"command": f"kill -{name} $$"})
    assert timeless(reply) == (
        f"(no output)\n\nWall time: T seconds\n\nCommand exited with code {code} (killed by SIG{name})"
    )
    assert (reply.details["exitCode"], editor.panes) == (code, {})


async def test_live_updates_name_the_terminal_before_any_output(work: Path) -> None:
    async with editing(work) as (wire, editor):
        seen = []
        async for item in wire.tool().stream({"command": "echo one; until [ -e go ]; do sleep 0.01; done; echo two"}):
            seen.append(item)
            if isinstance(item, Update) and item.text == "one\n":
                (work / "go").touch()
    assert seen[0] == Update("", "t1")
    assert {item.terminal_id for item in seen[:-1]} == {"t1"}
    assert Update("one\n", "t1") in seen
    assert seen[-1].text.startswith("one\ntwo\n")
    assert editor.panes == {}


async def test_calls_side_by_side_have_a_terminal_each(work: Path) -> None:
    async with editing(work) as (wire, editor):
        together = "touch $N; until [ $(ls | wc -l) = 8 ]; do sleep 0.01; done; echo $N"
        calls = [wire.tool().call({"command": together, "env": {"N": str(number)}}) for number in range(8)]
        replies = await asyncio.gather(*calls)
    assert [reply.text.split("\n")[0] for reply in replies] == [str(number) for number in range(8)]
    assert len({reply.details["terminalId"] for reply in replies}) == 8
    assert editor.panes == {}


async def test_a_pipe_says_that_its_stages_cannot_be_seen(work: Path) -> None:
    async with editing(work) as (wire, _):
        reply = await wire.tool().call({"command": "seq 1 5 | tail -n 2"})
    assert timeless(reply) == (
        "4\n5\n\nWall time: T seconds\n"
        "in the client's terminal the stages of a pipe cannot be seen: one that failed may be hidden"
    )


async def test_a_large_output_is_cut_and_kept_as_ever(work: Path) -> None:
    async with editing(work) as (wire, _):
        reply = await wire.tool().call({"command": "seq 1 20000"})
        kept = await Tool("read").call({"id": reply.details["artifactId"], "tail": 1})
    assert "Showing lines 1-" in reply.text
    assert kept.text.startswith("20000\n")


async def test_a_terminal_that_lost_its_beginning_is_pointed_out(work: Path) -> None:
    async with editing(work, most_bytes=1000) as (wire, _):
        reply = await wire.tool().call({"command": "seq 1 5000"})
    assert "of a fast output some may be missing" in reply.text
    assert "[… the terminal no longer had what came here …]" in reply.text
    assert "\n5000\n" in reply.text


# Where it does not run.


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "echo ready; sleep 1000", "until": {"regex": "ready"}},
        {"command": "sleep 1000", "async": True},
    ],
)
async def test_what_becomes_a_job_runs_here(work: Path, arguments: dict[str, Any]) -> None:
    async with editing(work) as (wire, editor):
        reply = await wire.tool().call(arguments)
        job = reply.details["async"]["jobId"]
        await Tool("job").call({"cancel": [job]})
    assert editor.created == 0


async def test_a_terminal_of_our_own_is_not_asked_of_the_client(work: Path) -> None:
    async with editing(work) as (wire, editor):
        reply = await wire.tool().call({"command": "echo here", "pty": True})
    assert (reply.text.startswith("here\n"), editor.created) == (True, 0)


async def test_the_run_time_guard_works_where_we_start_the_command(work: Path) -> None:
    (work / "victim").mkdir()
    (work / "name").write_text("victim", encoding="utf-8")
    async with editing(work) as (wire, editor):
        reply = await wire.tool().call({"command": 'rm -rf "$(cat name)"'})
    assert (editor.created, [path.name for path in work.iterdir()]) == (0, ["name"])
    assert "not in the client's terminal: what its rm removes is only known while it runs" in reply.text


async def test_the_guard_and_the_interceptor_come_first(work: Path) -> None:
    settings = Settings(policy=PolicySettings(interceptor=True))
    async with editing(work) as (wire, editor):
        denied = await wire.tool().call({"command": "git push --force"})
        intercepted = await wire.tool(settings=settings, tools=["read"]).call({"command": "cat file"})
        missing = await wire.tool().call({"command": "true", "cwd": "missing"})
    assert denied.text.startswith("denied by nacre's guard (rule ")
    assert intercepted.details == {"suggestedTool": "read", "cause": "guard"}
    assert missing.text == f"Working directory does not exist: {work}/missing"
    assert (editor.created, denied.is_error, intercepted.is_error, missing.is_error) == (0, True, True, True)


async def test_it_comes_before_the_background_is_considered(work: Path) -> None:
    settings = Settings(jobs=JobSettings(auto_background_seconds=0.05))
    async with editing(work) as (wire, editor):
        reply = await wire.tool(settings=settings).call({"command": "sleep 0.5; echo done"})
    assert (reply.text.startswith("done\n"), editor.created) == (True, 1)


async def test_the_model_is_told_that_nothing_stays_and_nothing_does(work: Path) -> None:
    async with editing(work) as (wire, _):
        tool = wire.tool()
        description = tool.schema()["description"]
        await tool.call({"command": "cd /; x=1; echo ready", "until": {"regex": "ready"}})
        await tool.call({"command": "cd /; x=1"})
        reply = await tool.call({"command": 'echo "$PWD [$x]"'})
    assert "does not carry over between calls" in description
    assert "goes on as a background job, and you get its id" not in description
    assert reply.text.startswith(f"{work} []\n")


def test_only_the_workspace_tool_takes_terminals() -> None:
    with pytest.raises(InvalidRequestError, match="terminal goes with"):
        Tool("basic", terminal=ClientTerminals(None, "s"))  # type: ignore[arg-type]


def test_a_client_without_terminals_offers_none() -> None:
    connection: Any = object()
    assert ClientTerminals.offered(connection, "s", None) is None
    assert ClientTerminals.offered(connection, "s", ClientCapabilities()) is None
    assert isinstance(ClientTerminals.offered(connection, "s", ClientCapabilities(terminal=True)), ClientTerminals)


# Secrets.


async def test_secrets_stay_out_of_the_command_and_its_output(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The editor has it too: agents inherit the environment of their editor.
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    async with editing(work) as (wire, editor):
        command = f"echo [$AWS_SECRET_ACCESS_KEY] [${{GIT_PAGER-unset}}]; x={SECRET[:9]}; echo $x{SECRET[9:]}"
        reply = await wire.tool().call({"command": command})
    assert reply.text.startswith("[] [cat]\n")
    assert SECRET not in reply.text
    assert "AWS_SECRET_ACCESS_KEY" in editor.argv
    assert not any(SECRET in word for word in [*editor.argv, *editor.env.values()])


# Endings.


async def test_a_timeout_ends_it_and_keeps_its_output(work: Path) -> None:
    async with editing(work) as (wire, editor):
        reply = await wire.tool().call({"command": "echo $$ >pid; echo begun; sleep 1000", "timeout": 3})
    assert timeless(reply) == "begun\n\nWall time: T seconds\n\n[Command timed out after 3 seconds]"
    assert (reply.is_error, reply.details["timedOut"], reply.details["terminalId"]) == (True, True, "t1")
    assert not alive(int((work / "pid").read_text(encoding="utf-8")))
    assert (editor.panes, editor.asked.count("kill")) == ({}, 1)


async def test_a_cancelled_call_ends_it_before_the_cancellation_goes_on(work: Path) -> None:
    async with editing(work) as (wire, editor):
        call = asyncio.create_task(wire.tool().call({"command": "echo $$ >pid; sleep 1000"}))
        pid = int(await until(work / "pid"))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (alive(pid), editor.panes) == (False, {})


async def test_a_terminal_that_comes_too_late_is_ended_and_released(work: Path) -> None:
    async with editing(work, silent=["create"]) as (wire, editor):
        reply = await wire.tool().call({"command": "echo $$ >pid; sleep 1000", "timeout": 1})
        assert timeless(reply) == "(no output)\n\nWall time: T seconds\n\n[Command timed out after 1 second]"
        assert "terminalId" not in reply.details
        editor.go.set()
        while "release" not in editor.asked or editor.panes:
            await asyncio.sleep(0.005)
    assert editor.asked == ["create", "kill", "release"]


async def test_a_call_that_is_cancelled_before_there_is_a_terminal_leaves_none(work: Path) -> None:
    async with editing(work, silent=["create"]) as (wire, editor):
        call = asyncio.create_task(wire.tool().call({"command": "sleep 1000"}))
        while not editor.asked:
            await asyncio.sleep(0.005)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        editor.go.set()
        while "release" not in editor.asked or editor.panes:
            await asyncio.sleep(0.005)


async def test_a_refused_terminal_is_an_error_that_says_why(work: Path) -> None:
    async with editing(work, refusing=["create"]) as (wire, _):
        reply = await wire.tool().call({"command": "true"})
    assert (reply.is_error, reply.text) == (
        True,
        "the client gave no terminal: the client refused: create is not possible today",
    )


async def test_a_client_that_does_not_kill_or_release_is_pointed_out(work: Path) -> None:
    async with editing(work, refusing=["kill", "release"]) as (wire, _):
        reply = await wire.tool().call({"command": "sleep 1000", "timeout": 1})
    assert timeless(reply) == (
        "(no output)\n\nWall time: T seconds\n"
        "the client did not confirm that it ended the command; it may still run\n"
        "the client did not confirm that it released the terminal\n\n"
        "[Command timed out after 1 second]"
    )


async def test_a_silent_client_holds_nobody(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KILL_SECONDS", "READ_SECONDS", "RELEASE_SECONDS"):
        monkeypatch.setattr(client_terminal, name, 0.1)
    async with editing(work, silent=["output", "wait", "kill", "release"]) as (wire, editor):
        reply = await wire.tool().call({"command": "sleep 1000", "timeout": 1})
        editor.go.set()
    assert timeless(reply) == (
        "(no output)\n\nWall time: T seconds\n"
        "the client did not confirm that it ended the command; it may still run\n"
        "the client did not tell the last output; some may be missing\n"
        "the client did not confirm that it released the terminal\n\n"
        "[Command timed out after 1 second]"
    )


@pytest.mark.parametrize("silent", ["create", "wait", "output", "kill", "release"])
async def test_a_client_that_never_answers_one_request_holds_nobody(work: Path, silent: str) -> None:
    async with editing(work, silent=[silent]) as (wire, editor):
        async with asyncio.timeout(12):
            reply = await wire.tool().call({"command": "echo out; sleep 1000", "timeout": 1})
        assert (reply.is_error, reply.details["timedOut"]) == (True, True)
        assert ("create" in silent) == ("terminalId" not in reply.details)
        editor.go.set()
        while "release" not in editor.asked or editor.panes:
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("deaf", ["create", "wait", "output", "kill", "release"])
async def test_terminals_that_do_not_hear_of_a_cancellation_hold_nobody(work: Path, deaf: str) -> None:
    over = asyncio.Event()

    async def never(*_: Any, **__: Any) -> Any:
        while not over.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await over.wait()
        raise BackendUnavailableError("over")

    async with editing(work) as (wire, _):
        terminals = ClientTerminals(wire.agent_side, "s")
        setattr(terminals, deaf, never)
        tool = Tool("workspace", cwd=work, terminal=terminals)
        async with asyncio.timeout(12):
            reply = await tool.call({"command": "sleep 1000", "timeout": 1})
        over.set()
        assert reply.details["timedOut"]


async def test_a_terminal_that_is_never_made_is_not_waited_for_for_ever(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_terminal, "LATE_SECONDS", 0.1)
    async with editing(work, silent=["create"]) as (wire, _):
        await wire.tool().call({"command": "true", "timeout": 1})
        while client_terminal._working:
            await asyncio.sleep(0.01)


async def test_a_client_that_goes_away_leaves_the_status_unknown(work: Path) -> None:
    async with editing(work) as (wire, editor):
        call = asyncio.create_task(wire.tool().call({"command": "sleep 1000"}))
        while "wait" not in editor.asked:
            await asyncio.sleep(0.005)
        wire.cut()
        reply = await call
    assert reply.is_error
    assert reply.text.endswith("\n\nCommand failed: missing exit status (the client is gone)")


async def test_a_status_that_was_not_told_is_not_guessed(work: Path) -> None:
    class Vague(Editor):
        async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **_: Any) -> Any:
            ended = await super().wait_for_terminal_exit(session_id, terminal_id)
            return ended.model_copy(update={"exit_code": None, "signal": None})

    editor = Vague()
    async with connected(editor, work) as wire:
        reply = await wire.tool().call({"command": "echo out"})
    assert timeless(reply) == (
        "out\n\nWall time: T seconds\n\n"
        "Command failed: missing exit status (the client told neither an exit code nor a signal)"
    )
    assert (reply.is_error, editor.panes) == (True, {})


async def test_terminals_that_raise_what_they_should_not_hold_nobody(work: Path) -> None:
    class Broken(ClientTerminals):
        async def wait(self, terminal_id: str) -> Any:
            raise KeyError(terminal_id)

    async with editing(work) as (wire, editor):
        tool = Tool("workspace", cwd=work, terminal=Broken(wire.agent_side, "s"))
        reply = await tool.call({"command": "sleep 1000"})
        assert (reply.is_error, reply.text) == (True, "the client's terminals failed: KeyError('t1')")
        assert editor.panes == {}
