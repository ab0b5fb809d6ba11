"""deepagents: its local shell backend (/bin/sh)."""

import os

from deepagents.backends import LocalShellBackend

from benchmarks.peers.tool import Answer, Tool, version_of


class LocalShell(Tool):
    async def start(self) -> None:
        self.version = version_of("deepagents")
        self._backend = LocalShellBackend(root_dir=os.getcwd(), inherit_env=True, virtual_mode=False)

    def run(self, script: str, timeout: float) -> Answer:
        response = self._backend.execute(script, timeout=max(1, round(timeout)))
        return Answer(response.output, response.exit_code)
