"""nacre: in the program itself, under the warden with and without spare shells, in a session, and as a tool."""

from benchmarks.peers.tool import Answer, Tool
from nacre import Session, Settings, __version__, run
from nacre import Tool as NacreTool
from nacre.backends.spare_shells import spares
from nacre.settings import ExecutionSettings
from nacre.warden_client.pool import warden


class InProcess(Tool):
    version = f"nacre {__version__}"
    settings = Settings(execution=ExecutionSettings(containment="off"))

    async def run(self, script: str, timeout: float) -> Answer:
        result = await run(script, timeout=timeout, settings=self.settings)
        return Answer(result.text, result.exit_code)

    async def close(self) -> None:
        spares.close()
        warden.close()


class Contained(InProcess):
    settings = Settings(execution=ExecutionSettings(containment="required", spares=0))


class Spares(InProcess):
    settings = Settings(execution=ExecutionSettings(containment="required", spares=2))


class Kept(Contained):
    async def start(self) -> None:
        self._session = Session(settings=self.settings)

    async def run(self, script: str, timeout: float) -> Answer:
        result = await self._session.run(script, timeout=timeout)
        return Answer(result.text, result.exit_code)

    async def close(self) -> None:
        await self._session.aclose()
        await super().close()


class WorkspaceTool(Spares):
    """The tool that a model calls, with the settings that a user has."""

    async def start(self) -> None:
        self._tool = NacreTool("workspace", settings=self.settings)

    async def run(self, script: str, timeout: float) -> Answer:
        reply = await self._tool.call({"command": script, "timeout": timeout})
        return Answer(reply.text, reply.details.get("exitCode", 0))

    async def close(self) -> None:
        await self._tool.aclose()
        await super().close()
