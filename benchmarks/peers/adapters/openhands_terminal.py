"""OpenHands: the terminal tool's executor, on tmux and on a PTY of its own."""

import os
from typing import Literal

from openhands.tools.terminal import TerminalAction, TerminalExecutor

from benchmarks.peers.tool import Answer, Tool, version_of


class Tmux(Tool):
    terminal: Literal["tmux", "subprocess"] = "tmux"

    async def start(self) -> None:
        self.version = version_of("openhands-tools")
        self._executor = TerminalExecutor(working_dir=os.getcwd(), terminal_type=self.terminal)

    def run(self, script: str, timeout: float) -> Answer:
        observation = self._executor(TerminalAction(command=script, timeout=timeout))
        text = "".join(getattr(part, "text", "") for part in observation.to_llm_content)
        return Answer(text, observation.exit_code)

    async def close(self) -> None:
        self._executor.close()


class Pty(Tmux):
    terminal = "subprocess"
