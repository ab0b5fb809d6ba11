"""This program's warden: starts it when first needed, asks it for runners, keeps a few idle ones.

One for the whole process and all its threads and event loops, because a runner's socket belongs to no loop. A fork of
the program drops its copies (`forks`), so that a child neither uses nor keeps alive what belongs to its parent.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping

from nacre import forks
from nacre.errors import BackendUnavailableError
from nacre.warden import children, protocol
from nacre.warden.channel import is_quiet
from nacre.warden.protocol import IDLE_USABLE_SECONDS
from nacre.warden_client.interpreter import start_interpreter
from nacre.warden_client.runner_link import NOW, FirstRequest, Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio

    from nacre.warden.messages import Request

# Idle runners kept for the next call; a burst makes more, which end when they are given back.
IDLE_RUNNERS = 4

# Of requests on the way to the warden; what waits here can still be given to a runner that becomes idle.
CONTROL_BYTES = 16 * 1024
RETRY_SECONDS = 0.002
# How long the process that starts the warden may take to end when the warden is given up.
INTERMEDIATE_SECONDS = 1.0

# Lent to the far side, which takes values out of the output of jobs.
REDACTOR = "nacre.output.redaction.redactor"
# The zygote collects once, when it has loaded.
_BOOTSTRAP = (
    "import gc, sys; gc.disable(); sys.path.insert(0, sys.argv[1]); "
    "from nacre.warden import zygote; zygote.main(int(sys.argv[2]), sys.argv[3])"
)


def unsupported_reason() -> str | None:
    """Why commands cannot be contained here; None when they can."""
    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has no subreaper"
    if not sys.executable or not os.access(sys.executable, os.X_OK):
        return "the Python interpreter's own path is unknown, so no supervisor can be started"
    if not hasattr(os, "pidfd_open") or not os.path.exists("/proc/self/stat"):
        return "/proc or pidfd is missing"
    if not children.has_own_proc():
        return "/proc is that of another pid namespace"
    return None


class Warden:
    """The far side of this process, as seen from here.

    Its methods share the lock and the queue of requests that wait for a runner.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._ready = False
        self._pids: tuple[int, ...] = ()
        self._env: Mapping[str, str] | None = None
        """The environment that the warden has; a runner has it from there."""
        self._intermediate: subprocess.Popen[bytes] | None = None
        self._idle: list[Link] = []
        self._waiting: deque[FirstRequest] = deque()
        """What the warden has not taken yet, oldest first."""
        self._sending: weakref.WeakSet[asyncio.AbstractEventLoop] = weakref.WeakSet()
        """The loops that send it, one request at a turn."""
        forks.hold(self)

    def take(self, *, new: bool = False) -> Link:
        """A way to a runner, ready for a request: an idle one, or one that is forked with the request.

        With `new`, never an idle one: a job keeps its runner, and one that has worked has more memory of its own.
        """
        forks.check()
        with forks.held_off, self._lock:
            while self._idle and not new:
                link = self._idle.pop()
                if time.monotonic() < link.good_until and is_quiet(link.sock):
                    return link
                link.close()
            return self._new_link()

    def warm(self) -> None:
        """Start the warden and a runner ahead of the first command, so that they load while their caller does."""
        if self._control is not None or unsupported_reason() is not None:
            return
        # If it cannot be started, the command that needs it says so.
        with contextlib.suppress(BackendUnavailableError):
            link = self.take()
            link.fork()
            self.give(link)

    def give(self, link: Link, *, since: float | None = None) -> None:
        """Take back the link to a runner that is idle, or has been since then; a request that waits gets it."""
        link.good_until = (time.monotonic() if since is None else since) + IDLE_USABLE_SECONDS
        with self._lock:
            if self._waiting and self._hand_over(link):
                return
            if self._control is not None and len(self._idle) < IDLE_RUNNERS:
                self._idle.append(link)
                return
        link.close()

    def _new_link(self) -> Link:
        if self._control is None:
            self._start()
        return Link(*socket.socketpair(), self.fork)

    def fork(self, link: Link, words: Request, fds: list[int], env: Mapping[str, str] | None) -> None:
        """Have a runner forked with its first request: now, or when the warden has taken those before."""
        request = FirstRequest(link, words, fds, env)
        loop = _running_loop()
        with self._lock:
            at_once = not self._waiting and loop not in self._sending
            if at_once and self._send(request, 0 if loop is None else NOW):
                link.close_far_end()
            else:
                try:
                    request.hold()
                except OSError:
                    if request.begun:
                        # Half of a message would be taken for a part of the next: a new warden is started.
                        self._give_up()
                    raise
                self._waiting.append(request)
            if loop is not None and loop not in self._sending:
                self._sending.add(loop)
                loop.call_soon(self._send_next, loop)
        if loop is None:
            self.send_waiting()

    def _send(self, request: FirstRequest, flags: int) -> bool:
        for _ in range(2):
            if self._control is None:
                self._start()
            assert self._control is not None
            try:
                if not request.send(self._control, self._env, flags):
                    return False
            except (BrokenPipeError, ConnectionResetError):
                # The warden was killed. Running commands have runners of their own; the next needs a new warden.
                self._give_up()
                request.begin_anew()
                if not request.wanted:
                    return True
                continue
            if request.env is not None:
                self._env = request.env
            return True
        raise BackendUnavailableError("the warden ended as soon as it was started; see `nacre doctor`")

    def _give_up(self) -> None:
        if self._control is not None:
            self._control.close()
        self._control = self._env = None
        self._wait_for_intermediate()

    def send_waiting(self) -> None:
        """Send all that waits, however long the warden takes for it."""
        with self._lock:
            self._send_some(len(self._waiting), 0)

    def _send_next(self, loop: asyncio.AbstractEventLoop) -> None:
        """Send one request at each turn of the loop.

        Each request has the warden and a new runner run, maybe on this very processor. Between two of them the loop
        hears of commands that have ended, whose runners then serve the requests that wait.
        """
        with self._lock:
            sent = self._send_some(1, NOW)
            if sent and self._waiting:
                loop.call_soon(self._send_next, loop)
            elif self._waiting:
                loop.call_later(RETRY_SECONDS, self._send_next, loop)
            else:
                self._sending.discard(loop)

    def _send_some(self, most: int, flags: int) -> bool:
        """Send the first requests that wait; False when the warden takes no more now."""
        try:
            for _ in range(most):
                if not self._waiting:
                    break
                request = self._waiting[0]
                if (request.wanted or request.begun) and not self._send(request, flags):
                    return False
                self._waiting.popleft().let_go()
        except (BackendUnavailableError, OSError):
            # Their callers see the end of their sockets, and say why.
            while self._waiting:
                self._waiting.popleft().let_go()
        return True

    def _hand_over(self, link: Link) -> bool:
        """Give an idle runner to the first request that waits; False when none does."""
        while self._waiting and not self._waiting[0].begun:
            request = self._waiting[0]
            if request.wanted and not link.hand_over(request):
                return False
            self._waiting.popleft()
            gone = not request.wanted
            request.let_go()
            if not gone:
                return True
        return False

    def _start(self) -> None:
        near, far = socket.socketpair()
        near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, CONTROL_BYTES)
        try:
            # Commands get their environment over the socket.
            self._intermediate = start_interpreter(_BOOTSTRAP, far.fileno(), REDACTOR)
        except OSError as error:
            near.close()
            raise BackendUnavailableError(f"the warden could not be started: {error}") from error
        finally:
            far.close()
        self._control = near
        self._env = None
        self._ready = False

    def ever_ready(self) -> bool:
        """Whether the warden got as far as serving; if not, nothing that it was asked for was started."""
        if not self._ready and self._control is not None:
            try:
                said = self._control.recv(protocol.READY.size, socket.MSG_DONTWAIT)
            except OSError:
                return False
            self._ready = said != b""
            if self._ready:
                self._pids = protocol.READY.unpack(said)
        return self._ready

    def wake(self) -> None:
        """Have the far side go on, if it was stopped as a whole: no process of it is left to see that."""
        if not self.ever_ready():
            return
        for pid in self._pids:
            # A number that has become another process's is not that of one of ours that is stopped.
            if children.state(pid) == "T" and children.command_line(pid)[:1] in (["nacre-guardian"], ["nacre-warden"]):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGCONT)

    def reap_intermediate(self) -> None:
        """Collect the process that started the warden and ended; called once a runner has answered."""
        if self._intermediate is not None and self._intermediate.poll() is not None:
            self._intermediate = None

    def close(self) -> None:
        """Let the warden and the idle runners go. What runs goes on until its own socket is closed."""
        with self._lock:
            for link in self._idle:
                link.close()
            self._idle = []
            # A caller that still waits sees the end of its socket.
            while self._waiting:
                self._waiting.popleft().let_go()
            if self._control is not None:
                self._control.close()
                self._control = None
            self._wait_for_intermediate()

    def _wait_for_intermediate(self) -> None:
        """Collect the process that started the warden, which ends as soon as it has forked."""
        if self._intermediate is not None:
            # One that is stopped or starved is collected by `subprocess` when it has ended.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._intermediate.wait(INTERMEDIATE_SECONDS)
            self._intermediate = None

    def drop(self, *, close: bool) -> None:
        """Leave the far side to the process that it belongs to; the links drop their sockets themselves."""
        if close:
            for request in self._waiting:
                request.let_go()
        if self._control is not None:
            forks.close_or_forget(self._control, close=close)
        if self._intermediate is not None and close:
            # It is the parent's child: nothing of it is to be collected here.
            self._intermediate.returncode = 0
        self.__init__()  # type: ignore[misc]


def _running_loop() -> asyncio.AbstractEventLoop | None:
    # A program that has not loaded asyncio runs no loop; the warden does not need it.
    asyncio = sys.modules.get("asyncio")
    try:
        return None if asyncio is None else asyncio.get_running_loop()
    except RuntimeError:
        return None


warden = Warden()
