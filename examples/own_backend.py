"""A place of your own: commands run as plain subprocesses here; yours may be a container or another machine.

    python examples/own_backend.py

prints that the acceptance test has passed, and the output of a command that ran there.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from pathlib import Path
from typing import Literal

import nacre
from nacre.testing import check_backend

POLL_SECONDS = 0.02


class Subprocesses:
    """Runs each command in a bash of its own."""

    notice = "without containment: what leaves its session is not found"
    keeps = False

    def start(self, command: nacre.Command, listener: nacre.Listener, *, job: nacre.NewJob | None = None) -> Running:
        if command.terminal is not None or job is not None:
            raise nacre.StartError("this place has neither terminals nor jobs")
        if not os.path.isdir(command.cwd):
            raise nacre.WorkingDirectoryError(command.cwd, "does not exist")
        return Running(command, listener)


class Running(nacre.PipesOnly):
    """A started command: tells its listener what happens, and obeys."""

    def __init__(self, command: nacre.Command, listener: nacre.Listener) -> None:
        self._command, self._listener = command, listener
        self._loop = asyncio.get_running_loop()
        self._why: Literal["timeout", "stop"] | None = None
        self._forced = False
        self._over = False
        self._timers: list[asyncio.TimerHandle] = []
        stages, write_end = os.pipe()
        report = f"trap 'echo ${{PIPESTATUS[*]}} >&{write_end}' EXIT\n" if command.stages else ""
        self._child = subprocess.Popen(
            [command.shell, "-c", report + command.script],
            cwd=command.cwd,
            env=dict(command.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if command.streams == "merged" else subprocess.PIPE,
            start_new_session=True,
            pass_fds=(write_end,),
        )
        os.close(write_end)
        os.set_blocking(stages, False)
        self._stages = stages
        self._exit = os.pidfd_open(self._child.pid)
        self._pipes = {}
        for stream, pipe in ((1, self._child.stdout), (2, self._child.stderr)):
            if pipe is not None:
                self._pipes[stream] = pipe.fileno()
                self._loop.add_reader(pipe.fileno(), self._read, stream)
        self._loop.add_reader(self._exit, self._exited)
        if command.timeout is not None:
            self._timers.append(self._loop.call_later(command.timeout, self._end, "timeout"))
        self._loop.call_soon(listener.started, self._child.pid)

    def _read(self, stream: int) -> None:
        data = os.read(self._pipes[stream], 65536)
        if data:
            self._listener.output(stream, bytearray(data), len(data))
        else:
            self._loop.remove_reader(self._pipes.pop(stream))
            self._listener.closed(stream)

    def _exited(self) -> None:
        """The shell has ended; what was stopped is over when everything of it is gone."""
        self._loop.remove_reader(self._exit)
        if self._why is not None and self._left():
            self._timers.append(self._loop.call_later(POLL_SECONDS, self._exited))
            return
        self._over = True
        for timer in self._timers:
            timer.cancel()
        code = self._child.wait()
        self._listener.exited(
            nacre.Ending(
                pid=self._child.pid,
                code=code if code >= 0 else None,
                signal=-code if code < 0 else None,
                why=self._why,
                forced=self._forced,
                stages=self._stage_codes(),
                left=bool(self._left()),
            )
        )

    def _stage_codes(self) -> tuple[int, ...]:
        # A script that has a trap of its own reports none.
        with contextlib.suppress(BlockingIOError):
            return tuple(map(int, os.read(self._stages, 4096).split()))
        return ()

    def _left(self) -> list[int]:
        """The other processes of the command's session, without those that are dead and not yet reaped."""
        found = []
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if entry.isdigit() and os.getsid(int(entry)) == self._child.pid != int(entry):
                    state = Path(f"/proc/{entry}/stat").read_bytes().rpartition(b") ")[2][:1]
                    if state not in b"ZX":
                        found.append(int(entry))
        return found

    def _end(self, why: Literal["timeout", "stop"]) -> None:
        if self._why is None and not self._over:
            self._why = why
            self.signal(signal.SIGTERM)
            self._timers.append(self._loop.call_later(self._command.grace, self._kill))

    def _kill(self) -> None:
        self._forced = True
        self.signal(signal.SIGKILL)

    def stop(self) -> None:
        self._end("stop")

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, number)

    async def survivors(self) -> tuple[nacre.Survivor, ...]:
        found = []
        for pid in self._left():
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
                found.append(nacre.Survivor(pid, tuple(word.decode() for word in words)))
        return tuple(found)

    def pause(self) -> None:
        for pipe in self._pipes.values():
            self._loop.remove_reader(pipe)

    async def keep(self, job: nacre.NewJob | None, *, adopt: int | None = None) -> None:
        raise nacre.BackendError("this place keeps nothing")

    def release(self) -> None:
        if self._exit < 0:
            return
        if not self._over:
            self._kill()
            self._child.wait()
        self.pause()
        self._loop.remove_reader(self._exit)
        for pipe in (self._child.stdout, self._child.stderr):
            if pipe is not None:
                pipe.close()
        os.close(self._stages)
        os.close(self._exit)
        self._exit = -1


async def main() -> None:
    place = Subprocesses()
    await check_backend(place)
    print("accepted: the place keeps the contract of a backend")
    result = await nacre.run("echo hello from $0", backend=place)
    print(result.text, end="")
    async with nacre.Tool("basic", backend=place) as tool:
        print((await tool.call({"command": "exit 3"})).json())


if __name__ == "__main__":
    asyncio.run(main())
