"""A client of `nacre rpc` as any program would write one: lines to its stdin, lines from its stdout."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.outside import PATIENCE_SECONDS, eventually
from nacre.jobs.table import JobTable

Message = dict[str, Any]


class Client:
    """One server, and everything it has said so far."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.events: list[Message] = []
        """What was read and is no answer, in order."""
        self._answers: list[Message] = []
        self._held = b""

    @property
    def pid(self) -> int:
        return self.process.pid

    def send(self, *messages: object) -> None:
        self.send_bytes(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def receive(self) -> Message | None:
        """The next line; None at the end."""
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        while b"\n" not in self._held:
            assert select.select([fd], [], [], PATIENCE_SECONDS)[0], "the server is silent"
            data = os.read(fd, 1 << 20)
            if not data:
                assert self._held == b"", "the last line was cut off"
                return None
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        message = json.loads(line.decode("ascii"))
        assert isinstance(message, dict)
        (self._answers if message["type"] == "response" else self.events).append(message)
        return message

    def answer(self, id: object = None) -> Message:
        """The answer with that id, whatever else is said before it."""
        while True:
            for position, message in enumerate(self._answers):
                if message["id"] == id:
                    return self._answers.pop(position)
            assert self.receive() is not None, f"no answer to {id!r}"

    def any_answer(self) -> Message:
        """The next answer, whatever its id."""
        while not self._answers:
            assert self.receive() is not None, "no answer came"
        return self._answers.pop(0)

    def event(self, wanted: Callable[[Message], bool]) -> Message:
        """The first event that is wanted, read or yet to come."""
        while True:
            for message in self.events:
                if wanted(message):
                    return message
            assert self.receive() is not None, "the event did not come"

    def call(self, message: Message) -> Message:
        self.send(message)
        return self.answer(message.get("id"))

    def rest(self) -> list[Message]:
        """All that was not asked for yet, to the end of the server's output."""
        while self.receive() is not None:
            pass
        return self._answers

    def wait(self) -> int:
        return self.process.wait(PATIENCE_SECONDS)


Start = Callable[..., Client]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts servers in a directory of their own; whoever still runs at the end is ended."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    # What the machine's own ~/.bashrc does, and how long that takes, is no part of these tests.
    monkeypatch.setenv("NACRE_SNAPSHOT", "false")
    work = tmp_path / "work"
    work.mkdir()
    clients: list[Client] = []

    def begin(*arguments: str, env: dict[str, str] | None = None, **options: Any) -> Client:
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **options}
        process = subprocess.Popen(
            [sys.executable, "-m", "nacre", "rpc", *arguments], cwd=work, env={**os.environ, **(env or {})}, **streams
        )
        clients.append(Client(process))
        return clients[-1]

    yield begin
    for client in clients:
        for stream in (client.process.stdin, client.process.stdout):
            if stream is not None:
                stream.close()
        if client.process.poll() is None:
            client.process.kill()
        client.process.wait()


@pytest.fixture
def client(start: Start) -> Client:
    return start()


@pytest.fixture
def jobs(home: Path) -> Iterator[JobTable]:
    """The jobs of the state directory; none outlives the test."""
    table = JobTable(home)
    yield table
    for job in table.list().jobs:
        if job.running:
            table.stop(job.id)
    eventually(lambda: not any(job.running for job in table.list().jobs), "the end of all jobs")
