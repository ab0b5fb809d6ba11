"""The workspace tool, refined: what a renderer, a `!` command and RPC need. A row numbered 220 shows X220.

nacre draws nothing here: what a renderer shows is in the reply, as text and as facts. Where a test of another room
shows a statement, docs/statements.md names that test.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from workbench import PATIENCE_SECONDS, Workbench, details, full, timeless, until

from nacre.tool import Tool
from nacre.tool_events import Update

# What a renderer shows of a tool call (X219 to X226).


@dataclass(frozen=True, kw_only=True)
class Drawn:
    number: int
    words: str
    arguments: Mapping[str, Any]
    ends: str
    """How the text ends."""
    details: Mapping[str, Any]
    is_error: bool = False

    def __str__(self) -> str:
        return f"X{self.number}-{self.words}"


DRAWN = [
    Drawn(
        number=220,
        words="expanded mode shows all currently available output text",
        arguments={"command": "seq 3"},
        ends="1\n2\n3\n\nWall time: T seconds",
        details={"timeoutSeconds": 300},
    ),
    Drawn(
        number=221,
        words="warning line includes truncation reason and `artifact://<id>` when truncated",
        arguments={"command": "seq 30", "tail": 2},
        ends=f"[Showing lines 29-30 of 30; 28 lines, 75B left out. {full(1, 1, 28)}]",
        details={
            "timeoutSeconds": 300,
            "artifactId": "1",
            "meta": {
                "truncation": {
                    "direction": "tail",
                    "truncatedBy": "lines",
                    "totalLines": 30,
                    "totalBytes": 81,
                    "outputLines": 2,
                    "outputBytes": 6,
                    "maxBytes": 51200,
                    "elidedLines": 28,
                    "elidedBytes": 75,
                    "shownRange": [29, 30],
                    "artifactId": "1",
                }
            },
        },
    ),
    Drawn(
        number=222,
        words="timeout value (from args) is shown in footer metadata line",
        arguments={"command": "true", "timeout": 7},
        ends="Wall time: T seconds",
        details={"timeoutSeconds": 7},
    ),
    Drawn(
        number=222,
        words="timeout value (from args), where another one was used",
        arguments={"command": "true", "timeout": 7200},
        ends="Timeout: 3600 s in force, 7200 s were asked for (allowed: 1 to 3600)",
        details={"timeoutSeconds": 3600, "requestedTimeoutSeconds": 7200},
    ),
    # `marks cancelled/error/exit state separately`: each is a field of its own, none is read from the text.
    Drawn(
        number=236,
        words="exit state",
        arguments={"command": "exit 7"},
        ends="\n\nCommand exited with code 7",
        details={"timeoutSeconds": 300, "exitCode": 7},
        is_error=True,
    ),
    Drawn(
        number=236,
        words="exit state: killed",
        arguments={"command": "kill -9 $$"},
        ends="\n\nCommand exited with code 137 (killed by SIGKILL)",
        details={"timeoutSeconds": 300, "exitCode": 137, "signal": "SIGKILL"},
        is_error=True,
    ),
    Drawn(
        number=256,
        words="PTY exposes explicit `timedOut` result field, non-PTY maps timeout into `cancelled`",
        # Both the same here, so that no surface has to guess.
        arguments={"command": "echo begun; sleep 100", "timeout": 1},
        ends="\n\n[Command timed out after 1 second]",
        details={"timeoutSeconds": 1, "timedOut": True, "cause": "limit", "clock": "timeout"},
        is_error=True,
    ),
    Drawn(
        number=247,
        words="Controller catches exceptions and shows UI error",
        # Nothing is raised for what a command or its request does: what was refused is a reply too.
        arguments={"command": "true", "cwd": "/nowhere/at/all"},
        ends="Working directory does not exist: /nowhere/at/all",
        details={},
        is_error=True,
    ),
    Drawn(
        number=244,
        words="Tool errors become `toolResult.isError`",
        arguments={"command": "no-such-program-here"},
        ends="\n\nCommand exited with code 127",
        details={"timeoutSeconds": 300, "exitCode": 127},
        is_error=True,
    ),
]


@pytest.mark.parametrize("row", DRAWN, ids=str)
async def test_a_renderer_finds_it_in_the_reply(row: Drawn, bench: Workbench) -> None:
    reply = await bench.call(row.arguments)
    assert timeless(reply.text).endswith(row.ends)
    assert (reply.is_error, details(reply)) == (row.is_error, row.details)


async def test_a_collapsed_preview_can_be_made_of_the_newest_lines(bench: Workbench) -> None:
    """`visual-line-truncated preview`: an update is the whole current tail, so a renderer keeps nothing itself."""
    command = "seq 1 100000; until [ -e go ]; do sleep 0.01; done"
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for item in bench.tool().stream({"command": command}):
            if isinstance(item, Update) and item.text.endswith("99999\n100000\n"):
                assert item.text.splitlines()[-20:] == [str(n) for n in range(99981, 100001)]
                assert len(item.text.encode()) <= 50 * 1024
                (bench.cwd / "go").touch()
    assert (bench.cwd / "go").exists()


async def test_an_expanded_view_can_show_the_full_output(bench: Workbench) -> None:
    """`read` gives what the text left out, window by window."""
    reply = await bench.call({"command": "seq 1 30000"})
    async with Tool("read") as tool:
        shown, offset = "", 0
        while True:
            part = await tool.call({"id": reply.details["artifactId"], "offset": offset})
            shown += part.text.rpartition("\n[")[0] + "\n"
            if "nextOffset" not in part.details:
                break
            offset = part.details["nextOffset"]
    assert shown == "".join(f"{n}\n" for n in range(1, 30001))


async def test_a_person_sees_the_last_lines_of_a_job_that_runs(bench: Workbench) -> None:
    """`collapsed preview keeps last 20 logical lines`: any number, of a running command too."""
    reply = await bench.call({"command": "seq 1 100; until [ -e go ]; do sleep 0.01; done", "async": True})
    job = reply.details["async"]["jobId"]
    await until(lambda: bench.output(job).endswith("\n100\n"), "all lines")
    seen = await bench.job({"read": job, "tail": 20})
    assert seen.text.partition("\n[")[0].splitlines() == [str(n) for n in range(81, 101)]
    (bench.cwd / "go").touch()
    await bench.ended(job)


async def test_an_abort_raises_and_ends_what_runs(bench: Workbench) -> None:
    """`throw ToolAbortError`: in the library; on a wire it is a reply (X272)."""
    tool = bench.tool()
    running = asyncio.create_task(tool.call({"command": "touch begun; sleep 1000"}))
    await until((bench.cwd / "begun").exists, "the command")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [job for job in bench.jobs.list().jobs if job.running] == []
