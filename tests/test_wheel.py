"""The wheel in an empty environment, as a new user has it: two dependencies, both scripts, the README's examples.

It asks nothing of others: beside well-known agent packages pip takes the same versions with and without it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from benchmarks.peers.environments import CannotInstallError, python_for

from test_docs import blocks, sessions

ROOT = Path(__file__).resolve().parents[1]
REQUIRED = "NACRE_TEST_REQUIRED" in os.environ
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
INSTALL_SECONDS = 300.0
PATIENCE_SECONDS = 60.0


def pip(*words: str) -> None:
    done = subprocess.run([*PIP, *words], capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if done.returncode:
        reason = f"pip {' '.join(words[:3])} failed: {done.stderr.strip()[-500:]}"
        pytest.fail(reason) if REQUIRED else pytest.skip(reason)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it asks for."""
    place = tmp_path_factory.mktemp("empty") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    pip("--python", str(place / "bin" / "python"), "install", "--quiet", str(wheel))
    return place


def run(environment: Path, *argv: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        cwd=home,
        env={"HOME": str(home), "PATH": f"{environment / 'bin'}:/usr/bin:/bin", "LANG": "C.UTF-8", **variables},
        timeout=PATIENCE_SECONDS,
        check=False,
    )


@pytest.mark.parts
@pytest.mark.timeout(INSTALL_SECONDS)
def test_the_wheel_brings_two_dependencies_and_the_man_page(environment: Path, tmp_path: Path) -> None:
    script = "from importlib.metadata import distributions as d; print(sorted({one.name for one in d()}))"
    done = run(environment, "python", "-c", script, home=tmp_path)
    assert done.stdout == "['nacre-shell', 'tree-sitter', 'tree-sitter-bash']\n"
    assert (environment / "share" / "man" / "man1" / "nacre.1").is_file()


@pytest.mark.parts
@pytest.mark.timeout(INSTALL_SECONDS)
@pytest.mark.parametrize(("command", "output"), sessions())
def test_the_examples_of_the_readme_work_after_its_install_line(
    command: str, output: str, environment: Path, tmp_path: Path
) -> None:
    assert run(environment, "bash", "-c", command, home=tmp_path).stdout == output


@pytest.mark.parts
@pytest.mark.timeout(INSTALL_SECONDS)
def test_the_library_example_of_the_readme_works_after_its_install_line(environment: Path, tmp_path: Path) -> None:
    (example,), (output,) = blocks("python"), blocks("text")
    assert run(environment, "python", "-c", example, home=tmp_path).stdout == output


@pytest.mark.parts
@pytest.mark.timeout(INSTALL_SECONDS)
def test_the_script_of_the_distributions_name_is_what_uvx_runs(environment: Path, tmp_path: Path) -> None:
    done = run(environment, "nacre-shell", "run", "--", "echo hello", home=tmp_path)
    assert (done.returncode, done.stdout) == (0, "hello\n")
    # End of input ends a server.
    assert run(environment, "nacre-shell", "mcp", home=tmp_path).returncode == 0


# The newest of each is what pip takes without the wheel; with the oldest Python that it accepts.
NEIGHBOURS: Mapping[str, tuple[int, int]] = {
    "crewai": (3, 11),
    "strands-agents": (3, 11),
    "browser-use": (3, 11),
    "openhands-sdk": (3, 12),
}


def chosen(python: str, report: Path, *wanted: str) -> dict[str, str]:
    """The versions that pip would install into an empty environment."""
    options = ["--dry-run", "--ignore-installed", "--only-binary", ":all:", "--quiet", "--report", str(report)]
    pip("--python", python, "install", *options, *wanted)
    found: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {_name(one["metadata"]["name"]): one["metadata"]["version"] for one in found}


def _name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


@pytest.mark.long
@pytest.mark.timeout(2 * INSTALL_SECONDS)
@pytest.mark.parametrize("neighbour", NEIGHBOURS)
def test_no_neighbour_is_forced_to_another_version(neighbour: str, wheel: Path, tmp_path: Path) -> None:
    """What a registry holds changes from day to day, so no change of ours waits for this one."""
    try:
        python = python_for(NEIGHBOURS[neighbour])
    except CannotInstallError as error:
        pytest.skip(str(error))
    alone = chosen(python, tmp_path / "alone.json", neighbour)
    beside = chosen(python, tmp_path / "beside.json", neighbour, str(wheel))
    print(f"{neighbour} {alone[neighbour]}: {len(alone)} packages alone; besides: {sorted(set(beside) - set(alone))}")
    assert {name: beside.get(name) for name in alone} == alone
    assert set(beside) - set(alone) <= {"nacre-shell", "tree-sitter", "tree-sitter-bash"}
