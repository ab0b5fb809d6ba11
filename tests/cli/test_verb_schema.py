"""`nacre schema`: what a model sees of a tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Nacre
from nacre.contracts import contract_names
from nacre.contracts.vendors import tool_for, vendor_names
from nacre.mcp.catalogue import describe
from nacre.tool import Tool


@pytest.mark.parametrize("contract", contract_names())
def test_it_is_what_the_library_gives(nacre: Nacre, contract: str, tmp_path: Path) -> None:
    done = nacre("schema", contract, cwd=tmp_path)
    assert (done.code, json.loads(done.out), done.err) == (0, Tool(contract, cwd=tmp_path).schema(), "")


def test_an_unknown_contract_is_refused_with_the_known_ones(nacre: Nacre) -> None:
    done = nacre("schema", "bsic")
    assert (done.code, done.out) == (2, "")
    assert "invalid choice: 'bsic' (choose from 'basic', 'modes'" in done.err


@pytest.mark.parametrize("vendor", vendor_names())
def test_for_a_vendor_it_is_the_entry_of_its_api(nacre: Nacre, vendor: str, tmp_path: Path) -> None:
    done = nacre("schema", "workspace", "--for", vendor, cwd=tmp_path)
    tool = tool_for(vendor, "workspace", Tool("workspace", cwd=tmp_path).schema())
    assert (done.code, json.loads(done.out), done.err) == (0, tool, "")


@pytest.mark.parametrize(
    ("vendor", "tool"),
    [
        ("anthropic", {"type": "bash_20250124", "name": "bash"}),
        ("openai", {"type": "shell", "environment": {"type": "local"}}),
    ],
)
def test_the_contract_s_own_vendor_gets_its_built_in_tool(nacre: Nacre, vendor: str, tool: dict[str, object]) -> None:
    assert json.loads(nacre("schema", vendor, "--for", vendor).out) == tool


def test_for_mcp_it_is_the_tool_that_the_server_lists(nacre: Nacre, tmp_path: Path) -> None:
    done = nacre("schema", "job", "--for", "mcp", cwd=tmp_path)
    assert (done.code, json.loads(done.out), done.err) == (0, describe("job", Tool("job", cwd=tmp_path).schema()), "")


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("contract", contract_names())
def test_every_contract_is_a_tool_of_the_protocol(contract: str, structured: bool) -> None:
    from mcp_types import Tool as Listed

    tool = describe(contract, Tool(contract).schema(), structured=structured)
    assert Listed.model_validate(tool).model_dump(by_alias=True, exclude_none=True) == tool
    parts = [part for part in tool if part.endswith("Schema")]
    assert parts == ["inputSchema", *(["outputSchema"] if structured else [])]
    assert all(not {"oneOf", "anyOf", "allOf"} & set(tool[part]) for part in parts)
