"""Tells the viewers of a state directory what this program's calls do, from a thread that lives while there are any.

A call hands over its events and goes on: nothing here waits for a viewer. What a viewer asks (stop a call, answer a
question, type into a terminal) comes back over the same connection.
"""

from __future__ import annotations

import atexit
import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from nacre import forks, handover
from nacre.feed.feed_directory import PERSON, connect, viewers
from nacre.feed.shown_call import FeedEvent, ShownCall
from nacre.feed.viewer_link import ViewerGoneError, ViewerLink

# Output of one call is told no more often than this; what comes in between is in the next event.
INTERVAL_SECONDS = 0.05
# How often a program that has viewers looks for others.
LOOK_SECONDS = 0.5
# How long a program that ends waits for viewers that do not read.
LAST_SECONDS = 0.25

Answer = Callable[[dict[str, Any]], None]
"""Takes what a viewer answered to a question; called on the publisher's thread."""


class Publisher:
    """The viewers of one directory, and the calls that are shown to them.

    It has a method for each thing that calls tell, and those of the thread that sends it, all under one lock.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._lock = threading.RLock()
        self._links: dict[str, ViewerLink] = {}
        self._calls: dict[str, ShownCall] = {}
        self._questions: dict[str, Answer] = {}
        self._thread: threading.Thread | None = None
        self._wakeup: tuple[socket.socket, socket.socket] | None = None
        self._look_at = 0.0
        forks.hold(self)

    # What calls tell.

    def begin(self, call: ShownCall) -> bool:
        """Show a call from now on; False if there is no viewer after all."""
        with self._lock:
            self._look()
            if not self._links:
                return False
            if call.call in self._calls:
                return True  # a person was asked about it before
            self._calls[call.call] = call
            self._tell(call.first_events())
            if call.has_news:
                self._show(call)
            return True

    def has_person(self) -> bool:
        """True if a viewer shows terminals to a person, who can type."""
        with self._lock:
            self._look()
            return any(name.endswith(PERSON) for name in self._links)

    def is_shown(self, call: str) -> bool:
        return call in self._calls

    def look(self) -> None:
        """Connect to new viewers of the calls that are shown: the thread that does so ended with the last viewer."""
        with self._lock:
            if time.monotonic() >= self._look_at:
                self._look()

    def output(self, call: str, data: bytes | memoryview) -> None:
        """Show output, already without hidden values: at once if there was none a moment ago."""
        with self._lock:
            shown = self._calls.get(call)
            if shown is None:
                return
            waited = shown.has_news
            shown.feed(data)
            if time.monotonic() - shown.told_at >= INTERVAL_SECONDS:
                self._show(shown)
            elif not waited:
                self._wake()

    def tell(self, call: str, kind: str, *, lasting: bool = False, **facts: Any) -> None:
        """Tell an event of a running call.

        Args:
            lasting: a viewer that comes later is told it too.
        """
        with self._lock:
            shown = self._calls.get(call)
            if shown is None:
                return
            event = shown.event(kind, **facts)
            if lasting:
                shown.said.append(event)
            if shown.has_news:
                self._show(shown)
            self._tell([event])

    def settle(self, call: str, question: str, **facts: Any) -> None:
        """Tell that a question is over: a viewer that comes later is not asked it."""
        with self._lock:
            shown = self._calls.get(call)
            if shown is not None:
                shown.said = [event for event in shown.said if event.get("question") != question]
            self.tell(call, "approval", question=question, **facts)

    def end(self, call: str, **facts: Any) -> None:
        """Tell the end of a call, after the rest of its output."""
        with self._lock:
            shown = self._calls.pop(call, None)
            if shown is None:
                return
            self._show(shown, final=True)
            self._tell([shown.event("end", **facts)])

    def leave(self, call: str, **facts: Any) -> None:
        """Tell that a call has become a job: what it writes from here on is in the job's file."""
        with self._lock:
            shown = self._calls.pop(call, None)
            if shown is None:
                return
            self._show(shown, final=True)
            self._tell([shown.event("job", **facts)])

    def once(self, event: FeedEvent) -> bool:
        """Tell an event of no running call; False if there is no viewer."""
        with self._lock:
            self._look()
            self._tell([event])
            return bool(self._links)

    def handle(self, call: str, **handlers: Any) -> None:
        """Set what is done when a viewer asks to stop a call, or to type into it."""
        with self._lock:
            shown = self._calls.get(call)
            if shown is not None:
                for name, handler in handlers.items():
                    setattr(shown, name, handler)

    # Questions.

    def ask(self, question: str, answer: Answer) -> None:
        """Take answers to a question that viewers were told of, until `asked`."""
        with self._lock:
            self._questions[question] = answer

    def asked(self, question: str) -> None:
        with self._lock:
            self._questions.pop(question, None)

    # Sending.

    def _show(self, call: ShownCall, *, final: bool = False) -> None:
        text, dropped = call.take(final=final)
        if text or dropped:
            for link in self._links.values():
                link.show(call, text, dropped)
            self._send()

    def _tell(self, events: list[FeedEvent]) -> None:
        for link in self._links.values():
            for event in events:
                link.tell(event)
        self._send()

    def _send(self) -> None:
        for name, link in list(self._links.items()):
            try:
                link.send()
            except ViewerGoneError:
                self._give_up(name)
        if any(link.waits for link in self._links.values()):
            self._wake()

    def _drop(self, name: str) -> None:
        self._links.pop(name).close()

    def _give_up(self, name: str) -> None:
        """Hang up; a viewer that was killed has left its socket, which no later call should have to find."""
        self._drop(name)
        with forks.held_off:
            lives = connect(self._directory, name)
            if lives is not None:
                lives.close()

    # Viewers.

    def _look(self) -> None:
        """Connect to viewers that are new; each is told what runs."""
        self._look_at = time.monotonic() + LOOK_SECONDS
        names = viewers(self._directory)
        for name in set(names) - set(self._links):
            with forks.held_off:
                sock = connect(self._directory, name)
                if sock is None:
                    continue
                link = self._links[name] = ViewerLink(sock)
            for call in self._calls.values():
                for event in call.first_events():
                    link.tell(event)
            self._wake()
        if self._links and self._thread is None:
            self._start_thread()

    def _start_thread(self) -> None:
        with forks.held_off:
            self._wakeup = socket.socketpair()
            for end in self._wakeup:
                end.settimeout(0.0)
        self._thread = threading.Thread(target=self._serve, name="nacre-feed", daemon=True)
        atexit.register(self.close)
        self._thread.start()

    def _wake(self) -> None:
        # The thread itself looks at everything anyway; a full pipe wakes it too.
        if self._wakeup is not None and threading.current_thread() is not self._thread:
            with contextlib.suppress(OSError):
                self._wakeup[1].send(b"w")

    # The thread.

    def _serve(self) -> None:
        while True:
            with self._lock:
                if self._thread is not threading.current_thread():
                    return
                if not self._links:
                    self._stop_thread()
                    return
                waiting = select.poll()
                assert self._wakeup is not None
                waiting.register(self._wakeup[0], select.POLLIN)
                for link in self._links.values():
                    waiting.register(link.sock, select.POLLIN | (select.POLLOUT if link.waits else 0))
                pause = INTERVAL_SECONDS if any(one.has_news for one in self._calls.values()) else LOOK_SECONDS
            waiting.poll(pause * 1000)
            with self._lock:
                if self._thread is not threading.current_thread():
                    return
                answers = self._turn()
            for answer in answers:
                answer()

    def _turn(self) -> list[Callable[[], None]]:
        """Send and receive what can be; returns what viewers asked for, to be done without the lock."""
        assert self._wakeup is not None
        with contextlib.suppress(BlockingIOError):
            while self._wakeup[0].recv(4096):
                pass
        wanted: list[Callable[[], None]] = []
        for name, link in list(self._links.items()):
            try:
                for asked in link.requests():
                    wanted += self._wish(asked)
            except ViewerGoneError:
                self._give_up(name)
        now = time.monotonic()
        for call in self._calls.values():
            if call.has_news and now - call.told_at >= INTERVAL_SECONDS:
                self._show(call)
        self._send()
        if now >= self._look_at:
            self._look()
        return wanted

    def _wish(self, asked: dict[str, Any]) -> list[Callable[[], None]]:
        what, call = asked.get("do"), self._calls.get(str(asked.get("call")))
        if what == "answer":
            answer = self._questions.get(str(asked.get("question")))
            return [] if answer is None else [lambda: answer(asked)]
        if what == "stop" and call is not None and call.stop is not None:
            return [call.stop]
        if what == "keep" and call is not None and call.keep is not None:
            return [call.keep]
        if what == "handOver":
            handover.put(str(asked.get("session")), str(asked.get("text")))
            return []
        text, write = asked.get("text"), None if call is None else call.write
        if what == "write" and isinstance(text, str) and write is not None:
            return [lambda: write(text)]
        columns, rows, resize = asked.get("columns"), asked.get("rows"), None if call is None else call.resize
        if what == "resize" and isinstance(columns, int) and isinstance(rows, int) and resize is not None:
            return [lambda: resize(columns, rows)]
        return []

    # The end.

    def close(self) -> None:
        """Send viewers the rest if they read it soon, then hang up."""
        end = time.monotonic() + LAST_SECONDS
        with self._lock:
            for call in self._calls.values():
                self._show(call)
            while (slow := [one.sock for one in self._links.values() if one.waits]) and time.monotonic() < end:
                select.select([], slow, [], max(0.0, end - time.monotonic()))
                self._send()
            for name in list(self._links):
                self._drop(name)
            thread = self._thread
            if thread is not None:
                self._wake()
                self._stop_thread()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _stop_thread(self) -> None:
        self._thread = None
        atexit.unregister(self.close)
        if self._wakeup is not None:
            for end in self._wakeup:
                end.close()
            self._wakeup = None

    def drop(self, *, close: bool) -> None:
        """Start anew in a fork: the viewers are the parent's, and so are its calls."""
        self._lock = threading.RLock()
        for link in self._links.values():
            forks.close_or_forget(link.sock, close=close)
        for end in self._wakeup or ():
            forks.close_or_forget(end, close=close)
        self._links, self._calls, self._questions = {}, {}, {}
        self._thread = self._wakeup = None


_publishers: dict[str, Publisher] = {}


def publisher_for(directory: str) -> Publisher:
    """Return the publisher of a directory; a program has one for each."""
    found = _publishers.get(directory)
    return found if found is not None else _publishers.setdefault(directory, Publisher(directory))
