"""What the tests of the workspace tool share: tools in a directory of their own, and how their answers are compared."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nacre.contracts.contract import Reply
from nacre.jobs.job import Job
from nacre.jobs.polling import poll
from nacre.jobs.table import JobTable
from nacre.settings import JobSettings, OutputSettings, PolicySettings, Settings
from nacre.tool import Tool
from nacre.warden import children

PATIENCE_SECONDS = 30.0
# Of each run its own: compared where a test is about them, and left out of whole values.
VARYING = ("wallTimeMs", "pid", "outputFile", "survivors")


@dataclass
class Workbench:
    """Tools of one directory and one state directory."""

    cwd: Path
    home: Path

    def tool(self, settings: Settings | None = None, **options: Any) -> Tool:
        return Tool("workspace", cwd=self.cwd, settings=settings or Settings(), **options)

    async def call(self, arguments: object, settings: Settings | None = None, **options: Any) -> Reply:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.tool(settings, **options).call(arguments)

    async def job(self, arguments: object) -> Reply:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await Tool("job", cwd=self.cwd, settings=Settings()).call(arguments)

    @property
    def jobs(self) -> JobTable:
        return JobTable(self.home)

    async def ended(self, job_id: str) -> Job:
        found = await poll(self.jobs, [job_id], wait=PATIENCE_SECONDS)
        assert found.reason == "ended", f"{job_id} did not end"
        return self.jobs.get(job_id)

    def output(self, job_id: str) -> str:
        return self.jobs.get(job_id).output_file.read_text(encoding="utf-8")


def quick(seconds: float = 0.2, **jobs: Any) -> Settings:
    """Settings with which a command soon becomes a job."""
    return Settings(jobs=JobSettings(auto_background_seconds=seconds, **jobs))


def plain(**output: Any) -> Settings:
    return Settings(output=OutputSettings(**output))


INTERCEPTING = Settings(policy=PolicySettings(interceptor=True))


def timeless(text: str) -> str:
    return re.sub(r"Wall time: \d+\.\d\d seconds", "Wall time: T seconds", text)


def layout(shown: str, *notices: str, status: str | None = None, bracket: str | None = None) -> str:
    """What a finished command reads as: output, wall time and notices, status, notice about the output."""
    lines = [shown, "", "Wall time: T seconds", *notices]
    lines += ["", status] if status else []
    lines += ["", bracket] if bracket else []
    return "\n".join(lines)


def details(reply: Reply) -> Mapping[str, Any]:
    """Without what differs from run to run."""
    return {name: value for name, value in reply.details.items() if name not in VARYING}


def full(artifact_id: int | str, first: int | None = None, last: int | None = None) -> str:
    uri = f"artifact://{artifact_id}"
    if first is None:
        return f"Full output: {uri}"
    return f'Full output: {uri} (read tool: lines "{first}:{last}")'


async def until(condition: Callable[[], Any], what: str) -> Any:
    """The condition's first true value; a fact that nothing tells of is asked for again and again."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (value := condition()):
            await asyncio.sleep(0.005)
    assert value, what
    return value


async def gone(*pids: int) -> None:
    await until(lambda: all(children.is_zombie(pid) for pid in pids), f"the end of {pids}")
