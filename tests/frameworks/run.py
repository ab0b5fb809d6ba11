"""Test every adapter with its framework, each in an environment of its own: `python tests/frameworks/run.py`.

An environment is made under .frameworks and used again for as long as what it must hold is unchanged. Installing is
done two at a time, testing one at a time: tests that watch processes should not compete for the machine.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tomllib
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".frameworks"
# The extra of each, which is also the name of its environment.
FRAMEWORKS = ("langchain", "pydantic-ai", "openai-agents", "smolagents", "anthropic", "inspect-ai", "swe-rex")
TEST_TOOLS = ("pytest", "pytest-asyncio", "pytest-timeout")
# Downloads can be slow, but one that stands still should not hold a build for ever.
INSTALL_SECONDS = 900.0
TEST_SECONDS = 600.0


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements(name: str) -> list[str]:
    """What goes into the environment besides nacre itself."""
    extras = PROJECT["optional-dependencies"]
    tools = [line for line in extras["dev"] if line.startswith(TEST_TOOLS)]
    return [*PROJECT["dependencies"], *extras[name], *tools]


def install(name: str) -> str | None:
    """Make the environment, unless it is there; why it could not be made."""
    place = ENVIRONMENTS / name
    python = place / "bin" / "python"
    # Entry points are copied when nacre is installed; its source is not.
    contents = [sys.version, requirements(name), PROJECT["entry-points"]]
    key = hashlib.sha256(json.dumps(contents).encode()).hexdigest()
    ready = place / "ready"
    if ready.exists() and ready.read_text(encoding="utf-8") == key:
        return None
    # The pip of the environment that runs this script serves all: a venv without one is made in a moment.
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile"]
    make = [sys.executable, "-m", "venv", "--clear", "--without-pip", str(place)]
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
    """Whether its tests hold. That none were found is a failure, too."""
    place = ENVIRONMENTS / name
    tests = HERE / f"test_{name.replace('-', '_')}.py"
    command = [str(place / "bin" / "python"), "-m", "pytest", "-q", "-o", f"cache_dir={place / 'cache'}", str(tests)]
    if _succeeds([*command, *arguments]):
        return True
    # As in .ci/run: the machine may be small and shared.
    print(f"{name}: tests failed; those alone once more", flush=True)
    return _succeeds([*command, *arguments, "--last-failed", "--last-failed-no-failures", "none"])


def _succeeds(command: list[str]) -> bool:
    try:
        return subprocess.run(command, cwd=ROOT, timeout=TEST_SECONDS, check=False).returncode == 0
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
        installing: dict[str, Future[str | None]] = {name: pool.submit(install, name) for name in options.names}
        problems = {name: future.result() for name, future in installing.items()}
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
