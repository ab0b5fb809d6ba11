"""Real clients' lines, replayed against the machine: each is understood, and each answer is what the client was sent.

`record_traffic.py` wrote the files down: the SDK's client and the Inspector, in both eras.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nacre.mcp.catalogue import CARD
from nacre.mcp.jsonrpc import RpcError
from nacre.mcp.machine import Machine, Send, ServerCall

FILES = sorted((Path(__file__).parent / "traffic").glob("*.jsonl"))


def connections(file: Path) -> list[list[dict[str, Any]]]:
    """The lines of each connection: the Inspector opens one for each method."""
    found: list[list[dict[str, Any]]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        method = message.get("client", {}).get("method")
        if not found or method == "initialize" or (method == "server/discover" and _is_new(found[-1])):
            found.append([])
        found[-1].append(message)
    return found


def _is_new(lines: list[dict[str, Any]]) -> bool:
    return any(line.get("client", {}).get("method") not in (None, "server/discover") for line in lines)


def test_both_clients_were_recorded_in_both_eras() -> None:
    assert [file.stem for file in FILES] == ["inspector-legacy", "inspector-modern", "sdk-auto", "sdk-legacy"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_machine_answers_as_it_answered_the_client(file: Path) -> None:
    calls = 0
    for lines in connections(file):
        machine = Machine(CARD)
        answers = {line["server"]["id"]: line["server"] for line in lines if "id" in line.get("server", {})}
        for line in lines:
            if "client" not in line:
                continue
            event = machine.receive(json.dumps(line["client"]).encode())
            if "id" not in line["client"]:
                assert event is None
                continue
            recorded = answers.get(line["client"]["id"])
            if recorded is None:
                # A stream of events has no answer while its client listens.
                assert isinstance(event, ServerCall)
                assert event.method == "subscriptions/listen"
                continue
            if isinstance(event, ServerCall):
                calls += 1
                assert event.method == line["client"]["method"]
                sent = _finish(machine, event, recorded)
            else:
                assert isinstance(event, Send)
                sent = event.line
            assert json.loads(sent) == recorded
    assert calls >= 3


def _finish(machine: Machine, call: ServerCall, recorded: dict[str, Any]) -> bytes:
    """The line for a recorded answer; what the machine adds to a result is already in it, and stays."""
    if "error" in recorded:
        error = recorded["error"]
        return machine.fail(call, RpcError(error["code"], error["message"], error.get("data")))
    return machine.finish(call, recorded["result"])
