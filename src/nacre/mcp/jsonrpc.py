"""JSON-RPC 2.0 messages as values: one line of bytes in, one message out, and back. Pure.

A line that is no message raises an RpcError with the code that the specification asks for. Text with lone surrogates
is written with escapes, so every answer is valid UTF-8.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
# Codes that MCP allots.
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_REVISION = -32022

RequestId = int | str


class RpcError(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data

    def json(self) -> dict[str, Any]:
        error: dict[str, Any] = {"code": self.code, "message": str(self)}
        return error if self.data is None else {**error, "data": self.data}


@dataclass(frozen=True, slots=True)
class RpcRequest:
    id: RequestId
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RpcNotification:
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RpcResponse:
    """The peer's answer to a request of ours: a result, or an error."""

    id: object
    result: Mapping[str, Any] | None
    error: str | None


Message = RpcRequest | RpcNotification | RpcResponse


def decode(line: bytes) -> Message:
    """Read one message.

    Raises:
        RpcError: the line is not JSON, or not a single JSON-RPC message.
    """
    try:
        found = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, "a line must be one JSON-RPC message; this one is not JSON") from error
    if not isinstance(found, dict) or found.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'a line must be one JSON-RPC message, an object with "jsonrpc": "2.0"')
    return _message(found)


def _message(found: dict[str, Any]) -> Message:
    if "method" not in found:
        return _response(found)
    method, params = found["method"], found.get("params")
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "method must be a string")
    if params is not None and not isinstance(params, dict):
        raise RpcError(INVALID_REQUEST, "params must be an object")
    if "id" not in found:
        return RpcNotification(method, params or {})
    if not is_id(found["id"]):
        raise RpcError(INVALID_REQUEST, "id must be a string or an integer")
    return RpcRequest(found["id"], method, params or {})


def _response(found: dict[str, Any]) -> RpcResponse:
    result, error = found.get("result"), found.get("error")
    if "id" not in found or (isinstance(result, dict) == isinstance(error, dict)):
        raise RpcError(INVALID_REQUEST, "a message has a method, or the id of a request with its result or its error")
    text = str(error.get("message", "")) if isinstance(error, dict) else None
    return RpcResponse(found["id"], result if isinstance(result, dict) else None, text)


def is_id(value: object) -> TypeGuard[RequestId]:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def encode_result(request_id: RequestId, result: Mapping[str, Any]) -> bytes:
    return _encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def encode_error(request_id: RequestId | None, error: RpcError) -> bytes:
    return _encode({"jsonrpc": "2.0", "id": request_id, "error": error.json()})


def encode_request(request_id: RequestId, method: str, params: Mapping[str, Any]) -> bytes:
    return _encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def encode_notification(method: str, params: Mapping[str, Any]) -> bytes:
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def _encode(message: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"
