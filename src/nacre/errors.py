"""Every exception that nacre raises on purpose, and how messages spell values.

A ShellResult exists exactly when a process was started: before that, a failure is an exception; after that, a value.

NacreError
├── RequestError
│   ├── InvalidRequestError
│   └── WorkingDirectoryError
├── RefusedError
│   ├── DeniedError
│   └── InterceptedError
├── BackendError
│   ├── StartError
│   │   └── TerminalError
│   ├── BackendUnavailableError
│   └── NoEventLoopError
├── SessionBusyError
├── JobError
│   ├── UnknownJobError
│   └── JobLimitError
├── ArtifactError
│   ├── UnknownArtifactError
│   └── ArtifactQuotaError
├── ConfigError
└── CommandFailedError

Attributes carry the facts; the message is one sentence and the next step.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence

# Messages name this many of what there is.
MOST_NAMES = 3
# Messages show this much of a value.
SHOWN_CHARACTERS = 80
_SHOWN_ITEMS, _SHOWN_DEPTH = 4, 3
# A larger whole number is described by its size; Python refuses to format the largest ones.
_SHOWN_BITS = 256


class NacreError(Exception):
    """The base of every exception that nacre raises on purpose."""

    cause: str = "infra"
    """Whose doing it is: command, limit, guard or infra, as of a result."""
    clock: str | None = None
    """The limit that was reached, if one was."""


class RequestError(NacreError):
    """The call is wrong; nothing was started."""

    cause = "command"


class InvalidRequestError(RequestError):
    """A field is missing, of the wrong type or impossible."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


class WorkingDirectoryError(RequestError):
    """The working directory cannot be used."""

    def __init__(self, path: str, reason: str) -> None:
        # A path may be too long for a message, and not every byte of a name is text.
        named = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        named = named if len(named) <= 4096 else f"{named[:80]}…"
        super().__init__(f"working directory {named!r} {reason}")
        self.path = named
        self.reason = reason


class RefusedError(NacreError):
    """The policy refused the command; nothing was started."""

    cause = "guard"


class DeniedError(RefusedError):
    """The guard denied the command."""

    def __init__(self, message: str, *, rule: str | None) -> None:
        super().__init__(message)
        self.rule = rule


class InterceptedError(RefusedError):
    """A dedicated tool serves this command better."""

    def __init__(self, message: str, *, tool: str) -> None:
        super().__init__(message)
        self.tool = tool


class BackendError(NacreError):
    """nacre failed, not the command."""


class StartError(BackendError):
    """The shell could not be started."""

    def __init__(self, message: str, *, errno: int | None = None) -> None:
        super().__init__(message)
        self.errno = errno


class TerminalError(StartError):
    """The terminal of a command could not be made."""


class BackendUnavailableError(BackendError):
    """The place where commands run cannot be reached or lacks a required part."""


class NoEventLoopError(BackendError):
    """A coroutine of nacre is awaited where no asyncio event loop runs."""

    def __init__(self) -> None:
        super().__init__(
            "no asyncio event loop runs in this process: a child that is forked inside a running loop has none, and "
            "other frameworks bring none; call nacre.run_sync, or start a loop with asyncio.run"
        )


class SessionBusyError(NacreError):
    """The session runs another command."""

    cause = "limit"
    clock = "turn"


class JobError(NacreError):
    """A job cannot be found or started."""


class UnknownJobError(JobError):
    """No job has that id."""

    def __init__(self, job_id: str, known: list[str]) -> None:
        super().__init__(f"no job {job_id!r}; known jobs: {some_of(known)}")
        self.job_id = job_id


class JobLimitError(JobError):
    """Too many jobs are running."""

    cause = "limit"
    clock = "jobs"


class ArtifactError(NacreError):
    """An artifact cannot be read or written."""


class UnknownArtifactError(ArtifactError):
    """No artifact has that id."""


class ArtifactQuotaError(ArtifactError):
    """The artifact store has no room."""


class ConfigError(NacreError):
    """A setting is wrong; the message names the file, the key and the accepted values."""

    def __init__(self, message: str, *, source: str | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.source = source
        self.key = key


class CommandFailedError(NacreError):
    """The command failed and its caller asked for an exception (`ShellResult.check()`); carries the result."""

    def __init__(self, message: str, *, result: object) -> None:
        super().__init__(message)
        self.result = result


def reason_of(errno: int) -> str:
    """Return the system's words for an errno, in lower case, as part of a sentence."""
    return os.strerror(errno).lower()


def some_of(names: Sequence[str]) -> str:
    """Spell the newest names of a list, which may be long."""
    if not names:
        return "none"
    more = f" ({len(names)} in all)" if len(names) > MOST_NAMES else ""
    return ", ".join(names[-MOST_NAMES:]) + more


def shown(value: object) -> str:
    """Spell a value for a message: as JSON, and short however large or deep it is."""
    text = _shown(value, _SHOWN_DEPTH)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"


def kind_of(value: object) -> str:
    """Name the kind of a value in JSON's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind, words in _KINDS:
        if isinstance(value, kind):
            return words
    return f"a Python {type(value).__name__}"


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (str, "a string"),
    ((int, float), "a number"),
    (Mapping, "an object"),
    ((list, tuple), "a list"),
)


def _shown(value: object, depth: int) -> str:
    if value is None or isinstance(value, bool):
        return kind_of(value)
    if isinstance(value, str):
        import json

        text = value if len(value) <= SHOWN_CHARACTERS else f"{value[:SHOWN_CHARACTERS]}…"
        # A lone surrogate is not text, and cannot be printed.
        return json.dumps(text, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, int):
        bits = value.bit_length()
        return str(int(value)) if bits <= _SHOWN_BITS else f"a number of about {round(bits * 0.30103)} digits"
    if isinstance(value, float):
        return f"{value:g}" if math.isfinite(value) else {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
    if isinstance(value, Mapping):
        names = list(value)[:_SHOWN_ITEMS] if depth else []
        pairs = [f"{_shown(name, depth - 1)}: {_shown(value[name], depth - 1)}" for name in names]
        return f"{{{_listed(pairs, len(value))}}}"
    if isinstance(value, list | tuple):
        items = value[:_SHOWN_ITEMS] if depth else ()
        return f"[{_listed([_shown(item, depth - 1) for item in items], len(value))}]"
    return kind_of(value)


def _listed(shown_items: list[str], count: int) -> str:
    return ", ".join(shown_items if len(shown_items) == count else [*shown_items, "…"])
