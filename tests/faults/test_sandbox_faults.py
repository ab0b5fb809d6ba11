"""Cases 29 and 90 to 92: a sandbox that is not there, that must not reach nacre's own files, and that denies."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from outside import Program

from nacre import Budget, Exited, Settings, run
from nacre.sandbox.probing import probe
from nacre.settings import SandboxSettings

needs_bubblewrap = pytest.mark.skipif(
    probe(os.environ.get("PATH", os.defpath)).backend != "bubblewrap",
    reason="bubblewrap cannot make a sandbox here (Debian: apt-get install bubblewrap)",
)
CONFINED = Settings(sandbox=SandboxSettings(mode="required"))

WITHOUT_BUBBLEWRAP = """
import asyncio, json, sys, nacre
from nacre.settings import SandboxSettings
async def main():
    found = []
    for mode in ("required", "auto"):
        settings = nacre.Settings(sandbox=SandboxSettings(mode=mode))
        try:
            result = await nacre.run("echo ran", settings=settings)
            found.append([type(result.outcome).__name__, result.text, list(result.notices)])
        except nacre.NacreError as error:
            found.append([type(error).__name__, str(error), []])
    print(json.dumps(found))
asyncio.run(main())
"""


def test_case_29_a_sandbox_that_cannot_be_made_refuses_or_says_what_it_lacks(tmp_path: Path) -> None:
    """Without bubblewrap: Landlock may hold a part of it, and `required` is not content with a part."""
    tools = tmp_path / "tools"
    tools.mkdir()
    required, auto = json.loads(Program(WITHOUT_BUBBLEWRAP, env={"PATH": str(tools)}, cwd=tmp_path).succeed())
    assert required[0] == "StartError"
    assert "sandbox" in required[1]
    assert auto[:2] == ["Exited", "ran\n"]
    assert any("sandbox" in notice for notice in auto[2]), auto


@needs_bubblewrap
async def test_case_90_output_is_kept_in_a_place_that_the_command_cannot_write(home: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    script = f"seq 30000; echo forged >{home}/artifacts/forged; echo forged >>{home}/log.jsonl; ls {work}"
    result = await run(script, cwd=work, settings=CONFINED)
    assert result.artifact is not None
    kept = Path(result.artifact.path).read_text(encoding="utf-8")
    assert kept.startswith("1\n2\n")
    assert "30000\n" in kept
    assert not (home / "artifacts" / "forged").exists()
    log = (home / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert "forged" not in log


@needs_bubblewrap
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has the capability that must be dropped")
async def test_case_91_root_cannot_make_the_read_only_root_writable_again(tmp_path: Path) -> None:
    script = """
        mount -o remount,rw / ; mount -o remount,bind,rw /usr ; mount -t tmpfs none /mnt
        unshare -m true ; unshare -Ur true ; touch /usr/nacre-was-here
        grep -c 'Cap...:.0000000000000000' /proc/self/status
    """
    result = await run(script, cwd=tmp_path, settings=CONFINED)
    assert result.text.endswith("5\n"), result.text
    assert not Path("/usr/nacre-was-here").exists()


@needs_bubblewrap
async def test_case_92_a_denied_write_has_the_command_s_own_status_and_a_hint(tmp_path: Path) -> None:
    result = await run("touch /etc/nacre-was-here || exit 9", cwd=tmp_path, settings=CONFINED)
    assert result.outcome == Exited(9)
    assert "Read-only file system" in result.text
    assert any("may be the sandbox's doing" in notice for notice in result.notices)
    plain = await run("echo fine; exit 9", cwd=tmp_path, settings=CONFINED)
    assert not any("sandbox's doing" in notice for notice in plain.notices)


@needs_bubblewrap
@pytest.mark.parametrize(
    ("script", "budget", "clock"),
    [
        ("for i in $(seq 60); do sleep 30 & done; wait", Budget(processes=30), "processes"),
        ("while :; do :; done", Budget(cpu_seconds=0.4), "cpu_seconds"),
        ("yes", Budget(output_bytes=4096), "output_bytes"),
    ],
)
async def test_a_budget_holds_in_a_sandbox_too(script: str, budget: Budget, clock: str, tmp_path: Path) -> None:
    result = await run(script, cwd=tmp_path, settings=CONFINED, budget=budget, timeout=30)
    assert (result.clock, result.cause) == (clock, "limit")
