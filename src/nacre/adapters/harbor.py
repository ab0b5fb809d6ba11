"""Harbor: the environment `nacre.adapters.harbor:NacreEnvironment`, on this machine or in any place of nacre.

Without a place a trial has a private root on this machine (`private_root.py`), which ends with it. A named place, such
as a running container, is used as it is. No image is built: the log of the trial says so where a task defines one.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from nacre.adapters import place_files
from nacre.adapters.framework import framework
from nacre.adapters.place_ending import NoExitCode, exit_code_of
from nacre.adapters.private_root import private_root
from nacre.adapters.program import program_profile, run_script
from nacre.engine.observers import Observers
from nacre.errors import BackendUnavailableError, NacreError, RefusedError
from nacre.remote.remote_backend import RemoteBackend, connect
from nacre.settings import MIB

with framework("harbor"):
    from harbor.environments.base import BaseEnvironment, ExecResult
    from harbor.environments.capabilities import EnvironmentCapabilities, EnvironmentResourceCapabilities
    from harbor.environments.definition import has_agent_environment_definition
    from harbor.models.task.config import NetworkMode

# What a trial of Harbor works in.
OWN = ("/app", "/harbor", "/installed-agent", "/logs", "/oracle", "/solution", "/tests", "/workspace")
WORK_DIRECTORY = "/app"
DENIED = 126
PROFILE = program_profile("harbor", limit_bytes=64 * MIB)


class HarborCommandError(RuntimeError):
    """A command without an exit code, as Harbor's own environments raise a timeout; `cause` and `clock` say why."""

    def __init__(self, error: NoExitCode) -> None:
        super().__init__(str(error))
        self.cause, self.clock = error.cause, error.clock


class NacreEnvironment(BaseEnvironment):
    """The environment of one trial; most of its methods are the interface of Harbor."""

    def __init__(self, *args: Any, place: str | RemoteBackend | None = None, **options: Any) -> None:
        """Take the options of Harbor, and a place: its name for `nacre.connect`, or one that is connected.

        A connected place stays open when the environment is stopped.
        """
        self._wanted = place
        self._place: RemoteBackend | None = None
        self._directory: str | None = None
        super().__init__(*args, **options)

    @staticmethod
    def type() -> str:
        return "nacre"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(disable_internet=self._wanted is None)

    @classmethod
    def resource_capabilities(cls) -> EnvironmentResourceCapabilities:
        # None is enforced, so that a job which demands one is refused.
        return EnvironmentResourceCapabilities()

    def _validate_definition(self) -> None:
        """Accept every definition: none is built, and `start` says so."""

    @property
    def place(self) -> RemoteBackend:
        """Where the trial runs.

        Raises:
            BackendUnavailableError: the environment is not started, or was stopped.
        """
        if self._place is None:
            raise BackendUnavailableError("the environment is not started; await start(force_build=False)")
        return self._place

    async def start(self, force_build: bool) -> None:
        if has_agent_environment_definition(self.environment_dir, docker_image=self.task_env_config.docker_image):
            self.logger.warning("nacre builds no image: the task's definition is not used, the place is used as it is")
        wanted = self._wanted
        if isinstance(wanted, RemoteBackend):
            self._place = wanted
        elif wanted is not None:
            self._place = await connect(wanted)
        else:
            self._directory = tempfile.mkdtemp(prefix="nacre-harbor-")
            own = {*OWN, *self._mount_targets(), self.task_env_config.workdir or WORK_DIRECTORY}
            closed = self.network_policy.network_mode == NetworkMode.NO_NETWORK
            self._place = await connect(private_root(self._directory, own=_tops(own), network=not closed))
        directories = [*self._mount_targets(), self._work_directory()]
        await place_files.step(self.place, f"mkdir -p -- {shlex.join(directories)}")
        if self._mount_targets():
            await self.ensure_dirs(self._mount_targets())
        await self._upload_environment_dir_after_start()

    async def stop(self, delete: bool) -> None:
        """End what commands have left running, and the place unless it was given; files of a named place stay."""
        place, self._place = self._place, None
        if place is not None:
            try:
                await place.quiesce()
            except NacreError as error:
                self.logger.warning(f"what the trial has left running could not be ended: {error}")
            if not isinstance(self._wanted, RemoteBackend):
                await place.aclose()
        directory, self._directory = self._directory, None
        if directory is not None:
            await asyncio.to_thread(shutil.rmtree, directory)

    async def health(self) -> Any:
        """What the place says about itself; raises BackendUnavailableError if it does not answer."""
        return await self.place.health()

    async def quiesce(self) -> list[dict[str, Any]]:
        """Stop what finished commands have left running, and return it; for a verifier that wants quiet."""
        return await self.place.quiesce()

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        who = self._resolve_user(user)
        script = None if who is None else place_files.as_user(who, ["bash", "-c", command])
        streaming = _Streaming(self._output_callback())
        try:
            result = await run_script(
                command,
                PROFILE,
                script=script,
                cwd=cwd or self._work_directory(),
                env=self._merge_env(env),
                timeout=timeout_sec,
                backend=self.place,
                observers=Observers(passthrough=streaming.feed),
            )
            return ExecResult(
                stdout=result.output.text,
                stderr=None if result.stderr is None else result.stderr.text,
                return_code=exit_code_of(result),
            )
        except RefusedError as error:
            return ExecResult(stdout="", stderr=str(error), return_code=DENIED)
        except NoExitCode as error:
            raise HarborCommandError(error) from error
        finally:
            await streaming.end()

    # Files.

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        data = await asyncio.to_thread(Path(source_path).read_bytes)
        await place_files.write(self.place, target_path, data)
        if os.access(source_path, os.X_OK):
            await place_files.step(self.place, f"chmod +x -- {shlex.quote(target_path)}")

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        packed = f"/tmp/.nacre-{os.urandom(8).hex()}.tar.gz"
        where = shlex.quote(target_dir)
        await place_files.write(self.place, packed, await asyncio.to_thread(_pack, Path(source_dir)))
        await place_files.step(
            self.place,
            f"mkdir -p -- {where}; tar -xzf {packed} --no-same-owner -C {where}; code=$?; rm -f {packed}; exit $code",
        )

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        data = await place_files.read(self.place, source_path)
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        await asyncio.to_thread(Path(target_path).write_bytes, data)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        await self.download_dir_with_exclusions(source_dir=source_dir, target_dir=target_dir, exclude=[])

    def _work_directory(self) -> str:
        if self.task_env_config.workdir:
            return str(self.task_env_config.workdir)
        return WORK_DIRECTORY if self._wanted is None else self.place.cwd


class _Streaming:
    """Passes output on to Harbor's callback while the command runs."""

    def __init__(self, callback: Any) -> None:
        self._callback = callback
        self._pieces: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue()
        self._task = None if callback is None else asyncio.create_task(self._pass_on())

    def feed(self, stream: int, data: memoryview) -> None:
        if self._task is not None:
            self._pieces.put_nowait((stream, bytes(data)))

    async def _pass_on(self) -> None:
        while (piece := await self._pieces.get()) is not None:
            stream, data = piece
            await self._callback(data.decode("utf-8", "replace"), "stdout" if stream == 1 else "stderr")

    async def end(self) -> None:
        if self._task is not None:
            self._pieces.put_nowait(None)
            await self._task


def _pack(directory: Path) -> bytes:
    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w:gz") as packed:
            packed.add(directory, arcname=".")
        file.seek(0)
        return file.read()


def _tops(paths: set[str]) -> set[str]:
    """The first directories of these paths."""
    return {"/" + path.strip("/").split("/", 1)[0] for path in paths if path.strip("/")}
