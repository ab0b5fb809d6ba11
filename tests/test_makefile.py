"""`make run` and `make test` as a newcomer types them, without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# The first time has been: the environment of these tests is there.
VENV = sys.prefix
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_RETRIES": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

pytestmark = [
    pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed"),
    pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="the tests do not run in an environment of their own"),
]


def make(*words: str, place: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", *words, f"VENV={VENV}", f"PYTHON={sys.executable}"],
        cwd=place,
        env={**os.environ, **OFFLINE},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


@pytest.mark.parametrize(
    ("command", "out"),
    [
        ('echo $HOME "a  b"', f"{os.environ['HOME']} a  b\n"),
        ("echo 'single' $((1 + 2)) # note", "single 3\n"),
        ("x=1; echo \"$x\" '$x' `echo back`", "1 $x back\n"),
    ],
)
def test_a_command_of_one_s_own_prints_what_bash_would(command: str, out: str) -> None:
    done = make("run", f"CMD={command}")
    assert (done.returncode, done.stdout) == (0, out)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The parts of a checkout that the targets read."""
    place = tmp_path / "checkout"
    (place / ".ci").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", ".ci/environment"):
        shutil.copy(ROOT / name, place / name)
    return place


def test_a_touched_pyproject_installs_nothing(checkout: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    venv.mkdir()
    wanted = subprocess.run(
        ["cksum"], input=(checkout / "pyproject.toml").read_bytes(), capture_output=True, check=True
    )
    (venv / ".installed").write_bytes(wanted.stdout)
    os.utime(checkout / "pyproject.toml")
    done = subprocess.run(
        ["bash", ".ci/environment", str(venv), sys.executable],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr, os.listdir(venv)) == (0, "", "", [".installed"])


@pytest.mark.slow
@pytest.mark.parametrize("target", ["base", "setup"])
def test_a_changed_pyproject_without_a_network_goes_on_with_what_is_installed(checkout: Path, target: str) -> None:
    with (checkout / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    done = make(target, place=checkout)
    assert done.returncode == 0, done.stderr
    assert "nacre: installing nacre" in done.stderr
    assert "going on with what is installed" in done.stderr


@pytest.mark.slow
def test_the_first_time_without_a_network_says_what_it_needs(checkout: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", ".ci/environment", str(tmp_path / "venv"), sys.executable],
        cwd=checkout,
        env={**os.environ, **OFFLINE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "nacre: making a private environment" in done.stderr
    assert done.stderr.endswith("nacre: pip could not install it; the first time needs a network\n")


def test_running_installs_no_more_than_running_needs() -> None:
    planned = make("--dry-run", "run").stdout
    assert ".ci/environment" in planned
    assert " dev" not in planned
    assert " dev\n" in make("--dry-run", "test").stdout
