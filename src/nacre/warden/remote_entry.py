"""Becomes the remote service: called by the text that a near side sends to another machine."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import sys

from nacre.warden import children, naming
from nacre.warden.privacy import become_unreadable
from nacre.warden.remote_runners import Runners
from nacre.warden.remote_service import RemoteService

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main(directory: str, name: str) -> NoReturn:
    """Become the service `name`, with standard input and output as its first link."""
    listener = socket.socket(socket.AF_UNIX)
    path = os.path.join(directory, name)
    with contextlib.suppress(FileNotFoundError):
        # Of a service that was killed: one that lives would have taken this link.
        os.unlink(path)
    listener.bind(path)
    listener.listen()
    end, waiting = socket.socketpair()
    if os.fork():
        # This process is the end of the link: what reached it may end the link with it.
        for held in (listener, end):
            held.close()
        waiting.recv(1)
        os._exit(0)
    waiting.close()
    os.setsid()
    reading, writing = (os.dup(fd) for fd in (0, 1))
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    environment = dict(os.environ)
    home = os.getcwd()
    os.chdir("/")
    become_unreadable()
    naming.find_arguments()
    naming.rename(b"nacre-remote")
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    status = 1
    try:
        identity = {
            "name": name,
            "pid": os.getpid(),
            "boot": children.boot_id(),
            "host": socket.gethostname(),
            "python": "{}.{}.{}".format(*sys.version_info[:3]),
            "environ": environment,
            "cwd": home,
            "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        }
        # An ancestor of the commands may look at what they do with their terminals.
        children.become_subreaper()
        service = RemoteService(listener, Runners(), identity)
        service.add_link(reading, writing, end)
        service.serve()
        status = 0
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        os._exit(status)
