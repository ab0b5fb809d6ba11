"""Few sessions have a shell at a time, and every one keeps its state."""

from __future__ import annotations

import asyncio
from pathlib import Path

import nacre
from nacre.settings import SessionSettings, ShellSettings
from nacre.warden import children

PLAIN = ShellSettings(snapshot=False)


async def gone(pid: int) -> None:
    async with asyncio.timeout(30):
        while not children.is_zombie(pid):
            await asyncio.sleep(0.01)


async def test_few_sessions_keep_a_shell(tmp_path: Path) -> None:
    settings = nacre.Settings(shell=PLAIN, sessions=SessionSettings(most=2))
    shells = [nacre.Session(cwd=tmp_path, settings=settings) for _ in range(4)]
    pids = []
    for number, shell in enumerate(shells):
        pids.append(int((await shell.run(f"x={number}; echo $$")).text))
    await gone(pids[0])
    assert not children.is_zombie(pids[-1])
    assert [(await shell.run("echo $x")).text for shell in shells] == ["0\n", "1\n", "2\n", "3\n"]
    for shell in shells:
        await shell.aclose()


async def test_an_idle_session_has_no_shell(tmp_path: Path) -> None:
    settings = nacre.Settings(shell=PLAIN, sessions=SessionSettings(idle_seconds=0.05))
    async with nacre.Session(cwd=tmp_path, settings=settings) as shell:
        pid = int((await shell.run("x=kept; echo $$")).text)
        await gone(pid)
        after = await shell.run("echo $x")
        assert (after.text, after.notices) == ("kept\n", ())
