"""Small projects for real tools, passing and failing: what each writes, the command, and the evidence in its output."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NODE_TOOLS = ROOT / ".node-tools" / "node_modules"


@dataclass(frozen=True)
class RealTool:
    """A tool, how its project is made, and what of its raw output must be in the view."""

    name: str
    prepare: Callable[[Path, bool], str]
    """Writes the project; returns the command."""
    evidence: str
    """A pattern of names, messages and counts: all of a row that it matches must survive."""
    programs: tuple[str, ...] = ()
    """What must be on the path."""
    module: str = ""
    """What must be among the installed Node modules."""
    shortens: str = "both"
    """When the output is long enough to be shortened: both, failing, passing or never."""
    slow: bool = True
    """Whether it runs only with the other heavy parts."""


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _node_modules(root: Path) -> None:
    (root / "node_modules").symlink_to(NODE_TOOLS)


def pytest_project(root: Path, fails: bool) -> str:
    rest = 7 if fails else 99
    test = f"""
import pytest

@pytest.mark.parametrize("number", range(60))
def test_many(number):
    print("captured", number)
    assert number % 20 != {rest}, f"number {{number}} is wrong"
"""
    _write(root, {"test_many.py": test})
    return f"{sys.executable} -m pytest -v -p no:cacheprovider -p no:randomly test_many.py"


def make_project(root: Path, fails: bool) -> str:
    source = '#include <stdio.h>\nint f{0}(void) {{ int unused; printf("%s", 3); return {1}; }}\n'
    files = {f"f{n}.c": source.format(n, f"missing_{n}" if fails else 0) for n in range(6)}
    objects = " ".join(f"f{n}.o" for n in range(6))
    _write(root, {**files, "Makefile": f"all: {objects}\n%.o: %.c\n\tcc -Wall -c $< -o $@\n"})
    return "make -k"


def node_project(root: Path, fails: bool) -> str:
    rest = 7 if fails else 99
    test = f"""
const test = require("node:test"), assert = require("node:assert");
for (let i = 0; i < 60; i++) test(`adds ${{i}}`, () => assert.notStrictEqual(i % 20, {rest}));
"""
    _write(root, {"many.test.js": test})
    return "node --test --test-reporter=tap"


def ruff_project(root: Path, fails: bool) -> str:
    wrong = "".join(f"import os\ndef f{n}():\n    value_{n} = missing_{n}\n\n\n" for n in range(12))
    _write(root, {"wrong.py": wrong if fails else "x = 1\n"})
    return f"{sys.executable} -m ruff check --no-cache --output-format=full ."


def mypy_project(root: Path, fails: bool) -> str:
    folder = "a_folder_with_a_long_name/another_one/and_one_more"
    wrong = "".join(f'v{n}: int = "text {n}"\n' for n in range(40))
    _write(root, {f"{folder}/module.py": wrong if fails else "x: int = 1\n"})
    return f"{sys.executable} -m mypy --cache-dir={root}/cache --no-error-summary {folder}"


def pip_project(root: Path, fails: bool) -> str:
    names = [f"part{n}" for n in range(25)]
    (root / "wheels").mkdir()
    for name in names:
        wanted = ["nosuchpart==9"] if fails and name == "part7" else []
        metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0", *(f"Requires-Dist: {one}" for one in wanted)]
        info = f"{name}-1.0.dist-info"
        with zipfile.ZipFile(root / "wheels" / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}.py", "x = 1\n")
            wheel.writestr(f"{info}/METADATA", "\n".join(metadata) + "\n")
            wheel.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{info}/RECORD", "")
    options = f"--no-index --find-links wheels --target {root}/installed --disable-pip-version-check"
    return f"{sys.executable} -m pip install {options} {' '.join(names)}"


def npm_project(root: Path, fails: bool) -> str:
    script = "for (let i = 0; i < 90; i++) console.log(`bundled part ${i}`);" + (
        "console.error('Error: cannot resolve ./till'); process.exit(3);" if fails else "console.log('90 parts');"
    )
    _write(
        root, {"package.json": json.dumps({"name": "kiosk", "scripts": {"build": "node build.js"}}), "build.js": script}
    )
    return "npm run build"


def eslint_project(root: Path, fails: bool) -> str:
    _node_modules(root)
    wrong = "var a = 1;\nif (a == 2) { undefinedFn(a) }\nlet unused = 3;\nfunction f() { return b }\n"
    rules = {"no-var": "warn", "eqeqeq": "error", "no-undef": "error", "no-unused-vars": "warn", "prefer-const": "warn"}
    config = f'module.exports = [{{ languageOptions: {{ sourceType: "script" }}, rules: {json.dumps(rules)} }}];\n'
    files = {f"src/file{n}.js": wrong if fails else "(function () {}());\n" for n in range(9)}
    _write(root, {**files, "eslint.config.js": config})
    return "npx eslint src"


def tsc_project(root: Path, fails: bool) -> str:
    _node_modules(root)
    options = {
        "strict": True,
        "noEmit": True,
        "types": [],
        "skipLibCheck": True,
        "target": "es2020",
        "module": "es2020",
    }
    lines = "".join(f"export const v{n}: number = {json.dumps(str(n) if fails else n)};\n" for n in range(30))
    _write(
        root,
        {
            "tsconfig.json": json.dumps({"compilerOptions": options, "include": ["src"]}),
            "src/a_module_with_a_long_name/and_a_file_with_one.ts": lines,
        },
    )
    return "npx tsc -p . --pretty"


def vitest_project(root: Path, fails: bool) -> str:
    _node_modules(root)
    test = f"""
