"""A command on a machine without Python: one wire of its own, on which it is started, heard and ended.

What must be decided is decided here, on the loop of `link_thread`: the time limit, the stop ladder, what is left. The
far side only runs, signals and lists. A wire that ends tells nothing about the command, so that is a loss.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Literal, NamedTuple

from nacre.backend import Ending, Listener, PipesOnly, Survivor
from nacre.command import Command, NewJob
from nacre.errors import BackendError, BackendUnavailableError, NacreError, StartError, WorkingDirectoryError
from nacre.remote import reduced_text
from nacre.remote.greeting import READ_BYTES, first_line, line_behind
from nacre.remote.link_thread import links
from nacre.remote.marked_stream import MarkedStream
from nacre.remote.wire import Dialer, Wire

# How long a machine may take to start a command.
START_SECONDS = 20.0
# How long the far side may take to tell something after it was asked, or after a KILL.
ANSWER_SECONDS = 5.0
# The time between two looks whether all of a stopped command is gone.
LOOK_SECONDS = 0.05

Why = Literal["timeout", "stop"]


class Exit(NamedTuple):
    """What the far side says of the shell's end."""

    code: int
    died: bool
    """Whether its sh called that a death by signal; it says nothing of SIGINT and SIGPIPE."""
    left: bool
    """Whether other processes of the session were alive."""


async def open_program(
    dialer: Dialer, program: str, *, split: bool = False, clean: bool = True
) -> tuple[Wire, bytes, bytes]:
    """Run a program of the far side over a new wire; the wire, and what came behind the greetings of its two streams.

    Args:
        split: the error stream is wanted too.
        clean: without the variables of the login.

    Raises:
        BackendUnavailableError: the machine cannot be reached.
        StartError: its error stream was wanted, and does not come by itself.
    """
    word = secrets.token_hex(8)
    wire = await dialer.open(reduced_text.clean_loader(word) if clean else reduced_text.loader(word))
    try:
        said, rest = await first_line(wire, word, dialer.name)
        joined = said == reduced_text.ERRORS
        if joined:
            _, rest = await first_line(wire, word, dialer.name, rest)
        errors: bytes | None = b""
        if split and not joined:
            _, errors = await line_behind(wire.read_errors, word)
        if errors is None or (split and joined):
            raise StartError(f"the way to {dialer.name} does not keep stderr apart; ask for both streams as one")
        wire.write(reduced_text.sent(word, program))
    except BaseException:
        await wire.close()
        raise
    return wire, rest, errors


