"""The event that a caller waits for: a line of output, an open port, a file, or silence. Exactly one of them.

The values, their checks, and whether a port is open. Output is watched by `output/regex_watch.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from nacre.errors import InvalidRequestError, shown
from nacre.regex.automaton import compiled
from nacre.regex.syntax import RegexSyntaxError

KINDS = ("regex", "port", "file", "quiet")
LAST_PORT = 65_535
# A limit of a day keeps the number sane; the call's own limit comes first.
LONGEST_QUIET = 86_400.0
# On the loopback an answer comes at once or never.
CONNECT_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """An event to wait for."""

    regex: str | None = None
    """A line of the output matches it."""
    port: int | None = None
    """Something accepts connections there on this machine."""
    file: str | None = None
    """It exists; a relative path is meant from the command's working directory."""
    quiet: float | None = None
    """Nothing was written for this many seconds."""

    def __post_init__(self) -> None:
        given = [name for name in KINDS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"an event is one of {', '.join(KINDS)}, not {given}")

    def __str__(self) -> str:
        """What is waited for, as the end of a sentence."""
        if self.regex is not None:
            return f"a line matches /{self.regex}/"
        if self.port is not None:
            return f"port {self.port} is open"
        if self.file is not None:
            return f"{self.file} exists"
        return f"no output for {self.quiet:g} s"


def decode_until(value: object, *, field: str = "until") -> Until:
    """Return the event that a model asked for.

    Raises:
        InvalidRequestError: it names the field and what would do.
    """
    if not isinstance(value, Mapping):
        raise InvalidRequestError(
            f"field '{field}' must be an object with one of {_LISTED}, got {shown(value)}", field=field
        )
    for name in value:
        if name not in KINDS:
            place = f"{field}.{name}" if isinstance(name, str) and len(name) <= 80 else f"{field}.{shown(name)}"
            raise InvalidRequestError(f"field '{place}' is unknown; known are {_LISTED}", field=place)
    given = {name: found for name, found in value.items() if found is not None}
    if len(given) != 1:
        names = " and ".join(given) or "none"
        raise InvalidRequestError(f"field '{field}' takes exactly one of {_LISTED}, got {names}", field=field)
    [(name, found)] = given.items()
    problem = _CHECKS[name](found)
    if problem is not None:
        raise InvalidRequestError(f"field '{field}.{name}' {problem}", field=f"{field}.{name}")
    return Until(**{name: found})


_LISTED = ", ".join(KINDS)


def regex_problem(value: object) -> str | None:
    """Return what is wrong with an expression, as the end of a sentence; None when it can be used."""
    if not isinstance(value, str) or not value:
        return f"must be a regular expression as a text, got {shown(value)}"
    if not _is_text(value):
        return f"must be text, got {shown(value)}"
    try:
        compiled(value)
    except RegexSyntaxError as error:
        return f"is {shown(value)}: it {error}"
    return None


def _is_text(value: str) -> bool:
    """Return whether it can be written as bytes: a lone surrogate may stand for none."""
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _port_problem(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LAST_PORT:
        return f"must be a port number from 1 to {LAST_PORT}, got {shown(value)}"
    return None


def _file_problem(value: object) -> str | None:
    if not isinstance(value, str) or not value or "\0" in value or not _is_text(value):
        return f"must be a path, got {shown(value)}"
    return None


def _quiet_problem(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST_QUIET:
        return f"must be a number of seconds above 0, got {shown(value)}"
    return None


_CHECKS = {"regex": regex_problem, "port": _port_problem, "file": _file_problem, "quiet": _quiet_problem}


async def port_open(port: int) -> bool:
    """Return whether something on this machine accepts connections at `port`, by IPv4 or IPv6."""
    answers = await asyncio.gather(
        _accepts(socket.AF_INET, ("127.0.0.1", port)),
        _accepts(socket.AF_INET6, ("::1", port)),
    )
    return any(answers)


async def _accepts(family: socket.AddressFamily, address: tuple[str, int]) -> bool:
    try:
        probe = socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        # A machine without this family has nothing listening on it.
        return False
    with contextlib.closing(probe):
        probe.settimeout(0)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await asyncio.get_running_loop().sock_connect(probe, address)
            # Linux may connect a socket to itself when the port is free and was chosen for its near end.
            return bool(probe.getsockname() != probe.getpeername())
        except (OSError, TimeoutError):
            return False
