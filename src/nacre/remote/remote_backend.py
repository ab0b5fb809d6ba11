"""Commands on another machine: the backend."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self

from nacre.backend import Listener, Process
from nacre.backends.contained import ContainedBackend
from nacre.backends.start_request import request_of
from nacre.command import Command, NewJob
from nacre.remote.link import Link, NoPythonError
from nacre.remote.link_thread import links
from nacre.remote.places import dialer_named
from nacre.remote.remote_bash import start_remote_bash
from nacre.remote.remote_process import RemoteProcess
from nacre.remote.wire import Dialer
from nacre.sessions.live_bash import StartBash
from nacre.warden.launch import quoted
from nacre.warden.remote_protocol import LEASE_SECONDS

# How long a job goes on there without a link.
JOB_LEASE_SECONDS = 15 * 60.0
# The far side of a job fires later than the local limit, which is the one that is told.
LATER_SECONDS = 5.0
# A SIGTERM waits until the follower can pass it on.
_BOOTSTRAP = (
    "import signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]); sys.path.insert(0, sys.argv[1]); "
    "from nacre.remote.job_follower import main; main(sys.argv[2])"
)


async def connect(place: str | Dialer, *, lease: float = LEASE_SECONDS) -> RemoteBackend:
    """Reach another machine and start the far side there; close the backend afterwards.

    Without a Python there the far side is a program for its `sh`, and the backend a `ReducedBackend`.

    Args:
        place: `docker:NAME`, `ssh://[USER@]HOST[:PORT]`, … (docs/guides/other-machines.md), or a dialer of your own.
        lease: seconds that a foreground command goes on there while the link is cut.

    Raises:
        ConfigError: the name is no place.
        BackendUnavailableError: the machine cannot be reached, or has neither Python nor `setsid`.
    """
    link = Link(dialer_named(place) if isinstance(place, str) else place, patience=lease)
    try:
        await asyncio.wrap_future(links.submit(link.ready()))
    except NoPythonError:
        from nacre.remote.reduced_backend import reduced

        return await asyncio.wrap_future(links.submit(reduced(link)))
    return RemoteBackend(link)


class RemoteBackend:
    """Runs commands where a dialer leads; one link for all calls of the program."""

    notice: str | None = None
    keeps = True
    terminals = True
    """Whether a command may have a terminal."""
    has_shells = True
    """Whether the commands of a session share a shell there."""

    def __init__(self, link: Link) -> None:
        """Made by `connect`, over a link that has been up."""
        self.name = link.dialer.name
        self.place: Mapping[str, Any] = link.hello
        """What the machine says about itself: `host`, `python`, `boot`, …"""
        self.environ: Mapping[str, str] = link.hello["environ"]
        """The variables of a login there; commands are planned with these."""
        self.cwd: str = link.hello["cwd"]
        """Where commands begin unless they say otherwise."""
        self._link = link

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> RemoteProcess:
        process = RemoteProcess(self._link, command, listener, self._follow)
        request = request_of(command)
        if job is not None and command.timeout is not None:
            request["timeout"] = command.timeout + LATER_SECONDS
        if job is not None:
            process.follow_from_start(job)
        size = None if command.terminal is None else list(command.terminal)
        links.post(self._link.open, process, request, command.env, size)
        return process

    def shells_for(self, _session: str) -> StartBash:
        """Return what starts the shells of a session there."""
        return partial(start_remote_bash, self._link, self._follow)

    async def health(self) -> Mapping[str, Any]:
        """What the machine says about itself now; raises BackendUnavailableError if it does not answer."""
        return await asyncio.wrap_future(links.submit(self._link.ready()))

    async def quiesce(self) -> list[dict[str, Any]]:
        """Stop what finished commands have left running there, and return it: pid and argv of each.

        For a grader: nothing of the graded commands runs on while the grading does.

        Raises:
            BackendError: commands run there.
        """
        return await asyncio.wrap_future(links.submit(self._link.quiesce()))

    async def aclose(self) -> None:
        """End what runs there in the foreground, and the link."""
        await asyncio.wrap_future(links.submit(self._link.close()))

    def _follow(self, command: Command, listener: Listener, job: NewJob, call: int, seq: int) -> Process:
        """Start the local process of a job: it prints what the command prints, and ends as it ends."""
        source = os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
        spec = json.dumps(
            {
                "dialer": self._link.dialer.describe(),
                "name": self._link.name,
                "call": call,
                "seq": seq,
                "grace": command.grace,
                "lease": JOB_LEASE_SECONDS,
                "directory": None if command.terminal is None else job.directory,
            }
        )
        words = [sys.executable, "-I", "-c", _BOOTSTRAP, source, spec]
        local = replace(
            command,
            script="exec " + " ".join(map(quoted, words)),
            cwd="/",
            env=dict(os.environ),
            names_cwd=False,
            streams="merged",
            prologue="",
            stages=False,
            stdin=None,
            side=False,
            shell="/bin/bash",
            overlay=None,
        )
        return ContainedBackend().start(local, listener, job=job)
