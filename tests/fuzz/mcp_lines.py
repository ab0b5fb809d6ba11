"""The MCP machine: whatever lines come, each is answered at most once, and every line of ours is one JSON object."""

import json

import atheris
from harness import instrumented, start

with instrumented():
    from nacre.mcp.machine import Machine, Send, ServerCall, ServerCard

CARD = ServerCard(name="n", title="t", version="1", instructions="")
META = (
    '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
)
BEGINNINGS = (
    "",
    '{"jsonrpc":"2.0","id":1,"method":"',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{',
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"',
    '{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{' + META,
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":',
)


def one_input(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    machine = Machine(CARD)
    for _ in range(provider.ConsumeIntInRange(1, 6)):
        begins = provider.PickValueInList(list(BEGINNINGS)).encode()
        event = machine.receive(begins + provider.ConsumeBytes(120).replace(b"\n", b" "))
        if isinstance(event, Send):
            check(event.line)
        elif isinstance(event, ServerCall):
            check(machine.finish(event, {}))
            assert machine.finish(event, {}) == b""


def check(line: bytes) -> None:
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert {"jsonrpc", "id"} < set(json.loads(line))


if __name__ == "__main__":
    start(one_input)
