"""One tool in a process and an environment of its own: JSON lines in, JSON lines out, times taken in here.

Run by the harness as `python -m benchmarks.peers.worker MODULE:CLASS DIRECTORY`. Imports nothing but the standard
library and the adapter, because it runs where the peer is installed.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import inspect
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.peers import memory
from benchmarks.peers.tool import Answer, Tool

# What is sent back of an output; the rest is only counted.
SHOWN_CHARS = 2000
# The least of a batch, however slow the tool.
LEAST_CALLS = 3


class WrongAnswerError(Exception):
    """The tool came back without what the command wrote."""


async def ask(tool: Tool, script: str, timeout: float) -> Answer:
    answer = tool.run(script, timeout)
    return await answer if inspect.isawaitable(answer) else answer


def check(answer: Answer, expected: str) -> None:
    if expected not in answer.text:
        raise WrongAnswerError(f"{expected!r} is not in the {len(answer.text)} characters: {answer.text[:200]!r}")


async def batch(
    tool: Tool, *, script: str, expected: str, timeout: float, count: int, budget: float, pause: float
) -> dict[str, Any]:
    """Calls one after another until there are enough of them or they have taken long enough."""
    times: list[float] = []
    while len(times) < count and (len(times) < LEAST_CALLS or sum(times) < budget):
        # The pause is before the call, so that a batch of the next tool does not begin in the middle of our work.
        await asyncio.sleep(pause)
        began = time.perf_counter()
        answer = await ask(tool, script, timeout)
        times.append(time.perf_counter() - began)
        check(answer, expected)
    return {"times": times}


async def single(tool: Tool, *, script: str, timeout: float) -> dict[str, Any]:
    """One call with all that can be said about it; a failure of the tool is an answer too."""
    pids = [os.getpid(), *tool.pids()]
    memory.reset(pids)
    before = memory.resident_bytes(pids)
    began = time.perf_counter()
    try:
        answer = await ask(tool, script, timeout)
    except Exception as error:  # noqa: BLE001 - whatever a peer raises is its result
        return {"seconds": time.perf_counter() - began, "raised": f"{type(error).__name__}: {error}"[:SHOWN_CHARS]}
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "growth": max(0, memory.peak_bytes(pids) - before),
        "chars": len(answer.text),
        "text": answer.text[:SHOWN_CHARS],
        "code": answer.code,
    }


async def at_once(tool: Tool, *, script: str, expected: str, timeout: float, count: int) -> dict[str, Any]:
    """Many calls at the same moment; a tool that blocks gets a thread for each."""

    if inspect.iscoroutinefunction(tool.run):
        began = time.perf_counter()
        answers = await asyncio.gather(*(tool.run(script, timeout) for _ in range(count)), return_exceptions=True)
    else:
        loop = asyncio.get_running_loop()
        with concurrent.futures.ThreadPoolExecutor(count) as threads:
            began = time.perf_counter()
            calls = (loop.run_in_executor(threads, tool.run, script, timeout) for _ in range(count))
            answers = await asyncio.gather(*calls, return_exceptions=True)
    seconds = time.perf_counter() - began
    wrong = [answer for answer in answers if not isinstance(answer, Answer) or expected not in answer.text]
    return {"seconds": seconds, "wrong": len(wrong), "example": repr(wrong[0])[:200] if wrong else ""}


OPERATIONS: dict[str, Callable[..., Awaitable[dict[str, Any]]]] = {"batch": batch, "single": single, "at_once": at_once}


async def serve(adapter: str, requests: int, replies: int) -> None:
    reader = asyncio.StreamReader(limit=1 << 20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(requests, "rb", buffering=0))

    def reply(message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(replies, data) :]

    module, _, name = adapter.partition(":")
    try:
        tool: Tool = getattr(importlib.import_module(f"benchmarks.peers.adapters.{module}"), name)()
        await tool.start()
    except Exception as error:  # noqa: BLE001 - a peer that cannot start is shown as such
        reply({"error": f"{type(error).__name__}: {error}"[:SHOWN_CHARS]})
        return
    reply({"version": tool.version})
    while line := await reader.readline():
        request = json.loads(line)
        operation = OPERATIONS[request.pop("op")]
        try:
            reply(await operation(tool, **request))
        except Exception as error:  # noqa: BLE001 - a peer's failure is a result, and the harness goes on
            reply({"error": f"{type(error).__name__}: {error}"[:SHOWN_CHARS]})
    await tool.close()


def own_streams() -> tuple[int, int]:
    """Keep the wire to ourselves: peers print, and what they start may read standard input.

    Standard input becomes a pipe that stays open and silent, as it is in a server that talks over its own.
    """
    requests, replies = os.dup(0), os.dup(1)
    silent, _never_written = os.pipe()
    os.dup2(silent, 0)
    os.dup2(2, 1)
    return requests, replies


def main(adapter: str, directory: str) -> None:
    requests, replies = own_streams()
    os.chdir(directory)
    asyncio.run(serve(adapter, requests, replies))


if __name__ == "__main__":
    main(*sys.argv[1:])
