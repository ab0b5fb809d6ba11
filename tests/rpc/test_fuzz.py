"""Whatever is sent, every line that is not blank gets exactly one answer, and the server goes on."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nacre.rpc.json_messages import TYPES
from rpc.conftest import Client

# Only these are ever run.
COMMANDS = ["true", "echo x", "exit 3", "kill -9 $$", "echo 'unfinished", "git push --force", "", " ", "\0", "\ud800"]
FIELDS = ["cwd", "env", "timeout", "pty", "head", "by", "session", "target", "list", "poll", "cancel", "read", "uri"]

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    message = draw(st.dictionaries(st.sampled_from(FIELDS), values, max_size=3))
    message["type"] = draw(st.sampled_from(TYPES) | values)
    if draw(st.booleans()):
        message["id"] = draw(values)
    if draw(st.booleans()):
        message["command"] = draw(st.sampled_from(COMMANDS) | st.integers() | st.lists(st.integers(), max_size=2))
    return json.dumps(message).encode()


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    line = draw(requests())
    at = draw(st.integers(0, len(line) - 1))
    # Never into a text: a command with another letter is another command.
    return line[:at] + draw(st.sampled_from([b"\0", b"\xff", b"}", b"]"]))


lines = st.lists(
    (requests() | damaged() | st.binary(max_size=30) | values.map(lambda value: json.dumps(value).encode())).map(
        lambda line: line.replace(b"\n", b" ")
    ),
    max_size=6,
)


def test_every_line_gets_exactly_one_answer(client: Client) -> None:
    @settings(max_examples=100, suppress_health_check=list(HealthCheck))
    @given(lines)
    def examine(sent: list[bytes]) -> None:
        client.send_bytes(b"".join(line + b"\n" for line in sent))
        for _ in range(sum(bool(line.strip()) for line in sent)):
            answer = client.any_answer()
            assert answer["type"] == "response"
            assert isinstance(answer["success"], bool)
            assert "failure of nacre's own" not in answer.get("error", "")
        client.events.clear()

    examine()
    assert client.call({"id": "last", "type": "check", "command": "ls"})["success"] is True
    client.end_input()
    assert (client.rest(), client.wait()) == ([], 0)
