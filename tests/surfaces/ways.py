"""The ways in that a Python program uses: the library and the tools of every contract."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import nacre
from faults.outside import SOURCE, Program
from nacre.contracts.contract import Reply
from nacre.jobs.table import JobTable
from nacre.tool import Tool
from surfaces.fault_table import Fault, Place, Seen

T = TypeVar("T")
PATIENCE_SECONDS = 40.0
TESTS = Path(__file__).parents[1]


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way in."""

    play: Callable[[Place, Fault], Awaitable[Seen]]
    contract: str
    """Its name in the log."""
    wants_job: bool = False
    in_child: bool = False
    """Whether a process of its own makes the call."""


# The library.


async def run(place: Place, fault: Fault) -> Seen:
    call = nacre.run(fault.command, timeout=fault.timeout, cwd=place.directory(fault))
    return await _result(place, fault, call)


async def session(place: Place, fault: Fault) -> Seen:
    async with nacre.Session(cwd=place.cwd) as shell:
        cwd = None if fault.cwd is None else place.directory(fault)
        return await _result(place, fault, shell.run(fault.command, timeout=fault.timeout, cwd=cwd))


async def _result(place: Place, fault: Fault, call: Awaitable[nacre.ShellResult]) -> Seen:
    try:
        result = await watched(place, fault, call)
    except asyncio.CancelledError:
        return Seen(outcome="stopped", is_error=True)
    except nacre.NacreError as error:
        return Seen(outcome="notStarted", is_error=True, notices=(str(error),))
    return Seen(**facts_of(result))


def facts_of(result: nacre.ShellResult) -> dict[str, Any]:
    """A result of the library in the words of the wires."""
    name = type(result.outcome).__name__
    return {
        "outcome": name[0].lower() + name[1:],
        "exit_code": result.exit_code,
        "is_error": not result.ok,
        "notices": result.notices,
        "details": {
            "timedOut": name == "TimedOut",
            "stages": list(result.stages),
            "survivors": [{"pid": one.pid, "argv": list(one.argv)} for one in result.survivors],
        },
    }


# A program of its own, because only an interrupt cancels a call that is not asynchronous.
SYNC = """
import json, sys
import nacre
from surfaces.ways import facts_of
command, timeout, cwd, warden = json.loads(sys.argv[1])
if warden:
    sys.executable = warden
try:
    seen = facts_of(nacre.run_sync(command, timeout=timeout, cwd=cwd))
except KeyboardInterrupt:
    seen = {"outcome": "stopped", "is_error": True}
except nacre.NacreError as error:
    seen = {"outcome": "notStarted", "is_error": True, "notices": [str(error)]}
print(json.dumps(seen))
"""


async def run_sync(place: Place, fault: Fault) -> Seen:
    arguments = [fault.command, fault.timeout, str(place.directory(fault)), place.prepare(fault)]
    with Program(SYNC, json.dumps(arguments), env={"PYTHONPATH": f"{SOURCE}:{TESTS}"}) as program:
        if fault.cancels:
            await appears(place)
            program.process.send_signal(signal.SIGINT)
        facts = json.loads(await asyncio.to_thread(program.succeed))
    return Seen(**facts | {"notices": tuple(facts.get("notices", ()))})


# Tools.


def tool(contract: str, *, ui: bool = False, **more: Any) -> Callable[[Place, Fault], Awaitable[Seen]]:
    """A contract in the foreground."""

    async def play(place: Place, fault: Fault) -> Seen:
        async with Tool(contract, cwd=place.directory(fault), ui=ui) as tool:
            try:
                reply = await watched(place, fault, tool.call({**arguments_for(contract, fault), **more}))
            except asyncio.CancelledError:
                return Seen(outcome="stopped", is_error=True)
        return PRESENTED[contract](reply)

    return play


def job(contract: str, **more: Any) -> Callable[[Place, Fault], Awaitable[Seen]]:
    """A contract that is asked for a job; what became of it is read when it has ended."""

    async def play(place: Place, fault: Fault) -> Seen:
        async with Tool(contract, cwd=place.directory(fault)) as tool:
            reply = await tool.call({**arguments_for(contract, fault), **more})
            return PRESENTED[contract](reply) if reply.is_error else await ended(place, fault, reply)

    return play