import {{ expect, it }} from "vitest";
for (let i = 0; i < 60; i++) it(`adds ${{i}}`, () => expect(i % 20).not.toBe({7 if fails else 99}));
"""
    _write(root, {"many.test.js": test, "package.json": '{"type": "module"}'})
    return "npx vitest run --reporter=verbose"


def jest_project(root: Path, fails: bool) -> str:
    _node_modules(root)
    test = f"for (let i = 0; i < 60; i++) test(`adds ${{i}}`, () => expect(i % 20).not.toBe({7 if fails else 99}));\n"
    _write(root, {"many.test.js": test, "package.json": '{"name": "kiosk"}'})
    return "npx jest --verbose --cacheDirectory=.cache"


def gcc_project(root: Path, fails: bool) -> str:
    body = "".join(
        f"int f{n}(void) {{ int unused_{n}; return {f'missing_{n}' if fails else n}; }}\n" for n in range(19)
    )
    _write(root, {"wrong.c": body})
    return "gcc -Wall -Wextra -c wrong.c -o wrong.o"


def cmake_project(root: Path, fails: bool) -> str:
    sources = [f"part{n}.c" for n in range(25)]
    lists = f"cmake_minimum_required(VERSION 3.5)\nproject(kiosk C)\nadd_library(kiosk STATIC {' '.join(sources)})\n"
    files = {name: f"int {name[:-2]}(void) {{ return 0; }}\n" for name in sources}
    if fails:
        files["part11.c"] = "int part11(void) { return missing_11; }\n"
    _write(root, {**files, "CMakeLists.txt": lists})
    return "cmake -S . -B build && cmake --build build -- -k"


def cargo_project(root: Path, fails: bool) -> str:
    tests = "".join(f"#[test] fn adds_{n}() {{ assert_ne!({n} % 20, {7 if fails else 99}); }}\n" for n in range(60))
    manifest = '[package]\nname = "kiosk"\nversion = "0.1.0"\nedition = "2021"\n'
    _write(root, {"Cargo.toml": manifest, "src/lib.rs": f"fn dead() {{}}\n#[cfg(test)]\nmod tests {{\n{tests}}}\n"})
    return "cargo test --offline"


def git_project(root: Path, fails: bool) -> str:
    person = "git -c user.name=dev -c user.email=dev@example.org"
    steps = [
        "git init -q -b main .",
        "for n in $(seq 30); do mkdir -p part$n; seq 40 > part$n/a_file_with_a_name.txt; done",
        f"git add . && {person} commit -q -m one",
        "git checkout -q -b other",
        "for n in $(seq 30); do sed -i '3s/.*/other/' part$n/a_file_with_a_name.txt; done",
        f"{person} commit -q -a -m two && git checkout -q main",
        *(["for n in $(seq 30); do sed -i '3s/.*/mine/' part$n/a_file_with_a_name.txt; done"] if fails else []),
        *([f"{person} commit -q -a -m three"] if fails else []),
    ]
    _write(root, {"prepare.sh": "set -e\n" + "\n".join(steps) + "\n"})
    return f"bash prepare.sh && {person} merge other"


def apt_project(root: Path, fails: bool) -> str:
    return f"apt-get install --simulate -y {'nosuchpackage-of-nacre' if fails else 'build-essential'}"


TOOLS = [
    RealTool(
        "pytest",
        pytest_project,
        r"FAILED .*|number \d+ is wrong|^captured (?:7|27|47)$|\d+ passed in [\d.]+s",
        slow=False,
    ),
    RealTool(
        "make", make_project, r"f\d\.c:\d+:\d+: (?:error|warning): .*|^make: \*\*\* .*", ("make", "cc"), slow=False
    ),
    RealTool("node", node_project, r"not ok \d+ - adds \d+|^# (?:pass|fail) \d+", ("node",), slow=False),
    RealTool("ruff", ruff_project, r"^[A-Z]+\d+ .*|^ +--> .*|^Found .*|^All checks.*", shortens="failing"),
    RealTool("mypy", mypy_project, r"\d+: error: .*|^Success.*", shortens="failing"),
    RealTool("pip", pip_project, r"^ERROR: .*|^Successfully installed .*"),
    RealTool("npm", npm_project, r"^Error: .*|^npm error .*|^90 parts$", ("npm", "node")),
    RealTool("eslint", eslint_project, r"^ +\d+:\d+ +error .*|^/.*\.js$|problems? \(.*", ("npx",), "eslint", "failing"),
    RealTool("tsc", tsc_project, r"error TS\d+: .*|:\d+:\d+ - error|^Found .*", ("npx",), "typescript", "failing"),
    RealTool(
        "vitest",
        vitest_project,
        r"× .*|AssertionError: .*|Tests +\d+ (?:passed|failed).*|❯ \S+:\d+:\d+",
        ("npx",),
        "vitest",
    ),
    RealTool("jest", jest_project, r"✕ .*|● .*|Expected: .*|^Tests: .*", ("npx",), "jest", "never"),
    RealTool("gcc", gcc_project, r"wrong\.c:\d+:\d+: (?:error|warning): .*", ("gcc",)),
    RealTool("cmake", cmake_project, r"part11\.c:\d+:\d+: error: .*|\*\*\* .*", ("cmake", "make", "cc")),
    RealTool(
        "cargo", cargo_project, r"^test .* FAILED|panicked at .*|^warning: .*|^test result: \S+ [1-9].*", ("cargo",)
    ),
    RealTool(
        "git", git_project, r"^CONFLICT .*|^Automatic merge failed.*|\d+ files? changed.*", ("git",), shortens="never"
    ),
    RealTool("apt", apt_project, r"^E: .*|\d+ upgraded, .*", ("apt-get",), shortens="never"),
]
