"""Python 3.14: every module compiles and loads without a warning, in an interpreter from a registry.

That is CPython on WebAssembly (pyodide, from npm), which has no processes: what runs commands is not tried here.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".node"
PATIENCE_SECONDS = 120.0

# Modules of Unix that WebAssembly has not, and packages of extras.
ABSENT = {
    *("pwd", "resource", "anthropic", "inspect_ai", "langchain_core", "agents", "pydantic_ai", "smolagents", "swerex"),
    *("harbor", "verifiers"),
    *("uvicorn", "starlette", "mcp", "anyio", "asyncssh", "pyghostty", "pyte", "rich", "textual", "ray", "acp"),
}

PROGRAM = """
import importlib, json, os, sys, warnings
warnings.simplefilter("error")
sys.path.insert(0, "/src")
compiled, faults, absent, loaded = 0, [], set(), 0
for folder, _, files in sorted(os.walk("/src/nacre")):
    for file in sorted(name for name in files if name.endswith(".py")):
        path = os.path.join(folder, file)
        with open(path, encoding="utf-8") as source:
            text = source.read()
        try:
            compile(text, path, "exec")
            compiled += 1
            if file == "__main__.py":
                continue
            importlib.import_module(path[5:-3].replace("/", ".").removesuffix(".__init__"))
            loaded += 1
        except ModuleNotFoundError as error:
            absent.add(error.name or str(error))
        except Exception as error:
            faults.append(f"{path}: {type(error).__name__}: {error}")
locks = hasattr(sys.modules["_frozen_importlib"], "_module_locks")
json.dumps([list(sys.version_info[:2]), compiled, loaded, sorted(absent), faults, locks])
"""
SCRIPT = """
import {{ loadPyodide }} from "pyodide";
const python = await loadPyodide();
python.mountNodeFS("/src", {source});
console.log(await python.runPythonAsync({program}));
"""


@pytest.mark.parts
@pytest.mark.timeout(2 * PATIENCE_SECONDS)
def test_every_module_compiles_and_loads_on_python_3_14_without_a_warning() -> None:
    node = shutil.which("node")
    if node is None or not (FOLDER / "node_modules" / "pyodide").is_dir():
        pytest.skip("there is no Python 3.14 here: run .ci/parts where npm is")
    done = subprocess.run(
        [
            node,
            "--input-type=module",
            "-e",
            SCRIPT.format(source=json.dumps(str(ROOT / "src")), program=json.dumps(PROGRAM)),
        ],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    version, compiled, loaded, absent, faults, locks = json.loads(done.stdout.splitlines()[-1])
    assert version == [3, 14]
    assert faults == []
    assert compiled == len(list((ROOT / "src" / "nacre").rglob("*.py")))
    assert {name.partition(".")[0] for name in absent} <= ABSENT
    assert loaded >= 400
    # `forks` reads this table, which has no public name.
    assert locks
