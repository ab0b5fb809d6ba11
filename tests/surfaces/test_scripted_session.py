"""A session of an agent through every surface: all give the same text, and little of it is nacre's own.

`scripted_session.txt` has what the model reads. `python -m surfaces.test_scripted_session` (in tests/) records it anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import nacre
from surfaces.scripted_session import GIT, STEPS, Step, brief, counted, make_project, plain

RECORDING = Path(__file__).with_name("scripted_session.txt")
MOST_SHARE = 0.12
PATIENCE_SECONDS = 60.0

Ask = Callable[[Step], Awaitable[str]]

# The trained shell of one field has no jobs, and nothing that would end what a command leaves running.
ANTHROPIC_STEPS = tuple(
    step for step in STEPS if set(step.arguments) == {"command"} and " & " not in step.arguments["command"]
)


@contextlib.asynccontextmanager
async def library(root: Path) -> AsyncIterator[Ask]:
    async with (
        nacre.Tool("workspace", cwd=root, session="scripted") as bash,
        nacre.Tool("job", cwd=root, session="scripted") as job,
        nacre.Tool("read", cwd=root, session="scripted") as read,
    ):
        tools = {"bash": bash, "job": job, "read": read}

        async def ask(step: Step) -> str:
            return (await tools[step.tool].call(step.arguments)).text

        yield ask


@contextlib.asynccontextmanager
async def anthropic(root: Path) -> AsyncIterator[Ask]:
    async with nacre.Tool("anthropic", cwd=root) as tool:

        async def ask(step: Step) -> str:
            return (await tool.call(step.arguments)).text

        yield ask


@contextlib.asynccontextmanager
async def served(verb: str, root: Path) -> AsyncIterator[Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]]:
    """A server on pipes; asks it one request, and gives the answer."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "nacre", verb),
        cwd=root,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 20,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    into, out = process.stdin, process.stdout

    async def ask(request: dict[str, Any]) -> dict[str, Any]:
        into.write(json.dumps(request).encode() + b"\n")
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                answer: dict[str, Any] = json.loads(await out.readline())
                if answer.get("id") == request["id"] and answer.get("type") != "update":
                    return answer

    try:
        yield ask
    finally:
        into.close()
        await process.wait()


@contextlib.asynccontextmanager
async def mcp(root: Path) -> AsyncIterator[Ask]:
    async with served("mcp", root) as send:
        client = {"name": "scripted", "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        await send({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello})

        async def ask(step: Step) -> str:
            params = {"name": step.tool, "arguments": step.arguments}
            answer = await send({"jsonrpc": "2.0", "id": str(id(step)), "method": "tools/call", "params": params})
            first, *more = [block["text"] for block in answer["result"]["content"] if block["type"] == "text"]
            # The end of a job is told with whichever result comes next.
            ended = ("Background job bg_2 [bash] completed, exit code 0, ", "Background job bg_4 [bash] completed, ")
            assert all(text.startswith(ended) for text in more)
            return str(first)

        yield ask


@contextlib.asynccontextmanager
async def rpc(root: Path) -> AsyncIterator[Ask]:
    async with served("rpc", root) as send:

        async def ask(step: Step) -> str:
            answer = await send({"id": str(id(step)), "type": step.tool, **step.arguments})
            data = answer.get("data") or {}
            return str(data["text"] if "text" in data else answer["error"])

        yield ask


async def play(way: Callable[[Path], contextlib.AbstractAsyncContextManager[Ask]], root: Path) -> list[str]:
    """The answers as the model reads them."""
    make_project(root)
    subprocess.run(GIT, shell=True, check=True, cwd=root)
    steps = ANTHROPIC_STEPS if way is anthropic else STEPS
    async with way(root) as ask:
        return [await ask(step) for step in steps]


def script_of(title: str, steps: tuple[Step, ...], answers: list[str], root: Path) -> str:
    parts = [f"######## {title}\n"]
    for step, answer in zip(steps, answers, strict=True):
        parts.append(f"######## {step.tool} {json.dumps(step.arguments)}\n{brief(plain(answer, root))}\n")
    return "\n".join(parts)


def share_of(steps: tuple[Step, ...], answers: list[str]) -> float:
    """Nacre's own words among what the model reads."""
    shape = "anthropic" if steps is ANTHROPIC_STEPS else None
    sizes = [counted(shape or step.tool, answer) for step, answer in zip(steps, answers, strict=True)]
    return sum(own for own, _ in sizes) / sum(size for _, size in sizes)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NACRE_HOME", str(tmp_path / "state"))
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def recorded(title: str) -> str:
    whole = RECORDING.read_text(encoding="utf-8")
    return next(part for part in whole.split("\f\n") if part.startswith(f"######## {title}\n"))


@pytest.mark.parametrize("way", [library, mcp, rpc], ids=lambda way: way.__name__)
async def test_every_surface_gives_the_model_the_recorded_text(way: Any, root: Path) -> None:
    assert len(STEPS) >= 30
    answers = await play(way, root)
    assert script_of("workspace", STEPS, answers, root) == recorded("workspace")
    assert share_of(STEPS, answers) <= MOST_SHARE


async def test_the_trained_shell_gives_the_recorded_text(root: Path) -> None:
    answers = await play(anthropic, root)
    assert script_of("anthropic", ANTHROPIC_STEPS, answers, root) == recorded("anthropic")
    assert share_of(ANTHROPIC_STEPS, answers) <= MOST_SHARE


def test_own_words_are_told_from_those_of_programs() -> None:
    assert counted("bash", "one\ntwo\n\nWall time: 0.01 seconds") == (24, 32)
    assert counted("bash", "unknown field 'cmd'") == (19, 19)
    assert counted("job", "bg_1 [bash] completed\n```\nout\n```") == (29, 33)
    assert counted("read", "[3/400] compiled\n[bytes 0-16 of 16 (16B)]") == (24, 41)


async def _record() -> None:
    parts = []
    for title, way, steps in (("workspace", library, STEPS), ("anthropic", anthropic, ANTHROPIC_STEPS)):
        with tempfile.TemporaryDirectory() as place:
            os.environ.update(HOME=f"{place}/home", NACRE_HOME=f"{place}/state")
            root = Path(place, "project")
            root.mkdir()
            Path(place, "home").mkdir()
            os.chdir(root)
            answers = await play(way, root)
            parts.append(script_of(title, steps, answers, root))
            print(f"{title}: {len(steps)} calls, nacre's own words {share_of(steps, answers):.1%}")
            os.chdir("/")
    RECORDING.write_text("\f\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(_record())
