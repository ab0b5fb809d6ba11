"""A job's end is told once, to the session that started it, with its next result."""

from __future__ import annotations

from pathlib import Path

from mcp import Client

from mcp_server.conftest import Connect, http_server, until
from nacre.jobs.notices import is_claimed
from nacre.jobs.table import JobTable


def told(result: object) -> list[str]:
    """The notices that came with a result."""
    return [block.text for block in result.content[1:] if block.type == "text"]  # type: ignore[attr-defined]


async def test_the_end_of_a_job_comes_with_the_next_result(connect_http: Connect, home: Path) -> None:
    async with connect_http() as client:
        await client.call_tool("bash", {"command": "echo of the job; sleep 0.05; exit 3", "async": True})
        await until(lambda: is_claimed(JobTable(home).get("bg_1")), "its end was noticed")
        next_one = await client.call_tool("bash", {"command": "echo next"})
        after = await client.call_tool("bash", {"command": "echo after"})
    (notice,) = told(next_one)
    assert notice.startswith("Background job bg_1 [bash] failed, exit code 3")
    assert notice.endswith("of the job")
    assert told(after) == []


async def test_a_notice_goes_to_the_connection_that_started_the_job(home: Path) -> None:
    async with (
        http_server() as url,
        Client(url, mode="legacy") as owner,
        Client(url, mode="legacy") as other,
    ):
        await owner.call_tool("bash", {"command": "sleep 0.05", "async": True})
        await until(lambda: is_claimed(JobTable(home).get("bg_1")), "its end was noticed")
        assert told(await other.call_tool("bash", {"command": "true"})) == []
        assert len(told(await owner.call_tool("bash", {"command": "true"}))) == 1


async def test_a_job_that_was_polled_is_not_told_again(connect_http: Connect) -> None:
    async with connect_http() as client:
        await client.call_tool("bash", {"command": "sleep 0.3", "async": True})
        polled = await client.call_tool("job", {"poll": ["bg_1"]})
        after = await client.call_tool("bash", {"command": "true"})
    assert polled.content[0].text.startswith("bg_1 [bash] completed, exit code 0, ")
    assert told(after) == []
