"""Commands on a machine without Python: its `sh` is the far side, and promises less."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Mapping
from functools import partial
from typing import Any

from nacre.backend import Listener, Process, no_terminal
from nacre.command import Command, NewJob
from nacre.errors import BackendError, BackendUnavailableError, StartError
from nacre.remote import reduced_text
from nacre.remote.greeting import READ_BYTES
from nacre.remote.link import CONNECT_SECONDS, Link
from nacre.remote.link_thread import links
from nacre.remote.marked_stream import MarkedStream
from nacre.remote.reduced_process import ReducedProcess, open_program
from nacre.remote.remote_backend import RemoteBackend
from nacre.warden.launch import MAX_ARGUMENT_BYTES
from nacre.warden.remote_protocol import SILENT_SECONDS

# It is one argument, and the quotes of a prologue take room.
MOST_SCRIPT_BYTES = MAX_ARGUMENT_BYTES // 2
NOT_PROMISED = (
    "a process that leaves its session is not found",
    "a link that is cut ends the command, and its result is unknown",
    "no shell is kept: each command begins in the same directory and environment",
    "nothing goes on in the background",
    "no terminals, sandbox or budgets of the machine",
    "a death by SIGINT or SIGPIPE looks like exit code 130 or 141",
)
NOT_PROMISED_WITHOUT_BASH = (
    "commands run in sh, because there is no bash",
    "the codes of a pipeline's stages are not told",
)
NOT_PROMISED_WITHOUT_ENV = ("variables that are kept from a command can be read from /proc, because there is no env",)


async def reduced(link: Link) -> ReducedBackend:
    """The backend for the machine of a link that found no Python; called on the link's loop.

    Raises:
        BackendUnavailableError: it lacks what even the reduced far side needs.
    """
    link.hello = await facts_of(link)
    return ReducedBackend(link)


async def facts_of(link: Link) -> dict[str, Any]:
    """What the machine's sh says about it; raises BackendUnavailableError."""
    name, token = link.dialer.name, secrets.token_hex(16)
    marked = MarkedStream(f"\x01{token} ".encode("ascii"))
    told: dict[str, str] = {}
    environ = b""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            wire, data, _ = await open_program(link.dialer, reduced_text.probe(token), clean=False)
            try:
                while "end" not in told:
                    for piece in marked.feed(data):
                        if isinstance(piece, bytes):
                            environ += piece
                        else:
                            key, _, value = piece.partition(" ")
                            told[key] = value
                    if "end" not in told and not (data := await wire.read(READ_BYTES)):
                        raise BackendUnavailableError(f"the sh of {name} ended at once: {await wire.complaint()}")
            finally:
                await wire.close()
    except TimeoutError as error:
        raise BackendUnavailableError(f"{name} did not answer in time") from error
    if not told.get("setsid") or not told.get("processes"):
        missing = "setsid" if not told.get("setsid") else "a readable /proc"
        raise BackendUnavailableError(
            f"nacre cannot work on {name}: it has neither Python 3.9 or newer nor {missing}; install Python there"
        )
    missing_too = (
        *(() if told["bash"] else NOT_PROMISED_WITHOUT_BASH),
        *(() if told["env"] else NOT_PROMISED_WITHOUT_ENV),
    )
    return {
        "host": told["host"],
        "boot": told["boot"],
        "cwd": told["cwd"],
        "python": None,
        "shell": told["bash"] or told["sh"],
        "notPromised": [*missing_too, *NOT_PROMISED],
        "environ": _environ_in(environ),
    }


def _environ_in(data: bytes) -> dict[str, str]:
    """The variables as /proc has them, or, where it has none, as `env` prints them."""
    entries = data.split(b"\0" if b"\0" in data else b"\n")
    pairs = (os.fsdecode(entry).partition("=") for entry in entries if b"=" in entry)
    return {name: value for name, _, value in pairs}


class ReducedBackend(RemoteBackend):
    """Runs each command on a wire of its own, by the machine's sh. What it cannot promise is in every result."""

    has_shells = False
    keeps = False
    terminals = False

    def __init__(self, link: Link) -> None:
        """Made by `connect`; the link is never up, it has the dialer and what the machine has told."""
        super().__init__(link)
        missing = "; ".join(self.place["notPromised"])
        self.notice = f"{self.name} has no Python 3.9 or newer, so less is promised: {missing}"
        self._shell: str = self.place["shell"]
        self._running: set[ReducedProcess] = set()
        links.at_end(self._close)

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:  # type: ignore[override]
        self._check(command, job)
        process = ReducedProcess(
            self._link.dialer,
            command,
            listener,
            partial(reduced_text.program_of, command, self._shell, login=self.environ),
        )
        self._running.add(process)
        process.closed.add_done_callback(lambda _: self._running.discard(process))
        return process

    def _check(self, command: Command, job: NewJob | None) -> None:
        """Raise a StartError for what this far side cannot do."""
        lacks = f"{self.name} has no Python 3.9 or newer"
        if command.terminal is not None:
            raise no_terminal()
        if job is not None:
            raise StartError(f"{lacks}, so no command can go on there in the background; run it in the foreground")
        if command.needs_place:
            raise StartError(f"{lacks}, so no command can be confined there; run it without a sandbox")
        if command.stdin is not None:
            raise StartError(f"{lacks}, so a command cannot read a fifo there")
        if command.prologue and os.path.basename(self._shell) != "bash":
            raise StartError(
                f"{self.name} has no bash, so the guard cannot watch this command: it removes what only the shell "
                "will know; name what it removes"
            )
        if len(os.fsencode(command.script + command.prologue)) > MOST_SCRIPT_BYTES:
            raise StartError(f"{lacks}, so a script there has at most {MOST_SCRIPT_BYTES} bytes; send it as a file")

    async def health(self) -> Mapping[str, Any]:
        return await asyncio.wrap_future(links.submit(facts_of(self._link)))

    async def quiesce(self) -> list[dict[str, Any]]:
        """Refused: what has left its session cannot be found there, so nothing can be said about it."""
        raise BackendError(f"{self.name} has no Python 3.9 or newer, so what commands have left cannot be found there")

    async def aclose(self) -> None:
        """End what runs there."""
        await asyncio.wrap_future(links.submit(self._close()))

    async def _close(self) -> None:
        running = list(self._running)
        for process in running:
            process.release()
        if running:
            await asyncio.wait([asyncio.wrap_future(one.closed) for one in running], timeout=SILENT_SECONDS)
