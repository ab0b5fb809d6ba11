"""Runs a program with its arguments to its end: what evaluation frameworks call `exec`.

The guard judges the quoted arguments as a shell command; nothing in them is expanded.
"""

from __future__ import annotations

import contextlib
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from nacre.adapters.identity import User
from nacre.backend import Backend
from nacre.command import Streams
from nacre.engine.engine import from_environment
from nacre.engine.execute import execute
from nacre.engine.observers import NO_OBSERVERS, Observers
from nacre.errors import InvalidRequestError
from nacre.output.captured import EVERYTHING, Captured, Selection
from nacre.output.decode import CHARACTER_BYTES, decode, fit_tail
from nacre.profile import CaptureShape, Profile
from nacre.request import ShellRequest, check_call
from nacre.result import Output, ShellResult, Truncation

# For callers without a limit: longer than an evaluation, so that a forgotten program ends, too.
NO_LIMIT_SECONDS = 7 * 24 * 3600.0


def program_profile(contract: str, *, limit_bytes: int, streams: Streams = "split") -> Profile:
    """Return a profile that shows all output up to the limit, and beyond it the newest."""

    def view(captured: Captured, selection: Selection = EVERYTHING) -> Output:
        if captured.whole is not None and captured.total_bytes <= limit_bytes:
            return captured.shown_as(decode(captured.whole), None)
        text, kept = fit_tail(captured.tail if captured.whole is None else captured.whole, limit_bytes)
        omitted = Truncation(
            kept="tail",
            omitted_bytes=captured.total_bytes - kept,
            omitted_lines=captured.omitted_lines(text),
        )
        return captured.shown_as(text, omitted)

    return Profile(
        contract=contract,
        timeout=NO_LIMIT_SECONDS,
        grace=5.0,
        streams=streams,
        # One character more than is shown, so that the view cuts at a character border.
        capture=CaptureShape(
            whole_bytes=limit_bytes + CHARACTER_BYTES, head_bytes=0, tail_bytes=limit_bytes + CHARACTER_BYTES
        ),
        view=view,
    )


async def run_program(
    argv: Sequence[str],
    profile: Profile,
    *,
    cwd: str,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    input: str | bytes | None = None,
    user: User | None = None,
) -> ShellResult:
    """Run a program to its end.

    Args:
        env: variables for this program, on top of the filtered environment.
        timeout: seconds; by default there is no limit.
        input: the content of its standard input.
        user: the user to run as, if not that of this process.
    """
    if not argv:
        raise InvalidRequestError("the command is an empty list; its first item is the program to run", field="cmd")
    command = shlex.join(argv)
    check_call(command, timeout=timeout, env=env)
    variables = {**(user.variables if user else {}), **(env or {})}
    with _stored(input) as source:
        # `exec` finds only programs, no functions or builtins, and the status is that of the program.
        script = f"exec -- {shlex.join([*(user.prefix if user else []), *argv])}"
        if source is not None:
            script += f" < {shlex.quote(source)}"
        return await run_script(command, profile, script=script, cwd=cwd, env=variables, timeout=timeout)


async def run_script(
    command: str,
    profile: Profile,
    *,
    cwd: str,
    script: str | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    backend: Backend | None = None,
    observers: Observers = NO_OBSERVERS,
) -> ShellResult:
    """Run a command to its end: the guard judges `command`, and `script` is run in its place if there is one."""
    check_call(command, timeout=timeout, env=env)
    request = ShellRequest(command=command, script=script, timeout=timeout, env=env or None)
    engine = from_environment(backend=backend)
    return await execute(engine, engine.planner.plan(request, profile, cwd=cwd), profile, observers=observers)


@contextlib.contextmanager
def _stored(input: str | bytes | None) -> Iterator[str | None]:
    """Yield the path of a private file with the input."""
    if input is None:
        yield None
        return
    with tempfile.NamedTemporaryFile(prefix="nacre-input-") as file:
        file.write(input.encode() if isinstance(input, str) else input)
        file.flush()
        yield file.name
