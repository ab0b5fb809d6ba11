"""`make peers`: an environment for each peer, so that none disturbs another; what cannot be made is said and skipped.

python -m benchmarks.peers.environments [NAME…]
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.peers.catalogue import ENVIRONMENTS, HOME, NodeEnvironment, PythonEnvironment

READY = ".ready"


class CannotInstallError(Exception):
    """Why the peer is not there."""


def is_ready(name: str) -> bool:
    return (HOME / name / READY).exists()


def make(name: str) -> None:
    directory = HOME / name
    if is_ready(name):
        return
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    match ENVIRONMENTS[name]:
        case PythonEnvironment() as wanted:
            _make_python(directory, wanted)
        case NodeEnvironment() as wanted:
            _make_node(directory, wanted)
    (directory / READY).touch()


def _make_python(directory: Path, wanted: PythonEnvironment) -> None:
    _do([python_for(wanted.python), "-m", "venv", str(directory)])
    pip = [str(directory / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _do([*pip, *wanted.requirements])


def _make_node(directory: Path, wanted: NodeEnvironment) -> None:
    if shutil.which("npm") is None:
        raise CannotInstallError("npm is not installed")
    package = {"private": True, "dependencies": dict(wanted.dependencies), "overrides": dict(wanted.overrides)}
    (directory / "package.json").write_text(json.dumps(package), encoding="utf-8")
    # Scripts of the parts fetch browsers and binaries that running a command does not need.
    _do(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"], cwd=directory)


def python_for(oldest: tuple[int, int]) -> str:
    """An interpreter that is new enough: this one, one on the path, or one of pyenv's."""
    if sys.version_info >= oldest:
        return sys.executable
    names = [f"python3.{minor}" for minor in range(oldest[1], oldest[1] + 4)]
    pyenv = Path.home() / ".pyenv/versions"
    found = [path for name in names for path in (*sorted(map(str, pyenv.glob(f"*/bin/{name}"))), shutil.which(name))]
    for path in found:
        # A shim of pyenv is on the path and yet fails unless its version was chosen.
        if path is not None and subprocess.run([path, "-c", "pass"], capture_output=True, check=False).returncode == 0:
            return path
    raise CannotInstallError(f"needs Python {oldest[0]}.{oldest[1]}, and none was found")


def _do(command: list[str], cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stdout.splitlines() if "error" in line.lower()]
        raise CannotInstallError(f"{command[0]} failed: {(errors or [done.stdout])[-1].strip()[:300]}")


def main(names: list[str]) -> None:
    for name in names or ENVIRONMENTS:
        try:
            make(name)
        except CannotInstallError as error:
            print(f"{name}: not installed: {error}", flush=True)
        else:
            print(f"{name}: ready", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
