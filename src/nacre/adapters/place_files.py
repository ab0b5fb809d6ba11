"""Files of a place: read, written and removed by the place's own shell.

What an evaluator carries to and fro is no command of a model: it is not judged, not logged, and nothing in it is
hidden.
"""

from __future__ import annotations

import base64
import os
import shlex

from nacre import place
from nacre.backend import Backend
from nacre.command import Command
from nacre.engine.run import Run
from nacre.errors import BackendError

# One argument of a program has at most 128 KiB, and base64 makes four bytes of three.
CHUNK_BYTES = 60 * 1024
# For the longest step, the packing of a large directory.
STEP_SECONDS = 600.0


class PlaceFileError(BackendError):
    """A file of the place could not be read or written."""


class _Gathered:
    """Both streams of a step."""

    def __init__(self) -> None:
        self.streams = {1: bytearray(), 2: bytearray()}

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        self.streams[stream] += memoryview(buffer)[:size]


def as_user(user: str | int | None, words: list[str], *, home: str | None = None) -> str:
    """The script that becomes a program, as the user of that name or number in the place; None is the login's own.

    Args:
        home: the user's HOME, if not that of the place's list of users.
    """
    program = shlex.join(words)
    if user is None:
        return f"exec -- {program}"
    who = shlex.quote(str(user))
    where = '$(getent passwd "$uid" | cut -d: -f6)' if home is None else shlex.quote(home)
    return (
        f'if ! uid=$(id -u -- {who}); then exit 126; fi; if [ "$uid" != "$(id -u)" ]; then '
        f"USER=$(id -un -- {who}) HOME={where} LOGNAME=$USER; "
        f"export USER HOME LOGNAME; "
        f'exec -- setpriv --reuid="$uid" --regid="$(id -g -- {who})" --init-groups -- {program}; fi; exec -- {program}'
    )


async def step(backend: Backend, script: str, *, user: str | int | None = None, cwd: str = "/") -> bytes:
    """Run a script in the place and return its output.

    Raises:
        PlaceFileError: it failed, with what it said.
    """
    environ = place.environ_of(backend)
    command = Command(
        script=script if user is None else as_user(user, ["bash", "-c", script]),
        cwd=cwd,
        env=dict(os.environ if environ is None else environ),
        timeout=STEP_SECONDS,
        grace=1.0,
        streams="split",
    )
    sink = _Gathered()
    run = Run.start(backend, command, sink)
    try:
        ending = await run.wait()
    finally:
        run.release()
    if ending.lost is not None:
        raise PlaceFileError(f"the place was lost meanwhile: {ending.lost}")
    if ending.code != 0:
        said = sink.streams[2].decode("utf-8", "replace").strip()
        raise PlaceFileError(said[-500:] or f"the step ended with {ending.code}")
    return bytes(sink.streams[1])


async def read(backend: Backend, path: str, *, most: int | None = None, user: str | int | None = None) -> bytes:
    """Read a file of the place, at most so many bytes."""
    where = shlex.quote(path)
    return await step(backend, f"cat -- {where}" if most is None else f"head -c {most} -- {where}", user=user)


async def write(backend: Backend, path: str, data: bytes, *, user: str | int | None = None) -> None:
    """Write a file of the place, with the directories above it; a new one appears whole or not at all."""
    where, half = shlex.quote(path), shlex.quote(f"{path}.nacre-part")
    await step(backend, f"mkdir -p -- {shlex.quote(os.path.dirname(path) or '.')} && : >{half}", user=user)
    for begin in range(0, len(data), CHUNK_BYTES):
        text = base64.b64encode(data[begin : begin + CHUNK_BYTES]).decode()
        await step(backend, f"printf %s {text} | base64 -d >>{half}", user=user)
    # A file that is there keeps its mode.
    await step(
        backend, f"if [ -e {where} ]; then cat {half} >{where} && rm {half}; else mv {half} {where}; fi", user=user
    )


async def remove(backend: Backend, path: str) -> None:
    """Remove a directory of the place with all that is in it."""
    await step(backend, f"rm -rf -- {shlex.quote(path)}")
