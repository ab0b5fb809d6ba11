"""The far side on another machine: serves the links of one near side, and keeps its calls when a link is cut.

It has a zygote of its own, makes the pipes of each command and reads them, and sends what it reads as numbered events.
A link that is cut costs nothing while the lease of its calls lasts: the next link asks for what it has missed. When the
lease is over the command is ended. A command never runs twice: only `open` starts one, and each has one number.
The module is beyond 350 lines: the parts of one poll loop share its descriptors.
"""

from __future__ import annotations

import array
import contextlib
import os
import select
import signal
import socket
import sys
import termios
import time

from nacre.warden import children, naming, protocol, remote_protocol
from nacre.warden.privacy import become_unreadable
from nacre.warden.remote_call import RemoteCall
from nacre.warden.remote_link import RemoteLink
from nacre.warden.remote_protocol import BEAT_SECONDS, LINGER_SECONDS, SILENT_SECONDS
from nacre.warden.remote_runners import Runners
from nacre.warden.terminal import open_terminal, set_size
from nacre.warden.wakeups import milliseconds_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Handler = Callable[[int], None]

# How many calls may run here at once; each has a few descriptors.
MOST_CALLS = 4096


class RemoteService:
    """One poll loop over links, runners and pipes; every wait is bounded.

    Its methods are the branches of that loop.
    """

    def __init__(self, listener: socket.socket, runners: Runners, identity: dict[str, Any]) -> None:
        self._poll = select.poll()
        self._handlers: dict[int, Handler] = {}
        self._links: dict[int, RemoteLink] = {}
        """By the descriptor that is read."""
        self._calls: dict[int, RemoteCall] = {}
        self._runners = runners
        self._identity = identity
        self._unused_since = time.monotonic()
        self._said_goodbye = False
        """Whether the last link was ended by its near side, which does not come back."""
        self._listener = listener
        self._attend(listener.fileno(), self._accept)

    def serve(self) -> None:
        """Serve until there has been neither a link nor a call for a while."""
        while not self._is_unused():
            for fd, event in self._poll.poll(milliseconds_until(*self._timers())):
                handler = self._handlers.get(fd)
                if handler is not None:
                    handler(event)
            self._look_at_clock()
            self._attend_as_possible()

    def add_link(self, reading: int, writing: int, end: socket.socket | None) -> None:
        link = RemoteLink(reading, writing, end)
        self._links[reading] = link
        self._attend(reading, lambda _: self._hear(link))
        link.send(remote_protocol.hello(**self._identity, calls=sorted(self._calls)))

    # The poll.

    def _attend(self, fd: int, handler: Handler, events: int = select.POLLIN) -> None:
        self._poll.register(fd, events)
        self._handlers[fd] = handler

    def _ignore(self, fd: int) -> None:
        if self._handlers.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def _attend_as_possible(self) -> None:
        """Read the pipes whose events can be told, and write to links and terminals that have something to take."""
        for call in self._calls.values():
            for fd in call.streams:
                # Not with an empty mask: a pipe that is closed would wake the loop without end.
                events = (0 if call.full else select.POLLIN) | (
                    select.POLLOUT if call.has_typed and fd == call.terminal else 0
                )
                if not events:
                    self._ignore(fd)
                elif fd not in self._handlers:
                    self._attend(fd, self._reader(call, fd), events)
                elif call.terminal >= 0:
                    self._poll.modify(fd, events)
        for link in self._links.values():
            if link.unsent_bytes and link.writing not in self._handlers:
                self._attend(link.writing, lambda _, link=link: link.flush(), select.POLLOUT)  # type: ignore[misc]
            elif not link.unsent_bytes:
                self._ignore(link.writing)

    def _timers(self) -> list[float | None]:
        timers: list[float | None] = [call.ends_at for call in self._calls.values()]
        for link in self._links.values():
            timers += [link.said_at + BEAT_SECONDS, link.heard_at + SILENT_SECONDS]
        if not (self._links or self._calls):
            timers.append(self._unused_since + (0.0 if self._said_goodbye else LINGER_SECONDS))
        return timers

    def _look_at_clock(self) -> None:
        now = time.monotonic()
        for link in list(self._links.values()):
            if link.open and now >= link.said_at + BEAT_SECONDS and not link.unsent_bytes:
                link.send(remote_protocol.BEAT_EVENT)
            if not link.open or now >= link.heard_at + SILENT_SECONDS:
                self._drop(link)
        for call in list(self._calls.values()):
            ends_at = call.ends_at
            if ends_at is not None and now >= ends_at:
                self._forget(call)

    def _is_unused(self) -> bool:
        if self._links or self._calls:
            self._unused_since = time.monotonic()
            return False
        return self._said_goodbye or time.monotonic() >= self._unused_since + LINGER_SECONDS

    # Links.

    def _accept(self, _event: int) -> None:
        """Take the descriptors of a new link from the process at its end."""
        end, _ = self._listener.accept()
        numbers = array.array("i")
        end.settimeout(SILENT_SECONDS)
        try:
            _data, ancillary, _flags, _address = end.recvmsg(
                1, socket.CMSG_SPACE(2 * numbers.itemsize), socket.MSG_CMSG_CLOEXEC
            )
        except OSError:
            ancillary = []
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                numbers.frombytes(payload)
        if len(numbers) == 2:
            self.add_link(numbers[0], numbers[1], end)
        else:
            for fd in numbers:
                os.close(fd)
            end.close()

    def _drop(self, link: RemoteLink, *, forget: bool = False) -> None:
        """Go on without a link; its calls wait for another, or are forgotten."""
        self._said_goodbye = forget
        self._ignore(link.reading)
        self._ignore(link.writing)
        self._links.pop(link.reading, None)
        for call in list(self._calls.values()):
            if call.link is link and forget:
                self._forget(call)
            elif call.link is link:
                call.detach()
        link.close()

    def _hear(self, link: RemoteLink) -> None:
        try:
            for body in link.receive():
                self._obey(link, remote_protocol.request_in(body))
        except protocol.FrameError:
            link.open = False
        if not link.open and link.reading in self._links:
            self._drop(link)

    # Requests.

    def _obey(self, link: RemoteLink, request: dict[str, Any]) -> None:
        op = request["op"]
        if op == "open":
            self._open(link, request)
        elif op == "quiesce":
            busy = any(not call.over for call in self._calls.values())
            link.send(remote_protocol.quiesced([] if busy else self._runners.stop_leftovers(), busy=busy))
        elif op == "quit":
            self._drop(link, forget=True)
        elif op != "beat":
            call = self._calls.get(request["call"])
            if call is not None:
                self._obey_about(call, link, request)
            elif op == "attach":
                link.send(remote_protocol.unknown(request["call"]))

    def _obey_about(self, call: RemoteCall, link: RemoteLink, request: dict[str, Any]) -> None:
        op = request["op"]
        if op == "confirm":
            call.confirm(request["seq"])
        elif op == "tell":
            call.runner.send(request["request"])
        elif op == "type":
            call.type_in(request["text"].encode("latin-1"))
        elif op == "size" and call.terminal in call.streams:
            set_size(call.terminal, request["columns"], request["rows"])
        elif op == "attach":
            if call.left_by is not None and call.left_by.open:
                call.left_by.send(remote_protocol.moved(call.number))
            call.attach(link, request["seq"], request["lease"])
        elif op == "detach":
            call.detach(request["lease"])
        elif op == "discard":
            self._discard(call, request["grace"])
        elif op == "forget":
            self._forget(call)

    def _open(self, link: RemoteLink, message: dict[str, Any]) -> None:
        """Start a command; the number of one that is here already is a request that came twice."""
        number = message["call"]
        if number in self._calls:
            return
        link.env = message.get("env", link.env)
        request = message["request"]
        readers: list[int] = []
        writers: list[int] = []
        try:
            if len(self._calls) >= MOST_CALLS:
                raise OSError(None, f"{MOST_CALLS} commands run there already")
            self._make_streams(message, request, readers, writers)
            runner = self._runners.start(request, link.env, writers)
        except (OSError, termios.error) as error:
            for fd in readers:
                os.close(fd)
            link.send(remote_protocol.said(number, 1, protocol.failed("process", error)))
            return
        finally:
            for fd in writers:
                os.close(fd)
        call = RemoteCall(
            number,
            runner,
            readers,
            lease=message["lease"],
            terminal="terminal" in request,
            link=link,
            ignore=self._ignore,
        )
        self._calls[number] = call
        self._attend(runner.reading, lambda _: self._listen(call))
        for fd in readers:
            self._attend(fd, self._reader(call, fd))
        call.say(remote_protocol.OPENED)

    def _make_streams(
        self, message: dict[str, Any], request: dict[str, Any], readers: list[int], writers: list[int]
    ) -> None:
        if "terminal" in request:
            reader, writer = open_terminal(*message["size"])
            readers.append(reader)
            writers.append(writer)
            return
        for _ in range(request["outputs"] + ("side" in request)):
            reader, writer = os.pipe()
            readers.append(reader)
            writers.append(writer)

    # Calls.

    def _reader(self, call: RemoteCall, fd: int) -> Handler:
        def read(event: int) -> None:
            if event & select.POLLOUT:
                call.flush_typed()
            if event != select.POLLOUT and fd in call.streams and not call.full:
                call.read(fd)

        return read

    def _listen(self, call: RemoteCall) -> None:
        """Pass on what the runner says; what the command wrote before belongs before its end."""
        channel = call.runner
        for body in channel.frames():
            event = remote_protocol.event_in(body)
            if event["event"] == "exited":
                call.over = True
                call.idle = not (event["left"] or event.get("stays"))
                call.drain(protocol.SILENCE_SECONDS)
            elif event["event"] == "failed":
                call.over = call.idle = True
            elif event["event"] == "survivors":
                call.idle = not (event["left"] or event["stays"])
            call.say(event)
        if not channel.open:
            self._ignore(channel.reading)
            if not call.over:
                call.over = True
                call.say({"event": "lost", "reason": "its runner was killed"})

    def _discard(self, call: RemoteCall, grace: float) -> None:
        """Have the runner read what the survivors of the command write, so that they do not die of it."""
        readers = call.take_readers()
        message = protocol.keep(fds=len(readers), aside=0, grace=grace, job=None, adopt=None, apart=False)
        call.runner.send(message, readers)
        for fd in readers:
            os.close(fd)

    def _forget(self, call: RemoteCall) -> None:
        del self._calls[call.number]
        call.close()
        self._ignore(call.runner.reading)
        if call.idle:
            self._runners.give(call.runner)
        else:
            # Ends a command that still runs.
            call.runner.sock.close()


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
        }
        service = RemoteService(listener, Runners(), identity)
        service.add_link(reading, writing, end)
        service.serve()
        status = 0
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        os._exit(status)
