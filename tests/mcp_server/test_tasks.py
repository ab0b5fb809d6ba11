"""A call that outlives its window is a task for a client that knows tasks, on a job that outlives the server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, MCPError
from mcp.client import ClaimContext, ClientExtension, ResultClaim
from mcp.types import CallToolResult, Request, RequestParams, Result

from mcp_server.conftest import http_server, over_stdio, until
from nacre.jobs.table import JobTable

EXTENSION = "io.modelcontextprotocol/tasks"


class CreateTaskResult(Result):
    result_type: Literal["task"] = "task"
    task_id: str
    status: str
    created_at: str
    last_updated_at: str
    ttl_ms: int | None
    poll_interval_ms: int


class TaskResult(Result):
    task_id: str
    status: str
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class TaskParams(RequestParams):
    task_id: str


class Tasks(ClientExtension):
    """A client that polls a task to its end, as a host would."""

    identifier = EXTENSION

    def __init__(self) -> None:
        self.created: list[CreateTaskResult] = []
        self.hold = False

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=CreateTaskResult, resolve=self._resolve)]

    async def _resolve(self, created: CreateTaskResult, context: ClaimContext) -> CallToolResult:
        self.created.append(created)
        if self.hold:
            return CallToolResult(content=[], is_error=True)
        while True:
            task = await ask(context.session, "tasks/get", created.task_id)
            if task.status != "working":
                return CallToolResult.model_validate(task.result, by_name=False)
            await asyncio.sleep(0.05)


async def ask(session: Any, method: str, task_id: str) -> TaskResult:
    request = Request(method=method, params=TaskParams(task_id=task_id))
    return await session.send_request(request, TaskResult)


@pytest.fixture(autouse=True)
def _short_window(monkeypatch: pytest.MonkeyPatch) -> None:
    # The short commands of these tests must not outlive it, also on a busy machine.
    monkeypatch.setenv("NACRE_AUTO_BACKGROUND_SECONDS", "2")


@pytest.fixture(params=["stdio", "http"])
def connect_modern(request: pytest.FixtureRequest) -> Any:
    def connected(**options: Any) -> Any:
        return over_stdio("auto", **options) if request.param == "stdio" else _over_http(**options)

    return connected


def _over_http(**options: Any) -> Any:
    from mcp_server.conftest import over_http

    return over_http("auto", **options)


async def test_a_long_call_is_a_task_whose_result_the_client_fetches(connect_modern: Any, tmp_path: Path) -> None:
    extension, go = Tasks(), tmp_path / "go"
    async with connect_modern(extensions=[extension]) as client:
        call = asyncio.create_task(
            client.call_tool("bash", {"command": f"echo one; until [ -e {go} ]; do sleep 0.02; done; echo two; exit 3"})
        )
        await until(lambda: extension.created, "the call has become a task")
        go.touch()
        done = await call
        again = await client.call_tool("bash", {"command": "echo after"})
    (task,) = extension.created
    assert (task.status, task.ttl_ms) == ("working", 24 * 3_600_000)
    assert task.task_id.startswith("bg_1-")
    assert done.is_error
    assert done.content[0].text.endswith("\none\ntwo")
    assert done.meta["nacre/details"]["exitCode"] == 3
    # The client has the result; the model is not told of it a second time.
    assert [block.type for block in again.content] == ["text"]


async def test_a_task_is_cancelled_and_outlives_its_server(tmp_path: Path, home: Path) -> None:
    extension = Tasks()
    extension.hold = True
    async with http_server() as url, Client(url, extensions=[extension]) as client:
        await client.call_tool("bash", {"command": "echo kept; sleep 600"})
        (task,) = extension.created
        assert (await ask(client.session, "tasks/get", task.task_id)).status == "working"
    # Another server on the same state directory.
    async with http_server() as url, Client(url, extensions=[extension]) as client:
        assert (await ask(client.session, "tasks/get", task.task_id)).status == "working"
        request = Request(method="tasks/cancel", params=TaskParams(task_id=task.task_id))
        await client.session.send_request(request, Result)
        job = JobTable(home)
        await until(lambda: not job.get("bg_1").running, "the job has ended")
        assert (await ask(client.session, "tasks/get", task.task_id)).status == "cancelled"


async def test_a_task_is_found_by_its_whole_name_only(home: Path) -> None:
    extension = Tasks()
    extension.hold = True
    async with http_server() as url, Client(url, extensions=[extension]) as client:
        await client.call_tool("bash", {"command": "sleep 600"})
        for task_id in ("bg_1", "bg_1-", "bg_1-0000000000000000", "bg_2", "../bg_1", ""):
            with pytest.raises(MCPError) as unknown:
                await ask(client.session, "tasks/get", task_id)
            assert unknown.value.error.code == -32602
        JobTable(home).stop("bg_1")
        await until(lambda: not JobTable(home).get("bg_1").running, "the job has ended")


async def test_a_client_without_the_extension_is_told_of_the_job(home: Path) -> None:
    async with http_server() as url, Client(url) as client:
        kept = await client.call_tool("bash", {"command": "sleep 600"})
        with pytest.raises(MCPError) as refused:
            await ask(client.session, "tasks/get", "bg_1-0")
        JobTable(home).stop("bg_1")
        await until(lambda: not JobTable(home).get("bg_1").running, "the job has ended")
    assert kept.content[0].text.startswith("Background job bg_1 started")
    assert refused.value.error.code == -32021


async def test_a_model_that_asks_for_a_job_is_told_of_it_at_once(home: Path) -> None:
    extension = Tasks()
    async with http_server() as url, Client(url, extensions=[extension]) as client:
        begun = await client.call_tool("bash", {"command": "sleep 600", "async": True})
        JobTable(home).stop("bg_1")
        await until(lambda: not JobTable(home).get("bg_1").running, "the job has ended")
    assert extension.created == []
    assert begun.content[0].text.startswith("Background job bg_1 started")
