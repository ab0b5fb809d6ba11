"""`nacre schema`: what a model sees of a tool."""

from __future__ import annotations

import argparse
import json

from nacre.contracts import contract_names
from nacre.tool import Tool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("contract", choices=contract_names(), help="the shape of the tool")


def main(namespace: argparse.Namespace) -> int:
    print(json.dumps(Tool(namespace.contract).schema(), indent=2))
    return 0
