"""The floors as tools: what the standard library gives, each way of it."""

import platform

from benchmarks import floors
from benchmarks.peers.tool import Answer, Tool


class Floor(Tool):
    version = f"Python {platform.python_version()}"


class PosixSpawn(Floor):
    """Start and wait; the output goes to /dev/null."""

    def run(self, script: str, timeout: float) -> Answer:
        return Answer("", floors.posix_spawn(script))


class PosixSpawnRead(Floor):
    """Start, read into one reused buffer, wait; of the output only the last piece is kept."""

    def run(self, script: str, timeout: float) -> Answer:
        last, code = floors.posix_spawn_read(script)
        return Answer(last.decode(errors="replace"), code)


class SubprocessRun(Floor):
    def run(self, script: str, timeout: float) -> Answer:
        text, code = floors.subprocess_run(script, timeout)
        return Answer(text, code)


class AsyncioExec(Floor):
    async def run(self, script: str, timeout: float) -> Answer:
        text, code = await floors.asyncio_exec(script, timeout)
        return Answer(text, code)
