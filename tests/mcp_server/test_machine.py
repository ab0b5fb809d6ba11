"""The protocol machine alone: lines in, events and lines out, in both eras. Nothing here starts a process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.mcp import jsonrpc
from nacre.mcp.jsonrpc import RpcError
from nacre.mcp.machine import (
    CAPABILITIES_KEY,
    HANDSHAKE_REVISIONS,
    REVISION_KEY,
    SERVER_INFO_KEY,
    Answered,
    Cancelled,
    Machine,
    Send,
    ServerCall,
    ServerCard,
)

CARD = ServerCard(name="n", title="t", version="1", instructions="use it")
CLIENT = {"name": "c", "version": "1"}
ENVELOPE = {REVISION_KEY: "2026-07-28", CAPABILITIES_KEY: {}}


def line(method: str, params: Any = None, number: Any = 1, **more: Any) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, **more}
    if number is not None:
        message["id"] = number
    if params is not None:
        message["params"] = params
    return json.dumps(message).encode()


def sent(event: object) -> Any:
    assert isinstance(event, Send), event
    assert event.line.endswith(b"\n")
    assert event.line.count(b"\n") == 1
    return json.loads(event.line)


def hello(revision: Any = "2025-11-25", **capabilities: Any) -> bytes:
    return line("initialize", {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": CLIENT}, 0)


def modern(method: str, number: Any = 1, **params: Any) -> bytes:
    return line(method, {"_meta": ENVELOPE, **params}, number)


def greeted(**capabilities: Any) -> Machine:
    machine = Machine(CARD)
    machine.receive(hello(**capabilities))
    return machine


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_the_handshake_agrees_on_a_known_revision(revision: str) -> None:
    result = sent(Machine(CARD).receive(hello(revision)))["result"]
    assert result["protocolVersion"] == revision
    assert result["serverInfo"] == {"name": "n", "title": "t", "version": "1"}
    assert result["instructions"] == "use it"
    assert set(result["capabilities"]) == {"tools", "resources"}


@pytest.mark.parametrize("revision", ["1999-01-01", "2026-07-28", "zzz"])
def test_the_handshake_offers_its_newest_revision_for_one_that_it_does_not_have(revision: str) -> None:
    assert sent(Machine(CARD).receive(hello(revision)))["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("missing", ["protocolVersion", "capabilities", "clientInfo"])
def test_a_handshake_without_a_field_is_refused_by_name(missing: str) -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
    del params[missing]
    error = sent(Machine(CARD).receive(line("initialize", params)))["error"]
    assert (error["code"], error["message"]) == (-32602, f"initialize: {missing} is missing")


def test_a_call_before_the_handshake_is_refused_and_ping_is_not() -> None:
    machine = Machine(CARD)
    assert sent(machine.receive(line("ping")))["result"] == {}
    error = sent(machine.receive(line("tools/list")))["error"]
    assert (error["code"], "initialize first" in error["message"]) == (-32600, True)
    assert sent(machine.receive(hello()))["result"]
    assert isinstance(machine.receive(line("tools/list")), ServerCall)


def test_a_call_carries_the_revision_and_what_its_client_can_do() -> None:
    call = greeted(elicitation={}).receive(line("tools/call", {"name": "bash", "arguments": {"command": "true"}}))
    assert isinstance(call, ServerCall)
    assert (call.revision, call.is_modern, call.capabilities) == ("2025-11-25", False, {"elicitation": {}})


def test_the_modern_era_needs_no_handshake() -> None:
    machine = Machine(CARD)
    result = sent(machine.receive(modern("server/discover")))["result"]
    assert (result["supportedVersions"], result["resultType"]) == (["2026-07-28"], "complete")
    assert (result["ttlMs"], result["cacheScope"]) == (60_000, "private")
    assert result["_meta"][SERVER_INFO_KEY]["name"] == "n"
    assert result["capabilities"]["extensions"] == {"io.modelcontextprotocol/tasks": {}}
    call = machine.receive(modern("tools/list", 2))
    assert isinstance(call, ServerCall)
    assert call.is_modern
    listed = json.loads(machine.finish(call, {"tools": []}))["result"]
    assert (listed["tools"], listed["resultType"], listed["ttlMs"]) == ([], "complete", 60_000)


def test_a_result_is_shaped_for_its_era() -> None:
    machine = greeted()
    call = machine.receive(line("resources/read", {"uri": "artifact://1"}))
    assert isinstance(call, ServerCall)
    old = json.loads(machine.finish(call, {"resultType": "complete", "contents": []}))["result"]
    assert old == {"contents": []}
    machine = Machine(CARD)
    call = machine.receive(modern("tools/call", name="bash"))
    assert isinstance(call, ServerCall)
    asked = json.loads(machine.finish(call, {"resultType": "input_required", "inputRequests": {}}))["result"]
    assert asked["resultType"] == "input_required"
    assert "ttlMs" not in asked


def test_one_connection_has_one_era() -> None:
    machine = greeted()
    error = sent(machine.receive(modern("tools/list")))["error"]
    assert error["code"] == -32600
    machine = Machine(CARD)
    machine.receive(modern("server/discover"))
    error = sent(machine.receive(hello()))["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}


@pytest.mark.parametrize(
    ("meta", "code", "said"),
    [
        ({REVISION_KEY: "2026-07-28"}, -32602, CAPABILITIES_KEY),
        ({CAPABILITIES_KEY: {}}, -32602, REVISION_KEY),
        ({REVISION_KEY: 3, CAPABILITIES_KEY: {}}, -32602, "must be a string"),
        ({REVISION_KEY: "2030-01-01", CAPABILITIES_KEY: {}}, -32022, "Unsupported"),
        ({REVISION_KEY: "2026-07-28", CAPABILITIES_KEY: []}, -32602, "must be an object"),
    ],
)
def test_an_envelope_with_a_fault_is_refused(meta: Any, code: int, said: str) -> None:
    error = sent(Machine(CARD).receive(line("tools/list", {"_meta": meta})))["error"]
    assert (error["code"], said in error["message"]) == (code, True)


@pytest.mark.parametrize(
    ("method", "in_handshake", "in_modern"),
    [
        ("ping", True, False),
        ("resources/subscribe", True, False),
        ("subscriptions/listen", False, True),
        ("tasks/get", False, True),
        ("prompts/list", False, False),
        ("logging/setLevel", False, False),
        ("no/such", False, False),
    ],
)
def test_each_era_has_its_methods(method: str, in_handshake: bool, in_modern: bool) -> None:
    params = {"uri": "job://bg_1", "taskId": "t", "notifications": {}}
    for known, event in (
        (in_handshake, greeted().receive(line(method, params))),
        (in_modern, Machine(CARD).receive(modern(method, **params))),
    ):
        refused = isinstance(event, Send) and "error" in json.loads(event.line)
        assert refused is not known
        if refused:
            assert sent(event)["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("method", "params", "said"),
    [
        ("tools/call", {}, "name is missing"),
        ("tools/call", {"name": 3}, "name must be a string"),
        ("tools/call", {"name": "bash", "arguments": [1]}, "arguments must be an object"),
        ("resources/read", {"uri": None}, "uri must be a string"),
        ("resources/list", {"cursor": 3}, "cursor must be a string"),
        ("tools/list", {"_meta": 3}, "_meta must be an object"),
    ],
)
def test_wrong_parameters_are_refused_by_name(method: str, params: Any, said: str) -> None:
    error = sent(greeted().receive(line(method, params)))["error"]
    assert (error["code"], error["message"]) == (-32602, f"{method}: {said}")


def test_a_cancelled_call_gets_no_answer() -> None:
    machine = greeted()
    call = machine.receive(line("tools/call", {"name": "bash"}, "seven"))
    assert isinstance(call, ServerCall)
    cancel = line("notifications/cancelled", {"requestId": "seven"}, None)
    assert machine.receive(cancel) == Cancelled("seven")
    assert machine.receive(cancel) is None
    assert machine.finish(call, {}) == b""
    assert machine.fail(call, RpcError(-32603, "late")) == b""
    # The id is free again.
    assert isinstance(machine.receive(line("tools/call", {"name": "bash"}, "seven")), ServerCall)


def test_an_id_is_used_by_one_request_at_a_time() -> None:
    machine = greeted()
    call = machine.receive(line("tools/list", None, 7))
    assert isinstance(call, ServerCall)
    assert sent(machine.receive(line("tools/list", None, 7)))["error"]["code"] == -32600
    assert json.loads(machine.finish(call, {"tools": []}))["id"] == 7


def test_a_question_of_ours_is_answered_once() -> None:
    machine = greeted(elicitation={})
    number, asked = machine.ask("elicitation/create", {"message": "?"})
    assert json.loads(asked) == {
        "jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": {"message": "?"}
    }  # fmt: skip
    answer = json.dumps({"jsonrpc": "2.0", "id": number, "result": {"action": "accept"}}).encode()
    assert machine.receive(answer) == Answered(number, {"action": "accept"}, None)
    assert machine.receive(answer) is None
    number, _ = machine.ask("elicitation/create", {})
    refused = json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": -1, "message": "no form"}}).encode()
    assert machine.receive(refused) == Answered(number, None, "no form")
    number, _ = machine.ask("elicitation/create", {})
    assert json.loads(machine.give_up(number))["params"] == {"requestId": number}
    late = json.dumps({"jsonrpc": "2.0", "id": number, "result": {}}).encode()
    assert machine.receive(late) is None


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (b"no json", -32700),
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "x": NaN}', -32700),
        (b"[1, 2]", -32600),
        (b"null", -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 3}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
    ],
)
def test_a_line_that_is_no_message_is_answered(wrong: bytes, code: int) -> None:
    answer = sent(greeted().receive(wrong))
    assert (answer["id"], answer["error"]["code"]) == (None, code)


@pytest.mark.parametrize("blank", [b"", b"  ", b"\r"])
def test_a_blank_line_says_nothing(blank: bytes) -> None:
    assert greeted().receive(blank) is None


def test_text_that_is_not_unicode_is_still_json() -> None:
    machine = greeted()
    call = machine.receive(line("tools/list"))
    assert isinstance(call, ServerCall)
    answer = machine.finish(call, {"text": "\ud800 and ü"})
    assert json.loads(answer.decode("utf-8"))["result"]["text"] == "\ud800 and ü"


@given(
    st.lists(st.binary(max_size=60) | st.sampled_from([hello(), line("tools/list"), modern("tools/list")]), max_size=8)
)
def test_no_line_breaks_the_machine(lines: list[bytes]) -> None:
    machine = Machine(CARD)
    for one in lines:
        event = machine.receive(one.replace(b"\n", b" "))
        if isinstance(event, Send):
            assert set(json.loads(event.line)) in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
        elif isinstance(event, ServerCall):
            assert jsonrpc.decode(machine.finish(event, {}))
