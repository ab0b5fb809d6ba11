"""inspect_ai's local sandbox, called as its bash tool calls it, but without the login shell."""

from inspect_ai.util._sandbox.local import LocalSandboxEnvironment

from benchmarks.peers.tool import Answer, Tool, version_of


class Exec(Tool):
    async def start(self) -> None:
        self.version = version_of("inspect-ai")
        self._sandbox = LocalSandboxEnvironment()

    async def run(self, script: str, timeout: float) -> Answer:
        result = await self._sandbox.exec(["bash", "-c", script], timeout=max(1, round(timeout)), timeout_retry=False)
        return Answer(result.stdout + result.stderr, result.returncode)

    async def close(self) -> None:
        self._sandbox.directory.cleanup()
