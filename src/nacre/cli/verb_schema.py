"""`nacre schema`: prints a tool as a model sees it, or as the API of a vendor takes it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from nacre.contracts import contract_names
from nacre.contracts.vendors import tool_for, vendor_names
from nacre.tool import Tool

EPILOG = """\
Without --for it is {"name", "description", "input_schema"}. With --for it is the entry for the list of tools:
  anthropic   a custom tool; for the contract anthropic the built-in bash tool
  openai      a function of the Responses API in strict mode; for the contract openai the built-in shell tool
  gemini      a function declaration
  mcp         a tool as tools/list shows it
One tool a call. The companions of workspace are tools of their own: print workspace, job and read, and give all three.

What a model sends goes to `nacre call CONTRACT` as it is, whichever schema it was given.

examples:
  nacre schema modes
  nacre schema workspace --for openai
  nacre schema job --for gemini
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("contract", choices=contract_names(), help="the shape of the tool")
    parser.add_argument("--for", dest="vendor", choices=["mcp", *vendor_names()], help="whose API is to take it")


def main(namespace: argparse.Namespace) -> int:
    print(json.dumps(_described(namespace.contract, namespace.vendor), indent=2))
    return 0


def _described(contract: str, vendor: str | None) -> dict[str, Any]:
    schema = Tool(contract).schema()
    if vendor is None:
        return schema
    if vendor == "mcp":
        from nacre.mcp.catalogue import describe

        return describe(contract, schema)
    return tool_for(vendor, contract, schema)
