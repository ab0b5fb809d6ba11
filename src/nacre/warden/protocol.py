"""Frames between the near side and the far side: four bytes of length, then one JSON object.

Sans-IO: bytes in, messages out. Descriptors travel beside the frame that names their number; whoever owns the socket
collects them. ensure_ascii keeps undecodable bytes (lone surrogates) intact on the way through.
"""

from __future__ import annotations

import json
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Message = dict[str, Any]

# A request carries a script and an environment; far above any real one, far below what would exhaust memory.
MAX_FRAME_BYTES = 64 * 1024 * 1024

# The first word of the warden on its socket: which processes the guardian and the zygote are.
READY = struct.Struct("=ii")

_encode = json.JSONEncoder(separators=(",", ":")).encode


class FrameError(ValueError):
    """The bytes are not a frame."""


def frame(message: Message) -> bytes:
    body = _encode(message).encode("ascii")
    return len(body).to_bytes(4, "big") + body


def plain_end(pid: int, code: int) -> bytes:
    """The frame of a command that exited by itself and left nothing."""
    body = b'{"event":"exited","left":false,"pid":%d,"why":null,"forced":false,"code":%d}' % (pid, code)
    return len(body).to_bytes(4, "big") + body


def decode(body: bytes) -> Message:
    try:
        # As text: given bytes, `json` first guesses which encoding they have.
        message = json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a frame is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise FrameError("a frame is not a JSON object")
    return message


def starts_job(body: bytes) -> bool:
    """Whether a frame asks for the start of a job, told without decoding it: the operation comes first."""
    return body.startswith(b'{"op":"job",')


def begins(body: bytes) -> bool:
    """Whether a frame begins something new: a command, a job, a look, or the service of another caller."""
    return body.startswith((b'{"op":"run",', b'{"op":"job",', b'{"op":"look",', b'{"op":"move",'))


class Frames:
    """Collects bytes and gives back whole messages."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> list[Message]:
        return [decode(body) for body in self.cut(data)]

    def cut(self, data: bytes) -> Iterator[bytes]:
        """The bodies of the whole frames, not decoded: one by one, so that the first that is wrong is refused first."""
        held = self._held + data if self._held else data
        at = 0
        while len(held) - at >= 4:
            size = int.from_bytes(held[at : at + 4], "big")
            if size > MAX_FRAME_BYTES:
                raise FrameError(f"a frame of {size} bytes is over the limit of {MAX_FRAME_BYTES}")
            if len(held) - at - 4 < size:
                break
            yield held[at + 4 : at + 4 + size]
            at += 4 + size
        self._held = held[at:]
