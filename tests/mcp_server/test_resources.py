"""Kept outputs and jobs as resources: listed, linked, read a window at a time, and nothing else read."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from mcp import Client, MCPError

from mcp_server.conftest import Connect, until
from nacre.mcp import resources


async def check_the_pages_of_a_linked_output_are_all_of_it(client: Client, tmp_path: Path) -> None:
    done = await client.call_tool("bash", {"command": "seq 1 20000"})
    (link,) = [block for block in done.content if block.type == "resource_link"]
    pages, offset = [], 0
    while offset is not None:
        (page,) = (await client.read_resource(f"{link.uri}?offset={offset}&limit=50000")).contents
        pages.append(page.text)
        offset = page.meta.get("nextOffset")
    listed = (await client.list_resources()).resources
    templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
    assert "".join(pages) == "".join(f"{number}\n" for number in range(1, 20001))
    assert len(pages) == 3
    assert [(one.uri, one.size) for one in listed] == [(link.uri, 108_894)]
    assert templates == [f"{kind}://{{id}}{{?lines,tail,offset,limit}}" for kind in ("artifact", "job")]


async def test_a_job_is_read_with_its_status_and_its_output(connect_http: Connect, tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with connect_http() as client:
        command = f"echo started; until [ -e {go} ]; do sleep 0.02; done; echo ended"
        begun = await client.call_tool("bash", {"command": command, "async": True})
        (link,) = [block for block in begun.content if block.type == "resource_link"]
        running = (await client.read_resource(link.uri)).contents
        go.touch()
        polled = await client.call_tool("job", {"poll": [link.uri.removeprefix("job://")]})
        ended = (await client.read_resource(f"{link.uri}?offset=0")).contents
    assert link.uri == "job://bg_1"
    assert [json.loads(one[0].text)["status"] for one in (running, ended)] == ["running", "completed"]
    assert ended[1].text == "started\nended\n"
    assert not polled.is_error


async def test_lines_and_last_lines_are_read_as_by_the_tools(connect_http: Connect) -> None:
    async with connect_http() as client:
        await client.call_tool("bash", {"command": "seq 1 20000"})
        (lines,) = (await client.read_resource("artifact://1?lines=300:302")).contents
        (tail,) = (await client.read_resource("artifact://1?tail=2")).contents
        (cut,) = (await client.read_resource("artifact://1?lines=1:&limit=300")).contents
    assert (lines.text, lines.meta["lines"]) == ("300\n301\n302\n", [300, 302])
    assert tail.text == "19999\n20000\n"
    assert cut.meta["nextLine"] == len(cut.text.splitlines()) + 1


ELSEWHERE = [
    "artifact://../../../etc/passwd",
    f"artifact://{quote('../../etc/passwd', safe='')}",
    "artifact:///etc/passwd",
    "artifact://1/../../../etc/passwd",
    "artifact://99999",
    f"artifact://{'9' * 5000}",
    "artifact://1?offset=-1",
    "artifact://1?limit=0",
    "artifact://1?lines=a:b",
    "artifact://1?lines=1:2&tail=3",
    "artifact://1?path=/etc/passwd",
    f"artifact://1?offset={'9' * 30}",
    "job://../artifacts",
    "job://bg_1/../../counter",
    "job://bg_77",
    "file:///etc/passwd",
    "",
]


async def test_no_other_address_is_read(connect_http: Connect) -> None:
    codes = {}
    async with connect_http() as client:
        await client.call_tool("bash", {"command": "seq 1 20000"})
        for uri in ELSEWHERE:
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            codes[uri] = refused.value.error.code
    assert codes == dict.fromkeys(ELSEWHERE, -32602)


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
async def test_a_client_that_watches_a_job_is_told_of_its_end(connect_http: Connect, tmp_path: Path) -> None:
    go = tmp_path / "go"
    told: list[str] = []

    async def hear(message: object) -> None:
        params = getattr(message, "params", None)
        if hasattr(params, "uri"):
            told.append(str(params.uri))

    async with connect_http(message_handler=hear) as client:
        await client.call_tool("bash", {"command": f"until [ -e {go} ]; do sleep 0.02; done", "async": True})
        if connect_http.era == "legacy":  # type: ignore[attr-defined]
            await client.subscribe_resource("job://bg_1")
            go.touch()
            await until(lambda: told, "it was told")
        else:
            async with client.listen(resource_subscriptions=["job://bg_1"]) as events:
                go.touch()
                async for event in events:
                    told.append(event.uri)
                    break
    assert set(told) == {"job://bg_1"}


def test_the_list_comes_in_pages(home: Path) -> None:
    from nacre.engine.engine import from_environment

    engine = from_environment()
    for _ in range(resources.PAGE + 1):
        writer = engine.artifacts.create("bash")
        writer.write(b"x")
        writer.close()
    first = resources.listed(engine, (), None)
    second = resources.listed(engine, (), first["nextCursor"])
    assert [len(page["resources"]) for page in (first, second)] == [resources.PAGE, 1]
    assert "nextCursor" not in second
    assert {one["uri"] for page in (first, second) for one in page["resources"]} == {
        f"artifact://{number}" for number in range(1, resources.PAGE + 2)
    }
