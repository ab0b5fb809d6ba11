"""pydantic-ai-harness: the shell toolset's `run_command`, without the agent's loop around it."""

import os
import re

from pydantic_ai import RunContext
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage
from pydantic_ai.workspaces import LocalWorkspaceBackend, Workspace
from pydantic_ai_harness import Shell

from benchmarks.peers.tool import Answer, Tool, version_of


class RunCommand(Tool):
    async def start(self) -> None:
        self.version = version_of("pydantic-ai-harness")
        workspace = Workspace(LocalWorkspaceBackend(os.getcwd()))
        self._context = RunContext(deps=None, model=TestModel(), usage=RunUsage(), workspace=workspace)
        self._toolset = Shell(denied_commands=[]).get_toolset()
        self._tool = (await self._toolset.get_tools(self._context))["run_command"]

    async def run(self, script: str, timeout: float) -> Answer:
        arguments = {"command": script, "timeout_seconds": timeout}
        text = str(await self._toolset.call_tool("run_command", arguments, self._context, self._tool))
        code = re.search(r"\[exit code: (-?\d+)\]\s*\Z", text)
        return Answer(text, int(code[1]) if code else None)
