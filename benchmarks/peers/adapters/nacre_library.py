"""nacre: in the program itself, and under the warden with and without shells started in advance, and one shell kept."""

from benchmarks.peers.tool import Answer, Tool
from nacre import Session, Settings, __version__, run
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
