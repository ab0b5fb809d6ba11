"""The work of a job's runner, done a few times in the zygote before the first one is forked.

The interpreter changes a function during its first calls: it replaces instructions by faster ones and remembers the
results of lookups. Without this, every runner would do that in memory of its own, and keep that memory while its job
runs. The record docs/decisions/memory-of-a-runner.md has the figures.
"""

from __future__ import annotations

import os
import socket

from nacre.warden import naming, protocol
from nacre.warden.channel import Channel, send_fds
from nacre.warden.job_runner import JobWatch, pack_plan, send_plan
from nacre.warden.runner import Runner

# Python 3.11 changes a function at its eighth call, and its instructions in the calls after that.
_ROUNDS = 12


def rehearse() -> None:
    """Take a request, receive the plan of a job and watch it for no time; start no process."""
    request = protocol.frame({"op": "job"})
    plan = pack_plan(protocol.kept(os.getpid()), limit=0.0, head_bytes=1, cap_bytes=2, hidden=[])
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    for _ in range(_ROUNDS):
        caller, sock = socket.socketpair()
        send_fds(caller, request, [null])
        channel = Channel(sock)
        (body,) = channel.frames()
        runner = Runner(channel, {})
        runner.read_later(body, channel.take_fds())
        naming.rename(b"nacre-warden")
        near, far = socket.socketpair()
        send_plan(far, plan, [null, null, null])
        far.close()
        watch = JobWatch(channel)
        watch.readers = []
        watch.receive_plan(near)
        watch.until_more(runner.wakeup)
        watch.close()
        runner.discard()
        caller.close()
    os.close(null)
