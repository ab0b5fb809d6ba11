"""Terminals on another machine: that a program waits for input is told as it is here, by the kernel there."""

from __future__ import annotations

from pathlib import Path

import pytest

import nacre
from nacre.remote.remote_backend import connect
from nacre.remote.wire import PrefixDialer

HERE = PrefixDialer(["env"], name="here")


def job_of(reply: nacre.Reply) -> str:
    job_id = reply.details["async"]["jobId"]
    assert isinstance(job_id, str)
    return job_id


async def test_a_foreground_command_that_waits_becomes_a_job_and_is_answered(tmp_path: Path) -> None:
    async with await connect(HERE) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path, ui=True) as tool:
        reply = await tool.call({"command": "read -rp 'Your name: ' name; echo hello $name", "pty": True})
        assert reply.details["waitingFor"] == {"prompt": "Your name:", "hidden": False}
        async with nacre.Tool("job") as job:
            await job.call({"write": job_of(reply), "text": "Bob\n"})
            polled = await job.call({"poll": [job_of(reply)], "wait": 30})
        (status,) = polled.details["jobs"]
        assert (status["state"], status["exitCode"]) == ("exited", 0)
        assert "hello Bob" in status["resultText"]


@pytest.mark.parametrize(
    ("command", "prompt", "hidden"),
    [
        ("read -rsp 'Пароль: ' x", "Пароль:", True),
        ("read -rn 1 -p 'Press a key ' x", "Press a key", False),
        ("echo 'Your name?'; cat >/dev/null", "Your name?", False),
        ("bash -c \"read -rp 'of a child: ' x\"; true", "of a child:", False),
    ],
)
async def test_a_job_that_waits_tells_its_prompt(command: str, prompt: str, hidden: bool, tmp_path: Path) -> None:
    async with await connect(HERE) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path, ui=True) as tool:
        job_id = job_of(await tool.call({"command": command, "pty": True, "async": True}))
        async with nacre.Tool("job") as job:
            polled = await job.call({"poll": [job_id], "wait": 30})
            assert (polled.details["reason"], polled.details["by"]) == ("waiting", job_id)
            assert polled.details["waitingFor"] == {"prompt": prompt, "hidden": hidden}
            await job.call({"cancel": [job_id]})


@pytest.mark.parametrize(
    "command",
    ["printf 'Enter password: '; sleep 1.2", "stty -echo; printf 'busy... '; sleep 1.2; stty echo"],
)
async def test_text_that_only_looks_like_a_prompt_is_none(command: str, tmp_path: Path) -> None:
    async with await connect(HERE) as place, nacre.Tool("workspace", backend=place, cwd=tmp_path, ui=True) as tool:
        reply = await tool.call({"command": command, "pty": True})
        assert "async" not in reply.details
        assert "waitingFor" not in reply.details
