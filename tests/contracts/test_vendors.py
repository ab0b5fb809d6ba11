"""Every contract as each vendor's API takes it, by the rules that the vendors have written down."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from workbench import Workbench

from nacre.contracts import contract_named, contract_names
from nacre.contracts.contract import SchemaContext
from nacre.contracts.vendors import plain, strict, tool_for, vendor_names
from nacre.errors import InvalidRequestError
from nacre.tool import Tool

BUILT_IN = {
    ("anthropic", "anthropic"): {"type": "bash_20250124", "name": "bash"},
    ("openai", "openai"): {"type": "shell", "environment": {"type": "local"}},
}
# The keywords of strict mode, and those of Gemini's Schema that every version of its API takes.
STRICT = {"type", "description", "enum", "items", "properties", "required", "additionalProperties", "anyOf"}
GEMINI = {"type", "description", "enum", "items", "properties", "required"}
TYPES = {"string", "number", "integer", "boolean", "array", "object"}


def schema_of(contract: str) -> dict[str, Any]:
    return contract_named(contract).schema(SchemaContext("/work", window=60.0))


def described(contract: str, vendor: str) -> dict[str, Any]:
    return tool_for(vendor, contract, schema_of(contract))


def custom(vendor: str) -> list[str]:
    """The contracts whose tool the vendor does not know by itself."""
    return [name for name in contract_names() if (name, vendor) not in BUILT_IN]


def parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and all schemas in it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    inner += [schema["items"]] if "items" in schema else []
    for one in inner:
        yield from parts(one)


@pytest.mark.parametrize("vendor", vendor_names())
@pytest.mark.parametrize("contract", contract_names())
def test_name_and_description_are_the_contract_s_own_and_fit_every_vendor(contract: str, vendor: str) -> None:
    if (contract, vendor) in BUILT_IN:
        assert described(contract, vendor) == BUILT_IN[contract, vendor]
        return
    schema, tool = schema_of(contract), described(contract, vendor)
    assert (tool["name"], tool["description"]) == (schema["name"], schema["description"])
    assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", tool["name"])
    # OpenAI's limit is 1024 characters for a function of Chat Completions; of the Responses API none is known.
    assert 0 < len(tool["description"]) < 4096


@pytest.mark.parametrize("contract", custom("anthropic"))
def test_anthropic_takes_the_schema_as_it_is(contract: str) -> None:
    tool = described(contract, "anthropic")
    assert tool == schema_of(contract)
    assert sorted(tool) == ["description", "input_schema", "name"]
    assert tool["input_schema"]["type"] == "object"
    assert not {"oneOf", "anyOf", "allOf"} & set(tool["input_schema"])
    assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name) for name in tool["input_schema"]["properties"])


@pytest.mark.parametrize("contract", custom("openai"))
def test_openai_s_strict_mode_is_kept(contract: str) -> None:
    tool = described(contract, "openai")
    assert (list(tool), tool["type"], tool["strict"]) == (
        ["type", "name", "description", "parameters", "strict"],
        "function",
        True,
    )
    assert tool["parameters"]["type"] == "object"
    assert "anyOf" not in tool["parameters"]
    for part in parts(tool["parameters"]):
        assert set(part) <= STRICT
        assert ("type" in part) != ("anyOf" in part)
        if part.get("type") == "object":
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
        if part.get("type") == "array":
            assert "items" in part


@pytest.mark.parametrize("contract", custom("openai"))
def test_what_is_optional_may_be_null_in_strict_mode_and_what_is_required_may_not(contract: str) -> None:
    schema = schema_of(contract)["input_schema"]
    made = described(contract, "openai")["parameters"]["properties"]
    nullable = {name for name, shape in made.items() if _takes_null(shape)}
    assert nullable == set(schema["properties"]) - set(schema.get("required", []))


def _takes_null(shape: dict[str, Any]) -> bool:
    if "anyOf" in shape:
        return {"type": "null"} in shape["anyOf"]
    return isinstance(shape["type"], list) and "null" in shape["type"] and None in shape.get("enum", [None])


@pytest.mark.parametrize("contract", custom("gemini"))
def test_gemini_s_subset_is_kept(contract: str) -> None:
    tool = described(contract, "gemini")
    assert list(tool) == ["name", "description", "parameters"]
    assert tool["parameters"]["type"] == "object"
    for part in parts(tool["parameters"]):
        assert set(part) <= GEMINI
        assert part["type"] in TYPES
        assert set(part.get("required", [])) <= set(part.get("properties", {}))
        if part["type"] == "object":
            assert part["properties"], "an object without properties is refused by the API"
        if part["type"] == "array":
            assert "items" in part
        assert all(isinstance(value, str) for value in part.get("enum", []))
        assert all(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}", name) for name in part.get("properties", {}))


def test_a_vendor_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidRequestError, match="there is no vendor 'mistral'; there are anthropic, openai, gemini"):
        tool_for("mistral", "basic", schema_of("basic"))


# What the schemas are made of.


def test_optional_values_of_every_kind_become_null() -> None:
    schema = {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "what to run"},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "lines": {"type": "integer", "minimum": 1, "maximum": 9},
            "id": {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "either"},
            "env": {"type": "object", "additionalProperties": {"type": "string"}, "description": "variables"},
            "until": {"type": "object", "properties": {"port": {"type": "integer"}}, "additionalProperties": False},
        },
        "required": ["command"],
        "additionalProperties": False,
    }
    pair = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
        "required": ["name", "value"],
    }
    port = {"type": "object", "properties": {"port": {"type": ["integer", "null"]}}, "required": ["port"]}
    null = {"type": "null"}
    closed = {"additionalProperties": False}
    assert strict(schema) == {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "what to run"},
            "mode": {"type": ["string", "null"], "enum": ["a", "b", None]},
            "lines": {"type": ["integer", "null"]},
            "id": {"anyOf": [{"type": "string"}, {"type": "integer"}, null], "description": "either"},
            "env": {"anyOf": [{"type": "array", "items": pair | closed}, null], "description": "variables"},
            "until": {"anyOf": [port | closed, null]},
        },
        "required": ["command", "mode", "lines", "id", "env", "until"],
        "additionalProperties": False,
    }
    assert plain(schema) == {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "what to run"},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "lines": {"type": "integer"},
            "id": {"type": "string", "description": "either"},
            "env": {"type": "array", "items": pair, "description": "variables"},
            "until": {"type": "object", "properties": {"port": {"type": "integer"}}},
        },
        "required": ["command"],
    }


def test_a_keyword_that_no_rule_is_known_for_is_not_left_out_quietly() -> None:
    with pytest.raises(AssertionError, match="oneOf"):
        strict({"type": "object", "oneOf": []})


# What a model sends by these schemas is read as what it means.


@pytest.mark.parametrize(
    ("contract", "meant"),
    [
        ("modes", {"command": "echo hi"}),
        ("workspace", {"command": "echo hi"}),
        ("workspace", {"command": "echo hi", "until": {"quiet": 5}}),
        ("anthropic", {"command": "echo hi"}),
        ("anthropic", {"restart": True}),
    ],
)
def test_nulls_for_all_that_was_left_out_mean_the_same(contract: str, meant: dict[str, Any]) -> None:
    tool = contract_named(contract)
    sent = dict.fromkeys(described(contract, "openai")["parameters"]["properties"]) | meant
    if "until" in meant:
        sent["until"] = {"regex": None, "port": None, "file": None} | meant["until"]
    assert tool.decode(sent) == tool.decode(meant)  # type: ignore[union-attr]


async def test_the_companions_read_nulls_as_absent_too(home: Path) -> None:
    for contract, meant in (("job", {"list": True}), ("read", {"id": "1"})):
        sent = dict.fromkeys(described(contract, "openai")["parameters"]["properties"]) | meant
        async with Tool(contract) as tool:
            assert await tool.call(sent) == await tool.call(meant)


async def test_variables_may_come_as_a_list_of_names_and_values(bench: Workbench) -> None:
    env = [{"name": "A", "value": "it's"}, {"name": "B", "value": "2"}]
    reply = await bench.call({"command": 'echo "$A $B"', "env": env})
    assert reply.text.splitlines()[0] == "it's 2"


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ([["A", "secret"]], "field 'env[0]' must be an object with 'name' and 'value'"),
        ([{"name": "A", "value": "secret", "x": 1}], "field 'env[0]' must be an object with 'name' and 'value'"),
        ([{"name": 7, "value": "secret"}], "field 'env[0]' must be an object with 'name' and 'value'"),
        (
            [{"name": "A", "value": "secret"}, {"name": "A", "value": "secret"}],
            "field 'env[1]' names \"A\" a second time",
        ),
        ([{"name": "A", "value": 7}], "field 'env': the value of variable 'A' must be a string, got a number"),
    ],
)
async def test_a_wrong_list_of_variables_is_refused_without_its_values(
    bench: Workbench, env: object, message: str
) -> None:
    reply = await bench.call({"command": "true", "env": env})
    assert (reply.text, reply.is_error) == (message, True)
