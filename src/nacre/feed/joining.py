"""Programs that connect to a viewer's socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any


def accept(sock: socket.socket, program: Callable[[], asyncio.Protocol], joining: set[asyncio.Task[Any]]) -> None:
    """Take a connection that waits, and have a protocol serve it; the task that does so is held until it is done."""
    try:
        connection, _ = sock.accept()
    except OSError:
        return  # it has left again, or there is no descriptor for it: it tries again
    connection.settimeout(0.0)
    loop = asyncio.get_running_loop()
    task = loop.create_task(loop.connect_accepted_socket(program, connection))
    joining.add(task)
    task.add_done_callback(joining.discard)
