"""The floors: the least that any tool must spend, from Python, without nacre."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess

BASH = "/bin/bash"
MIB = 1 << 20


def posix_spawn(script: str) -> None:
    """The raw floor: start, wait, nothing captured."""
    pid = os.posix_spawn(
        BASH, ["bash", "-c", script], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    )
    os.waitpid(pid, 0)


def posix_spawn_read(script: str) -> int:
    """Start, read everything into one reused buffer, wait."""
    reader, writer = os.pipe()
    # Python ignores SIGPIPE; a `yes` that inherited that would complain instead of ending.
    pid = os.posix_spawn(
        BASH,
        ["bash", "-c", script],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)],
        setsigdef=[signal.SIGPIPE],
    )
    os.close(writer)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, MIB)
    buffer = [memoryview(bytearray(MIB))]
    total = 0
    while size := os.readv(reader, buffer):
        total += size
    os.close(reader)
    os.waitpid(pid, 0)
    return total


def subprocess_run(script: str) -> None:
    subprocess.run([BASH, "-c", script], stdin=subprocess.DEVNULL, capture_output=True, check=False)


async def asyncio_exec(script: str) -> None:
    process = await asyncio.create_subprocess_exec(
        BASH,
        "-c",
        script,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    await process.communicate()
