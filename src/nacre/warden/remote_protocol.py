"""The language over a link to another machine: calls have numbers, and so have the events of each call.

Frames are those of `protocol`. A body that begins with `{` is a JSON object; one that begins with a NUL is output. A
request has `op`, an event has `event`. An event of a call has `seq`, which counts the events of that call without a
gap: the near side confirms what it has, and after a new connection asks for the rest. Sans-IO: bytes in, messages out.
"""

from __future__ import annotations

import struct

from nacre.warden import protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from nacre.warden.messages import Living, Message

VERSION = 1
# Both sides say something at least this often; a link that is silent for longer is taken for dead.
BEAT_SECONDS = 4.0
SILENT_SECONDS = 12.0
# How long a foreground command goes on without a link.
LEASE_SECONDS = 30.0
# How long a call waits for the link that takes it over.
HANDOVER_SECONDS = 20.0
# How long the service stays without a link and without a call.
LINGER_SECONDS = 20.0
# Output of a call that the near side has not confirmed: beyond it, its pipes are not read.
WINDOW_BYTES = 4 * 1024 * 1024
# The same while there is no link: a job goes on, within bounds.
DETACHED_BYTES = 64 * 1024 * 1024
# The near side confirms after so much.
CONFIRM_BYTES = 512 * 1024

# The streams beside stdout and stderr: the third of a script, and what a session's shell writes about its state.
SIDE = 3
WRITTEN = 4

_OUTPUT = struct.Struct(">BQBQ")
OUTPUT_HEADER_BYTES = _OUTPUT.size


def frame_of_output(call: int, stream: int, seq: int, data: bytes) -> bytes:
    """The whole frame of a piece of output."""
    return (len(data) + _OUTPUT.size).to_bytes(4, "big") + _OUTPUT.pack(0, call, stream, seq) + data


def request_in(body: bytes) -> dict[str, Any]:
    return protocol.request_in(body)  # type: ignore[return-value]


def event_in(body: bytes) -> dict[str, Any]:
    return protocol.event_in(body)  # type: ignore[return-value]


def is_output(body: bytes) -> bool:
    return body[:1] == b"\0"


def output_in(body: bytes) -> tuple[int, int, int]:
    """The call, the stream and the number of an output frame; the bytes follow OUTPUT_HEADER_BYTES."""
    if len(body) < _OUTPUT.size:
        raise protocol.FrameError(f"an output frame has {len(body)} bytes, fewer than its header")
    _, call, stream, seq = _OUTPUT.unpack_from(body)
    return call, stream, seq


# Requests.


def open_call(
    call: int, request: Message, *, env: dict[str, str] | None, lease: float, size: list[int] | None
) -> Message:
    """Start a command; the environment is missing if it is that of the last request on this link."""
    message: dict[str, Any] = {"op": "open", "call": call, "request": request, "lease": lease}
    if env is not None:
        message["env"] = env
    if size is not None:
        message["size"] = size
    return message


def tell(call: int, request: Message) -> Message:
    """Pass a request on to the runner of the call."""
    return {"op": "tell", "call": call, "request": request}


def type_in(call: int, text: str) -> Message:
    """Type into the terminal of the call; the bytes as Latin-1."""
    return {"op": "type", "call": call, "text": text}


def resize(call: int, columns: int, rows: int) -> Message:
    return {"op": "size", "call": call, "columns": columns, "rows": rows}


def shell_text(call: int, number: int, nonce: str, text: str, seq: int) -> Message:
    """Have the session's shell evaluate a text, the bytes as Latin-1; every event up to `seq` has arrived.

    The texts are numbered: one that came before is not evaluated again.
    """
    return {"op": "shell", "call": call, "seq": seq, "number": number, "nonce": nonce, "text": text}


def watch_shell(call: int, shell: int, runner: int, cell: list[int]) -> Message:
    """Tell with each report whether the session's shell is alone below its runner, beside its sandbox."""
    return {"op": "shell", "call": call, "seq": 0, "watch": [shell, runner, *cell]}


def last_text(call: int) -> Message:
    """Have the session's shell exit after the text that it evaluates."""
    return {"op": "shell", "call": call, "seq": 0}


def confirm(call: int, seq: int) -> Message:
    """Every event up to this number has arrived."""
    return {"op": "confirm", "call": call, "seq": seq}


def attach(call: int, seq: int, lease: float) -> Message:
    """Send the events after this number over this link, and those that come; the lease holds when this link is cut."""
    return {"op": "attach", "call": call, "seq": seq, "lease": lease}


def discard(call: int, grace: float) -> Message:
    """Read the output of what is left of the call, and throw it away."""
    return {"op": "discard", "call": call, "grace": grace}


def detach(call: int, lease: float) -> Message:
    """Another link takes the call over, which is told.

    The command is ended if none does within the lease, in seconds.
    """
    return {"op": "detach", "call": call, "lease": lease}


def forget(call: int) -> Message:
    """The call is over for the near side: a command that still runs is ended."""
    return {"op": "forget", "call": call}


# Stop what finished commands have left, and tell it.
QUIESCE: Message = {"op": "quiesce"}
BEAT_REQUEST: Message = {"op": "beat"}
QUIT: Message = {"op": "quit"}

# Events.


def hello(**facts: object) -> Message:
    """The first event on a link: who the far side is."""
    return {"event": "hello", "version": VERSION, **facts}


def said(call: int, seq: int, event: Message) -> Message:
    """The runner of the call has said this."""
    return {"event": "said", "call": call, "seq": seq, "message": event}


def report(text: str, *, alone: bool) -> Message:
    """Said of a call that is a session's: its shell has reported this, the bytes as Latin-1."""
    return {"event": "report", "text": text, "alone": alone}


def text_at(number: int) -> Message:
    """Said of a session's call to a link that has attached it: the number of the last text that came."""
    return {"event": "at", "number": number}


def closed(call: int, seq: int, stream: int) -> Message:
    """No process holds the stream any more."""
    return {"event": "closed", "call": call, "seq": seq, "stream": stream}


def moved(call: int) -> Message:
    """Another link has taken the call over."""
    return {"event": "moved", "call": call}


def quiesced(found: list[Living], *, busy: bool) -> Message:
    """What was left and is stopped; nothing was looked for while commands run."""
    return {"event": "quiesced", "found": found, "busy": busy}


def unknown(call: int) -> Message:
    """There is no such call here."""
    return {"event": "unknown", "call": call}


def look(packed: int) -> Message:
    """What the kernel tells of the terminal of a call, if that has changed (`terminal_look.Look.packed`)."""
    return {"event": "look", "look": packed}


# Said of a call whose command the runner was asked to start.
OPENED: Message = {"event": "opened"}
BEAT_EVENT: Message = {"event": "beat"}
