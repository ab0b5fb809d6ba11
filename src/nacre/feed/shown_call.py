"""A running call as viewers see it: its facts, its newest output, and what a viewer may ask of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from nacre.feed.shown_text import ShownText
from nacre.output.redaction.redactor import Redactor

FeedEvent = dict[str, Any]
"""One event, as D37 describes it; `seq` and `project` are the follower's."""

VERSION = 1
# What is kept of output that was not told yet, and of what a viewer that comes later is told first.
TAIL_BYTES = 64 * 1024


class ShownCall:
    """One call. The publisher's lock guards it."""

    def __init__(self, call: str, facts: FeedEvent, redactor: Redactor | None) -> None:
        """Take what every event of the call says, and what only its start says below `start`."""
        self.call = call
        self.common: FeedEvent = {"call": call, **{name: facts.get(name) for name in COMMON}}
        self.start: FeedEvent = {name: value for name, value in facts.items() if name not in COMMON}
        self.stop: Callable[[], None] | None = None
        """Asks the owner of the call to stop it; called on any thread."""
        self.keep: Callable[[], None] | None = None
        """Asks the owner of a call on a terminal to answer its caller now and leave it as a job; on any thread."""
        self.write: Callable[[str], None] | None = None
        """Types into the terminal of the call; called on any thread."""
        self.resize: Callable[[int, int], None] | None = None
        """Changes the size of its terminal; called on any thread."""
        self.said: list[FeedEvent] = []
        """What a viewer that comes later must know beside the start: a job, a question, a prompt."""
        self.recent = ""
        """The newest text that was told."""
        self.told_at = 0.0
        self.unseen = 0
        """Bytes of text that were told before `recent`, or dropped."""
        self._redactor = redactor
        self._text = ShownText(redactor)
        self._raw = bytearray()
        self._dropped = 0

    @property
    def has_news(self) -> bool:
        return bool(self._raw)

    def feed(self, data: bytes | memoryview) -> None:
        """Take output; the newest is kept of more than fits."""
        self._raw += data
        if len(self._raw) > 2 * TAIL_BYTES:
            self._cut()

    def _cut(self) -> None:
        over = len(self._raw) - TAIL_BYTES
        # From the beginning of a line, so that neither a character nor an escape sequence is cut in two.
        end = self._raw.find(b"\n", over)
        over = end + 1 if 0 <= end < len(self._raw) - 1 else over
        del self._raw[:over]
        self._dropped += over
        self._text = ShownText(self._redactor)

    def skip(self, count: int) -> None:
        """Count output that came before this call was shown."""
        self._dropped += count

    def take(self, *, final: bool = False) -> tuple[str, int]:
        """Return the text since the last time, and how many bytes were dropped before it."""
        if len(self._raw) > TAIL_BYTES:
            self._cut()
        text = self._text.feed(bytes(self._raw), final=final)
        self._raw.clear()
        dropped, self._dropped = self._dropped, 0
        self.told_at = time.monotonic()
        if dropped:
            self.unseen += dropped + len(self.recent.encode())
            self.recent = ""
        self.recent += text
        if len(self.recent) > 2 * TAIL_BYTES:
            self.unseen += len(self.recent[:-TAIL_BYTES].encode())
            self.recent = self.recent[-TAIL_BYTES:]
        return text, dropped

    def event(self, kind: str, **facts: Any) -> FeedEvent:
        return {"v": VERSION, "time": time.time(), "event": kind, **self.common, **facts}

    def first_events(self) -> list[FeedEvent]:
        """What a viewer is told that comes while the call runs."""
        events = [self.event("start", **self.start), *self.said]
        if self.recent or self.unseen:
            events.append(output_event(self, self.recent, self.unseen))
        return events


COMMON = ("surface", "session", "directory", "pid")


def output_event(call: ShownCall, text: str, dropped: int) -> FeedEvent:
    event = call.event("output", text=text)
    return event | {"droppedBytes": dropped} if dropped else event
