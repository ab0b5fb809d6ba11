"""The calls of a storm: each knows what its answer must be when nothing disturbs it, and what it may never be.

A script ends at the first failure, so that a killed child can cost it its status but never its honesty.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nacre
from nacre import Settings, ShellResult, Tool
from nacre.contracts.contract import Reply
from nacre.errors import NacreError
from nacre.sandbox.probing import probe
from nacre.settings import ExecutionSettings, SandboxSettings, TerminalSettings

GRACE = 0.3
# What P1 allows beyond timeout and grace.
LATE_SECONDS = 1.0
STRICT = "set -eo pipefail; "
# Longer than any limit of a call, and shorter than the storm waits at its end: what a killed shell leaves goes on.
ENDLESS = 30
SETTINGS = Settings(execution=ExecutionSettings(grace_seconds=GRACE), pty=TerminalSettings(record=False))
HAS_SANDBOX = probe(os.environ.get("PATH", os.defpath)).backend == "bubblewrap"
CONFINED = replace(SETTINGS, sandbox=SandboxSettings(mode="required" if HAS_SANDBOX else "auto"))


@dataclass
class Verdict:
    """What came of one call."""

    kind: str
    problem: str | None = None
    """What is wrong whether the call was disturbed or not."""
    deviation: str | None = None
    """What would be wrong if nothing had disturbed the call."""


@dataclass
class Stage:
    """What the calls of one host share."""

    work: Path
    home: Path
    dice: random.Random
    tools: dict[str, Tool] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    """The value of `x` in each session, as its last answer told."""
    numbers: int = 0

    def token(self) -> str:
        self.numbers += 1
        return f"t{self.dice.getrandbits(48):012x}"

    def tool(self, contract: str, session: int = 0, *, settings: Settings = SETTINGS) -> Tool:
        name = f"{contract}{session}"
        if name not in self.tools:
            self.tools[name] = Tool(contract, cwd=self.work, settings=settings)
        return self.tools[name]

    def note_job(self, job_id: str, token: str, code: int) -> None:
        """Write down a job before anything else happens to it: this program may be killed at any moment."""
        with (self.home / "soak-jobs.jsonl").open("a", encoding="ascii") as file:
            file.write(json.dumps({"id": job_id, "token": token, "code": code}) + "\n")


Act = Callable[[Stage], Awaitable[Verdict]]


def judged(kind: str, text: str, code: int | None, *, token: str, expected: int) -> Verdict:
    """Judge an answer by its exit code and by the token that the script prints last."""
    whole = text.rstrip("\n").endswith(token)
    if code == expected and whole:
        return Verdict(kind)
    if code == 0:
        return Verdict(kind, problem=f"success was claimed for exit code {expected}: {text[-200:]!r}")
    if code == expected:
        return Verdict(kind, problem=f"its output is not whole: {text[-200:]!r}")
    return Verdict(kind, deviation=f"exit code {code} instead of {expected}: {text[-200:]!r}")


def of_result(kind: str, result: ShellResult, *, token: str, expected: int) -> Verdict:
    return judged(kind, result.text, result.exit_code, token=token, expected=expected)


async def short(stage: Stage) -> Verdict:
    token, code = stage.token(), stage.dice.choice((0, 0, 1, 7, 255))
    result = await nacre.run(f"echo {token}; exit {code}", cwd=stage.work, settings=SETTINGS, timeout=20)
    return of_result("run", result, token=token, expected=code)


async def lasting(stage: Stage) -> Verdict:
    token, code = stage.token(), stage.dice.choice((0, 3))
    script = f"{STRICT}sleep {stage.dice.uniform(0.005, 0.15):.3f}; (sleep 0.01; true); echo {token}; exit {code}"
    result = await nacre.run(script, cwd=stage.work, settings=SETTINGS, timeout=20)
    return of_result("run, lasting", result, token=token, expected=code)


async def printing(stage: Stage) -> Verdict:
    token, lines = stage.token(), stage.dice.randrange(2000, 40000)
    result = await nacre.run(f"{STRICT}seq {lines} | cat; echo {token}", cwd=stage.work, settings=SETTINGS, timeout=20)
    verdict = of_result("run, printing", result, token=token, expected=0)
    if result.ok and result.output.total_lines != lines + 1:
        verdict.problem = f"{result.output.total_lines} lines were counted instead of {lines + 1}"
    return verdict


async def timing_out(stage: Stage) -> Verdict:
    stubborn = stage.dice.random() < 0.3
    sleep = f"sleep {ENDLESS}"
    script = f"{'trap : TERM; ' if stubborn else ''}echo up; {sleep} & setsid {sleep} & while :; do {sleep}; done"
    limit = stage.dice.uniform(0.05, 0.4)
    began = time.monotonic()
    result = await nacre.run(script, cwd=stage.work, settings=SETTINGS, timeout=limit)
    late = time.monotonic() - began - limit - GRACE
    if late > LATE_SECONDS:
        return Verdict("timeout", problem=f"it came back {late:.2f} s after its timeout and its grace")
    if result.ok:
        return Verdict("timeout", problem="success was claimed for a command that never ends")
    fine = isinstance(result.outcome, nacre.TimedOut)
    return Verdict("timeout", deviation=None if fine else f"{result.outcome}")


async def cancelled(stage: Stage) -> Verdict:
    call = asyncio.ensure_future(
        nacre.run(f"{STRICT}sleep {ENDLESS}; echo never", cwd=stage.work, settings=SETTINGS, timeout=20)
    )
    await asyncio.sleep(stage.dice.uniform(0, 0.1))
    call.cancel()
    try:
        result = await call
    except asyncio.CancelledError:
        return Verdict("cancel")
    except NacreError as error:
        return Verdict("cancel", deviation=str(error))
    return Verdict("cancel", problem="success was claimed" if result.ok else None, deviation=f"{result.outcome}")


async def contract(stage: Stage) -> Verdict:
    name = stage.dice.choice(("basic", "modes", "openai"))
    token, code = stage.token(), stage.dice.choice((0, 4))
    script = f"{STRICT}sleep 0.0{stage.dice.randrange(10)}; echo {token}; exit {code}"
    arguments: dict[str, Any] = {"commands": [script]} if name == "openai" else {"command": script}
    reply = await stage.tool(name).call(arguments)
    bare = reply.bare or {}
    if name == "basic":
        return judged(name, str(bare.get("stdout", "")), bare.get("exitCode"), token=token, expected=code)
    if name == "openai":
        output = bare["output"][0]
        return judged(name, output["stdout"], output["outcome"].get("exit_code"), token=token, expected=code)
    lines = [line for line in reply.text.splitlines() if not line.startswith("[")]
    return judged(name, "\n".join(lines), reply.details.get("exitCode"), token=token, expected=code)


async def in_session(stage: Stage) -> Verdict:
    name, number = stage.dice.choice(("workspace", "anthropic")), stage.dice.randrange(2)
    key, token = f"{name}{number}", stage.token()
    script = f"x=$((x + 1)); echo x=$x {token}"
    reply = await stage.tool(name, number).call({"command": script})
    line = next((one for one in reply.text.splitlines() if one.startswith("x=") and one.endswith(token)), None)
    if line is None:
        claimed = not reply.is_error
        return Verdict(
            name, problem=f"no output: {reply.text[:200]!r}" if claimed else None, deviation=reply.text[:200]
        )
    value, before = int(line.split()[0][2:]), stage.counters.get(key, 0)
    stage.counters[key] = value
    fine = value == before + 1
    return Verdict(name, deviation=None if fine else f"x is {value} after {before}: {reply.text[-300:]!r}")


async def confined(stage: Stage) -> Verdict:
    """In the sandbox, where bubblewrap can make one; else in the open."""
    token, code = stage.token(), stage.dice.choice((0, 5))
    script = (
        f"{STRICT}! touch /usr/nacre-soak 2>/dev/null; sleep 0.0{stage.dice.randrange(5)}; echo {token}; exit {code}"
    )
    if not HAS_SANDBOX:
        script = script.replace("! touch /usr/nacre-soak 2>/dev/null; ", "")
    if stage.dice.random() < 0.5:
        result = await nacre.run(script, cwd=stage.work, settings=CONFINED, timeout=20)
        return of_result("sandbox", result, token=token, expected=code)
    reply = await stage.tool("workspace", 4, settings=CONFINED).call({"command": f"({script})"})
    found = reply.details.get("exitCode", 0 if not reply.is_error else None)
    return judged("sandbox", reply.text.partition("\n\nWall time")[0], found, token=token, expected=code)


async def limited(stage: Stage) -> Verdict:
    """With a budget, which it keeps or not."""
    token, spends = stage.token(), stage.dice.random() < 0.3
    script = "while :; do sleep 0.01 & done" if spends else f"{STRICT}sleep 0.01; echo {token}"
    budget = nacre.Budget(processes=40, memory_bytes=1 << 30, cpu_seconds=3)
    result = await nacre.run(script, cwd=stage.work, settings=SETTINGS, budget=budget, timeout=20)
    if not spends:
        return of_result("budget", result, token=token, expected=0)
    if result.ok:
        return Verdict("budget", problem="success was claimed for a bomb")
    return Verdict("budget", deviation=None if result.cause == "limit" else f"{result.outcome}")


async def survivor(stage: Stage) -> Verdict:
    token = stage.token()
    reply = await stage.tool("workspace", 2).call({"command": f"sleep 0.{stage.dice.randrange(1, 6)} & echo {token}"})
    if token in reply.text:
        return Verdict("survivor")
    return Verdict("survivor", problem=None if reply.is_error else "no output", deviation=reply.text[:200])


async def job(stage: Stage) -> Verdict:
    token, code = stage.token(), stage.dice.choice((0, 6))
    script = f"{STRICT}sleep {stage.dice.uniform(0.01, 1.0):.2f}; echo {token}; exit {code}"
    reply = await stage.tool("workspace", stage.dice.randrange(3)).call({"command": script, "async": True})
    return await _watched_job(stage, reply, token, code)


async def background(stage: Stage) -> Verdict:
    token, code = stage.token(), stage.dice.choice((0, 6))
    script = f"{STRICT}sleep {stage.dice.uniform(0.01, 1.0):.2f}; echo {token}; exit {code}"
    reply = await stage.tool("modes").call({"command": script, "mode": "background"})
    if not (job_id := reply.details.get("jobId")):
        return Verdict("background", deviation=reply.text[:200])
    stage.note_job(job_id, token, code)
    return Verdict("background")


async def on_terminal(stage: Stage) -> Verdict:
    token = stage.token()
    script = f"{STRICT}read -r line; echo got $line {token}"
    reply = await stage.tool("workspace", 3).call({"command": script, "async": True, "pty": True, "timeout": 8})
    job_id = _job_of(reply.details)
    if job_id is None:
        return Verdict("terminal", deviation=reply.text[:200])
    stage.note_job(job_id, token, 0)
    tool = stage.tool("job")
    written = await tool.call({"write": job_id, "text": "hello\n"})
    polled = await tool.call({"poll": [job_id], "wait": 10})
    if "got hello" in polled.text:
        return Verdict("terminal")
    return Verdict("terminal", deviation=f"{written.text[:100]} {polled.text[:200]}")


async def _watched_job(stage: Stage, reply: Reply, token: str, code: int) -> Verdict:
    job_id = _job_of(reply.details)
    if job_id is None:
        fine = token in reply.text
        return Verdict("job", deviation=None if fine else reply.text[:200])
    stage.note_job(job_id, token, code)
    if stage.dice.random() < 0.5:
        return Verdict("job")
    polled = await stage.tool("job").call({"poll": [job_id], "wait": 10})
    found = polled.details["jobs"][0] if polled.details.get("jobs") else {}
    if found.get("state") == "exited" and found.get("exitCode", 0) == 0 and code:
        return Verdict("job", problem=f"success was claimed for exit code {code}: {polled.text[:200]}")
    fine = (found.get("state"), found.get("exitCode")) == ("exited", code)
    return Verdict("job", deviation=None if fine else polled.text[:200])


def _job_of(details: Mapping[str, Any]) -> str | None:
    found = details.get("async")
    return None if found is None else str(found["jobId"])


ACTS: tuple[tuple[Act, int], ...] = (
    (short, 40),
    (lasting, 10),
    (printing, 4),
    (timing_out, 3),
    (cancelled, 3),
    (contract, 10),
    (in_session, 18),
    (confined, 6),
    (limited, 2),
    (survivor, 2),
    (job, 5),
    (background, 3),
    (on_terminal, 2),
)
