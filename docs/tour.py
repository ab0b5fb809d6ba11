"""The tour that `make run` ends in: six commands that trouble a plain shell, run through nacre. Leaves nothing behind.

`docs/picture.py` makes the picture of the README from it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

NACRE = str(Path(sys.executable).with_name("nacre"))
SECRET = "demo-5b1f0c77e2a94d"


class Step(NamedTuple):
    """One command of the tour."""

    title: str
    words: tuple[str, ...]
    """The words after `nacre`."""


STEPS = (
    Step(
        "A server in the background does not hang the call.",
        ("run", "python3 -m http.server 0 -b 127.0.0.1 & echo started"),
    ),
    Step("A flood fits: its ends are shown, the rest is kept.", ("call", "workspace", '{"command": "seq 1000000"}')),
    Step("A secret stays out of the environment and out of the output.", ("run", 'echo "[$DEMO_API_KEY]"; cat notes')),
    Step("A failure that a pipe hides is pointed out.", ("run", "cat no-such-file 2>/dev/null | sort")),
    Step("A deletion that nobody can take back is refused.", ("run", "rm -rf ~")),
    Step("A timeout leaves nothing alive.", ("run", "--timeout", "1", "setsid -f sleep 600; sleep 600")),
)


def play() -> Iterator[tuple[Step, str, int]]:
    """Run the steps one after another in a directory of their own; yield each with what it prints and its exit code."""
    with tempfile.TemporaryDirectory(prefix="nacre-tour-") as place:
        Path(place, "notes").write_text(f"the key is {SECRET}\n", encoding="utf-8")
        env = {**os.environ, "HOME": place, "NACRE_HOME": f"{place}/state", "DEMO_API_KEY": SECRET}
        for step in STEPS:
            done = subprocess.run(
                [NACRE, *step.words],
                cwd=place,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            for pid in re.findall(r"still running: pid (\d+)", done.stdout):
                os.kill(int(pid), signal.SIGTERM)
            shown = _ends(json.loads(done.stdout)["text"]) if step.words[0] == "call" else done.stdout
            yield step, shown.replace(place, "~"), done.returncode


def _ends(text: str) -> str:
    """Return the first lines, the line about what is left out, and the last lines, of what a model reads."""
    lines = text.splitlines()
    (gap,) = (number for number, line in enumerate(lines) if line.startswith("[…"))
    last = next(line for line in reversed(lines) if line.isdigit())
    return "\n".join([*lines[:2], "   ⋮", lines[gap], "   ⋮", last, lines[-1]]) + "\n"


def typed(step: Step) -> str:
    """Return the command line of a step as a person types it."""
    verb, *options, last = step.words
    quote = "'"
    return " ".join(["nacre", verb, *options, f"{quote}{last}{quote}"])


def main() -> int:
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    bold, dim, plain = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if coloured else ("", "", "")
    for step, shown, code in play():
        print(f"{bold}{step.title}{plain}\n$ {typed(step)}\n{shown}{dim}(exit code {code}){plain}\n", flush=True)
    print("Your own command: make run CMD='…'. Into your agent: nacre install --help.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
