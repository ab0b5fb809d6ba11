"""The hand-over of a call to the process that follows a job: one of the two always answers for the command."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

import nacre
from nacre.remote import remote_process
from nacre.remote.remote_backend import RemoteBackend, connect
from nacre.remote.remote_process import RemoteProcess
from nacre.remote.wire import PrefixDialer
from nacre.warden import children

GONE = ("X", "Z")


class OtherWay(PrefixDialer):
    """Reaches this machine; what it tells another process leads elsewhere."""

    def __init__(self, *words: str) -> None:
        super().__init__(["env"], name="here")
        self._words = list(words)

    def describe(self) -> dict[str, object]:
        return {**super().describe(), "prefix": self._words}


async def _ended(pid_file: Path) -> None:
    pid = int(pid_file.read_text(encoding="utf-8"))
    while children.state(pid) not in GONE:
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("words", "reason"),
    [(("false",), "ended at once"), (("sh", "-c", "exec sleep 1000 <&- >&-"), "did not reach the machine")],
)
async def test_a_command_that_no_follower_takes_over_is_ended(
    words: tuple[str, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "reach" in reason:
        monkeypatch.setattr(remote_process, "HANDOVER_SECONDS", 1.0)
    async with await connect(OtherWay(*words)) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path) as tool:
        command = "echo $$ >pid; echo up; exec sleep 1000"
        reply = await tool.call({"command": command, "until": {"regex": "up"}})
        assert reason in reply.text
        assert reply.text.startswith("up\n")
        assert (reply.details["cause"], reply.details["clock"]) == ("limit", "stop")
        await _ended(tmp_path / "pid")


class Late:
    """A place whose caller is busy until everything about the command has come."""

    def __init__(self, place: RemoteBackend) -> None:
        self._place = place

    def __getattr__(self, name: str) -> Any:
        return getattr(self._place, name)

    def start(self, *arguments: Any, **options: Any) -> RemoteProcess:
        process = self._place.start(*arguments, **options)
        end = time.monotonic() + 30
        while not any(isinstance(event, dict) and "exited" in str(event) for _, event in tuple(process._events)):
            assert time.monotonic() < end, process._events
            time.sleep(0.01)
        return process


async def test_a_job_that_ends_in_the_moment_of_its_start_is_a_job_with_its_end(tmp_path: Path) -> None:
    async with await connect(PrefixDialer(["env"], name="here")) as place:
        async with nacre.Tool("workspace", backend=Late(place), cwd=tmp_path) as tool:
            started = await tool.call({"command": "echo ran >>ran; exit 3", "async": True})
            job_id = started.details["async"]["jobId"]
        async with nacre.Tool("job") as job:
            polled = await job.call({"poll": [job_id], "wait": 30})
    (status,) = polled.details["jobs"]
    assert (status["exitCode"], status["cause"], status["clock"]) == (3, "command", None)
    assert (tmp_path / "ran").read_text(encoding="utf-8") == "ran\n"