async def moved(place: Place, fault: Fault) -> Seen:
    """A workspace call that outlives its window and becomes a job."""
    ends_by_itself = not (fault.cancels or fault.timeout or fault.warden or fault.cwd or fault.wants_job)
    arguments = arguments_for("workspace", fault)
    if ends_by_itself:
        arguments["command"] = f"until [ -e go ]; do sleep 0.01; done; {fault.command}"
    async with Tool("workspace", cwd=place.directory(fault)) as tool:
        reply = await tool.call(arguments)
        (place.cwd / "go").touch()
        return await ended(place, fault, reply) if "async" in reply.details else workspace_reply(reply)


def arguments_for(contract: str, fault: Fault) -> dict[str, Any]:
    """What a model would send; a contract without a field for the timeout has a short one in its profile."""
    if contract == "openai":
        limit = {} if fault.timeout is None else {"timeout_ms": fault.timeout * 1000}
        return {"commands": [fault.command], **limit}
    if contract != "workspace" or fault.timeout is None:
        return {"command": fault.command}
    return {"command": fault.command, "timeout": fault.timeout}


async def ended(place: Place, fault: Fault, reply: Reply) -> Seen:
    """How a job ended, as the job tool and `jobs --json` tell it."""
    job_id = str(reply.details.get("jobId") or reply.details["async"]["jobId"])
    jobs = Tool("job", cwd=place.cwd)
    if fault.cancels:
        await appears(place)
        await jobs.call({"cancel": [job_id]})
    polled = await jobs.call({"poll": [job_id], "wait": PATIENCE_SECONDS})
    (details,) = polled.details["jobs"]
    facts = JobTable(place.home).get(job_id).facts()
    return Seen(
        outcome=facts["state"],
        exit_code=facts["exitCode"],
        is_error=details["status"] != "completed",
        notices=lines_of(f"{reply.text}\n{polled.text}"),
        details=reply.details | details | {"timedOut": details["state"] == "timedOut"},
        job_id=job_id,
    )


# What each contract's answer looks like.


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of an answer, where notices stand with or without brackets."""
    return tuple(line.removeprefix("[").removesuffix("]") for line in text.splitlines())


def workspace_reply(reply: Reply) -> Seen:
    """The same for `modes` and `anthropic`: text and details."""
    return text_and_details(reply.text, reply.is_error, reply.details, refused=reply.refusal is not None)


def text_and_details(text: str, is_error: bool, details: Mapping[str, Any], *, refused: bool) -> Seen:
    exit_code = details.get("exitCode", None if is_error else 0)
    # Of an aborted call only a wire has an answer.
    outcome = "stopped" if details.get("aborted") else "timedOut" if details.get("timedOut") else "exited"
    return Seen(
        outcome="notStarted" if refused else outcome,
        exit_code=exit_code,
        is_error=is_error,
        notices=lines_of(text),
        details=details,
    )


def basic_reply(reply: Reply) -> Seen:
    """An object without a place for notices and details; the notices are for a person's stderr."""
    answer = reply.json()
    if "error" in answer:
        timed_out = answer["error"].startswith("timeout: ")
        notices = (answer["error"], *reply.notices)
        return Seen(outcome="timedOut" if timed_out else "notStarted", is_error=True, notices=notices)
    return Seen(outcome="exited", exit_code=answer["exitCode"], notices=reply.notices)


def openai_reply(reply: Reply) -> Seen:
    """The output item of one command; notices are the last lines of its stderr."""
    (output,) = reply.json()["output"]
    outcome, notices = output["outcome"], lines_of(output["stderr"])
    if outcome["type"] == "timeout":
        return Seen(outcome="timedOut", is_error=reply.is_error, notices=notices)
    # The shape has an exit code for a command that was not run, too.
    if outcome["exit_code"] == 125:
        return Seen(outcome="notStarted", is_error=reply.is_error, notices=notices)
    return Seen(outcome="exited", exit_code=outcome["exit_code"], is_error=reply.is_error, notices=notices)


PRESENTED: dict[str, Callable[[Reply], Seen]] = {
    "basic": basic_reply,
    "modes": workspace_reply,
    "workspace": workspace_reply,
    "anthropic": workspace_reply,
    "openai": openai_reply,
}


# Waiting.


async def watched(place: Place, fault: Fault, call: Awaitable[T]) -> T:
    """Wait for a call, or cancel it as soon as its command runs where that is the fault."""
    task = asyncio.ensure_future(call)
    if fault.cancels:
        await appears(place)
        task.cancel()
    return await task


async def appears(place: Place) -> None:
    """Wait until the command runs."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not place.ready.exists():
            await asyncio.sleep(0.005)
