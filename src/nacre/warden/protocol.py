"""The language between the near and the far side: every message, every constant that both share, and the encoding.

A frame is four bytes of length and one JSON object. A request (near to far) has `op` as its first key, an event (far to
near) has `event`. Descriptors travel beside the frame whose `fds` counts them. Sans-IO: bytes in, messages out.

The functions below are the only place that builds a message; `messages` has the types. The module is beyond 350 lines,
because what both sides must agree on stands in one place.
"""

from __future__ import annotations

import json
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from nacre.warden.messages import (
        Bye,
        Cleared,
        Event,
        ExitedEvent,
        Facts,
        Failed,
        Go,
        JobSpec,
        Keep,
        KeptEvent,
        Limits,
        Living,
        Look,
        Looked,
        Message,
        Move,
        Parted,
        Placed,
        Plain,
        Request,
        Signal,
        SpareEvent,
        SpentEvent,
        Started,
        StartJob,
        StartRun,
        Stop,
        Survivors,
        WaitSession,
        WaitSpare,
        What,
    )

# After the shell's exit: this much silence, or this long in all, ends the reading of its pipes.
SILENCE_SECONDS = 0.25
DRAIN_SECONDS = 2.0
# How long SIGKILL may take before the processes are reported as impossible to kill (state D).
KILL_SECONDS = 0.75
# A runner without a request ends after this time; the near side uses it only well before, so that no request is lost.
IDLE_SECONDS = 30.0
IDLE_USABLE_SECONDS = 25.0
# The same for a waiting shell without a script.
SPARE_SECONDS = 30.0
SPARE_USABLE_SECONDS = 20.0
# One read of a command's pipe, which stays in the processor's cache on its way, and of a socket.
READ_BYTES = 256 * 1024
RECEIVE_BYTES = 64 * 1024
# A request carries a script and an environment; far above any real one, far below what would exhaust memory.
MAX_FRAME_BYTES = 64 * 1024 * 1024
# Output for a caller on another machine that may wait to be sent; beyond it the command's pipes are not read.
MOST_UNSENT_BYTES = 1024 * 1024
# The most that is read of a file on a file system that may not answer; settings files are smaller.
MOST_FILE_BYTES = 1024 * 1024
# The mode of a directory that only holds a protected name in a sandbox, and stands for nothing.
PLACEHOLDER_MODE = 0o1555
# Where the proxy of a sandbox is found inside; its network namespace has no other listener.
PROXY_PORT = 3128
# Descriptors of one frame: two streams, each with both ends, are the most.
MAX_FDS = 16
# Descriptors for the shell start here: scripts use 3-9, bash 10 and up, process substitution 63 and down.
LOWEST_FD = 100
# A waiting shell is woken on this socket, and takes its script from this file.
GO_FD, TEXT_FD = 110, 111

# The first bytes of the warden on its socket: the pids of the guardian and the zygote.
READY = struct.Struct("=ii")

# Requests.


def run(
    *,
    script: str,
    shell: str,
    cwd: str,
    names_cwd: bool,
    bash_env: str | None,
    prologue: str,
    stages: bool,
    outputs: int,
    side: int | None,
    stdin: str | None,
    timeout: float | None,
    grace: float,
    outlives: bool = False,
    terminal: bool = False,
    budget: Limits | None = None,
) -> StartRun:
    request: StartRun = {
        "op": "run",
        "script": script,
        "shell": shell,
        "cwd": cwd,
        "namesCwd": names_cwd,
        "bashEnv": bash_env,
        "prologue": prologue,
        "stages": stages,
        "outputs": outputs,
        "stdin": stdin,
        "timeout": timeout,
        "grace": grace,
    }
    if side is not None:
        request["side"] = side
    if outlives:
        request["outlives"] = True
    if terminal:
        request["terminal"] = True
    if budget is not None:
        request["budget"] = budget
    return request


def start_job(command: StartRun, job: JobSpec, *, attended: bool = False) -> StartJob:
    """A command that is a job from its start."""
    request: StartJob = {**command, "op": "job", "job": job}  # type: ignore[typeddict-unknown-key,typeddict-item]
    if attended:
        request["attended"] = True
    return request


def wait_spare(*, shell: str, cwd: str, names_cwd: bool, outputs: int) -> WaitSpare:
    return {"op": "spare", "shell": shell, "cwd": cwd, "namesCwd": names_cwd, "outputs": outputs, "stdin": None}


def wait_session(
    *, script: str, shell: str, cwd: str, names_cwd: bool, side: int, budget: Limits | None = None
) -> WaitSession:
    request: WaitSession = {
        "op": "session",
        "script": script,
        "shell": shell,
        "cwd": cwd,
        "namesCwd": names_cwd,
        "bashEnv": None,
        "prologue": "",
        "stages": False,
        "outputs": 1,
        "side": side,
        "stdin": None,
    }
    if budget is not None:
        request["budget"] = budget
    return request


def go(*, timeout: float | None, grace: float, elapsed: float) -> Go:
    return {"op": "go", "timeout": timeout, "grace": grace, "elapsed": elapsed}


def stop(grace: float, *, mark: int | None = None) -> Stop:
    return {"op": "stop", "grace": grace} if mark is None else {"op": "stop", "grace": grace, "mark": mark}


def send_signal(number: int) -> Signal:
    return {"op": "signal", "number": int(number)}


