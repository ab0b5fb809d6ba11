"""The files that others' tools read about nacre: they agree with the package, and keep the rules of their formats."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import nacre
from nacre.cli.clients import CLIENTS, entry_of
from nacre.mcp.catalogue import offered_by
from nacre.tool import Tool

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def load(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((ROOT / name).read_text(encoding="utf-8"))
    return content


SERVER, MANIFEST, EXAMPLE = load("server.json"), load("manifest.json"), load(".mcp.json")
(PACKAGE,) = SERVER["packages"]

TEXT = {"type": "string", "minLength": 1}
# An exact version: no range, no "latest".
VERSION = {"type": "string", "pattern": r"^\d+\.\d+\.\d+([.-]?[a-z]+\.?\d*)?$"}


def exactly(properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


# What the registry's schema of 2025-12-11 and its requirements say, of the fields that are used.
SERVER_RULES = exactly(
    {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"type": "string", "pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "title": TEXT | {"maxLength": 100},
        "description": TEXT | {"maxLength": 100},
        "version": VERSION | {"maxLength": 255},
        "packages": {
            "type": "array",
            "minItems": 1,
            "items": exactly(
                {
                    "registryType": {"const": "pypi"},
                    "identifier": TEXT,
                    "version": VERSION,
                    "runtimeHint": {"enum": ["uvx"]},
                    "transport": exactly({"type": {"const": "stdio"}}),
                    "packageArguments": {
                        "type": "array",
                        "items": exactly({"type": {"const": "positional"}, "value": TEXT}),
                    },
                }
            ),
        },
    }
)

# What the schema of bundle manifests, version 0.4, says, likewise: it allows no other field anywhere.
MANIFEST_RULES = exactly(
    {
        "manifest_version": {"const": "0.4"},
        "name": TEXT,
        "version": VERSION,
        "description": TEXT,
        "author": exactly({"name": TEXT}),
        "license": TEXT,
        "keywords": {"type": "array", "items": TEXT},
        "server": exactly(
            {
                "type": {"enum": ["python", "node", "binary", "uv"]},
                "entry_point": TEXT,
                "mcp_config": exactly({"command": TEXT, "args": {"type": "array", "items": TEXT}}),
            }
        ),
        "user_config": {
            "type": "object",
            "additionalProperties": exactly(
                {
                    "type": {"enum": ["string", "number", "boolean", "directory", "file"]},
                    "title": TEXT,
                    "description": TEXT,
                    "default": TEXT,
                    "required": {"type": "boolean"},
                }
            ),
        },
        "tools": {"type": "array", "items": exactly({"name": TEXT, "description": TEXT})},
        "compatibility": exactly(
            {
                "platforms": {"type": "array", "items": {"enum": ["darwin", "win32", "linux"]}},
                "runtimes": exactly({"python": TEXT}),
            }
        ),
    }
)


def test_all_versions_are_the_package_s() -> None:
    stated = {
        "nacre.__version__": nacre.__version__,
        "server.json": SERVER["version"],
        "server.json, package": PACKAGE["version"],
        "manifest.json": MANIFEST["version"],
    }
    assert stated == dict.fromkeys(stated, PROJECT["version"])


def test_all_descriptions_are_the_package_s() -> None:
    stated = (SERVER["description"], MANIFEST["description"], MANIFEST["license"], MANIFEST["keywords"])
    assert stated == (PROJECT["description"], PROJECT["description"], PROJECT["license"], PROJECT["keywords"])


@pytest.mark.parametrize(
    ("content", "rules"), [(SERVER, SERVER_RULES), (MANIFEST, MANIFEST_RULES)], ids=["server.json", "manifest.json"]
)
def test_the_rules_of_the_format_are_kept(content: dict[str, Any], rules: dict[str, Any]) -> None:
    jsonschema.Draft7Validator(rules).validate(content)


def test_the_registry_can_see_that_the_package_is_the_server_s() -> None:
    readme = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")
    assert re.findall(r"mcp-name: (\S+)", readme) == [SERVER["name"]]
    assert PACKAGE["identifier"] == PROJECT["name"]


def test_what_a_client_starts_is_the_verb_of_the_script_with_the_package_s_name() -> None:
    """`uvx NAME` runs the script of that name."""
    assert PROJECT["name"] in PROJECT["scripts"]
    assert [argument["value"] for argument in PACKAGE["packageArguments"]] == ["mcp"]
    assert MANIFEST["server"]["mcp_config"]["args"][-2:] == [PROJECT["name"], "mcp"]
    assert (ROOT / MANIFEST["server"]["entry_point"]).is_file()


def test_every_setting_that_the_bundle_asks_for_is_used() -> None:
    used = re.findall(r"\$\{user_config\.(\w+)\}", json.dumps(MANIFEST["server"]))
    assert sorted(set(used)) == sorted(MANIFEST["user_config"])


def test_the_tools_of_the_bundle_are_those_that_the_server_offers() -> None:
    offered = [Tool(contract).schema()["name"] for contract in offered_by("workspace")]
    assert [tool["name"] for tool in MANIFEST["tools"]] == offered


def test_the_bundle_runs_on_what_the_package_runs_on() -> None:
    assert MANIFEST["compatibility"]["runtimes"]["python"] == PROJECT["requires-python"]


def test_the_example_is_what_install_prints_for_a_project() -> None:
    assert {CLIENTS["claude"].key: {"nacre": entry_of("claude", ["nacre", "mcp"])}} == EXAMPLE


@pytest.mark.parametrize("name", ["server.json", "manifest.json", ".mcp.json"])
def test_no_address_of_a_package_registry_is_shipped(name: str) -> None:
    addresses = re.findall(r"https?://([^/\"]+)", (ROOT / name).read_text(encoding="utf-8"))
    assert set(addresses) <= {"static.modelcontextprotocol.io"}
