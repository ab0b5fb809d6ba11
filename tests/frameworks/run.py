"""Test every adapter with its framework, each in an environment of its own: `python tests/frameworks/run.py`.

An environment is made under .frameworks and used again while its requirements are unchanged. Two are installed at a
time; one is tested at a time, because tests that watch processes must not compete for the machine.
"""

import argparse
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".frameworks"
# The extra of each, which is also the name of its environment.
FRAMEWORKS = (
    "langchain",
    "pydantic-ai",
    "openai-agents",
    "smolagents",
    "anthropic",
    "inspect-ai",
    "swe-rex",
    "harbor",
    "verifiers",
)
# Two that know each other share an environment, because each brings half a gigabyte; the first sets its Python.
SHARES = {"verifiers": "harbor"}
NEEDS_PYTHON = {"harbor": (3, 12)}
TEST_TOOLS = ("pytest", "pytest-asyncio", "pytest-timeout")
# A slow download may take minutes; a stalled one must not hold a build for ever.
INSTALL_SECONDS = 900.0
TEST_SECONDS = 600.0


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements(name: str) -> list[str]:
    """Return the requirements of the environment besides nacre itself."""
    extras = PROJECT["optional-dependencies"]
    tools = [line for line in extras["dev"] if line.startswith(TEST_TOOLS)]
    frameworks = [line for one in (name, *_guests(name)) for line in extras[one]]
    return [*PROJECT["dependencies"], *frameworks, *tools]


def _guests(name: str) -> list[str]:
    return [guest for guest, host in SHARES.items() if host == name]


def interpreter(name: str) -> str | None:
    """Return the interpreter for its environment: this one, or a newer one where the framework needs that."""
    wanted = NEEDS_PYTHON.get(name, (3, 11))
    if sys.version_info >= wanted:
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [str(path) for path in sorted(pyenv.glob("versions/3.1*/bin/python"))]
    for path in [*found, "python3.12", "python3.13", "python3"]:
        check = f"import sys; sys.exit(sys.version_info < {wanted})"
        with contextlib.suppress(OSError):
            if subprocess.run([path, "-c", check], capture_output=True, check=False).returncode == 0:
                return path
    return None


def install(name: str) -> str | None:
    """Make the environment unless it is there; return why it could not be made."""
    place = ENVIRONMENTS / name
    python = place / "bin" / "python"
    # Name and entry points are copied when nacre is installed; its source is not.
    own = interpreter(name)
    if own is None:
        return f"it needs Python {'.'.join(map(str, NEEDS_PYTHON[name]))}, and none is found"
    contents = [sys.version, own, PROJECT["name"], requirements(name), PROJECT["entry-points"]]
    key = hashlib.sha256(json.dumps(contents).encode()).hexdigest()
    ready = place / "ready"
    if ready.exists() and ready.read_text(encoding="utf-8") == key:
        return None
    # The pip of this script's own environment serves all of them: a venv without pip is made in a moment.
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile"]
    make = [own, "-m", "venv", "--clear", "--without-pip", str(place)]
    for command in (make, [*pip, *requirements(name)], [*pip, "--no-deps", "--editable", str(ROOT)]):
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=INSTALL_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return f"{' '.join(command[:4])} … took longer than {INSTALL_SECONDS:g} s"
        if done.returncode:
            return "\n".join(done.stdout.decode(errors="replace").splitlines()[-20:])
    ready.write_text(key, encoding="utf-8")
    return None


def test(name: str, arguments: list[str]) -> bool:
    """Return whether its tests pass; finding none is a failure."""
    place = ENVIRONMENTS / SHARES.get(name, name)
    tests = HERE / f"test_{name.replace('-', '_')}.py"
    command = [str(place / "bin" / "python"), "-m", "pytest", "-q", "-o", f"cache_dir={place / 'cache'}", str(tests)]
    try:
        return subprocess.run([*command, *arguments], cwd=ROOT, timeout=TEST_SECONDS, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        print(f"the tests took longer than {TEST_SECONDS:g} s")
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--required", action="store_true", help="fail when a framework cannot be installed")
    parser.add_argument("names", nargs="*", default=FRAMEWORKS, help=f"of {', '.join(FRAMEWORKS)}; all by default")
    options, arguments = parser.parse_known_args()
    ENVIRONMENTS.mkdir(exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        wanted = dict.fromkeys(SHARES.get(name, name) for name in options.names)
        installing: dict[str, Future[str | None]] = {name: pool.submit(install, name) for name in wanted}
        problems = {name: installing[SHARES.get(name, name)].result() for name in options.names}
    failed = []
    for name, problem in problems.items():
        print(f"== {name}", flush=True)
        if problem is not None:
            print(f"{'FAILED' if options.required else 'skipped'}: it cannot be installed here: {problem}")
            if options.required:
                failed.append(name)
        elif not test(name, arguments):
            failed.append(name)
    print(f"frameworks: {', '.join(failed)} FAILED" if failed else "frameworks: all that could be installed hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
