"""The harness's end of a worker: asked with a time limit, ended and started again when it does not answer."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from benchmarks.peers import environments
from benchmarks.peers.catalogue import HOME, ROOT, Entry

# Importing some peers takes eight seconds on a quiet machine.
START_SECONDS = 60.0
# The import of one peer (OpenHands) fails about every other time; that is no verdict on what it does once it runs.
STARTS = 8
STOP_SECONDS = 10.0


class NotInstalledError(Exception):
    """The peer's environment is not there."""


class ToolFailedError(Exception):
    """The tool raised, died or gave a wrong answer; the worker may live on."""


class ToolHangsError(Exception):
    """It did not answer in its time; the worker was ended."""


class RemoteTool:
    """A worker process; started when first asked, and again after it had to be ended."""

    def __init__(self, entry: Entry, scratch: Path) -> None:
        self.entry = entry
        self.version = ""
        self.directory = scratch / uuid.uuid4().hex[:8]
        # Everything that comes from the worker carries this in its environment, so it can be found and ended.
        self._mark = f"BENCH_MARK={uuid.uuid4().hex}"
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""

    def ask(self, op: str, *, limit: float, **arguments: Any) -> dict[str, Any]:
        """One answer, within the limit."""
        if self._process is None:
            self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"op": op, **arguments}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self.kill()
            raise ToolFailedError("the worker is gone") from None
        return self._answer(limit)

    def start(self) -> None:
        """Start the worker and its tool.

        Raises:
            NotInstalledError: the environment was not made.
            ToolFailedError: the tool did not start.
        """
        if self.entry.environment is not None and not environments.is_ready(self.entry.environment):
            raise NotInstalledError("not installed (make peers)")
        for attempt in range(1, STARTS + 1):
            try:
                self._start_once()
            except ToolFailedError:
                if attempt == STARTS:
                    raise
            else:
                return

    def _start_once(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        home = self.directory.with_suffix(".home")
        home.mkdir(exist_ok=True)
        name, _, value = self._mark.partition("=")
        self._process = subprocess.Popen(
            self._command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=ROOT,
            # A home of its own: peers write settings there, and a person's start-up files are not what is measured.
            env={**os.environ, name: value, "HOME": str(home), "NACRE_HOME": str(home), "BENCH_PEERS": str(HOME)},
            start_new_session=True,
        )
        self._unread = b""
        self.version = self._answer(START_SECONDS)["version"]

    def _command(self) -> list[str]:
        file, _, variant = self.entry.adapter.partition(":")
        if file.endswith(".mjs"):
            # By its own path: the link in .bin is put right by a script of the package, and scripts are not run.
            bun = next((HOME / (self.entry.environment or "")).glob("node_modules/@oven/*/bin/bun"), None)
            if bun is None:
                raise NotInstalledError("bun is not installed (make peers)")
            return [str(bun), str(ROOT / "benchmarks/peers" / file), variant, str(self.directory)]
        own = None if self.entry.environment is None else HOME / self.entry.environment / "bin/python"
        python = str(own) if own is not None and own.exists() else sys.executable
        return [python, "-m", "benchmarks.peers.worker", self.entry.adapter, str(self.directory)]

    def _answer(self, limit: float) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        until = time.monotonic() + limit
        while b"\n" not in self._unread:
            ready, _, _ = select.select([fd], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                self.kill()
                raise ToolHangsError(f"no answer in {limit:.0f} s")
            piece = os.read(fd, 1 << 16)
            if not piece:
                told = self._last_words()
                self.kill()
                raise ToolFailedError(f"the worker died: {told}")
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ToolFailedError(answer["error"])
        return answer

    def _last_words(self) -> str:
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - 300))
        return self._log.read().decode(errors="replace").strip()

    def stop(self) -> None:
        """Ask it to end, and see to it that it does, with all that it left; not to be started again."""
        if self._process is not None:
            assert self._process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
            self.kill()
        self._log.close()

    def kill(self) -> None:
        """End the worker and everything that carries its mark."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self._process = None
        # Again until nothing is left: what is being ended may have started something meanwhile.
        until = time.monotonic() + STOP_SECONDS
        while (left := self._marked()) and time.monotonic() < until:
            for pid in left:
                end(pid)
            time.sleep(0.01)

    def _marked(self) -> list[int]:
        return [pid for pid in _pids() if self._mark.encode() in _read(pid, "environ").split(b"\0")]


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _read(pid: int, file: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{file}").read_bytes()
    except OSError:
        # It has ended meanwhile, or is not ours to read.
        return b""


def running(word: str) -> list[int]:
    """The processes that have this word among their arguments."""
    return [pid for pid in _pids() if word.encode() in _read(pid, "cmdline").split(b"\0")]


def end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
