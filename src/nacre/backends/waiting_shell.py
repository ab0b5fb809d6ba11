"""Starts a bash that waits for a script, for spares and sessions alike: its pipes, its socket and its script file."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import NamedTuple

from nacre.backends.pipes import make_pipes
from nacre.command import Command
from nacre.warden_client.pool import warden
from nacre.warden_client.runner_link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.messages import WaitSession, WaitSpare


class WaitingShell(NamedTuple):
    """The near ends of a shell that is being started."""

    link: Link
    """The way to its runner."""
    sock: socket.socket
    """A byte on it wakes the shell."""
    script: int
    """The memory file that the shell takes its script from."""
    readers: list[int]
    """The reading ends of its pipes, non-blocking."""


def start_waiting(command: Command, request: WaitSpare | WaitSession) -> WaitingShell:
    """Ask a runner for the shell. Call it under `forks.held_off`, and register the descriptors before that ends.

    Raises:
        OSError: no descriptor can be had.
        NacreError: there is no warden.
    """
    if command.sandbox is not None and command.sandbox.message:
        request["sandbox"] = command.sandbox.message  # type: ignore[arg-type]
    with contextlib.ExitStack() as on_failure, contextlib.ExitStack() as always:
        readers, writers = make_pipes(command)
        for fd in writers:
            always.callback(os.close, fd)
        for fd in readers:
            on_failure.callback(os.close, fd)
            os.set_blocking(fd, False)
        near, far = socket.socketpair()
        always.callback(far.close)
        on_failure.callback(near.close)
        near.settimeout(0)
        script = os.memfd_create("nacre-script")
        on_failure.callback(os.close, script)
        link = warden.take()
        on_failure.callback(link.close)
        fds = [*writers, far.fileno(), script]
        if request["op"] == "session":
            # The runner holds our end too, so that the shell never writes to a closed socket.
            fds.append(near.fileno())
        link.ask(request, fds, command.env)
        on_failure.pop_all()
        return WaitingShell(link, near, script, readers)
