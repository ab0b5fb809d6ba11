"""What goes wrong with shells in practice, as cases with a verdict; each tool is judged by what its caller can see.

Usage: python -m benchmarks.robustness: how late nacre's own calls come back when their far side is attacked (P1).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

import nacre
from benchmarks.measured import Judged
from benchmarks.peers.remote import RemoteTool, ToolFailedError, ToolHangsError, end, running

# A tool that answers later than this waited for something that it should not have.
PROMPT_SECONDS = 3.0
# How much later than its limit a call may come back.
LATE_SECONDS = 3.0
# Beyond the limit of a command; after that the tool is said to hang.
PATIENCE_SECONDS = 6.0
# For the command that shows whether the tool still works; a loaded machine is no reason to say that it does not.
WORKS_SECONDS = 5.0
# What was told to end may take a moment to be gone.
GONE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What came back of one call."""

    text: str
    code: int | None
    raised: str
    seconds: float
    orphans: int

    @property
    def said(self) -> str:
        return self.raised or self.text

    def tells(self, number: int) -> bool:
        """Whether the exit code can be read, as a value or in words."""
        words = rf"(?i)(code|status|exit)\D{{0,20}}\b{number}\b"
        return self.code == number or re.search(words, self.said) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    title: str
    script: str
    """`{n}` is a number of seconds that no other process sleeps, so that what is left can be found.

    What is looked for in the answer does not stand in the script, which some tools repeat.
    """
    judge: Callable[[Seen], str]
    """What is wrong; nothing if all is well."""
    timeout: float = 5.0
    without_directory: bool = False
    """Whether the tool's working directory is removed first."""


def _prompt(seen: Seen, expected: str) -> str:
    if seen.raised:
        return f"raised {_short(seen.raised)}"
    if expected not in seen.text:
        return f"output lost after {seen.seconds:.1f} s"
    return f"came back after {seen.seconds:.1f} s" if seen.seconds > PROMPT_SECONDS else ""


def _ended(seen: Seen) -> str:
    if seen.seconds > 2.0 + LATE_SECONDS:
        return f"{seen.seconds:.1f} s for a limit of 2"
    return f"{seen.orphans} left running" if seen.orphans else ""


def _partial(seen: Seen) -> str:
    return "" if "early" in seen.said else "output before the limit lost"


def _bytes(seen: Seen) -> str:
    if seen.raised:
        return f"raised {_short(seen.raised)}"
    return "" if "first" in seen.text and "last" in seen.text else f"gave {_short(seen.text)!r}"


def _exit_three(seen: Seen) -> str:
    return "" if seen.tells(3) else f"said {_short(seen.said)!r}"


def _killed(seen: Seen) -> str:
    if seen.seconds > PROMPT_SECONDS:
        return f"came back after {seen.seconds:.1f} s"
    told = seen.code in (-9, 137) or re.search(r"(?i)sigkill|signal 9|killed|\b137\b|by signal", seen.said)
    return "" if told else f"said {_short(seen.said)!r}, code {seen.code}"


def _syntax(seen: Seen) -> str:
    if seen.seconds > PROMPT_SECONDS:
        return f"came back after {seen.seconds:.1f} s"
    words = r"(?i)syntax|unexpected EOF|unterminated|unclosed|incomplete|no closing|unmatched"
    told = seen.code not in (0, None) or re.search(words, seen.said)
    return "" if told else f"said {_short(seen.said)!r}"


def _refused_or_faithful(seen: Seen) -> str:
    """A command with a NUL cannot be given to a shell; to run another one in its place is the failure."""
    if seen.raised or "\0" in seen.text or seen.code not in (0, None) or re.search(r"(?i)error|nul", seen.text):
        return ""
    if not seen.text:
        return "neither ran nor said why"
    return f"ran something else: {_short(seen.text)!r}"


def _directory_gone(seen: Seen) -> str:
    """To run is right, and to say what is missing is right."""
    return "" if re.search(r"(?i)\bhere\b|director|FileNotFound|cwd", seen.said) else f"said {_short(seen.said)!r}"


CASES = (
    Case(
        title="`sleep & echo`: child holds the pipe",
        script="sleep {n} & echo do''ne",
        judge=lambda s: _prompt(s, "done"),
    ),
    Case(title="`setsid sleep & echo`", script="setsid sleep {n} & echo do''ne", judge=lambda s: _prompt(s, "done")),
    Case(title="timeout: no orphan", script="sleep {n} & sleep {n}", timeout=2, judge=_ended),
    Case(title="timeout: no `setsid` orphan", script="setsid sleep {n} & sleep {n}", timeout=2, judge=_ended),
    Case(title="timeout: output kept", script="echo ear''ly; sleep {n}", timeout=2, judge=_partial),
    Case(title="invalid UTF-8", script=r"printf '\146irst \377\376\200 \154ast\n'", judge=_bytes),
    Case(title="reads stdin", script="cat; echo ov''er", timeout=4, judge=lambda s: _prompt(s, "over")),
    Case(title="`exit 3`", script="exit $((1 + 2))", judge=_exit_three),
    Case(title="syntax error", script='echo "half', judge=_syntax),
    Case(title="`kill -9 $$`", script="kill -9 $$", judge=_killed),
    Case(title="NUL in the output", script=r"printf '\146irst\0\154ast\n'", judge=_bytes),
    Case(title="NUL in the command", script="echo a\0b", judge=_refused_or_faithful),
    Case(
        title="`cd` into a directory that goes",
        script='cd "$(mktemp -d)" && rmdir "$PWD" && echo he""re',
        judge=lambda s: _prompt(s, "here"),
    ),
    Case(title="its own directory deleted", script="echo he''re", without_directory=True, judge=_directory_gone),
)

