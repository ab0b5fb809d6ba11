"""`nacre.run` and `nacre.run_sync`: one stateless command to its end, for programs that want a value, not a tool."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from nacre import config
from nacre import engine as engines
from nacre.execution.capture import Passthrough
from nacre.output.decode import CHARACTER_BYTES
from nacre.output.view import HEAD_BYTES, INLINE_BYTES, TAIL_BYTES, head_and_tail
from nacre.profile import CaptureShape, Profile
from nacre.request import ShellRequest, check_call
from nacre.result import ShellResult
from nacre.settings import Settings

T = TypeVar("T")

# The commands of a program that belong to no session count as one when it comes to notices about the settings.
_STATELESS = "of no session"

PROFILE = Profile(
    contract="run",
    timeout=300.0,
    grace=5.0,
    streams="merged",
    # A character more than is shown, so that the view makes the cut, on its border.
    capture=CaptureShape(
        whole_bytes=INLINE_BYTES + 2 * CHARACTER_BYTES,
        head_bytes=HEAD_BYTES + CHARACTER_BYTES,
        tail_bytes=TAIL_BYTES + CHARACTER_BYTES,
    ),
    view=head_and_tail,
)


async def run(
    command: str,
    *,
    timeout: float | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    settings: Settings | None = None,
) -> ShellResult:
    """Run a shell command to its end.

    A non-zero exit, a signal and a timeout are results; what could not be started raises a NacreError.

    Args:
        timeout: seconds; the setting `execution.timeout_seconds` (300) unless given.
        env: variables for this command, on top of the filtered environment.

    >>> import asyncio, nacre
    >>> asyncio.run(nacre.run("echo hi")).text
    'hi\\n'
    """
    return await run_with(command, PROFILE, timeout=timeout, cwd=cwd, env=env, settings=settings)


async def run_with(
    command: str,
    profile: Profile,
    *,
    timeout: float | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    passthrough: Passthrough | None = None,
) -> ShellResult:
    """Run a command with a profile of the caller's choice."""
    if timeout is not None or env is not None or not isinstance(command, str):
        check_call(command, timeout=timeout, env=env)
    directory = config.absolute(cwd) if cwd is not None else config.working_directory()
    engine = engines.from_environment(settings=settings)
    if env is None and not engine.settings.notices:
        planned = await engine.plan_again(command, timeout, profile, cwd=directory)
        return await engine.run_planned(planned, profile, passthrough=passthrough)
    limit = engine.settings.execution.timeout_seconds if timeout is None else timeout
    check_call(command)
    request = engine.with_settings_notices(ShellRequest(command=command, timeout=limit, env=env), _STATELESS)
    result = await engine.run(request, profile, cwd=directory, passthrough=passthrough)
    engine.settings_notices_told(_STATELESS)
    return result


def run_sync(command: str, **options: Any) -> ShellResult:
    """`run` for code without an event loop; inside one, the command runs on a thread with a loop of its own.

    >>> import nacre
    >>> nacre.run_sync("exit 3").exit_code
    3
    """
    return wait_for(lambda: run(command, **options))


def wait_for(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Do the work to its end in an event loop of its own: on this thread, or on another where this one has a loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    return _wait_on_thread(work)


def _wait_on_thread(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    # Only needed here, and more than half a millisecond to load.
    from concurrent.futures import ThreadPoolExecutor

    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = Future()

    async def perform() -> T:
        task = asyncio.current_task()
        assert task is not None
        begun.set_result((asyncio.get_running_loop(), task))
        return await work()

    with ThreadPoolExecutor(1, thread_name_prefix="nacre-run-sync") as pool:
        done = pool.submit(lambda: asyncio.run(perform()))
        try:
            return done.result()
        except BaseException:
            # An interrupt of this thread must end the command, which it would otherwise wait for.
            if not done.done():
                loop, task = begun.result()
                # A loop that is closed has nothing left to end.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(task.cancel)
            raise
