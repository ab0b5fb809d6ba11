"""A command on another machine, as the engine sees it: events come in on its event loop, controls go to the link."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Literal

from nacre.backend import Ending, Listener, Process, Survivor, pipes_only
from nacre.backends.runner_talk import ending_of, survivor_of
from nacre.backends.start_errors import start_error
from nacre.command import Command, NewJob
from nacre.errors import BackendError, BackendUnavailableError, NacreError
from nacre.remote.link import Link
from nacre.remote.link_thread import links
from nacre.warden import protocol, remote_protocol
from nacre.warden.remote_protocol import CONFIRM_BYTES, HANDOVER_SECONDS, OUTPUT_HEADER_BYTES

# How long the far side may take to answer a question, on top of the way there.
ANSWER_SECONDS = 5.0

StartFollower = Callable[[Command, Listener, NewJob, int, int], Process]


class RemoteProcess:
    """One call on a link; its events are numbered, so that none is told twice after a new connection.

    Half of its methods are the controls of a Process; the others take one event of the link each.
    """

    def __init__(self, link: Link, command: Command, listener: Listener, follow: StartFollower) -> None:
        """With the function that starts the local process of a job, from the event after the number it is given."""
        self.number = secrets.randbits(62)
        self.seq = 0
        self._link = link
        self._command = command
        self._listener = listener
        self._follow = follow
        self._loop = asyncio.get_running_loop()
        self._events: deque[tuple[int, Mapping[str, Any] | bytes]] = deque()
        self._told_seq = 0
        """The number of the last event that the listener was told."""
        self._unconfirmed = 0
        self._answer: asyncio.Future[Mapping[str, Any]] | None = None
        self._opened: Callable[[], None] | None = None
        self._moved: asyncio.Future[None] | None = None
        self._handing: asyncio.Task[None] | None = None
        self._over = self._paused = self._released = False
        self.when_released: Callable[[], None] | None = None
        """Told when the engine gives the process up."""
        self._pid: int | None = None
        self._local: Process | None = None
        """The process on this machine that follows the command, once it is a job."""
        self._owner: Literal["link", "none yet", "follower"] = "link"
        """What answers for the call: the program's link, nothing while it is handed over, or a job's follower.

        A hand-over that fails gives the call back to the link. A call that no follower has is ended with the release.
        """

    # On the link's loop.

    def put(self, event: Mapping[str, Any] | bytes) -> None:
        self._events.append((self.seq, event))

    def wake(self) -> None:
        self._on_loop(self._deliver)

    def refused(self, error: NacreError) -> None:
        self._on_loop(self._refused, error)

    def lost(self, reason: str) -> None:
        self._on_loop(self._lost, reason)

    def moved(self) -> None:
        self._on_loop(self._has_moved)

    def _on_loop(self, action: Callable[..., None], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(action, *arguments)
        except RuntimeError:
            # The caller's loop is closed, so no task waits for the command any more.
            self._link.forget(self)

    # On the caller's loop.

    def _deliver(self) -> None:
        while self._events and not self._paused and not self._released:
            self._take(*self._events.popleft())

    def _take(self, seq: int, event: Mapping[str, Any] | bytes) -> None:
        self._told_seq = seq
        if isinstance(event, bytes):
            _, stream, _ = remote_protocol.output_in(event)
            data = bytearray(memoryview(event)[OUTPUT_HEADER_BYTES:])
            self._output(stream, data)
            self._unconfirmed += len(event)
            if self._unconfirmed >= CONFIRM_BYTES:
                self._confirm()
        elif event["event"] == "closed":
            self._listener.closed(event["stream"])
        else:
            self._handle(event["message"])

    def _output(self, stream: int, data: bytearray) -> None:
        self._listener.output(stream, data, len(data))

    def _confirm(self) -> None:
        self._unconfirmed = 0
        links.post(self._link.send, remote_protocol.confirm(self.number, self._told_seq))

    def _handle(self, event: Mapping[str, Any]) -> None:
        kind = event["event"]
        if kind == "opened":
            if self._opened is not None:
                self._opened()
        elif kind == "started":
            self._pid = event["pid"]
            self._listener.started(event["pid"])
        elif kind == "exited":
            self._over = True
            self._listener.exited(ending_of(event))
        elif kind == "failed":
            self._over = True
            error = start_error(event["step"], event["errno"], event["reason"], self._command)
            self._listener.failed(error)
        elif kind == "lost":
            self._lost(event["reason"])
        elif kind == "look":
            return  # for the follower of a job, which has a terminal here
        elif self._answer is not None and not self._answer.done():
            self._answer.set_result(event)

    def _has_moved(self) -> None:
        # One that comes too late is the follower of a hand-over that was given up, and is ended.
        if self._moved is not None and not self._moved.done():
            self._owner = "follower"
            self._moved.set_result(None)

    def _refused(self, error: NacreError) -> None:
        if not self._over:
            self._over = True
            self._listener.failed(error)

    def _lost(self, reason: str) -> None:
        if not self._over:
            self._over = True
            self._listener.exited(Ending(pid=self._pid, lost=reason))
            for stream in (1, 2):
                self._listener.closed(stream)
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(BackendUnavailableError(reason))

    # Controls.

    def stop(self) -> None:
        if self._local is not None:
            self._local.stop()
        else:
            self._tell(protocol.stop(self._command.grace))

    def signal(self, number: int) -> None:
        self._tell(protocol.send_signal(number))

    def write(self, data: bytes) -> None:
        self._check_terminal()
        links.post(self._link.send, remote_protocol.type_in(self.number, data.decode("latin-1")))

    def resize(self, columns: int, rows: int) -> None:
        self._check_terminal()
        links.post(self._link.send, remote_protocol.resize(self.number, columns, rows))

    def _check_terminal(self) -> None:
        if self._command.terminal is None:
            raise pipes_only()

    async def survivors(self) -> tuple[Survivor, ...]:
        try:
            answer = await self._ask(remote_protocol.tell(self.number, protocol.NAME_SURVIVORS))
        except (TimeoutError, BackendError):
            return ()
        return tuple(survivor_of(entry) for entry in answer.get("survivors", ()))

    def pause(self) -> None:
        self._paused = True

    async def keep(self, job: NewJob | None, *, adopt: int | None = None) -> None:
        if self._local is not None:
            return
        grace = self._command.grace
        try:
            if adopt is not None:
                follow = protocol.keep(fds=0, aside=0, grace=grace, job=None, adopt=adopt, apart=False)
                await self._ask(remote_protocol.tell(self.number, follow))
            elif job is None:
                self._paused = False
                await self._ask(remote_protocol.discard(self.number, grace))
        except TimeoutError as error:
            raise BackendUnavailableError("the other machine did not answer, so the command cannot be kept") from error
        if job is not None:
            await self._hand_over(job)

    def follow_from_start(self, job: NewJob) -> None:
        """Have a local process follow the command as a job, from its first byte, once the far side has taken it."""

        async def go_on() -> None:
            try:
                await self._hand_over(job)
            except NacreError as error:
                self._refused(error)

        def opened() -> None:
            # What has come already, even its end, is the follower's to tell: before it there is no job.
            self._paused = True
            self._handing = self._loop.create_task(go_on())

        self._opened = opened

    async def _hand_over(self, job: NewJob) -> None:
        """Have a local process follow the command from here on; the job is announced when it does."""
        moved = self._moved = self._loop.create_future()
        local = _LocalListener(self._listener, moved)
        self._paused = True
        self._owner = "none yet"
        links.post(self._link.leave, self)
        self._local = self._follow(self._command, local, job, self.number, self._told_seq)
        try:
            async with asyncio.timeout(HANDOVER_SECONDS):
                await moved
        except TimeoutError as error:
            self._take_back(local)
            raise BackendUnavailableError("the process that follows the job did not reach the machine") from error
        except NacreError:
            self._take_back(local)
            raise
        local.announce()

    def _take_back(self, local: _LocalListener) -> None:
        """Answer for the call again: no follower has reached it."""
        local.given_up = True
        follower, self._local = self._local, None
        if follower is not None:
            follower.stop()
            follower.release()
        self._paused = False
        self._owner = "link"
        links.post(self._link.attach, self)
        self._deliver()

    def leave_running(self) -> None:
        if self._local is not None:
            self._local.leave_running()  # type: ignore[attr-defined]

    def release(self) -> None:
        if self._released:
            return
        self._released = True
        if self.when_released is not None:
            self.when_released()
        if self._local is not None:
            self._local.release()
        if self._owner != "follower":
            links.post(self._link.forget, self)
        if self._handing is not None:
            self._handing.cancel()

    # Requests.

    def _tell(self, request: Mapping[str, Any]) -> None:
        links.post(self._link.send, remote_protocol.tell(self.number, request))

    async def _ask(self, message: Mapping[str, object]) -> Mapping[str, Any]:
        self._answer = self._loop.create_future()
        try:
            links.post(self._link.send, message)
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._answer
        finally:
            self._answer = None


class _LocalListener:
    """Hears the local process of a job; that it has started is told when it follows the command."""

    def __init__(self, listener: Listener, moved: asyncio.Future[None]) -> None:
        self._listener = listener
        self._moved = moved
        self.given_up = False
        """Whether the program has the command back, so that this process says nothing about it."""
        self._pid: int | None = None
        self.output = listener.output
        self.closed = listener.closed

    def announce(self) -> None:
        self._listener.started(self._pid or 0)

    def started(self, pid: int) -> None:
        self._pid = pid

    def exited(self, ending: Ending) -> None:
        if self.given_up:
            return
        if self._moved.done():
            self._listener.exited(ending)
        else:
            self._moved.set_exception(BackendUnavailableError("the process that follows the job ended at once"))

    def failed(self, error: NacreError) -> None:
        if self.given_up:
            return
        if self._moved.done():
            self._listener.failed(error)
        else:
            self._moved.set_exception(error)
