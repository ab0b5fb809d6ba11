"""What every job's runner does, done once before the first fork.

When code runs for the first time, the interpreter and the linker write down what they found out: where a method is,
where a function of libc is. Written here it lies in memory that the runners share; else each of them would write it
into its own copy of the page. Nothing is started and no file is made.
"""

from __future__ import annotations

import os
import signal
import socket

from nacre.warden import children, protocol
from nacre.warden.channel import Channel
from nacre.warden.job_runner import JobWatch, pack_plan
from nacre.warden.memory import MemoryWatch

# Two spellings of one value and another, as commands have them.
HIDDEN = [("FIRST", b"a value of some length"), ("FIRST", b"YSB2YWx1ZSBvZiBzb21lIGxlbmd0aA=="), ("SECOND", b"another1")]


def rehearse() -> None:
    """Watch a job that never was: it writes a line and ends."""
    children.become_subreaper()
    wakeup_read, wakeup_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakeup_write, warn_on_full_buffer=False)
    signal.set_wakeup_fd(-1)
    MemoryWatch()
    near, far = socket.socketpair()
    far = socket.socket(fileno=far.detach())
    reader, writer = os.pipe()
    os.write(writer, b"output\n")
    os.close(writer)
    socket.send_fds(near, [protocol.frame({"op": "job", "fds": 1})], [reader])
    os.close(reader)
    channel = Channel(far)
    for body in channel.frames():
        protocol.starts_job(body)
    watch = JobWatch(channel)
    watch.readers = channel.take_fds()
    handed = [os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC) for _ in range(3)]
    watch.begin(
        pack_plan({"event": "kept", "pid": 0}, limit=1.0, head_bytes=0, cap_bytes=0, hidden=HIDDEN),
        handed,
    )
    near.close()
    watch.until_more(wakeup_read)
    watch.output.flush()
    for fd in (*watch.readers, *handed, wakeup_read, wakeup_write):
        os.close(fd)
    far.close()
