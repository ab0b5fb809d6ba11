"""One link to the far side on another machine, kept up while there are calls on it.

All of it runs on the loop of `link_thread`. A connection that is cut is made again; the far side then sends what was
missed. What the far side does not know any more is lost, and never run again.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from typing import Any, Protocol

from nacre.errors import BackendError, BackendUnavailableError, NacreError
from nacre.remote import boot
from nacre.remote.greeting import READ_BYTES, first_line
from nacre.remote.link_thread import links
from nacre.remote.wire import Dialer, Wire
from nacre.warden import protocol, remote_protocol
from nacre.warden.remote_protocol import BEAT_SECONDS, HANDOVER_SECONDS, LEASE_SECONDS, SILENT_SECONDS

# How long a machine may take to answer at all.
CONNECT_SECONDS = 20.0
RETRY_SECONDS = (0.1, 0.3, 1.0, 2.0)
# How long the far side may take to end a connection that is not wanted any more.
QUIT_SECONDS = 2.0


class NoPythonError(BackendUnavailableError):
    """The machine can be reached, and has no Python that the far side runs on."""


class Receiver(Protocol):
    """A call, as the link sees it; every method is called on the link's loop and must not block."""

    number: int
    seq: int
    """The number of its last event."""

    def put(self, event: Mapping[str, Any] | bytes) -> None:
        """Take an event; output as the body of its frame."""

    def wake(self) -> None:
        """Have what was put handled."""

    def refused(self, error: NacreError) -> None:
        """Nothing was started."""

    def lost(self, reason: str) -> None:
        """The far side does not answer for it any more."""

    def moved(self) -> None:
        """Another link has taken it over."""


