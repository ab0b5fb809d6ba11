"""The way out of a sandbox whose network is a list of hosts: a process outside that connects to those and no others.

It listens on a socket that was made inside the network namespace, so nothing has to run there, and no socket of this
machine can be seen from inside. Names are looked up here.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
import time

from nacre.warden import children
from nacre.warden.allowed_hosts import AllowedHosts
from nacre.warden.protocol import PROXY_PORT
from nacre.warden.proxy_protocol import ProxyError, ProxyReader
from nacre.warden.refusals import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from nacre.warden.allowed_hosts import HostRule
    from nacre.warden.cell import Cell
    from nacre.warden.proxy_protocol import ProxyRequest

CONNECT_SECONDS = 30.0
REQUEST_SECONDS = 30.0
IDLE_SECONDS = 600.0
MOST_CONNECTIONS = 256
_PIECE_BYTES = 65536


def start_proxy(cell: Cell, hosts: list[HostRule], log: str) -> int:
    """Start the proxy of a cell; returns its pid. It ends with this process. Raises OSError."""
    listener = _listener_inside(cell)
    runner = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            children.die_with_parent(runner)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            _serve(listener, AllowedHosts(hosts), log)
        finally:
            os._exit(1)
    listener.close()
    return child


def _listener_inside(cell: Cell) -> socket.socket:
    """A socket that listens in the cell's network; made by a child, because this process stays where it is."""
    near, far = socket.socketpair()
    with near, far:
        child = os.fork()
        if child == 0:
            try:
                cell.enter()
                inside = socket.create_server(("127.0.0.1", PROXY_PORT), backlog=MOST_CONNECTIONS)
                socket.send_fds(far, [b"+"], [inside.fileno()])
                os._exit(0)
            except OSError as error:
                far.send((error.strerror or str(error)).encode("utf-8", "replace"))
            finally:
                os._exit(1)
        far.close()
        said, fds, _, _ = socket.recv_fds(near, 4096, 1)
        os.waitpid(child, 0)
    if not fds:
        raise OSError(f"no proxy can be made for the sandbox: {said.decode('utf-8', 'replace')}")
    return socket.socket(fileno=fds[0])


def _serve(listener: socket.socket, hosts: AllowedHosts, log: str) -> NoReturn:
    # Nothing of the runner's stays open here: the pipes of a command end with the command.
    kept = listener.fileno()
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    room = threading.BoundedSemaphore(MOST_CONNECTIONS)
    while True:
        room.acquire()
        client, _ = listener.accept()
        threading.Thread(target=_serve_one, args=(client, hosts, log, room), daemon=True).start()


def _serve_one(client: socket.socket, hosts: AllowedHosts, log: str, room: threading.BoundedSemaphore) -> None:
    try:
        with client:
            client.settimeout(REQUEST_SECONDS)
            request = _request(client)
            if request is not None and (upstream := _connected(client, request, hosts, log)) is not None:
                with upstream:
                    upstream.sendall(request.forward)
                    _copy(client, upstream)
    except OSError:
        return  # either side has gone
    finally:
        room.release()


def _request(client: socket.socket) -> ProxyRequest | None:
    reader = ProxyReader()
    until = time.monotonic() + REQUEST_SECONDS
    while time.monotonic() < until and (data := client.recv(_PIECE_BYTES)):
        try:
            request, answer = reader.feed(data)
        except ProxyError as error:
            client.sendall(error.answer)
            return None
        if answer:
            client.sendall(answer)
        if request is not None:
            return request
    return None


def _connected(client: socket.socket, request: ProxyRequest, hosts: AllowedHosts, log: str) -> socket.socket | None:
    """A connection to what the client asks for, if it may have one; it is answered either way."""
    place = f"{request.host}:{request.port}"
    if not hosts.allows(request.host, request.port):
        note(log, place, runner=os.getppid())
        client.sendall(request.refused(f"{place} is not among the hosts that may be reached (sandbox.network)"))
        return None
    try:
        addresses = hosts.addresses(request.host, request.port)
    except OSError as error:
        client.sendall(request.failed(f"{place}: {error.strerror or error}"))
        return None
    if not addresses:
        note(log, place, runner=os.getppid())
        client.sendall(request.refused(f"{place} is on this machine or a private network, and its address not listed"))
        return None
    reason = ""
    for family, address in addresses:
        upstream = socket.socket(family, socket.SOCK_STREAM)
        upstream.settimeout(CONNECT_SECONDS)
        try:
            upstream.connect(address)
        except OSError as error:
            upstream.close()
            reason = error.strerror or str(error)
            continue
        client.sendall(request.accepted())
        return upstream
    client.sendall(request.failed(f"{place}: {reason}"))
    return None


def _copy(client: socket.socket, upstream: socket.socket) -> None:
    """Pass bytes both ways until both sides have ended, or nothing has come for a long time."""
    other = {client: upstream, upstream: client}
    for side in other:
        side.settimeout(IDLE_SECONDS)
    open_sides = set(other)
    while open_sides:
        ready, _, _ = select.select(list(open_sides), [], [], IDLE_SECONDS)
        if not ready:
            return
        for side in ready:
            data = side.recv(_PIECE_BYTES)
            if data:
                other[side].sendall(data)
            else:
                open_sides.discard(side)
                other[side].shutdown(socket.SHUT_WR)
