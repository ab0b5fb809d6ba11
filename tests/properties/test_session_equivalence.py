"""The same script comes to the same in `bash -c`, in a stateless run and in a session."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from session_scripts import SCRIPTS, STATES

import nacre
from nacre.settings import ShellSettings

SETTINGS = nacre.Settings(shell=ShellSettings(snapshot=False))

PROBE = """\
builtin pwd
declare -p x y z HOME IFS OLDPWD PATH 2>/dev/null
declare -f
declare -F
alias
trap
umask
set +o
shopt
printf '<%s>' "$#" "$@"
"""


def plain(text: str) -> str:
    """Without what may differ: pids, and the name of what a syntax error was found in."""
    text = re.sub(r"/work-\d\b", "/work", text)
    text = re.sub(r"(?m)^(bash|environment): (?:-c|eval): line", r"\1: line", text)
    return re.sub(r"\b\d{3,7}\b(?= (?:Killed|Terminated))", "PID", text)


def bash(script: str, cwd: Path, env: dict[str, str]) -> tuple[str, int]:
    done = subprocess.run(
        ["bash", "-c", script],
        executable="/bin/bash",
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return done.stdout.decode("utf-8", "replace"), code


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment that the filter leaves as it is, so that all three begin alike."""
    for name in list(os.environ):
        if not name.startswith("NACRE_") and name not in ("PATH", "HOME", "TMPDIR", "LANG", "XDG_CONFIG_HOME"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return dict(os.environ)


def place(tmp_path: Path, name: str) -> Path:
    path = tmp_path / name
    path.mkdir()
    return path


@pytest.mark.parametrize("script", [script for script in SCRIPTS if script.strip()])
async def test_a_script_gives_the_same_output_and_code(script: str, tmp_path: Path, environ: dict[str, str]) -> None:
    text, code = bash(script, place(tmp_path, "work-1"), environ)
    once = await nacre.run(script, cwd=place(tmp_path, "work-2"), settings=SETTINGS)
    async with nacre.Session(cwd=place(tmp_path, "work-3"), settings=SETTINGS) as session:
        kept = await session.run(script)
        again = await session.run("echo still here")
    assert (plain(once.text), once.exit_code) == (plain(text), code)
    assert (plain(kept.text), kept.exit_code) == (plain(text), code)
    assert again.text.endswith("still here\n")


@pytest.mark.parametrize("script", STATES)
async def test_a_script_leaves_the_same_state(script: str, tmp_path: Path, environ: dict[str, str]) -> None:
    work = place(tmp_path, "work")
    expected, _ = bash(f"{script}\n{PROBE}", work, environ)
    async with nacre.Session(cwd=work, settings=SETTINGS) as session:
        assert (await session.run(script)).ok
        state = (await session.run(PROBE)).text
    assert _without_ours(state) == _without_ours(expected)


@pytest.mark.parametrize("script", STATES)
async def test_a_restored_shell_has_the_same_state(script: str, tmp_path: Path, environ: dict[str, str]) -> None:
    async with nacre.Session(cwd=place(tmp_path, "work"), settings=SETTINGS) as session:
        await session.run(script)
        before = await session.run(PROBE)
        await session.run("kill -9 $$")
        after = await session.run(PROBE)
    assert "new shell" in after.notices[0]
    assert _without_ours(after.text) == _without_ours(before.text)


def _without_ours(text: str) -> str:
    """Without the variables that nacre adds for programs, which `bash -c` here does not have."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("declare -x OLDPWD"))
