"""Follows the feed of a state directory: for `nacre events`, `nacre watch`, the TUI and the page.

A follower announces itself; every program that runs commands there connects to it and tells what its calls do. Jobs
are read from their files. `seq` counts the events of this follower from 1, without a gap; the events of one call come
in the order in which they happened.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from collections import deque
from typing import Any, Literal, Self

from nacre.feed import directory_of
from nacre.feed.feed_directory import announce, peer_of, withdraw
from nacre.feed.followed_jobs import FollowedJobs
from nacre.feed.joining import accept
from nacre.feed.shown_call import VERSION, FeedEvent
from nacre.output.redaction.redactor import Redactor
from nacre.regular_file import is_far
from nacre.warden import children, path_lookup

# How often the files of jobs are looked at.
TICK_SECONDS = 0.1
# A viewer that does not read: programs are not read either then, and drop output by themselves.
MOST_EVENTS = 2_000
# A command may be long; a longer line comes from no nacre.
MOST_LINE_BYTES = 64 * 1024 * 1024
# How many ended calls are remembered, so that a program that connects again repeats nothing.
MOST_ENDED = 4_096

Decision = Literal["once", "session", "always", "deny"]
"""What a person answers to an approval."""


class Follower:
    """One viewer of the feed: an async iterator of events.

    A method for each thing that a viewer asks, and those that the sockets call.
    """

    def __init__(self, state_dir: str, *, redactor: Redactor | None = None, person: bool = False) -> None:
        """Follow the feed of a state directory.

        Args:
            redactor: hides this program's own secrets in the output of jobs.
            person: whether terminals are shown to a person, who can type: `pty: true` then gives one in the foreground.
        """
        self._person = person
        self._state_dir = os.path.abspath(state_dir)
        self._jobs = FollowedJobs(self._state_dir, redactor)
        self._events: deque[FeedEvent] = deque()
        self._fresh = asyncio.Event()
        self._seq = 0
        self._programs: set[_Program] = set()
        self._open: dict[str, FeedEvent] = {}
        """The calls that run in the foreground, by id: what every event of each says."""
        self._ended: dict[str, None] = {}
        self._orphans: dict[str, tuple[int, int | None]] = {}
        """Calls whose program has hung up: its pid and start time."""
        self._projects: dict[str, str] = {}
        self._sock: socket.socket | None = None
        self._path: str | None = None
        self._ticking: asyncio.Task[None] | None = None
        self._joining: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        """Announce the viewer; raises NacreError where the directory cannot be used."""
        self._sock, self._path = announce(directory_of(self._state_dir), person=self._person)
        asyncio.get_running_loop().add_reader(self._sock, self._accept)
        self._ticking = asyncio.create_task(self._tick())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._path is not None
        assert self._sock is not None
        withdraw(self._path)
        asyncio.get_running_loop().remove_reader(self._sock)
        self._sock.close()
        if self._joining:
            await asyncio.wait(self._joining)
        for program in list(self._programs):
            program.hang_up()
        # The transports close their sockets in the next turn of the loop.
        await asyncio.sleep(0)
        if self._ticking is not None:
            self._ticking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._ticking
        self._jobs.close()

    def _accept(self) -> None:
        assert self._sock is not None
        accept(self._sock, lambda: _Program(self), self._joining)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> FeedEvent:
        while not self._events:
            self._fresh.clear()
            await self._fresh.wait()
        if len(self._events) <= MOST_EVENTS // 2:
            for program in self._programs:
                program.go_on()
        return self._events.popleft()

    @property
    def is_full(self) -> bool:
        return len(self._events) >= MOST_EVENTS

    # What a viewer asks.

    def answer(self, call: str, question: str, decision: Decision) -> bool:
        """Answer an approval; False if its program is not there any more."""
        return self._ask(call, {"do": "answer", "question": question, "decision": decision})

    def stop(self, call: str) -> bool:
        """Have a call or job stopped; False if it does not run."""
        job_id = self.job_of(call)
        if job_id is not None:
            self._jobs.stop(job_id)
            return True
        return self._ask(call, {"do": "stop", "call": call})

    def keep(self, call: str) -> bool:
        """Have a call on a terminal go on as a job, which answers its agent now; False if it runs in no program."""
        return self._ask(call, {"do": "keep", "call": call})

    def write(self, call: str, text: str) -> bool:
        """Type into the terminal of a foreground call; False if it does not run there."""
        return self._ask(call, {"do": "write", "call": call, "text": text})

    def resize(self, call: str, columns: int, rows: int) -> bool:
        """Change the size of the terminal of a foreground call; False if it does not run there."""
        return self._ask(call, {"do": "resize", "call": call, "columns": columns, "rows": rows})

    def write_job(self, job_id: str, data: bytes) -> None:
        """Type into the terminal of a job; raises JobError."""
        self._jobs.write(job_id, data)

    def hand_over(self, session: str, text: str) -> bool:
        """Have the next answer of an agent's session carry a text, once; False if its program is not there."""
        for program in self._programs:
            if session in program.sessions:
                program.ask({"do": "handOver", "session": session, "text": text})
                return True
        return False

    def job_of(self, call: str) -> str | None:
        """Return the id of the running job that a call has become; a job's own id is taken, too."""
        running = self._jobs.running
        return running.get(call) or (call if call in running.values() else None)

    def _ask(self, call: str, request: dict[str, Any]) -> bool:
        for program in self._programs:
            if call in program.calls:
                program.ask(request)
                return True
        return False

    # What programs and files tell.

    def heard(self, program: _Program, event: FeedEvent) -> None:
        """Take an event of a program; one that was told before is left out."""
        call, kind = str(event.get("call")), event.get("event")
        if kind == "start":
            known = call in self._open or call in self._ended
            program.calls.add(call)
            if event.get("session") is not None:
                program.sessions.add(str(event["session"]))
            self._orphans.pop(call, None)
            if known:
                return
            self._open[call] = {name: event.get(name) for name in ("call", "surface", "session", "directory", "pid")}
        elif call in self._ended:
            return
        if kind == "job" and not event.get("attended"):
            program.calls.discard(call)
            common = self._open.pop(call, None)
            self.put(event)
            if common is not None:
                self._jobs.take_over(str(event["jobId"]), common, int(event.get("offset") or 0))
            return
        if kind == "end":
            program.calls.discard(call)
            self._close(call)
        self.put(event)

    def _close(self, call: str) -> None:
        self._open.pop(call, None)
        self._ended[call] = None
        while len(self._ended) > MOST_ENDED:
            del self._ended[next(iter(self._ended))]

    def put(self, event: FeedEvent) -> None:
        self._seq += 1
        directory = event.pop("directory", None)
        event.setdefault("project", self._project_of(directory) if isinstance(directory, str) else None)
        order = {"v": event.pop("v", VERSION), "seq": self._seq}
        self._events.append(order | event)
        self._fresh.set()

    def _project_of(self, directory: str) -> str:
        known = self._projects.get(directory)
        if known is None:
            if len(self._projects) > MOST_ENDED:
                self._projects.clear()
            known = directory if is_far(directory) else path_lookup.project_of(directory)
            self._projects[directory] = known
        return known

    def joined(self, program: _Program) -> None:
        self._programs.add(program)

    def left(self, program: _Program) -> None:
        """A program has hung up: what it ran in the foreground ends with it, unless it comes back."""
        self._programs.discard(program)
        for call in program.calls:
            common = self._open.get(call)
            pid = None if common is None else common.get("pid")
            if isinstance(pid, int):
                self._orphans[call] = (pid, program.start_time)

    async def _tick(self) -> None:
        while True:
            if not self.is_full:
                for event in self._jobs.news(set(self._open)):
                    if event["event"] == "end":
                        self._close(str(event["call"]))
                    self.put(event)
                self._bury()
            await asyncio.sleep(TICK_SECONDS)

    def _bury(self) -> None:
        """Tell the end of the calls whose program is gone; one that has become a job goes on."""
        for call, (pid, started) in list(self._orphans.items()):
            if started is not None and children.start_time(pid) == started:
                continue
            del self._orphans[call]
            common = self._open.get(call)
            if common is not None:
                self._close(call)
                facts = {"outcome": "lost", "error": "the program that ran it is gone"}
                self.put({"v": VERSION, "event": "end", **common, **facts})


class _Program(asyncio.Protocol):
    """A program that has connected."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._transport: asyncio.Transport | None = None
        self._rest = b""
        self._paused = False
        self.calls: set[str] = set()
        self.sessions: set[str] = set()
        self.start_time: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        sock: socket.socket = transport.get_extra_info("socket")
        pid, uid = peer_of(sock)
        if uid != os.geteuid():
            transport.abort()
            return
        self.start_time = children.start_time(pid)
        self._follower.joined(self)

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MOST_LINE_BYTES:
            self.hang_up()
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # half a line of a program that was killed in the middle
            if isinstance(event, dict):
                self._follower.heard(self, event)
        if self._follower.is_full and self._transport is not None and not self._paused:
            self._transport.pause_reading()
            self._paused = True

    def connection_lost(self, error: Exception | None) -> None:
        self._follower.left(self)

    def go_on(self) -> None:
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()

    def ask(self, request: dict[str, Any]) -> None:
        if self._transport is not None:
            self._transport.write(json.dumps(request).encode("ascii") + b"\n")

    def hang_up(self) -> None:
        if self._transport is not None:
            self._transport.abort()
