"""The far side on another machine: serves the links of one near side, and keeps its calls when a link is cut.

It has a zygote of its own, makes the pipes of each command and reads them, and sends what it reads as numbered events.
A link that is cut costs nothing while the lease of its calls lasts: the next link asks for what it has missed. When the
lease is over the command is ended. A command never runs twice: only `open` starts one, and each has one number.
A turn of its loop looks only at the calls and links to which something happened: each notes itself when it changes.
"""

from __future__ import annotations

import os
import select
import socket
import termios
import time

from nacre.warden import protocol, remote_protocol
from nacre.warden.call_ends import CallEnds
from nacre.warden.due_times import DueTimes
from nacre.warden.remote_call import RemoteCall
from nacre.warden.remote_link import RemoteLink, received_descriptors
from nacre.warden.remote_protocol import BEAT_SECONDS, LINGER_SECONDS, SILENT_SECONDS
from nacre.warden.remote_runners import Runners
from nacre.warden.remote_terminal import look_at_terminal
from nacre.warden.terminal import LOOK_SECONDS, set_size
from nacre.warden.wakeups import milliseconds_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Handler = Callable[[int], None]

# How many calls may run here at once; each has a few descriptors.
MOST_CALLS = 4096


class RemoteService:
    """One poll loop over links, runners and pipes; every wait is bounded.

    Its methods are the branches of that loop.
    """

    def __init__(self, listener: socket.socket, runners: Runners, identity: dict[str, Any]) -> None:
        self._poll = select.epoll()
        self._handlers: dict[int, Handler] = {}
        self._links: dict[int, RemoteLink] = {}
        """By the descriptor that is read."""
        self._calls: dict[int, RemoteCall] = {}
        self._changed_links: set[RemoteLink] = set()
        self._changed_calls: set[RemoteCall] = set()
        """What a turn has to look at: each adds itself when what it waits for may have changed."""
        self._due = DueTimes()
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
            self.turn()
        self._poll.close()

    def turn(self) -> None:
        """Wait until something happens, and do what follows from it."""
        unused = None
        if not (self._links or self._calls):
            unused = self._unused_since + (0.0 if self._said_goodbye else LINGER_SECONDS)
        wait = milliseconds_until(self._due.first, unused)
        for fd, event in self._poll.poll(None if wait is None else wait / 1000):
            handler = self._handlers.get(fd)
            if handler is not None:
                handler(event)
        self._due.look(time.monotonic())
        self._attend_as_possible()

    def add_link(self, reading: int, writing: int, end: socket.socket | None) -> None:
        link = RemoteLink(reading, writing, end, self._changed_links)
        self._links[reading] = link
        self._attend(reading, lambda _: self._hear(link))
        link.send(remote_protocol.hello(**self._identity))
        self._due.add(link.said_at + BEAT_SECONDS, lambda now: self._look_at(link, now))

    # The poll.

    def _attend(self, fd: int, handler: Handler, events: int = select.EPOLLIN) -> None:
        self._poll.register(fd, events)
        self._handlers[fd] = handler

    def _ignore(self, fd: int) -> None:
        if self._handlers.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def _attend_as_possible(self) -> None:
        """Read the pipes whose events can be told, and write to links and terminals that have something to take."""
        while self._changed_links or self._changed_calls:
            while self._changed_links:
                self._attend_link(self._changed_links.pop())
            while self._changed_calls:
                self._attend_call(self._changed_calls.pop())

    def _attend_link(self, link: RemoteLink) -> None:
        if link.reading not in self._links or self._links[link.reading] is not link:
            return
        if not link.open:
            self._drop(link)
        elif not link.unsent_bytes:
            self._ignore(link.writing)
        elif link.writing not in self._handlers:
            self._attend(link.writing, lambda _: link.flush(), select.EPOLLOUT)
        if link.unsent_bytes <= protocol.MOST_UNSENT_BYTES:
            self._changed_calls |= link.held
            link.held.clear()

    def _attend_call(self, call: RemoteCall) -> None:
        if self._calls.get(call.number) is not call:
            return
        call.tell_report()
        full = call.full
        for fd in call.streams:
            # Not with an empty mask: a pipe that is closed would wake the loop without end.
            events = (0 if full else select.EPOLLIN) | (
                select.EPOLLOUT if call.has_typed and fd == call.terminal else 0
            )
            if not events:
                self._ignore(fd)
            elif fd not in self._handlers:
                self._attend(fd, self._reader(call, fd), events)
            elif call.terminal >= 0:
                self._poll.modify(fd, events)
        if full and call.link is not None:
            call.link.held.add(call)
        ends_at = call.ends_at
        if ends_at is not None and ends_at != call.watched_end:
            call.watched_end = ends_at
            self._due.add(ends_at, lambda now: self._look_at_lease(call, now))
        look_at = call.look_at
        if look_at is not None and look_at != call.watched_look:
            call.watched_look = look_at
            self._due.add(look_at, call.look_again)

    # The clock.

    def _look_at(self, link: RemoteLink, now: float) -> float | None:
        """Say something on a silent link, or give it up; when to look again."""
        if self._links.get(link.reading) is not link:
            return None
        if now >= link.heard_at + SILENT_SECONDS:
            self._drop(link)
            return None
        if now >= link.said_at + BEAT_SECONDS and not link.unsent_bytes:
            link.send(remote_protocol.BEAT_EVENT)
        said_at = now if link.unsent_bytes else link.said_at
        return min(said_at + BEAT_SECONDS, link.heard_at + SILENT_SECONDS)

    def _look_at_terminal(self, call: RemoteCall, now: float) -> float | None:
        return look_at_terminal(call, now) if self._calls.get(call.number) is call else None

    def _look_at_lease(self, call: RemoteCall, now: float) -> float | None:
        """End a call that has been without a link for too long; when to look again."""
        ends_at = call.ends_at
        if self._calls.get(call.number) is not call or ends_at is None or ends_at != call.watched_end:
            return None
        if now >= ends_at:
            self._forget(call)
            return None
        return ends_at

    def _is_unused(self) -> bool:
        if self._links or self._calls:
            self._unused_since = time.monotonic()
            return False
        return self._said_goodbye or time.monotonic() >= self._unused_since + LINGER_SECONDS

    # Links.

    def _accept(self, _event: int) -> None:
        """Take the descriptors of a new link from the process at its end."""
        end, _ = self._listener.accept()
        fds = received_descriptors(end)
        if len(fds) == 2:
            self.add_link(fds[0], fds[1], end)
        else:
            for fd in fds:
                os.close(fd)
            end.close()

    def _drop(self, link: RemoteLink, *, forget: bool = False) -> None:
        """Go on without a link; its calls wait for another, or are forgotten."""
        self._said_goodbye = forget
        self._ignore(link.reading)
        self._ignore(link.writing)
        self._links.pop(link.reading, None)
        for call in list(link.calls):
            if forget:
                self._forget(call)
            else:
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
            shells = {call.shell.pid for call in self._calls.values() if call.shell is not None}
            busy = any(not (call.over or call.rests) for call in self._calls.values())
            link.send(remote_protocol.quiesced([] if busy else self._runners.stop_leftovers(shells), busy=busy))
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
            call.tell_runner(request["request"])
        elif op == "shell" and call.shell is not None:
            call.confirm(request["seq"])
            call.shell.obey(request)
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
            call.discard(request["grace"])
        elif op == "forget":
            self._forget(call)

    def _open(self, link: RemoteLink, message: dict[str, Any]) -> None:
        """Start a command; the number of one that is here already is a request that came twice."""
        number = message["call"]
        if number in self._calls:
            return
        link.env = message.get("env", link.env)
        request = message["request"]
        try:
            if len(self._calls) >= MOST_CALLS:
                raise OSError(None, f"{MOST_CALLS} commands run there already")
            ends = CallEnds(request, message.get("size"))
            try:
                runner = self._runners.start(request, link.env, ends.passed)
            except OSError:
                ends.close()
                raise
            finally:
                ends.close_passed()
        except (OSError, termios.error) as error:
            link.send(remote_protocol.said(number, 1, protocol.failed("process", error)))
            return
        call = RemoteCall(
            number,
            runner,
            ends.streams,
            lease=message["lease"],
            terminal=ends.terminal,
            shell=ends.shell,
            link=link,
            ignore=self._ignore,
            changed=self._changed_calls,
        )
        self._calls[number] = call
        self._attend(runner.reading, lambda _: self._listen(call))
        for fd in ends.streams:
            self._attend(fd, self._reader(call, fd))
        if ends.shell is not None:
            self._attend(ends.shell.reading, call.hear_shell)
        call.say(remote_protocol.OPENED)
        if call.terminal >= 0:
            self._due.add(time.monotonic() + LOOK_SECONDS, lambda now: self._look_at_terminal(call, now))

    # Calls.

    def _reader(self, call: RemoteCall, fd: int) -> Handler:
        def read(event: int) -> None:
            if event & select.EPOLLOUT:
                call.flush_typed()
            if event != select.EPOLLOUT and fd in call.streams and not call.full:
                call.read(fd)
            # A call that is full is not read, and must not wake the loop again.
            self._changed_calls.add(call)

        return read

    def _listen(self, call: RemoteCall) -> None:
        """Pass on what the runner says; what the command wrote before belongs before its end."""
        channel = call.runner
        for body in channel.frames():
            event = remote_protocol.event_in(body)
            if event["event"] == "exited":
                call.over = True
                call.idle = not (event["left"] or event.get("stays"))
                call.end()
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

    def _forget(self, call: RemoteCall) -> None:
        del self._calls[call.number]
        call.close()
        self._ignore(call.runner.reading)
        if call.idle:
            self._runners.give(call.runner)
        else:
            # Ends a command that still runs.
            call.runner.sock.close()
