"""verifiers: a `Runtime` on this machine or in any place of nacre, lent to an agent: `agent.run(task, runtime=…)`.

Each has a directory of its own in the place, which goes with it. No command is run a second time: a link that is cut is
made again below, and where the end of a command cannot be known, that is a `SandboxError`, not an exit code.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shlex
import shutil
from collections.abc import AsyncIterator, Iterator
from typing import ClassVar, Self

from nacre.adapters import place_files
from nacre.adapters.framework import framework
from nacre.adapters.live_program import LiveProgram
from nacre.adapters.place_ending import NoExitCode, exit_code_of
from nacre.adapters.program import program_profile, run_script
from nacre.errors import NacreError, RefusedError
from nacre.remote.remote_backend import RemoteBackend, connect
from nacre.remote.wire import PrefixDialer
from nacre.settings import MIB

with framework("verifiers"):
    from verifiers.v1.errors import SandboxError
    from verifiers.v1.runtimes import ProgramResult, Runtime, RuntimeProcess, SubprocessConfig, SubprocessRuntimeInfo
    from verifiers.v1.runtimes.base import register

logger = logging.getLogger(__name__)
DENIED = 126
PROFILE = program_profile("verifiers", limit_bytes=64 * MIB)


class NacreRuntime(Runtime):
    """The box of one rollout, or of several that share it; most of its methods are the interface of verifiers."""

    supports_user: ClassVar[bool] = True

    def __init__(
        self, place: str | RemoteBackend | None = None, *, name: str | None = None, is_local: bool | None = None
    ) -> None:
        """Make a runtime; `start` reaches the place.

        Args:
            place: where it runs: a name for `nacre.connect`, or a connected place, which stays open; None is here.
            is_local: whether programs there reach this machine's loopback; only here unless you say so.
        """
        super().__init__(name)
        self.config = SubprocessConfig()
        self.info = SubprocessRuntimeInfo()
        self.is_local = place is None if is_local is None else is_local
        self.workdir = ""
        self._wanted = place
        self._place: RemoteBackend | None = None
        self._live: list[LiveProgram] = []
        register(self)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def place(self) -> RemoteBackend:
        """Where it runs.

        Raises:
            SandboxError: it is not started, or was stopped.
        """
        if self._place is None:
            raise SandboxError("the runtime is not started, or was stopped")
        return self._place

    async def start(self) -> None:
        wanted = self._wanted
        if isinstance(wanted, RemoteBackend):
            self._place = wanted
        else:
            with _typed():
                self._place = await connect(PrefixDialer(["env"], name="this machine") if wanted is None else wanted)
        with _typed():
            made = await place_files.step(self.place, "mktemp -d /tmp/nacre-runtime-XXXXXXXX")
        self.workdir = made.decode().strip()
        self.info.id = f"{self.place.name}:{self.workdir}"

    async def teardown(self) -> None:
        """End what runs, and remove the directory; the place too unless it was given."""
        place, live, self._live = self._place, self._live, []
        if place is None:
            return
        await asyncio.gather(*(program.end() for program in live))
        given = isinstance(self._wanted, RemoteBackend)
        try:
            if not given:
                await self._quiet(place)
            await place_files.remove(place, self.workdir)
        finally:
            self._place = None
            if not given:
                await place.aclose()

    async def _quiet(self, place: RemoteBackend) -> None:
        try:
            await place.quiesce()
        except NacreError as error:
            # Closing the place ends what runs in the foreground.
            logger.warning("what programs have left running in %s could not be ended: %s", self.info.id, error)

    def cleanup(self) -> None:
        """Remove the directory where there is no event loop any more; the processes end with this program."""
        if self._place is not None and self._wanted is None:
            shutil.rmtree(self.workdir, ignore_errors=True)

    async def run(self, argv: list[str], env: dict[str, str]) -> ProgramResult:
        with _typed():
            try:
                result = await run_script(
                    shlex.join(argv),
                    PROFILE,
                    script=place_files.as_user(self.user, argv, home=self.home),
                    cwd=self.workdir,
                    env=self.process_env(env),
                    backend=self.place,
                )
                code = exit_code_of(result)
            except RefusedError as error:
                return ProgramResult(DENIED, "", str(error))
        assert result.stderr is not None
        return ProgramResult(code, result.output.text, result.stderr.text)

    async def open_process(self, argv: list[str], env: dict[str, str]) -> RuntimeProcess:
        with _typed():
            program = LiveProgram(self.place, self.process_env(env), self.workdir, self.user)
            await program.start(argv, home=self.home)
        self._live.append(program)
        return _Process(program)

    async def run_background(self, argv: list[str], env: dict[str, str], log: str) -> None:
        words = f"{shlex.join(argv)} >{shlex.quote(self._path(log))} 2>&1"
        with _typed():
            program = LiveProgram(self.place, self.process_env(env), self.workdir, self.user)
            await program.start(["bash", "-c", f"exec -- {words}"], home=self.home)
        self._live.append(program)

    async def _read(self, path: str, max_bytes: int | None = None) -> bytes:
        with _typed(f"read {path!r}: "):
            return await place_files.read(self.place, self._path(path), most=max_bytes, user=self.user)

    async def write(self, path: str, data: bytes) -> None:
        with _typed(f"write {path!r}: "):
            await place_files.write(self.place, self._path(path), data, user=self.user)

    def _path(self, path: str) -> str:
        return os.path.join(self.workdir, path)


class _Process(RuntimeProcess):
    """A live program as verifiers wants it."""

    def __init__(self, program: LiveProgram) -> None:
        self._program = program
        self.stdout: AsyncIterator[bytes] = program.output(1)
        self.stderr: AsyncIterator[bytes] = program.output(2)

    async def write(self, data: bytes) -> None:
        with _typed():
            await self._program.write(data)

    async def wait(self) -> int:
        with _typed():
            return await self._program.wait()

    async def poll(self) -> int | None:
        with _typed():
            return await self._program.wait() if self._program.ended else None

    async def terminate(self) -> None:
        await self._program.end()

    async def kill(self) -> None:
        await self._program.end()


@contextlib.contextmanager
def _typed(what: str = "") -> Iterator[None]:
    """Raise what is not the program's own doing as the framework's error, with cause and clock."""
    try:
        yield
    except (NoExitCode, NacreError) as error:
        told = SandboxError(f"{what}{error}")
        told.cause, told.clock = error.cause, error.clock
        raise told from error
