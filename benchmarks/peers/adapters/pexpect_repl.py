"""pexpect's REPL wrapper around bash: the usual way to keep a shell from Python."""

from pexpect import replwrap

from benchmarks.peers.tool import Answer, Tool, version_of


class ReplWrap(Tool):
    async def start(self) -> None:
        self.version = version_of("pexpect")
        self._repl = replwrap.bash()

    def run(self, script: str, timeout: float) -> Answer:
        return Answer(self._repl.run_command(script, timeout=timeout))

    async def close(self) -> None:
        self._repl.child.close(force=True)
