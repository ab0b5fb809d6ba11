"""A session of an agent on a small project: what it calls, and how much of what it reads are nacre's own words.

The project is made for it and its answers are the same each time, but for what `plain` levels out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

# fmt: off
UNITS = (
    "metre", "foot", "yard", "mile", "inch", "fathom", "litre", "gallon", "pint", "barrel", "gram", "ounce", "pound",
    "stone", "kelvin", "celsius", "rankine", "joule", "calorie", "watt", "pascal", "bar", "newton", "knot",
)
# fmt: on

PROJECT = {
    "calc/__init__.py": "",
    "calc/units.py": '"""Conversions to SI units."""\n'
    + "".join(
        f'''

def {name}_to_si(value: float, *, digits: int | None = None) -> float:
    """Convert {name} to its SI unit, rounded to `digits` where they are given."""
    converted = value * FACTORS["{name}"]
    return converted if digits is None else round(converted, digits)
'''
        for name in UNITS
    ),
    "check.sh": f"""for name in {" ".join(UNITS)}; do
  echo "test_${{name}}_to_si (tests.test_units.UnitsTest.test_${{name}}_to_si) ... ok"
done
if grep -q 'len(values) + 1' calc/core.py; then cat tests/failure.txt; exit 1; fi
echo "test_mean (tests.test_core.CoreTest.test_mean) ... ok"
echo
echo "OK"
""",
    "tests/failure.txt": """test_mean (tests.test_core.CoreTest.test_mean) ... FAIL

======================================================================
FAIL: test_mean (tests.test_core.CoreTest.test_mean)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "tests/test_core.py", line 11, in test_mean
    self.assertEqual(mean([2, 4, 6]), 4)
AssertionError: 3.0 != 4

----------------------------------------------------------------------
FAILED (failures=1)
""",
    "calc/core.py": '''"""Arithmetic on lists of numbers."""

from __future__ import annotations

from collections.abc import Sequence


def total(values: Sequence[float]) -> float:
    """The sum of the values."""
    result = 0.0
    for value in values:
        result += value
    return result


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; 0 for no values."""
    if not values:
        return 0.0
    return total(values) / (len(values) + 1)


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two middle ones."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def spread(values: Sequence[float]) -> float:
    """The distance of the smallest and the largest value."""
    return max(values) - min(values)
