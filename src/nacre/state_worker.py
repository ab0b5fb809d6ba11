"""A process that makes the calls on a state directory whose file system may not answer, and its caller's end.

One call at a time, by pickles over a socket. A worker that misses a deadline is killed. Until it is gone, and for some
seconds, every call fails at once, so that an outage costs one wait and not one for each call.
"""

from __future__ import annotations

import contextlib
import pickle
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from nacre import forks
from nacre.state_directory import ANSWER_SECONDS, StateDirectoryError, become_worker
from nacre.warden_client.interpreter import start_interpreter

P = ParamSpec("P")
T = TypeVar("T")

# An interpreter starts in a tenth of a second on a machine that has nothing else to do.
START_SECONDS = 5.0
# How long a directory that did not answer is left alone.
SILENCE_SECONDS = 10.0

_SIZE = struct.Struct("<Q")
_BOOTSTRAP = (
    "import sys; sys.path.insert(0, sys.argv[1]); from nacre.warden import naming; naming.find_arguments(); "
    "descriptor = int(sys.argv[2]); naming.rename(b'nacre-state'); "
    "from nacre.state_worker import serve; serve(descriptor)"
)


class Worker:
    """A process that makes the calls, one at a time."""

    def __init__(self, *, silence_seconds: float = SILENCE_SECONDS) -> None:
        self._lock = threading.Lock()
        self._sock, far = socket.socketpair()
        self._lost: str | None = None
        self._silence = silence_seconds
        self._retry_at = 0.0
        self._greeted = False
        try:
            self._process = start_interpreter(_BOOTSTRAP, far.fileno())
        except OSError as error:
            self._sock.close()
            raise StateDirectoryError(f"the process that looks at it did not start: {error.strerror}") from error
        finally:
            far.close()
        forks.hold(self)

    def call(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.call_within(ANSWER_SECONDS, function, *args, **kwargs)

    def call_within(self, seconds: float, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        given = tuple(bytes(one) if isinstance(one, memoryview) else one for one in args)
        message = pickle.dumps((function, given, kwargs))
        if not self._lock.acquire(timeout=seconds):
            raise StateDirectoryError(f"another call on it takes longer than {seconds:g} s")
        try:
            if self._lost is not None:
                raise StateDirectoryError(self._lost)
            succeeded, *answer = pickle.loads(self._exchange(message, seconds))
        finally:
            self._lock.release()
        if succeeded:
            found: T = answer[0]
            return found
        kind, arguments, attributes = answer
        # Not by its constructor, which may take other arguments.
        raised = kind.__new__(kind, *arguments)
        raised.__dict__.update(attributes)
        raise raised

    def _exchange(self, message: bytes, seconds: float) -> bytes:
        """Send a request and return the answer to it; after a failure the worker is of no use any more."""
        try:
            if not self._greeted:
                self._receive(time.monotonic() + START_SECONDS)
                self._greeted = True
            end = time.monotonic() + seconds
            self._sock.settimeout(seconds)
            self._sock.sendall(_SIZE.pack(len(message)) + message)
            return self._receive(end)
        except TimeoutError as error:
            raise self._given_up(f"its file system did not answer within {seconds:g} s") from error
        except (ConnectionError, EOFError) as error:
            raise self._given_up("the process that looks at it is gone") from error
        except BaseException:
            # A signal handler of the program: the next call would take this call's answer for its own.
            self._given_up("a call on it was interrupted")
            self._retry_at = 0.0
            raise

    @property
    def is_over(self) -> bool:
        """True when another worker may take its place."""
        return self._lost is not None and time.monotonic() >= self._retry_at and self._process.poll() is not None

    def close(self) -> None:
        """End the worker, and wait for its end unless it hangs."""
        self._sock.close()
        if self._lost is None:
            self._lost = "it was closed"
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(ANSWER_SECONDS)

    def drop(self, *, close: bool) -> None:
        """Leave the worker to the process that started it."""
        forks.close_or_forget(self._sock, close=close)
        self._lock = threading.Lock()
        self._lost = "it belongs to another process"
        # It is the parent's child: nothing of it is to be collected here.
        self._process.returncode = 0

    def _receive(self, end: float) -> bytes:
        (size,) = _SIZE.unpack(self._receive_exactly(_SIZE.size, end))
        return self._receive_exactly(size, end)

    def _receive_exactly(self, size: int, end: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._sock.settimeout(left)
            piece = self._sock.recv(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def _given_up(self, reason: str) -> StateDirectoryError:
        self._lost = reason
        self._retry_at = time.monotonic() + self._silence
        # A process that hangs in the file system ends when that answers.
        self._process.kill()
        self._sock.close()
        return StateDirectoryError(reason)


def serve(fd: int) -> None:
    """Make the calls of another process until it is gone: what a worker does."""
    become_worker()
    sock = socket.socket(fileno=fd)
    with sock, sock.makefile("rb") as requests, contextlib.suppress(ConnectionError):
        _send(sock, None)
        while head := requests.read(_SIZE.size):
            function, args, kwargs = pickle.loads(requests.read(*_SIZE.unpack(head)))
            try:
                answer: tuple[Any, ...] = (True, function(*args, **kwargs))
            except Exception as error:  # noqa: BLE001 - raised again in the caller
                answer = (False, *error.__reduce__()[:2], error.__dict__)
            _send(sock, answer)


def _send(sock: socket.socket, answer: object) -> None:
    data = pickle.dumps(answer)
    sock.sendall(_SIZE.pack(len(data)) + data)
