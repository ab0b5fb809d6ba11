"""The floors: the least that any tool must spend, from Python, without nacre."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess

BASH = "/bin/bash"
MIB = 1 << 20


def posix_spawn(script: str) -> int:
    """The raw floor: start, wait, nothing captured; the exit code."""
    pid = os.posix_spawn(
        BASH, ["bash", "-c", script], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    )
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def posix_spawn_read(script: str) -> tuple[bytes, int]:
    """Start, read everything into one reused buffer, wait; the last piece read and the exit code."""
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
    buffer = bytearray(MIB)
    views = [memoryview(buffer)]
    last = 0
    while size := os.readv(reader, views):
        last = size
    os.close(reader)
    return bytes(buffer[:last]), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def subprocess_run(script: str, timeout: float) -> tuple[str, int]:
    """What most programs do."""
    done = subprocess.run(
        [BASH, "-c", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout,
        check=False,
    )
    return done.stdout.decode(errors="replace"), done.returncode


async def asyncio_exec(script: str, timeout: float) -> tuple[str, int]:
    """What most asynchronous programs do."""
    process = await asyncio.create_subprocess_exec(
        BASH,
        "-c",
        script,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), timeout)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    assert process.returncode is not None
    return output.decode(errors="replace"), process.returncode