class Link:
    """The calls of this program on one machine.

    Its methods share the one connection, its numbers and its lease.
    """

    def __init__(self, dialer: Dialer, name: str | None = None, *, patience: float = LEASE_SECONDS) -> None:
        """With the name of the service there, if another process has made it.

        For `patience` seconds after a cut the machine is dialled again, and the far side keeps the calls.
        """
        self.dialer = dialer
        self.name = name or secrets.token_hex(12)
        self.hello: Mapping[str, Any] = {}
        """What the far side has said about itself."""
        self._patience = patience
        self._wire: Wire | None = None
        self._calls: dict[int, Receiver] = {}
        self._leaving: dict[int, Receiver] = {}
        """Calls that another link takes over."""
        self._unsent: list[Mapping[str, object]] = []
        self._ready: asyncio.Future[Mapping[str, Any]] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._cut_at: float | None = None
        self._closed = False
        self._quiesced: asyncio.Future[Mapping[str, Any]] | None = None
        self._env: Mapping[str, str] | None = None
        """The environment that the far side has of this link."""
        links.at_end(self.close)

    # For the processes of calls, on the link's loop.

    def open(
        self, receiver: Receiver, request: Mapping[str, Any], env: Mapping[str, str], size: list[int] | None
    ) -> None:
        """Start a command there."""
        self._calls[receiver.number] = receiver
        known = self._env is not None and self._env == env
        self._env = env
        message = remote_protocol.open_call(
            receiver.number, request, env=None if known else dict(env), lease=self._patience, size=size
        )
        self.send(message)

    def attach(self, receiver: Receiver) -> None:
        """Hear the events of a call that another link has started, or that no other link has taken over."""
        self._leaving.pop(receiver.number, None)
        self._calls[receiver.number] = receiver
        if self._wire is not None:
            self.send(remote_protocol.attach(receiver.number, receiver.seq, self._patience))
        else:
            self._keep_up()

    def leave(self, receiver: Receiver) -> None:
        """Hear no more of a call, which another link takes over."""
        if self._calls.pop(receiver.number, None) is not None:
            self._leaving[receiver.number] = receiver
            self.send(remote_protocol.detach(receiver.number, HANDOVER_SECONDS))

    def forget(self, receiver: Receiver) -> None:
        """End the call there."""
        known = self._calls.pop(receiver.number, None) or self._leaving.pop(receiver.number, None)
        if known is not None:
            self.send(remote_protocol.forget(receiver.number))

    def send(self, message: Mapping[str, object]) -> None:
        """Send a request, now or when there is a connection."""
        if self._wire is not None:
            self._wire.write(protocol.frame(message))
            return
        self._unsent.append(message)
        self._keep_up()

    @property
    def is_up(self) -> bool:
        """Whether there is a connection now; may be asked on any thread."""
        return self._wire is not None

    async def ready(self) -> Mapping[str, Any]:
        """Connect, and return what the far side says about itself; raises BackendUnavailableError."""
        if self.hello and self._wire is not None:
            return self.hello
        self._keep_up()
        assert self._ready is not None
        return await asyncio.shield(self._ready)

    async def quiesce(self) -> list[dict[str, Any]]:
        """Have the far side stop what finished commands have left; raises BackendError while commands run."""
        await self.ready()
        answer = self._quiesced = asyncio.get_running_loop().create_future()
        self.send(remote_protocol.QUIESCE)
        async with asyncio.timeout(CONNECT_SECONDS):
            event = await answer
        if event["busy"]:
            raise BackendError(f"commands run on {self.dialer.name}; wait for them before what they leave is stopped")
        found: list[dict[str, Any]] = event["found"]
        return found

    async def cut(self) -> None:
        """Drop the connection without a message, as a network does."""
        if self._wire is not None:
            await self._wire.close()

    async def close(self) -> None:
        """End the calls there and the connection."""
        self._closed = True
        keeping = self._keeping
        if keeping is None or keeping.done():
            return
        if self._wire is not None:
            # The far side then closes the connection, so that this has arrived.
            self._wire.write(protocol.frame(remote_protocol.QUIT))
            await asyncio.wait([keeping], timeout=QUIT_SECONDS)
        if not keeping.done():
            keeping.cancel()
            await asyncio.wait([keeping])
        calls, self._calls = self._calls, {}
        for receiver in calls.values():
            receiver.lost(f"the link to {self.dialer.name} was closed")

    # The connection.

    def _keep_up(self) -> None:
        if self._keeping is None or self._keeping.done():
            self._ready = asyncio.get_running_loop().create_future()
            # Retrieved here, so that an error that no caller waits for is no warning.
            self._ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())
            self._keeping = asyncio.get_running_loop().create_task(self._connections())

    async def _connections(self) -> None:
        """Have a connection while it is needed; a machine that cannot be reached ends every call."""
        attempt = 0
        while not self._closed:
            try:
                async with asyncio.timeout(self._connect_seconds()):
                    wire = await self._connect()
            except (BackendUnavailableError, TimeoutError) as error:
                if self._may_retry():
                    await asyncio.sleep(RETRY_SECONDS[min(attempt, len(RETRY_SECONDS) - 1)])
                    attempt += 1
                    continue
                self._give_up(error)
                return
            attempt, self._cut_at = 0, None
            try:
                await self._serve(wire)
            finally:
                self._wire = self._env = None
                await wire.close()
            self._cut_at = time.monotonic()
            if not self._calls:
                return

    def _connect_seconds(self) -> float:
        """How long a connection may take: after a cut, no longer than the calls are kept."""
        if self._cut_at is None or not self._calls:
            return CONNECT_SECONDS
        return max(0.1, min(CONNECT_SECONDS, self._cut_at + self._patience - time.monotonic()))

    def _may_retry(self) -> bool:
        """Whether a connection that was cut is worth another try: the far side keeps calls for the time of a lease."""
        return self._cut_at is not None and bool(self._calls) and time.monotonic() < self._cut_at + self._patience

    def _give_up(self, error: Exception) -> None:
        what = error if isinstance(error, BackendUnavailableError) else None
        error = what or BackendUnavailableError(f"{self.dialer.name} did not answer in time")
        calls, self._calls, self._unsent = self._calls, {}, []
        was_cut, self._cut_at = self._cut_at is not None, None
        for receiver in calls.values():
            if not was_cut:
                receiver.refused(error)
            else:
                receiver.lost(f"the link to {self.dialer.name} was cut: {error}")
        assert self._ready is not None
        if not self._ready.done():
            self._ready.set_exception(error)

    async def _connect(self) -> Wire:
        word = secrets.token_hex(8)
        wire = await self.dialer.open(boot.first_text(word, self.name))
        try:
            said, rest = await first_line(wire, word, self.dialer.name)
            if said == "new":
                wire.write(boot.archive())
            elif said != "known":
                if said == "no-python":
                    raise NoPythonError(f"nacre cannot work on {self.dialer.name}: it has no Python 3.9 or newer")
                reason = said.removeprefix("failed ")
                raise BackendUnavailableError(f"nacre cannot work on {self.dialer.name}: {reason}")
            self._frames = protocol.FrameReader()
            await self._greeting(wire, rest)
        except BaseException:
            await wire.close()
            raise
        return wire

    async def _greeting(self, wire: Wire, rest: bytes) -> None:
        bodies = list(self._frames.bodies(rest))
        while not bodies:
            data = await wire.read(READ_BYTES)
            if not data:
                last = await wire.complaint()
                reason = last or "it gave no reason"
                raise BackendUnavailableError(f"the far side on {self.dialer.name} ended at once: {reason}")
            bodies = list(self._frames.bodies(data))
        self.hello = remote_protocol.event_in(bodies[0])
        if self.hello.get("version") != remote_protocol.VERSION:
            raise BackendUnavailableError(
                f"another version of nacre serves {self.dialer.name}; wait until it has ended"
            )
        self._early = bodies[1:]

    async def _serve(self, wire: Wire) -> None:
        """Hear events until the connection ends."""
        opened = {message["call"] for message in self._unsent if message["op"] == "open"}
        for number, receiver in self._calls.items():
            if number not in opened:
                wire.write(protocol.frame(remote_protocol.attach(number, receiver.seq, self._patience)))
        for message in self._unsent:
            wire.write(protocol.frame(message))
        self._unsent = []
        self._wire = wire
        assert self._ready is not None
        if not self._ready.done():
            self._ready.set_result(self.hello)
        self._heard_at = time.monotonic()
        beating = asyncio.get_running_loop().create_task(self._beat(wire))
        try:
            self._hand_out(self._early)
            while data := await wire.read(READ_BYTES):
                self._heard_at = time.monotonic()
                self._hand_out(self._frames.bodies(data))
        except protocol.FrameError:
            # What follows cannot be read; a new connection begins anew.
            return
        finally:
            beating.cancel()

    async def _beat(self, wire: Wire) -> None:
        """Say something now and then, and end a connection that says nothing."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            wire.write(protocol.frame(remote_protocol.BEAT_REQUEST))
            if time.monotonic() > self._heard_at + SILENT_SECONDS:
                await wire.close()
                return

    def _hand_out(self, bodies: Any) -> None:
        touched: dict[int, Receiver] = {}
        for body in bodies:
            if remote_protocol.is_output(body):
                number, _, seq = remote_protocol.output_in(body)
                event: Mapping[str, Any] | bytes = body
            else:
                event = remote_protocol.event_in(body)
                if event["event"] == "quiesced" and self._quiesced is not None and not self._quiesced.done():
                    self._quiesced.set_result(event)
                if "call" not in event:
                    continue
                number, seq = event["call"], event.get("seq", 0)
                if event["event"] == "moved" and number in self._leaving:
                    self._leaving.pop(number).moved()
            receiver = self._calls.get(number)
            if receiver is None:
                continue
            if not isinstance(event, bytes) and event["event"] == "unknown":
                del self._calls[number]
                receiver.lost(f"the far side on {self.dialer.name} does not know it any more: it was restarted")
            elif seq > receiver.seq:
                receiver.seq = seq
                receiver.put(event)
                touched[number] = receiver
        for receiver in touched.values():
            receiver.wake()
