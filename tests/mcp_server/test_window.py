"""Clients give up on a call after 60 s: over MCP it comes back before, and what goes on is a job (D28)."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client

from mcp_server.conftest import Connect, over_stdio
from nacre.mcp.toolbox import Toolbox

# Scaled down: 45 s of a client's 60 s are these of the time that the build below takes, which is as long as it must.
WINDOW = "0.3"


def told(result: object) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")  # type: ignore[attr-defined]


async def test_a_build_that_outlives_the_clients_patience_comes_back_as_a_job_and_finishes(
    connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first command of a server has begun by then, also on a busy machine.
    monkeypatch.setenv("NACRE_MCP_WINDOW_SECONDS", "2")
    build = f"echo compiling; until [ -e {tmp_path}/go ]; do sleep 0.02; done; touch {tmp_path}/built; echo done"
    async with connect() as client:
        started = await client.call_tool("bash", {"command": build})
        assert not started.is_error
        job = (started.meta or {})["nacre/details"]["async"]
        assert job["state"] == "running"
        assert "compiling" in told(started)
        assert not (tmp_path / "built").exists()
        (tmp_path / "go").touch()
        answer = ""
        while "exit code 0" not in answer:
            answer = told(await client.call_tool("job", {"poll": [job["jobId"]]}))
        assert "done" in answer
        assert (tmp_path / "built").exists()


async def test_a_longer_wait_of_a_poll_is_cut_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_MCP_WINDOW_SECONDS", WINDOW)
    async with over_stdio("legacy") as client:
        started = await client.call_tool("bash", {"command": "exec sleep 1000", "async": True})
        job = (started.meta or {})["nacre/details"]["async"]["jobId"]
        # Without the cut this would take ten minutes, and the test with it.
        assert f"wait was cut to {WINDOW} s" in told(await client.call_tool("job", {"poll": [job], "wait": 600}))
        assert "cut" not in told(await client.call_tool("job", {"poll": [job]}))
        await client.call_tool("job", {"cancel": [job]})


def descriptions(toolbox: Toolbox) -> tuple[str, str]:
    tools = toolbox.described("a session")
    return tools["bash"]["description"], tools["job"]["inputSchema"]["properties"]["wait"]["description"]


def test_the_tools_say_how_long_they_wait() -> None:
    bash, wait = descriptions(Toolbox("workspace"))
    assert "longer than 45 s" in bash
    assert wait == "with poll: most seconds to wait (default 30, at most 45)"


@pytest.mark.parametrize(
    ("variables", "window", "wait"),
    [
        ({"NACRE_AUTO_BACKGROUND_SECONDS": "20"}, "longer than 20 s", "at most 45"),
        ({"NACRE_MCP_WINDOW_SECONDS": "10"}, "longer than 10 s", "default 10, at most 10"),
        ({"NACRE_MCP_WINDOW_SECONDS": "0"}, "longer than 60 s", "at most 600"),
    ],
)
def test_a_lower_setting_stays_and_the_limit_is_one(
    variables: dict[str, str], window: str, wait: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    bash, poll = descriptions(Toolbox("workspace"))
    assert window in bash
    assert wait in poll


async def test_a_command_that_never_moves_by_setting_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_MCP_WINDOW_SECONDS", WINDOW)
    monkeypatch.setenv("NACRE_AUTO_BACKGROUND_SECONDS", "0")
    async with over_stdio("legacy") as client:
        ended = await client.call_tool("bash", {"command": "sleep 0.6; echo over"})
        assert told(ended).startswith("over")
        assert "async" not in (ended.meta or {})["nacre/details"]


async def check_a_named_session(client: Client) -> None:
    await client.call_tool("bash", {"command": "kept=yes", "session": "mine"})
    kept = await client.call_tool("bash", {"command": "echo [$kept]", "session": "mine"})
    other = await client.call_tool("bash", {"command": "echo [$kept]", "session": "another"})
    own = await client.call_tool("bash", {"command": "echo [$kept]", "session": None})
    assert [told(one).splitlines()[0] for one in (kept, other, own)] == ["[yes]", "[]", "[]"]


async def test_a_model_names_its_session_as_an_argument(connect: Connect) -> None:
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "session" in tools["bash"].input_schema["properties"]
        assert "session" not in tools["job"].input_schema["properties"]
        await check_a_named_session(client)


@pytest.mark.parametrize("wrong", ["", 7, "x" * 257])
async def test_a_session_that_is_no_name_is_refused_as_the_models_mistake(wrong: object) -> None:
    async with over_stdio("auto") as client:
        result = await client.call_tool("bash", {"command": "true", "session": wrong})
        assert result.is_error
        assert told(result).startswith("field 'session' must be a name of at most 256 characters, got ")


async def test_the_name_given_as_an_argument_wins_over_the_clients() -> None:
    async with over_stdio("auto") as client:
        await client.call_tool("bash", {"command": "kept=argument", "session": "one"})
        meta = {"nacre/session": "two"}
        said = await client.call_tool("bash", {"command": "echo [$kept]", "session": "one"}, meta=meta)
        assert told(said).startswith("[argument]")


@pytest.mark.parametrize("contract", ["basic", "modes", "openai", "anthropic"])
def test_a_contract_with_a_shape_of_its_own_has_no_session_argument(contract: str) -> None:
    for tool in Toolbox(contract).described(None).values():
        assert "session" not in tool["inputSchema"]["properties"]
