"""The server side of one MCP connection, both eras of the protocol, without input or output.

A line goes in with `receive`; an event comes out: a call to answer, a call to cancel, an answer to a question of ours,
or a line to send. `finish`, `fail`, `notify` and `ask` give the lines that the server sends by itself.

The first request decides the era of the connection. In the handshake era (revisions up to 2025-11-25) the client sends
`initialize` first. In the modern era (2026-07-28) every request carries the revision and the client's capabilities in
`_meta`, and the server sends no requests. A request of the other era is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nacre.mcp import jsonrpc
from nacre.mcp.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    UNSUPPORTED_REVISION,
    RequestId,
    RpcError,
    RpcNotification,
    RpcRequest,
    RpcResponse,
)

HANDSHAKE_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_REVISIONS = ("2026-07-28",)

REVISION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
TASKS = "io.modelcontextprotocol/tasks"

# Every modern result says what it is; a client of the handshake era does not know the field.
COMPLETE = "complete"
# How long a client may keep a result. The tools and templates stay the same while the server runs.
_TTL_MS = {
    "server/discover": 60_000,
    "tools/list": 60_000,
    "resources/templates/list": 60_000,
    "resources/list": 0,
    "resources/read": 0,
}

# The fields of each method's parameters: name → (type, whether it is required).
Fields = Mapping[str, tuple[type, bool]]
_CURSOR: Fields = {"cursor": (str, False)}
_URI: Fields = {"uri": (str, True)}
_TASK: Fields = {"taskId": (str, True)}
_SHARED: dict[str, Fields] = {
    "tools/list": _CURSOR,
    "tools/call": {
        "name": (str, True),
        "arguments": (dict, False),
        "inputResponses": (dict, False),
        "requestState": (str, False),
    },
    "resources/list": _CURSOR,
    "resources/templates/list": _CURSOR,
    "resources/read": _URI,
}
_HANDSHAKE_METHODS: dict[str, Fields] = {
    **_SHARED,
    "ping": {},
    "resources/subscribe": _URI,
    "resources/unsubscribe": _URI,
}
_MODERN_METHODS: dict[str, Fields] = {
    **_SHARED,
    "server/discover": {},
    "subscriptions/listen": {"notifications": (dict, True)},
    "tasks/get": _TASK,
    "tasks/update": {**_TASK, "inputResponses": (dict, False)},
    "tasks/cancel": _TASK,
}
_JSON_NAMES: dict[type, str] = {str: "a string", dict: "an object"}


@dataclass(frozen=True, slots=True)
class ServerCard:
    """What the server says of itself."""

    name: str
    title: str
    version: str
    instructions: str

    def info(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title, "version": self.version}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCall:
    """A request that the server has to answer."""

    id: RequestId
    method: str
    params: Mapping[str, Any]
    revision: str
    capabilities: Mapping[str, Any]
    """What the client can do."""

    @property
    def is_modern(self) -> bool:
        return self.revision in MODERN_REVISIONS

    @property
    def meta(self) -> Mapping[str, Any]:
        found = self.params.get("_meta")
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The client does not want the answer to this request any more; it gets none."""

    id: RequestId


@dataclass(frozen=True, slots=True)
class Answered:
    """The client's answer to a question of ours."""

    id: RequestId
    result: Mapping[str, Any] | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Send:
    """A line for the client."""

    line: bytes


Event = ServerCall | Cancelled | Answered | Send


