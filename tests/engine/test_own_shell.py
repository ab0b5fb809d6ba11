"""A call with a budget of its own begins with its session's state, is held to it, and leaves the state alone."""

from __future__ import annotations

from pathlib import Path

import nacre
from nacre.jobs.table import JobTable
from nacre.settings import Settings, ShellSettings

SETTINGS = Settings(shell=ShellSettings(snapshot=False))


async def test_a_budget_of_one_call_holds_for_that_call_alone(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    async with nacre.Tool("workspace", cwd=tmp_path, settings=SETTINGS) as tool:
        await tool.call({"command": "cd d; x=kept; f() { echo function; }"})
        reply = await tool.call({"command": "echo $x ${PWD##*/}; f; x=lost; cd ..; yes", "budget": "output=64K"})
        assert reply.text.startswith("kept d\nfunction\ny\n")
        assert (reply.details["cause"], reply.details["clock"]) == ("limit", "output_bytes")
        assert "budget used up: 64.0KB of output" in reply.text, reply.text[-600:]
        assert "a call with a budget has a shell of its own" in reply.text
        assert (await tool.call({"command": "echo $x ${PWD##*/}; head -c 100000 /dev/zero | wc -c"})).text.startswith(
            "kept d\n100000\n"
        )


async def test_a_job_has_its_budget_too(tmp_path: Path, home: Path) -> None:
    async with nacre.Tool("workspace", cwd=tmp_path, settings=SETTINGS) as tool:
        await tool.call(
            {"command": "sleep 0.2; exec head -c 300000 /dev/zero > big", "budget": "file=64K", "async": True}
        )
        await nacre.Tool("job", cwd=tmp_path, settings=SETTINGS).call({"poll": ["bg_1"], "wait": 30})
    (job,) = JobTable(str(home)).list().jobs
    assert (job.record["exitCode"], (tmp_path / "big").stat().st_size) == (None, 65536), job.record


async def test_a_wrong_budget_runs_nothing(tmp_path: Path) -> None:
    async with nacre.Tool("workspace", cwd=tmp_path, settings=SETTINGS) as tool:
        reply = await tool.call({"command": "touch ran", "budget": "memory=much"})
    assert reply.is_error
    assert 'budget.memory is "much"; accepted: a size above 0, e.g. 500M or 2G' in reply.text
    assert not (tmp_path / "ran").exists()
