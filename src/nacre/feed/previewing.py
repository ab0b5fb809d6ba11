"""A call that is still being written, as viewers see it."""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from nacre import feed
from nacre.feed.call_ids import call_ids
from nacre.feed.partial_json import read_partial
from nacre.feed.shown_call import VERSION, FeedEvent
from nacre.output.redaction.redactor import Redactor
from nacre.request import Owner


class Preview(NamedTuple):
    """The call so far."""

    call: str
    command: str
    """As it was written so far, hidden values included; it never leaves the program."""
    event: FeedEvent


class Previews:
    """The calls of a tool that are being written, by a key of the caller's."""

    def __init__(self) -> None:
        self._open: dict[str, Preview] = {}

    def show(self, key: str, partial_json: str, redactor: Redactor, owner: Owner) -> Preview:
        """Return the call as its arguments show it now."""
        found = self._open[key] = preview_of(partial_json, self._open.get(key), redactor, owner)
        return found

    def take(self, command: str) -> str | None:
        """Return the id under which viewers saw a command being written; None if they did not."""
        for key, found in self._open.items():
            if command.startswith(found.command):
                del self._open[key]
                return found.call
        return None


def preview_of(partial_json: str, before: Preview | None, redactor: Redactor, owner: Owner) -> Preview:
    """Return the call as its arguments show it; a value that may become a hidden one is held back."""
    fields = read_partial(partial_json)
    written, env = fields.get("command"), fields.get("env")
    command = written if isinstance(written, str) else ""
    call = call_ids.new() if before is None else before.call
    event: FeedEvent = {
        "v": VERSION,
        "time": time.time(),
        "event": "preview",
        "call": call,
        "surface": feed.surface,
        "session": owner.session,
        "directory": redactor.redact_text(owner.directory),
        "pid": os.getpid(),
        "command": _shown(command, redactor),
    }
    if isinstance(env, dict):
        texts = {str(name): value for name, value in env.items() if isinstance(value, str)}
        event["env"] = {name: _shown(value, redactor) for name, value in texts.items()}
    return Preview(call, command, event)


def _shown(text: str, redactor: Redactor) -> str:
    # A fresh stream, which is not flushed: its end may be the beginning of a hidden value.
    held = redactor.fresh().feed(text.encode("utf-8", "replace"))
    return redactor.redact_text(held.decode("utf-8", "replace"))