# Seconds to sleep that name the call; far above any other sleep on the machine, and never slept to the end.
_numbers = itertools.count(77_000_001)


def judge_all(tool: RemoteTool) -> dict[str, Judged]:
    return {case.title: judge(tool, case) for case in CASES}


def judge(tool: RemoteTool, case: Case) -> Judged:
    """One case, and whether the tool still works after it."""
    number = str(next(_numbers))
    try:
        seen = _try(tool, case, number)
        # A tool that cannot run the command at all cannot do it right either.
        flaw = seen.raised if seen.raised.startswith("NotImplementedError") else case.judge(seen)
    except ToolHangsError:
        flaw = f"hangs: no answer {PATIENCE_SECONDS:.0f} s after its limit"
    except ToolFailedError as error:
        flaw = f"died: {_short(str(error))}"
    finally:
        for pid in running(number):
            end(pid)
        tool.directory.mkdir(exist_ok=True)
    after = _works(tool)
    return Judged(ok=not flaw and not after, note="; ".join(filter(None, (flaw, after))))


def _try(tool: RemoteTool, case: Case, number: str) -> Seen:
    # The worker is started before, so that its start is not part of the case.
    _works(tool)
    if case.without_directory:
        shutil.rmtree(tool.directory)
    answer = tool.ask(
        "single",
        limit=case.timeout + PATIENCE_SECONDS,
        script=case.script.replace("{n}", number),
        timeout=case.timeout,
    )
    until = time.monotonic() + GONE_SECONDS
    while (orphans := len(running(number))) and time.monotonic() < until:
        time.sleep(0.05)
    return Seen(
        text=answer.get("text", ""),
        code=answer.get("code"),
        raised=answer.get("raised", ""),
        seconds=answer["seconds"],
        orphans=orphans,
    )


def _works(tool: RemoteTool) -> str:
    """Whether it runs the next command; if not, it is started anew."""
    try:
        answer = tool.ask(
            "single", limit=WORKS_SECONDS + PATIENCE_SECONDS, script="echo ali''ve", timeout=WORKS_SECONDS
        )
    except (ToolHangsError, ToolFailedError):
        tool.kill()
        return "useless afterwards"
    if "alive" not in answer.get("text", ""):
        tool.kill()
        return "useless afterwards"
    return ""


def _short(text: str) -> str:
    return " ".join(text.split())[:50]


# How late calls are whose own far side is attacked.

LIMIT_SECONDS, ATTACKED_GRACE_SECONDS = 1.0, 1.0
ROUNDS = 3
# Ignores the polite end, so that only SIGKILL after the grace ends it.
_STUBBORN = "trap '' TERM; {attack}; while :; do sleep {n}; done"
# The parents of the shell, from the runner up; never another program, whatever became the parent.
_ABOVE = (
    "up() { read -r _ name _ above _ </proc/$1/stat; [[ $name = '('nacre-* ]] || above=$PPID; }; "
    "up $PPID; zygote=$above; up $zygote; guardian=$above; up $guardian"
)
ATTACKS = {
    "no attack": ":",
    "runner stopped": "kill -STOP $PPID",
    "runner killed": "kill -KILL $PPID",
    "zygote stopped": f"{_ABOVE}; kill -STOP $zygote",
    "zygote killed": f"{_ABOVE}; kill -KILL $zygote",
    "runner and zygote stopped": f"{_ABOVE}; kill -STOP $zygote $PPID",
    "runner, zygote and guardian stopped": f"{_ABOVE}; kill -STOP $guardian $zygote $PPID",
}
WAYS = ("nacre.run", "nacre.Session")


async def _late(way: str, attack: str) -> list[float]:
    """Seconds by which calls come back after their timeout and grace; below zero if sooner."""
    late = []
    for _ in range(ROUNDS):
        number = str(next(_numbers))
        script = _STUBBORN.replace("{attack}", ATTACKS[attack]).replace("{n}", number)
        async with nacre.Session() as session:
            run = nacre.run if way == "nacre.run" else session.run
            await run("true")
            began = time.monotonic()
            # An error is an answer too: the shell may not have been started.
            with contextlib.suppress(nacre.NacreError):
                await run(script, timeout=LIMIT_SECONDS)
            late.append(time.monotonic() - began - LIMIT_SECONDS - ATTACKED_GRACE_SECONDS)
        for pid in running(number):
            end(pid)
    return late


def lateness() -> dict[str, list[float]]:
    """How late the calls of each way are under each attack, each in a program with a warden of its own."""
    late = {}
    with tempfile.TemporaryDirectory(prefix="nacre-bench-", ignore_cleanup_errors=True) as home:
        env = os.environ | {"NACRE_HOME": home, "NACRE_GRACE_SECONDS": str(ATTACKED_GRACE_SECONDS)}
        for way, attack in itertools.product(WAYS, ATTACKS):
            program = [sys.executable, "-m", "benchmarks.robustness", way, attack]
            told = subprocess.run(program, env=env, stdout=subprocess.PIPE, check=True)
            late[f"{way}, {attack}"] = json.loads(told.stdout)
    return late


def main() -> None:
    if sys.argv[1:]:
        print(json.dumps(asyncio.run(_late(*sys.argv[1:]))))
        return
    for case, times in lateness().items():
        print(f"{case:<52}{min(times):>8.3f}{max(times):>8.3f}", flush=True)


if __name__ == "__main__":
    main()
