"""The messages in the lines: requests in, answers and events out. Pure.

A request is `{"id", "type", …}`. Its answer is `{"id", "type": "response", "command": its type, "success", "data" or
"error"}`; events meanwhile have other types. Output is ASCII, so that every client can decode it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nacre.contracts.fields import arguments_of
from nacre.errors import InvalidRequestError, shown
from nacre.json_lines.line_reader import MAX_LINE_BYTES, TooLong

TYPES = ("bash", "abort_bash", "job", "read", "changes", "check")
# Every update repeats the id.
MAX_ID_CHARACTERS = 256

Id = str | int | float | None

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class Request:
    """One line of a client."""

    id: Id
    type: str
    fields: Mapping[str, Any]
    """All other fields."""


class BadLineError(Exception):
    """The line is not a request; carries its id, if any."""

    def __init__(self, message: str, id: Id = None) -> None:
        super().__init__(message)
        self.id = id


def decode(line: bytes | TooLong) -> Request | None:
    """Return the request in a line; None for a blank line.

    Raises:
        BadLineError: the line is not a request.
    """
    if isinstance(line, TooLong):
        raise BadLineError(f"the line has {line.size} bytes; at most {MAX_LINE_BYTES} are read")
    if not line.strip():
        return None
    message = _object(line)
    id = _id_of(message.pop("id", None))
    kind = message.pop("type", None)
    if not isinstance(kind, str) or kind not in TYPES:
        got = "field 'type' is missing" if kind is None else f"unknown type {shown(kind)}"
        raise BadLineError(f"{got}; known types: {', '.join(TYPES)}", id)
    return Request(id, kind, message)


def _object(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise BadLineError(f"the line is not UTF-8: byte 0x{line[error.start]:02x} at {error.start}") from error
    except RecursionError as error:
        raise BadLineError("the line is nested too deeply") from error
    except ValueError as error:
        raise BadLineError(f"the line is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise BadLineError(f"the line must be a JSON object, got {shown(message)}")
    return message


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _id_of(value: object) -> Id:
    if value is None or (isinstance(value, str) and len(value) <= MAX_ID_CHARACTERS):
        return value
    # A number too large for a float is read as infinity, which JSON cannot express.
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300:
        return value
    raise BadLineError(
        f"field 'id' must be a number or a text of at most {MAX_ID_CHARACTERS} characters, got {shown(value)}"
    )


def target_of(request: Request) -> Id:
    """Return the id of the call that an `abort_bash` names; None means all calls."""
    target = arguments_of(request.fields, known=["target"]).get("target")
    try:
        return _id_of(target)
    except BadLineError as error:
        raise InvalidRequestError(
            f"field 'target' must be the id of a call, got {shown(target)}", field="target"
        ) from error


def answer(request: Request, data: Mapping[str, Any]) -> bytes:
    return _line(_head(request) | {"success": True, "data": data})


def refusal(request: Request, error: str, data: Mapping[str, Any] | None = None) -> bytes:
    """Encode the answer to a request that is wrong or was not served; `data` is for a model to read."""
    message = _head(request) | {"success": False, "error": error}
    return _line(message if data is None else message | {"data": data})


def bad_line(error: BadLineError) -> bytes:
    return _line({"id": error.id, "type": "response", "success": False, "error": str(error)})


def update(request: Request, text: str) -> bytes:
    return _line({"id": request.id, "type": "update", "text": text})


def notice(job_id: str, text: str, details: Mapping[str, Any]) -> bytes:
    return _line({"type": "notice", "jobId": job_id, "text": text, "details": details})


def _head(request: Request) -> dict[str, Any]:
    return {"id": request.id, "type": "response", "command": request.type}


def _line(message: Mapping[str, Any]) -> bytes:
    return _encode(message).encode("ascii") + b"\n"
