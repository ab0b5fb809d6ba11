"""`nacre schema`: what a model sees of a tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Nacre
from nacre.contracts import contract_names
from nacre.tool import Tool


@pytest.mark.parametrize("contract", contract_names())
def test_it_is_what_the_library_gives(nacre: Nacre, contract: str, tmp_path: Path) -> None:
    done = nacre("schema", contract, cwd=tmp_path)
    assert (done.code, json.loads(done.out), done.err) == (0, Tool(contract, cwd=tmp_path).schema(), "")


def test_an_unknown_contract_is_refused_with_the_known_ones(nacre: Nacre) -> None:
    done = nacre("schema", "bsic")
    assert (done.code, done.out) == (2, "")
    assert "invalid choice: 'bsic' (choose from 'basic', 'modes'" in done.err
