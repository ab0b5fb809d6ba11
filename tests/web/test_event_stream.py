"""Events are framed so that no text breaks out of its frame, and a stream ends with its reader."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nacre.web.event_stream import EventStream, frame, number_of, revision_of

TEXTS = st.text() | st.sampled_from(["a\n\ndata: b", "\r", "\u2028", "event: x\n", "\ud800", "</script>"])


@given(TEXTS)
def test_a_frame_holds_any_text_in_one_line(text: str) -> None:
    framed = frame("card", {"text": text}, number="e.1").decode("ascii")
    assert framed.endswith("\n\n")
    lines = framed[:-2].split("\n")
    assert lines[:2] == ["event: card", "id: e.1"]
    assert len(lines) == 3
    assert json.loads(lines[2].removeprefix("data: ")) == {"text": text}


def test_a_browser_goes_on_from_its_number_and_anew_with_another_server() -> None:
    assert revision_of(number_of("one", 42), "one") == 42
    for number in (None, "", "one", "two.42", "one.x", "one.-1", "one." + "9" * 40, "one.٣"):
        assert revision_of(number, "one") == 0


async def test_a_stream_ends_when_its_reader_is_gone_and_closes_what_it_read() -> None:
    closed = asyncio.Event()
    leaves = asyncio.Event()
    sent: list[Any] = []

    async def frames() -> AsyncGenerator[bytes]:
        try:
            while True:
                yield b": x\n\n"
                await asyncio.sleep(0)
        finally:
            closed.set()

    async def receive() -> dict[str, Any]:
        await leaves.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)
        if len(sent) == 4:
            leaves.set()

    source = frames()
    async with asyncio.timeout(5):
        await EventStream(source)({}, receive, send)
    assert closed.is_set()
    assert sent[0]["status"] == 200
