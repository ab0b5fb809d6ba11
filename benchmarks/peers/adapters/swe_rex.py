"""swe-rex: its local runtime, with and without a session."""

from swerex.runtime.abstract import BashAction, Command, CreateBashSessionRequest
from swerex.runtime.local import LocalRuntime

from benchmarks.peers.tool import Answer, Tool, version_of


class Execute(Tool):
    async def start(self) -> None:
        self.version = version_of("swe-rex")
        self._runtime = LocalRuntime()

    async def run(self, script: str, timeout: float) -> Answer:
        command = Command(command=["/bin/bash", "-c", script], timeout=timeout, merge_output_streams=True)
        response = await self._runtime.execute(command)
        return Answer(response.stdout, response.exit_code)

    async def close(self) -> None:
        await self._runtime.close()


class Session(Execute):
    async def start(self) -> None:
        await super().start()
        await self._runtime.create_session(CreateBashSessionRequest())

    async def run(self, script: str, timeout: float) -> Answer:
        # `silent` keeps the exit code instead of raising for each that is not zero.
        observation = await self._runtime.run_in_session(BashAction(command=script, timeout=timeout, check="silent"))
        return Answer(observation.output, observation.exit_code)