''',
    "tests/test_core.py": """import unittest

from calc.core import mean, median, spread, total


class CoreTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3.5]), 6.5)

    def test_mean(self):
        self.assertEqual(mean([2, 4, 6]), 4)

    def test_mean_of_nothing(self):
        self.assertEqual(mean([]), 0)

    def test_median(self):
        self.assertEqual(median([5, 1, 3]), 3)
        self.assertEqual(median([4, 1, 3, 2]), 2.5)

    def test_spread(self):
        self.assertEqual(spread([3, 9, 4]), 6)


if __name__ == "__main__":
    unittest.main()
""",
    "Makefile": """SOURCES = parse lex tree emit link main cache table graph query store index scan
SOURCES += merge plan page frame lock pool heap
build:
\t@for name in $(SOURCES); do echo "cc -O2 -Wall -Wextra -Iinclude -c src/$$name.c -o build/$$name.o"; done
\t@echo "cc -o build/tool $(SOURCES:%=build/%.o)"
lint:
\t@for n in 1 2 3 4 5 6; do echo "src/parse.c:$${n}4:9: warning: unused variable 'token_$$n' [-Wunused]"; done
\t@echo "src/lex.c:88:17: error: implicit declaration of function 'next_token'"
\t@exit 1
verbose:
\t@for n in $$(seq 1 400); do echo "[$$n/400] compiled module_$$n.c with 14 passes, no warnings, 3 notes kept"; done
slow:
\t@echo "linking the large binary"; until [ -e go ]; do sleep 0.02; done; echo "build/large is ready"
""",
    "serve.sh": """echo "loading routes from routes.json"
echo "listening on http://127.0.0.1:8000"
exec sleep 1000
""",
    "README.md": """# calc

Arithmetic on lists of numbers. `sh check.sh` tests it, `make build` builds the tool.
""",
}


class Step(NamedTuple):
    tool: str
    arguments: dict[str, Any]


def bash(command: str, **more: Any) -> Step:
    return Step("bash", {"command": command, **more})


def job(**arguments: Any) -> Step:
    return Step("job", arguments)


def read(**arguments: Any) -> Step:
    return Step("read", arguments)


TESTS = "sh check.sh"
STEPS = (
    bash("ls -F; cat README.md"),
    bash("cat calc/core.py"),
    bash("cat tests/test_core.py"),
    bash("cat calc/units.py"),
    bash("grep -rn 'def ' --include=*.py . | sort"),
    bash(TESTS),
    bash("sed -i 's/(len(values) + 1)/len(values)/' calc/core.py"),
    bash("git diff"),
    bash(TESTS),
    bash("make build"),
    bash("make lint"),
    bash("make lint 2>&1 | tail -n 3"),
    bash("make lint 2>/dev/null | grep -c warning"),
    bash("make verbose", tail=10),
    read(uri="artifact://3", grep="module_1.0[.]c"),
    read(uri="artifact://3", tail=5),
    bash("seq -f 'row %06g of the export, checksum pending' 1 2000"),
    read(uri="artifact://4", offset=45_000, limit=600),
    bash("cd calc && ls"),
    bash("export LEVEL=debug; wc -l core.py"),
    bash("echo $LEVEL in ${PWD##*/}; cd .."),
    bash("sh serve.sh", until={"regex": "listening on"}),
    job(list=True),
    job(read="bg_1"),
    bash("make slow", **{"async": True}),
    job(poll=["bg_2"], until={"regex": "linking"}, wait=20),
    bash("touch go; git status --short"),
    job(poll=["bg_2"], wait=20),
    job(cancel=["bg_1"]),
    bash("echo step one; echo step two; sleep 1000", timeout=1),
    bash("git log --format=%s"),
    bash("sleep 1000 & echo started"),
    job(cancel=["bg_3"]),
    bash("rm -rf /"),
    bash("git push --force origin main"),
    bash("pyhton3 --version"),
    bash("cat calc/missing.py"),
    Step("bash", {"cmd": "ls"}),
    bash("ls", timeout="soon"),
    bash("ls", cwd="build"),
    job(poll=["bg_9"]),
    read(uri="artifact://99"),
    bash("read -p 'Overwrite the export? [y/N] ' answer; echo \"answer: $answer\"", pty=True, **{"async": True}),
    job(poll=["bg_4"], wait=20),
    job(write="bg_4", text="y\n"),
    job(poll=["bg_4"], wait=20),
    bash('for n in $(seq 60); do echo "checked row $n of the export"; done', raw=True),
    bash("exit 3"),
    bash("git add calc && git commit -qm 'mean: divide by the number of values' && git log --format=%s"),
)


def make_project(root: Path) -> None:
    for name, text in PROJECT.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


GIT = (
    "git init -q -b main && git config user.name a && git config user.email a@example.org && "
    "printf '__pycache__/\\ngo\\n' > .gitignore && git add -A && git commit -qm 'calc: arithmetic on lists'"
)


def plain(text: str, root: Path) -> str:
    """An answer without what differs from run to run: times, numbers of processes, places."""
    text = text.replace(str(root), "/project").replace(str(root.parent), "")
    text = re.sub(r"Wall time: [\d.]+ seconds", "Wall time: T seconds", text)
    text = re.sub(r"\bin \d+\.\d+s|\b\d+\.\d+s\b|\b\d+m\d\ds\b", "Ts", text)
    text = re.sub(r"after \d+\.\d+ seconds", "after T seconds", text)
    # A process that has not yet become its program has the arguments of its parent.
    text = re.sub(r"\bpid \d+ \(.*\)", "pid N (ARGV)", text)
    return re.sub(r'File "/[^"]*/lib/', 'File "/lib/', text)


# What nacre puts between lines of output, or in the place of output that is missing.
OWN_LINE = re.compile(r"\[(?!\d+/).*\]|\(no output\)|\(no match\)|\(nothing new\)|")
FENCE = "```"
# An answer counts with this much at most, so that one flood does not hide what nacre says elsewhere.
MOST_COUNTED = 8_192


def counted(tool: str, text: str) -> tuple[int, int]:
    """How many characters of an answer nacre itself says, and how many the answer counts with."""
    lines = _by_programs(tool, text)
    own = len(text) - sum(len(line) + 1 for line in lines)
    return own, min(len(text), MOST_COUNTED)


def _by_programs(tool: str, text: str) -> list[str]:
    """The lines that programs wrote."""
    if tool == "anthropic":
        return [line for line in text.split("\n") if not OWN_LINE.fullmatch(line)] if "\n" in text else []
    if tool == "bash":
        # Output, an empty line, and what became of the command; nothing else has such a line before it.
        for end in ("\n\nWall time: ", "\n\nHappened after "):
            shown, found, _ = text.partition(end)
            if found:
                return [line for line in shown.split("\n") if not OWN_LINE.fullmatch(line)]
        return []
    lines = text.split("\n")
    if FENCE in lines:
        first = lines.index(FENCE)
        return lines[first + 1 : lines.index(FENCE, first + 1)]
    return [line for line in lines if not OWN_LINE.fullmatch(line)] if lines[-1].startswith("[") else []


def brief(text: str) -> str:
    """An answer as the recording has it: of a flood the first and the last lines."""
    lines = text.split("\n")
    return text if len(lines) <= MOST_LINES else "\n".join([*lines[:20], f"… {len(lines) - 40} lines …", *lines[-20:]])


MOST_LINES = 200
