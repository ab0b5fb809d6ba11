"""A runner at the end of plain streams, as on another machine: no descriptor passes, output comes as frames."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nacre.warden
from nacre.warden import protocol

OLDEST = next(map(str, Path.home().glob(".pyenv/versions/3.9.*/bin/python")), shutil.which("python3.9"))
INTERPRETERS = {"this": sys.executable, "3.9": OLDEST}
SCRIPT = "import sys; sys.path.insert(0, sys.argv[1]); from nacre.warden import relay; relay.main()"


class Far:
    """The near end of a runner that has nothing but the warden's own folder and two streams."""

    def __init__(self, python: str, root: Path, *, sockets: bool) -> None:
        shutil.copytree(Path(nacre.warden.__file__).parent, root / "nacre" / "warden")
        (root / "nacre" / "__init__.py").touch()
        arguments = [python, "-I", "-S", "-c", SCRIPT, str(root)]
        if sockets:
            near, far = socket.socketpair()
            self.process = subprocess.Popen(arguments, stdin=far, stdout=far, env={})
            far.close()
            self._reading = near.detach()
            self._writing = os.dup(self._reading)
        else:
            self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={})
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self._reading, self._writing = (os.dup(one.fileno()) for one in (self.process.stdout, self.process.stdin))
            self.process.stdin.close()
            self.process.stdout.close()
        self._frames = protocol.FrameReader()
        self._events: list[Any] = []

    def ask(self, request: Any) -> None:
        data = protocol.frame(request)
        while data:
            data = data[os.write(self._writing, data) :]

    def run(self, script: str, *, timeout: float | None = None, grace: float = 0.2, outputs: int = 1) -> None:
        request = protocol.run(
            script=script,
            shell="/bin/bash",
            cwd="/",
            names_cwd=True,
            bash_env=None,
            prologue="",
            stages="|" in script,
            outputs=outputs,
            side=None,
            stdin=None,
            timeout=timeout,
            grace=grace,
            relay=True,
        )
        self.ask(protocol.addressed(request, fds=0, env={"PATH": os.environ["PATH"]}))

    def next(self) -> Any:
        while not self._events:
            assert select.select([self._reading], [], [], 20)[0], "no event came"
            data = os.read(self._reading, 65536)
            assert data, "the runner is gone"
            self._events += self._frames.events(data)
        return self._events.pop(0)

    def until(self, kind: str) -> list[Any]:
        """The events up to the first of that kind."""
        found = [self.next()]
        while found[-1]["event"] != kind:
            found.append(self.next())
        return found

    def close(self) -> None:
        for fd in (self._reading, self._writing):
            os.close(fd)


@pytest.fixture(params=[(python, sockets) for python in INTERPRETERS for sockets in (True, False)], ids=str)
def far(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Far]:
    python, sockets = request.param
    if INTERPRETERS[python] is None:
        pytest.skip("no Python 3.9 here")
    one = Far(INTERPRETERS[python], tmp_path, sockets=sockets)
    yield one
    one.close()
    assert one.process.wait(20) == 0


def text(events: list[Any], stream: int = 1) -> bytes:
    return b"".join(protocol.output_data(one) for one in events if one["event"] == "output" and one["stream"] == stream)


def test_output_comes_numbered_and_before_the_exit(far: Far) -> None:
    far.run("echo out; echo err >&2; false | true; exit 3", outputs=2)
    events = far.until("exited")
    assert (text(events, 1), text(events, 2)) == (b"out\n", b"err\n")
    numbered = [one["seq"] for one in events if one["event"] in ("output", "closed")]
    assert numbered == list(range(len(numbered)))
    assert (events[-1]["code"], events[-1]["why"], events[-1]["left"]) == (3, None, False)


def test_every_byte_of_a_flood_comes_and_the_runner_serves_another_command(far: Far) -> None:
    far.run("head -c 5000000 /dev/zero | tr '\\0' x")
    # Nothing is taken for a moment: the runner waits with the reading, and not with the limits.
    select.select([], [], [], 0.1)
    events = far.until("exited")
    while sum(one["event"] == "closed" for one in events) < 1:
        events.append(far.next())
    assert text(events) == b"x" * 5_000_000
    assert events[-2]["stages"] == [0, 0] if events[-1]["event"] == "closed" else events[-1]["stages"] == [0, 0]
    far.run("echo next")
    assert text(far.until("exited")) == b"next\n"


def test_timeout_stops_the_whole_tree(far: Far) -> None:
    far.run("echo up; (setsid sleep 100 &); sleep 100", timeout=0.3)
    end = far.until("exited")[-1]
    assert (end["why"], end["left"]) == ("timeout", False)


def test_timeout_holds_while_the_caller_reads_nothing(far: Far) -> None:
    far.run("exec yes", timeout=0.3)
    pid = next(one["pid"] for one in iter(far.next, None) if one["event"] == "started")
    end = time.monotonic() + 20
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < end:
        os.sched_yield()
    assert not os.path.exists(f"/proc/{pid}")
    assert far.until("exited")[-1]["why"] == "timeout"


def test_stop_and_signal_reach_the_command(far: Far) -> None:
    far.run("trap 'echo caught; exit 5' USR1; echo up; while :; do :; done")
    assert text(far.until("output")) == b"up\n"
    far.ask(protocol.send_signal(signal.SIGUSR1))
    events = far.until("exited")
    assert (text(events), events[-1]["code"]) == (b"caught\n", 5)
    far.run("echo up; sleep 100")
    far.until("output")
    far.ask(protocol.stop(0.1))
    end = far.until("exited")[-1]
    assert (end["why"], end["signal"]) == ("stop", signal.SIGTERM)


def test_command_of_a_caller_that_hangs_up_is_ended(far: Far) -> None:
    far.run("echo $$; exec sleep 100")
    pid = int(text(far.until("output")))
    far.close()
    far.process.wait(20)
    assert not os.path.exists(f"/proc/{pid}")
    far._reading, far._writing = os.pipe()