def keep(*, fds: int, aside: int, grace: float, job: JobSpec | None, adopt: int | None, apart: bool) -> Keep:
    return {"op": "keep", "fds": fds, "aside": aside, "grace": grace, "job": job, "adopt": adopt, "apart": apart}


def look(what: What, path: str) -> Look:
    return {"op": "look", "fds": 0, "what": what, "path": path}


MOVE: Move = {"op": "move", "fds": 1}
REST: Plain = {"op": "rest"}
PART: Plain = {"op": "part"}
SPENT: Plain = {"op": "spent"}
NAME_SURVIVORS: Plain = {"op": "survivors"}
FORK: Plain = {"op": "fork"}
LEAVE: Plain = {"op": "leave"}


def addressed(request: Request, *, fds: int, env: Mapping[str, str] | None) -> Request:
    """The request as it is sent: with the number of its descriptors, and an environment that the receiver lacks."""
    message = {**request, "fds": fds}
    if env is not None:
        message["env"] = dict(env)
    return message  # type: ignore[return-value]


# Events.


def facts(pid: int, status: int | None, *, why: str | None, forced: bool) -> Facts:
    """How a command ended, by the raw wait status of its leader; None where that is not known."""
    ended: Facts = {"pid": pid, "why": why, "forced": forced}
    if status is not None and os.WIFSIGNALED(status):
        ended["signal"] = os.WTERMSIG(status)
    elif status is not None:
        ended["code"] = os.WEXITSTATUS(status)
    return ended


def exited(facts: Facts, *, left: bool) -> ExitedEvent:
    return {"event": "exited", "left": left, **facts}


def started(pid: int) -> Started:
    return {"event": "started", "pid": pid}


def kept(pid: int, error: OSError | None = None) -> KeptEvent:
    return {"event": "kept", "pid": pid} if error is None else {"event": "kept", "pid": pid, "error": words_of(error)}


def survivors(found: list[Living], *, stays: bool) -> Survivors:
    return {"event": "survivors", "left": bool(found), "survivors": found, "stays": stays}


def parted(mark: int | None) -> Parted:
    return {"event": "parted", "mark": mark}


def spent(budget: str | None) -> SpentEvent:
    return {"event": "spent", "budget": budget}


def cleared(mark: int) -> Cleared:
    return {"event": "cleared", "mark": mark}


def failed(step: str, error: Exception) -> Failed:
    number = error.errno if isinstance(error, OSError) else None
    return {"event": "failed", "step": step, "errno": number, "reason": str(error)}


def spare(*, pid: int, at: int, notes: int) -> SpareEvent:
    return {"event": "spare", "pid": pid, "at": at, "notes": notes}


def placed(*, pid: int, runner: int, cell: tuple[int, ...]) -> Placed:
    return {"event": "placed", "pid": pid, "runner": runner, "cell": list(cell)}


def looked(found: str | int | None, *, error: str | None = None) -> Looked:
    answer: Looked = {"event": "looked", "found": found}
    if error is not None:
        answer["error"] = error
    return answer


BYE: Bye = {"event": "bye"}


def words_of(error: OSError) -> str:
    """The reason of a failure, without the path."""
    return error.strerror or str(error)


# Encoding.

_encode = json.JSONEncoder(separators=(",", ":")).encode
# Requests that begin something new: a command, a look, the service of another caller.
_BEGINNINGS = tuple(f'{{"op":"{op}",'.encode("ascii") for op in ("run", "job", "spare", "session", "look", "move"))


class FrameError(ValueError):
    """The bytes are not a frame."""


def frame(message: Message) -> bytes:
    # ASCII keeps undecodable bytes, which are lone surrogates in Python, intact.
    body = _encode(message).encode("ascii")
    return len(body).to_bytes(4, "big") + body


def plain_end(pid: int, code: int) -> bytes:
    """The frame of a command that exited by itself and left nothing."""
    body = b'{"event":"exited","left":false,"pid":%d,"why":null,"forced":false,"code":%d}' % (pid, code)
    return len(body).to_bytes(4, "big") + body


def starts_job(body: bytes) -> bool:
    """Whether a frame asks for the start of a job, told without decoding it."""
    return body.startswith(b'{"op":"job",')


def has_sandbox(body: bytes) -> bool:
    """Whether a frame may ask for a sandbox, told without decoding it; a script may have the same text."""
    return b'"sandbox":{' in body


def begins(body: bytes) -> bool:
    """Whether a frame begins something new, told without decoding it."""
    return body.startswith(_BEGINNINGS)


def request_in(body: bytes) -> Request:
    return _decode(body, "op")  # type: ignore[return-value]


def event_in(body: bytes) -> Event:
    return _decode(body, "event")  # type: ignore[return-value]


def _decode(body: bytes, kind: str) -> dict[str, Any]:
    try:
        # As text: given bytes, `json` first guesses which encoding they have.
        message = json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a frame is not JSON: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get(kind), str):
        raise FrameError(f"a frame is not a JSON object with {kind!r}")
    return message


class FrameReader:
    """Collects bytes and gives back whole frames."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = b""

    def events(self, data: bytes) -> list[Event]:
        return list(map(event_in, self.bodies(data)))

    def bodies(self, data: bytes) -> Iterator[bytes]:
        """The bodies of whole frames, one by one, so that the first that is wrong is refused first."""
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