class ReducedProcess(PipesOnly):
    """One command; its controls may be called on the caller's loop, everything else runs on the link's.

    Half of its methods are the controls of a Process.
    """

    def __init__(self, dialer: Dialer, command: Command, listener: Listener, program: Callable[[str], str]) -> None:
        """With the program of the far side for the command, by the word that marks its lines."""
        self._dialer = dialer
        self._command = command
        self._listener = listener
        self._token = secrets.token_hex(16)
        self._program = program(self._token)
        self._loop = asyncio.get_running_loop()
        self._wire: Wire | None = None
        self._pid: int | None = None
        self._stages: tuple[int, ...] = ()
        self._refused: list[str] = []
        self._alive: list[Survivor] = []
        self._listed: asyncio.Future[None] | None = None
        self._released = False
        self._stop_asked, self._release_asked, self._may_read = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._may_read.set()
        self.closed = links.submit(self._serve())
        """Done when the wire is closed."""

    # Controls, on the caller's loop.

    def stop(self) -> None:
        links.post(self._stop_asked.set)

    def signal(self, number: int) -> None:
        links.post(self._order, str(number))

    async def survivors(self) -> tuple[Survivor, ...]:
        """None: what a command leaves is ended with its shell, and named in its ending."""
        return ()

    def pause(self) -> None:
        links.post(self._may_read.clear)

    async def keep(self, job: NewJob | None, *, adopt: int | None = None) -> None:
        self.stop()
        raise BackendError(f"{self._dialer.name} has no Python, so nothing can go on there in the background")

    def release(self) -> None:
        """Close the wire; the far side ends what still runs."""
        if not self._released:
            self._released = True
            links.post(self._release_asked.set)

    # On the link's loop.

    def _order(self, line: str) -> None:
        if self._wire is not None:
            self._wire.write(f"{line}\n".encode("ascii"))

    async def _serve(self) -> None:
        """Start the command and hear it; close the wire when it has ended, or is released."""
        loop = asyncio.get_running_loop()
        self._started: asyncio.Future[None] = loop.create_future()
        self._exit: asyncio.Future[Exit | None] = loop.create_future()
        self._errors_ended: asyncio.Future[None] = loop.create_future()
        course, released = loop.create_task(self._course()), loop.create_task(self._release_asked.wait())
        try:
            await asyncio.wait([course, released], return_when=asyncio.FIRST_COMPLETED)
        finally:
            course.cancel()
            released.cancel()
            await asyncio.wait([course, released])
            if self._wire is not None:
                await self._wire.close()
        if not course.cancelled() and (error := course.exception()) is not None:
            self._tell(self._listener.failed, BackendError(f"the far side on {self._dialer.name} was not understood"))
            raise error

    async def _course(self) -> None:
        readers = await self._open()
        if readers is None:
            return
        async with asyncio.TaskGroup() as reading:
            tasks = [reading.create_task(one) for one in readers]
            await self._live()
            for task in tasks:
                task.cancel()

    async def _open(self) -> list[Coroutine[Any, Any, None]] | None:
        """Start the command; the readers of its streams, or None if it cannot be started."""
        split = self._command.streams == "split"
        try:
            async with asyncio.timeout(START_SECONDS):
                self._wire, rest, errors = await open_program(self._dialer, self._program, split=split)
        except TimeoutError:
            self._tell(self._listener.failed, BackendUnavailableError(f"{self._dialer.name} did not answer in time"))
            return None
        except NacreError as error:
            self._tell(self._listener.failed, error)
            return None
        readers = [self._read(1, self._wire.read, rest)]
        if split:
            readers.append(self._read(2, self._wire.read_errors, errors))
        else:
            self._errors_ended.set_result(None)
        return readers

    async def _read(self, stream: int, read: Callable[[int], Awaitable[bytes]], first: bytes) -> None:
        """Pass on what comes, one piece after the other, so that a caller that is behind holds the command up."""
        marked = MarkedStream(f"\x01{self._token} ".encode("ascii"))
        data = first or await read(READ_BYTES)
        while data:
            for piece in marked.feed(data):
                if isinstance(piece, bytes):
                    await self._pass_on(stream, piece)
                else:
                    self._hear(piece)
            await self._may_read.wait()
            data = await read(READ_BYTES)
        if rest := marked.rest():
            await self._pass_on(stream, rest)
        # The wire has ended, and nothing more is told.
        for future in (self._errors_ended,) if stream == 2 else (self._started, self._exit, self._listed):
            if future is not None and not future.done():
                future.set_result(None)

    async def _pass_on(self, stream: int, data: bytes) -> None:
        heard = asyncio.Event()

        def hand_on() -> None:
            try:
                if not self._released:
                    self._listener.output(stream, bytearray(data), len(data))
            finally:
                links.post(heard.set)

        self._tell(hand_on)
        await heard.wait()

    def _tell(self, action: Callable[..., None], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(action, *arguments)
        except RuntimeError:
            # The caller's loop is closed, so no task waits for the command any more.
            self._release_asked.set()

    def _hear(self, line: str) -> None:
        """A line of the far side."""
        kind, _, rest = line.partition(" ")
        if kind == "pid":
            self._pid = int(rest)
            self._started.set_result(None)
            self._tell(self._listener.started, self._pid)
        elif kind in ("directory", "failed"):
            error = WorkingDirectoryError(self._command.cwd, rest) if kind == "directory" else StartError(rest)
            self._started.set_exception(error)
        elif kind == "stages":
            self._stages = tuple(int(word) for word in rest.split() if word.isdigit())
        elif kind == "refused":
            self._refused.append(rest)
        elif kind == "alive":
            pid, _, argv = rest.partition(" ")
            self._alive.append(Survivor(int(pid), tuple(argv.rstrip("\x02").split("\x02"))))
        elif kind == "listed" and self._listed is not None and not self._listed.done():
            self._listed.set_result(None)
        elif kind == "exit":
            code, died, left = rest.split(" ")
            self._exit.set_result(Exit(int(code), bool(died), bool(left)))
        elif kind == "end" and not self._errors_ended.done():
            self._errors_ended.set_result(None)

    async def _live(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._started
        except TimeoutError:
            self._tell(self._listener.failed, BackendUnavailableError(f"{self._dialer.name} started no shell in time"))
            return
        except NacreError as error:
            self._tell(self._listener.failed, error)
            return
        why = await self._until_end()
        forced, found, unkillable = False, list[Survivor](), list[Survivor]()
        if why is not None:
            forced, unkillable = await self._stop_all()
        elif (told := self._exit.result()) is not None and told.left:
            with contextlib.suppress(TimeoutError):  # then they cannot be named
                found = await self._list()
            unkillable = await self._kill_all()
        # What the shell wrote before its end belongs before it.
        await asyncio.wait([self._errors_ended], timeout=ANSWER_SECONDS)
        self._end(why, forced=forced, unkillable=unkillable, ended=[one for one in found if one not in unkillable])

    async def _until_end(self) -> Why | None:
        """Wait for the shell's end, its limit or the request to stop; why it is to be stopped."""
        stopping = asyncio.ensure_future(self._stop_asked.wait())
        either: list[asyncio.Future[Any]] = [self._exit, stopping]
        try:
            await asyncio.wait(either, timeout=self._command.timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        if self._exit.done():
            return None
        return "stop" if self._stop_asked.is_set() else "timeout"

    async def _stop_all(self) -> tuple[bool, list[Survivor]]:
        """The stop ladder: whether TERM was not enough, and what even KILL did not end."""
        self._order("TERM")
        try:
            async with asyncio.timeout(self._command.grace):
                await self._until_gone()
            return False, []
        except TimeoutError:
            return True, await self._kill_all()

    async def _kill_all(self) -> list[Survivor]:
        """Kill the session; what is still there after that."""
        self._order("KILL")
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._until_gone()
        except TimeoutError:
            return self._alive
        return []

    async def _until_gone(self) -> None:
        told = await asyncio.shield(self._exit)
        while told is not None and await self._list():  # noqa: ASYNC110 - the machine must be asked
            await asyncio.sleep(LOOK_SECONDS)

    async def _list(self) -> list[Survivor]:
        """What of the command's session is alive."""
        self._alive = []
        self._listed = asyncio.get_running_loop().create_future()
        self._order("list")
        async with asyncio.timeout(ANSWER_SECONDS):
            await self._listed
        return self._alive

    def _end(self, why: Why | None, *, forced: bool, unkillable: list[Survivor], ended: list[Survivor]) -> None:
        told = self._exit.result() if self._exit.done() else None
        lost = None
        if told is None:
            lost = f"the link to {self._dialer.name} was cut; what ran there is ended when it sees that"
        signalled = told is not None and told.died
        notices = []
        if ended:
            named = ", ".join(f"{' '.join(one.argv)} (pid {one.pid})" for one in ended)
            notices.append(f"ended with its shell, because nothing can go on there: {named}")
        if unset := reduced_text.unset_names(self._command.env):
            notices.append(f"variables that its sh cannot set were left out: {', '.join(unset)}")
        ending = Ending(
            pid=self._pid,
            code=None if told is None or signalled else told.code,
            signal=told.code - 128 if told is not None and signalled else None,
            why=why if lost is None else None,
            forced=forced,
            stages=self._stages,
            refused=tuple(self._refused),
            unkillable=tuple(unkillable),
            left=bool(unkillable),
            lost=lost,
            notices=tuple(notices),
        )

        def tell() -> None:
            self._listener.exited(ending)
            for stream in (1, 2):
                self._listener.closed(stream)

        self._tell(tell)
