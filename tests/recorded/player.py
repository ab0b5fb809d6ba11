"""Plays the recorded requests and masks what differs from run to run."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import nacre
from recorded import requests

PATIENCE_SECONDS = 60.0
ANSWERS = Path(__file__).with_name("answers.json")

Answers = dict[str, Any]

VARYING_KEYS = {
    "argv",
    "call",
    "durationMs",
    "elapsed",
    "endedAt",
    "outputFile",
    "ownerPid",
    "ownerStart",
    "pid",
    "project",
    "started_at",
    "startedAt",
    "survivors",
    "time",
    "wallTimeMs",
}
VARYING_TEXT = [
    (re.compile(r"Wall time: \d+\.\d\d seconds"), "Wall time: T seconds"),
    (re.compile(r"\b(pid|PID) -?\d+"), r"\1 N"),
    (re.compile(r"<pid>\d+</pid>"), "<pid>N</pid>"),
    (re.compile(r"kill -9 -\d+"), "kill -9 -N"),
    (re.compile(r"\b\d+(\.\d+)? ?m?s ago\b"), "T ago"),
    (re.compile(r"(for|after|in) \d+\.\d+ s\b"), r"\1 T s"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?"), "DATE"),
    (re.compile(r"\b\d+\.\d+ ?s(econds)?\b"), "T s"),
    (re.compile(r"\d+ MiB free"), "N MiB free"),
    (re.compile(r"line \d+: +\d+ (Killed|Terminated)"), r"line N: N \1"),
    # A survivor that was looked at between its fork and its exec still has the arguments of its shell.
    (re.compile(r"still running: pid N \([^\n]*\)"), "still running: pid N (ARGV)"),
    (re.compile(r"\b3\.\d+\.\d+ on Linux \S+"), "3.N.N on Linux N"),
    (re.compile(r"bubblewrap \d+\.\d+\.\d+"), "bubblewrap N"),
    (re.compile(r"/bin/bash \d+\.\d+\.\d+\(\d+\)-\w+"), "/bin/bash N"),
]
SHORTENED = re.compile(r".{1500}… \d+ characters ….{1500}", re.DOTALL)


class Mask:
    """Replaces what differs from run to run: paths, process ids and times."""

    def __init__(self, places: dict[str, str]) -> None:
        self._places = places

    def __call__(self, value: Any) -> Any:
        if is_dataclass(value) and not isinstance(value, type):
            return {"type": type(value).__name__, **self(asdict(value))}
        if isinstance(value, dict):
            return {
                str(key): "-" if key in VARYING_KEYS and item is not None else self(item) for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self(item) for item in value]
        if isinstance(value, str):
            return self.text(value)
        return value

    def text(self, text: str) -> str:
        for place, name in self._places.items():
            text = text.replace(place, name)
        for pattern, replacement in VARYING_TEXT:
            text = pattern.sub(replacement, text)
        # Each new verb and option changes the help; tests/test_docs.py compares all of it with the reference page.
        text = re.sub(r"\A(usage: nacre \w+).*?(?=nacre \w+[ \w]*: error: |\Z)", r"\1 …\n", text, flags=re.DOTALL)
        text = re.sub(r"usage: nacre (\[.*\] )?VERB …", "usage: nacre VERB …", text)
        text = re.sub(r"(\n  (run|call) +\w.*?)(?=\n\nexamples:)", "\n  VERBS", text, count=1, flags=re.DOTALL)
        # The flood of a request says nothing that its two ends do not.
        if len(text) <= 3000 or SHORTENED.fullmatch(text):
            return text
        return f"{text[:1500]}… {len(text)} characters …{text[-1500:]}"


class Player:
    """Plays requests in a directory of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._states = 0
        (root / "sub").mkdir()
        (root / "plain.txt").write_text("plain text\n", encoding="utf-8")
        os.environ["GREETING"] = "hello"
        os.environ["API_TOKEN"] = "c2VjcmV0-value-of-a-token"
        os.environ["HOME"] = str(root / "home")
        (root / "home").mkdir()

    def fresh(self) -> Mask:
        """Begin a state directory of its own, so that ids begin at 1."""
        self._states += 1
        state = self.root / f"state-{self._states}"
        os.environ["NACRE_HOME"] = str(state)
        return Mask({str(state): "STATE", str(self.root): "DIR", sys.executable: "PYTHON", sys.prefix: "PREFIX"})

    async def contract(self, name: str, calls: dict[str, Any]) -> Answers:
        answers = {}
        mask = self.fresh()
        for label, arguments in calls.items():
            async with nacre.Tool(name, cwd=self.root, session=False) as tool, asyncio.timeout(PATIENCE_SECONDS):
                answers[f"{name}: {label}"] = mask((await tool.call(arguments)).json())
        stop_jobs(self.root)
        return answers

    async def sequence(self, label: str, calls: list[tuple[str, Any]]) -> Answers:
        answers = {}
        mask = self.fresh()
        for number, (name, arguments) in enumerate(calls, start=1):
            async with nacre.Tool(name, cwd=self.root, session=False) as tool, asyncio.timeout(PATIENCE_SECONDS):
                answers[f"{label}: {number} {name}"] = mask((await tool.call(arguments)).json())
        stop_jobs(self.root)
        return answers

    async def session(self) -> Answers:
        answers = {}
        mask = self.fresh()
        async with nacre.Session(cwd=self.root) as session:
            for number, command in enumerate(requests.SESSION, start=1):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    answers[f"session: {number} {command}"] = mask(facts(await session.run(command)))
        return answers

    async def library(self) -> Answers:
        answers = {}
        mask = self.fresh()
        for label, script in requests.SCRIPTS.items():
            async with asyncio.timeout(PATIENCE_SECONDS):
                answers[f"run: {label}"] = mask(await outcome_of(command=script, cwd=self.root))
        for label, arguments in requests.LIBRARY_BAD.items():
            answers[f"run: {label}"] = mask(await outcome_of(**arguments))
        return answers

    def command_line(self) -> Answers:
        answers = {}
        mask = self.fresh()
        for label, (words, stdin) in requests.COMMAND_LINE.items():
            done = subprocess.run(
                [sys.executable, "-m", "nacre", *words],
                input=stdin,
                capture_output=True,
                text=True,
                cwd=self.root,
                env={**os.environ, "COLUMNS": "100"},
                timeout=PATIENCE_SECONDS,
                check=False,
            )
            answers[f"nacre: {label}"] = mask(
                {"code": done.returncode, "out": lines_of(done.stdout), "err": done.stderr}
            )
        return answers

    def rpc(self) -> Answers:
        mask = self.fresh()
        done = subprocess.run(
            [sys.executable, "-m", "nacre", "rpc"],
            input="".join(f"{line}\n" for line in requests.RPC_LINES),
            capture_output=True,
            text=True,
            cwd=self.root,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        # Answers to requests that run side by side come in any order.
        said = [json.loads(line) for line in done.stdout.splitlines()]
        responses = sorted((one for one in said if one["type"] == "response"), key=lambda one: json.dumps(one["id"]))
        return {"rpc": mask({"code": done.returncode, "responses": responses, "err": done.stderr})}


def facts(result: nacre.ShellResult) -> dict[str, Any]:
    """What a library's caller reads of a result."""
    return {
        "outcome": {"type": type(result.outcome).__name__, **asdict(result.outcome)},
        "text": result.text,
        "exit_code": result.exit_code,
        "stages": list(result.stages),
        "notices": list(result.notices),
        "artifact": None if result.artifact is None else result.artifact.id,
    }


async def outcome_of(**arguments: Any) -> dict[str, Any]:
    try:
        return facts(await nacre.run(**arguments))
    except nacre.NacreError as error:
        return {"error": type(error).__name__, "message": str(error)}


def lines_of(text: str) -> Any:
    """The JSON of an output, where it is JSON, so that its varying fields can be masked."""
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        try:
            return json.loads(text)
        except ValueError:
            return text


def stop_jobs(root: Path) -> None:
    """End the jobs that requests have started on purpose."""
    listed = subprocess.run(
        [sys.executable, "-m", "nacre", "jobs", "list", "--json"], cwd=root, capture_output=True, text=True, check=True
    )
    for job in json.loads(listed.stdout):
        if job["state"] == "running":
            stop = [sys.executable, "-m", "nacre", "jobs", "stop", job["id"]]
            subprocess.run(stop, cwd=root, capture_output=True, check=True)


def groups() -> Iterator[str]:
    yield from ("basic", "modes", "workspace", "anthropic", "openai", "companions", "library", "session")
    yield from ("artifact", "job", "command line", "rpc")


def play(group: str, root: Path) -> Answers:
    """The masked answers to one group of requests."""
    player = Player(root)
    scripts = {label: {"command": script} for label, script in requests.SCRIPTS.items()}
    bad = requests.BAD_ARGUMENTS
    if group in ("basic", "modes", "workspace", "anthropic"):
        if group == "basic":
            # No guard stands before this contract: what the others deny would run.
            scripts = {label: one for label, one in scripts.items() if not label.startswith("denied")}
        own = {"modes": requests.MODES, "workspace": requests.WORKSPACE, "anthropic": requests.ANTHROPIC}.get(group, {})
        return asyncio.run(player.contract(group, {**scripts, **bad, **own}))
    if group == "openai":
        return asyncio.run(player.contract(group, {**bad, **requests.OPENAI}))
    if group == "companions":
        return asyncio.run(player.contract("job", requests.JOB)) | asyncio.run(player.contract("read", requests.READ))
    if group == "artifact":
        return asyncio.run(player.sequence(group, requests.LIFE_OF_AN_ARTIFACT))
    if group == "job":
        return asyncio.run(player.sequence(group, requests.LIFE_OF_A_JOB))
    if group == "library":
        return asyncio.run(player.library())
    if group == "session":
        return asyncio.run(player.session())
    return player.command_line() if group == "command line" else player.rpc()


def main() -> None:
    """Record the answers anew: each group in a process of its own, as the test plays it."""
    import tempfile

    if len(sys.argv) > 1:
        with tempfile.TemporaryDirectory() as root:
            print(json.dumps(play(sys.argv[1], Path(root).resolve())))
        return
    answers: dict[str, Answers] = {}
    for group in groups():
        done = subprocess.run(
            [sys.executable, "-m", "recorded.player", group],
            cwd=Path(__file__).parents[1],
            env={**os.environ, "NACRE_SNAPSHOT": "false"},
            capture_output=True,
            text=True,
            check=True,
        )
        answers[group] = json.loads(done.stdout)
    ANSWERS.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{sum(map(len, answers.values()))} answers in {len(answers)} groups", file=sys.stderr)


if __name__ == "__main__":
    main()
