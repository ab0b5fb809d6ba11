"""A reply as the protocol's result, and what of it each revision knows."""

from __future__ import annotations

import json

import pytest
from jsonschema import validate

from nacre.contracts import command_contract_names
from nacre.contracts.contract import Reply
from nacre.mcp.answer import result_of
from nacre.mcp.call import TAIL_CHARACTERS, newest
from nacre.mcp.catalogue import describe
from nacre.mcp.tasks import kept_by_itself
from nacre.tool import Tool

KEPT = Reply(
    text="shown",
    is_error=False,
    details={"artifactId": "3", "async": {"state": "running", "jobId": "bg_1"}, "outputFile": "/x"},
)


def test_a_result_links_to_what_it_names() -> None:
    result = result_of(KEPT, revision="2025-11-25", told=["bg_0 has ended"])
    assert [block.get("uri") or block["text"] for block in result["content"]] == [
        "shown",
        "bg_0 has ended",
        "artifact://3",
        "job://bg_1",
    ]
    assert result["_meta"] == {"nacre/details": KEPT.details}
    assert "structuredContent" not in result
    structured = result_of(KEPT, revision="2025-11-25", told=["bg_0 has ended"], structured=True)
    assert structured["structuredContent"] == KEPT.json() | {"notices": ["bg_0 has ended"]}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
def test_an_old_client_gets_what_it_knows(revision: str) -> None:
    result = result_of(KEPT, revision=revision, structured=True)
    assert [block["type"] for block in result["content"]] == ["text"]
    assert "structuredContent" not in result


def test_an_object_of_a_contracts_own_is_the_whole_result() -> None:
    bare = {"stdout": "", "stderr": "", "exitCode": 0}
    result = result_of(Reply(text="", is_error=False, bare=bare), revision="2026-07-28", structured=True)
    assert (json.loads(result["content"][0]["text"]), result["structuredContent"]) == (bare, bare)


@pytest.mark.parametrize("contract", command_contract_names())
async def test_what_a_tool_answers_is_what_its_schema_says(contract: str) -> None:
    async with Tool(contract) as tool:
        field = {"commands": ["echo hi; exit 3"]} if contract == "openai" else {"command": "echo hi; exit 3"}
        replies = [await tool.call(field), await tool.call({"unknown": 1})]
        schema = describe(contract, tool.schema(), structured=True)["outputSchema"]
    for reply in replies:
        validate(result_of(reply, revision="2026-07-28", structured=True)["structuredContent"], schema)


def test_only_a_call_that_became_a_job_by_itself_is_a_task() -> None:
    assert kept_by_itself({"command": "x"}, KEPT) == "bg_1"
    assert kept_by_itself({"command": "x", "async": True}, KEPT) is None
    assert kept_by_itself({"command": "x", "until": {"port": 1}}, KEPT) is None
    # A command that has ended, and left something running.
    adopted = Reply(text="", is_error=False, details={"async": {"state": "running", "jobId": "bg_2"}})
    assert kept_by_itself({"command": "x"}, adopted) is None


def test_progress_shows_the_newest_whole_lines() -> None:
    text = "".join(f"line {number}\n" for number in range(2000))
    shown = newest(text)
    assert len(shown) <= TAIL_CHARACTERS
    assert text.endswith(f"\n{shown}")
    assert len(newest("x" * 100_000)) == TAIL_CHARACTERS
