"""LangChain: the ShellTool (no time limit of its own; /bin/sh), and the bash process that it can keep."""

import warnings

from benchmarks.peers.tool import Answer, Tool, version_of


class ShellTool(Tool):
    async def start(self) -> None:
        warnings.simplefilter("ignore")
        from langchain_community.tools import ShellTool as LangChainShellTool

        self.version = version_of("langchain-community", "langchain-experimental")
        self._tool = LangChainShellTool()

    def run(self, script: str, timeout: float) -> Answer:
        # It answers None where it caught an exception.
        return Answer(self._tool.run({"commands": script}) or "")


class Persistent(Tool):
    async def start(self) -> None:
        from langchain_experimental.llm_bash.bash import BashProcess

        self.version = version_of("langchain-experimental")
        self._process = BashProcess(persistent=True, return_err_output=True)

    def run(self, script: str, timeout: float) -> Answer:
        return Answer(self._process.run(script))

    async def close(self) -> None:
        self._process.process.close(force=True)