@dataclass
class Machine:
    """The state of one connection.

    It has a method for each kind of message, in and out.
    """

    card: ServerCard
    _modern: bool | None = None
    """The era; None before the first request."""
    _revision: str = ""
    """What the handshake has agreed on; empty before it."""
    _capabilities: Mapping[str, Any] = field(default_factory=dict)
    _open: set[RequestId] = field(default_factory=set)
    """Requests without an answer."""
    _asked: set[RequestId] = field(default_factory=set)
    """Our own requests without an answer."""
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    # What the client sends.

    def receive(self, line: bytes) -> Event | None:
        """Take one line; None when nothing follows from it."""
        if not line.strip():
            return None
        try:
            message = jsonrpc.decode(line)
        except RpcError as error:
            return Send(jsonrpc.encode_error(None, error))
        if isinstance(message, RpcRequest):
            try:
                return self._request(message)
            except RpcError as error:
                return Send(jsonrpc.encode_error(message.id, error))
        if isinstance(message, RpcNotification):
            return self._notification(message)
        return self._response(message)

    def _request(self, request: RpcRequest) -> Event:
        if request.id in self._open:
            raise RpcError(INVALID_REQUEST, f"the id {request.id!r} belongs to a request that has no answer yet")
        enveloped = request.method != "initialize" and _has_envelope(request.params)
        if self._modern is None:
            self._modern = enveloped
        if self._modern:
            return self._modern_request(request)
        if enveloped:
            raise RpcError(INVALID_REQUEST, "this connection began with initialize; it takes no enveloped requests")
        return self._handshake_request(request)

    def _handshake_request(self, request: RpcRequest) -> Event:
        if request.method == "initialize":
            return Send(jsonrpc.encode_result(request.id, self._initialize(request.params)))
        _check(request, _HANDSHAKE_METHODS)
        if request.method == "ping":
            return Send(jsonrpc.encode_result(request.id, {}))
        if not self._revision:
            raise RpcError(INVALID_REQUEST, f"{request.method} came before initialize; send initialize first")
        return self._call(request, self._revision, self._capabilities)

    def _initialize(self, params: Mapping[str, Any]) -> dict[str, Any]:
        _check_fields(
            "initialize",
            params,
            {"protocolVersion": (str, True), "capabilities": (dict, True), "clientInfo": (dict, True)},
        )
        wanted = params["protocolVersion"]
        self._revision = wanted if wanted in HANDSHAKE_REVISIONS else HANDSHAKE_REVISIONS[-1]
        self._capabilities = params["capabilities"]
        return {
            "protocolVersion": self._revision,
            "capabilities": {
                "tools": {"listChanged": False},
                "resources": {"subscribe": True, "listChanged": False},
            },
            "serverInfo": self.card.info(),
            "instructions": self.card.instructions,
        }

    def _modern_request(self, request: RpcRequest) -> Event:
        if request.method == "initialize":
            wanted = request.params.get("protocolVersion")
            data = {"supported": list(MODERN_REVISIONS)} | ({"requested": wanted} if isinstance(wanted, str) else {})
            raise RpcError(UNSUPPORTED_REVISION, "this connection serves 2026-07-28, which has no initialize", data)
        revision, capabilities = _envelope(request.params)
        _check(request, _MODERN_METHODS)
        call = self._call(request, revision, capabilities)
        if request.method == "server/discover":
            return Send(self.finish(call, self._discovered()))
        return call

    def _discovered(self) -> dict[str, Any]:
        return {
            "supportedVersions": list(MODERN_REVISIONS),
            "capabilities": {
                "tools": {"listChanged": True},
                "resources": {"subscribe": True, "listChanged": True},
                "extensions": {TASKS: {}},
            },
            "instructions": self.card.instructions,
        }

    def _call(self, request: RpcRequest, revision: str, capabilities: Mapping[str, Any]) -> ServerCall:
        self._open.add(request.id)
        return ServerCall(
            id=request.id,
            method=request.method,
            params=request.params,
            revision=revision,
            capabilities=capabilities,
        )

    def _notification(self, message: RpcNotification) -> Event | None:
        if message.method == "notifications/cancelled":
            cancelled = message.params.get("requestId")
            if jsonrpc.is_id(cancelled) and cancelled in self._open:
                self._open.discard(cancelled)
                return Cancelled(cancelled)
        # All others tell nothing that the server needs; the specification has them ignored, not answered.
        return None

    def _response(self, message: RpcResponse) -> Event | None:
        if not jsonrpc.is_id(message.id) or message.id not in self._asked:
            return None
        self._asked.discard(message.id)
        return Answered(message.id, message.result, message.error)

    # What the server sends.

    def finish(self, call: ServerCall, result: Mapping[str, Any]) -> bytes:
        """The line with a call's result; empty when the client has cancelled it."""
        if call.id not in self._open:
            return b""
        self._open.discard(call.id)
        return jsonrpc.encode_result(call.id, self._shaped(call, result))

    def _shaped(self, call: ServerCall, result: Mapping[str, Any]) -> dict[str, Any]:
        if not call.is_modern:
            return {name: value for name, value in result.items() if name != "resultType"}
        shaped = {"resultType": COMPLETE, **result}
        if call.method in _TTL_MS and shaped["resultType"] == COMPLETE:
            shaped = {"ttlMs": _TTL_MS[call.method], "cacheScope": "private", **shaped}
        return {**shaped, "_meta": {SERVER_INFO_KEY: self.card.info(), **shaped.get("_meta", {})}}

    def fail(self, call: ServerCall, error: RpcError) -> bytes:
        """The line with a call's error; empty when the client has cancelled it."""
        if call.id not in self._open:
            return b""
        self._open.discard(call.id)
        return jsonrpc.encode_error(call.id, error)

    def notify(self, method: str, params: Mapping[str, Any]) -> bytes:
        return jsonrpc.encode_notification(method, params)

    def ask(self, method: str, params: Mapping[str, Any]) -> tuple[RequestId, bytes]:
        """A request of our own, which only the handshake era has: its id and its line."""
        number = f"nacre-{next(self._numbers)}"
        self._asked.add(number)
        return number, jsonrpc.encode_request(number, method, params)

    def give_up(self, question: RequestId) -> bytes:
        """The line that withdraws a question of ours, whose answer is not waited for any more."""
        self._asked.discard(question)
        return jsonrpc.encode_notification("notifications/cancelled", {"requestId": question})


