"""On another machine a sandbox is refused or said to be missing, never silently off, and a budget holds there."""

from __future__ import annotations

from pathlib import Path

import pytest

import nacre
from nacre.errors import StartError
from nacre.settings import SandboxSettings, Settings, ShellSettings

PLACE = "prefix:env THERE=yes"


def with_sandbox(mode: str) -> Settings:
    return Settings(shell=ShellSettings(snapshot=False), sandbox=SandboxSettings(mode=mode))  # type: ignore[arg-type]


async def test_a_required_sandbox_is_refused_there_and_nothing_is_run(tmp_path: Path) -> None:
    chosen = with_sandbox("required")
    async with await nacre.connect(PLACE) as backend:
        with pytest.raises(StartError, match="a sandbox is required and cannot be had"):
            await nacre.run("touch ran", cwd=tmp_path, backend=backend, settings=chosen)
        async with nacre.Tool("workspace", cwd=tmp_path, backend=backend, settings=chosen) as tool:
            for fields in ({}, {"async": True}, {"try": True}):
                reply = await tool.call({"command": "touch ran", **fields})
                assert reply.is_error, fields
                assert "nothing was run: " in reply.text
    assert list(tmp_path.glob("ran")) == []


async def test_a_sandbox_that_is_not_there_is_told(tmp_path: Path) -> None:
    chosen = with_sandbox("auto")
    async with (
        await nacre.connect(PLACE) as backend,
        nacre.Tool("workspace", cwd=tmp_path, backend=backend, settings=chosen) as tool,
    ):
        reply = await tool.call({"command": "echo $THERE"})
    assert reply.text.startswith("yes\n")
    assert "sandbox: none, commands are not confined: commands run where the program says" in reply.text
    assert reply.details["sandbox"]["backend"] == "none"
    assert "credential files are hidden" in reply.details["sandbox"]["missing"]


@pytest.mark.parametrize(
    ("clock", "script", "limit"),
    [
        ("cpu_seconds", "for i in 1 2; do (while :; do :; done) & done; wait", 0.3),
        ("processes", "for i in $(seq 60); do sleep 100 & done; wait", 20),
        ("file_bytes", "exec head -c 3000000 /dev/zero > big", 65536),
        ("output_bytes", "yes", 65536),
        ("wall_seconds", "sleep 100", 0.3),
    ],
)
async def test_a_budget_holds_there_and_names_its_limit(clock: str, script: str, limit: float, tmp_path: Path) -> None:
    budget = nacre.Budget(**{clock: limit})  # type: ignore[arg-type]
    async with await nacre.connect(PLACE) as backend:
        result = await nacre.run(script, cwd=tmp_path, backend=backend, budget=budget, timeout=60)
    assert (result.cause, result.clock, result.ok) == ("limit", clock, False), result.text[-300:]
    assert result.survivors == ()