def _has_envelope(params: Mapping[str, Any]) -> bool:
    meta = params.get("_meta")
    return isinstance(meta, dict) and (REVISION_KEY in meta or CAPABILITIES_KEY in meta)


def _envelope(params: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Revision and capabilities of a modern request; raises RpcError."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        raise RpcError(INVALID_PARAMS, f"params._meta must be an object with {REVISION_KEY} and {CAPABILITIES_KEY}")
    missing = [key for key in (REVISION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise RpcError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    revision, capabilities = meta[REVISION_KEY], meta[CAPABILITIES_KEY]
    if not isinstance(revision, str):
        raise RpcError(INVALID_PARAMS, f"_meta {REVISION_KEY} must be a string")
    if revision not in MODERN_REVISIONS:
        data = {"supported": list(MODERN_REVISIONS), "requested": revision}
        raise RpcError(UNSUPPORTED_REVISION, "Unsupported protocol version", data)
    if not isinstance(capabilities, dict):
        raise RpcError(INVALID_PARAMS, f"_meta {CAPABILITIES_KEY} must be an object")
    return revision, capabilities


def _check(request: RpcRequest, methods: Mapping[str, Fields]) -> None:
    if request.method not in methods:
        raise RpcError(METHOD_NOT_FOUND, f"there is no method {request.method!r} here", request.method)
    if not isinstance(request.params.get("_meta", {}), dict):
        raise RpcError(INVALID_PARAMS, f"{request.method}: _meta must be an object")
    _check_fields(request.method, request.params, methods[request.method])


def _check_fields(method: str, params: Mapping[str, Any], fields: Fields) -> None:
    for name, (kind, required) in fields.items():
        value = params.get(name)
        if value is None and not required:
            continue
        if not isinstance(value, kind):
            wrong = "is missing" if name not in params else f"must be {_JSON_NAMES[kind]}"
            raise RpcError(INVALID_PARAMS, f"{method}: {name} {wrong}")
