"""Makes calls on the files of the state directory, with a time limit where its file system may not answer.

On a file system of this machine (ext4, tmpfs, ...) such a call is a plain call. On any other (FUSE, NFS, ...) a worker
process makes it (state_worker.py), because a thread that waits for a file system that hangs keeps its program from
exiting. Functions and arguments travel as pickles; a descriptor that a call opens is a number of the worker, and is
only used by way of it. docs/decisions/state-directory.md has the reasons.
"""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from nacre import forks
from nacre.errors import NacreError
from nacre.regular_file import is_far

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.state_worker import Worker

P = ParamSpec("P")
T = TypeVar("T")

# The event loop waits for an answer, and a call may be late by a second (P1).
ANSWER_SECONDS = 0.5
# How long the lock of another process is waited for: longer than a busy machine holds it. A worker answers in time.
LOCK_SECONDS = 1.0
WORKERS_LOCK_SECONDS = 0.25
# What looks at every job or artifact takes longer on a slow network.
SURVEY_SECONDS = 5.0


class StateDirectoryError(NacreError, OSError):
    """The file system of the state directory did not answer in time."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.ETIMEDOUT, reason)

    def __str__(self) -> str:
        return f"the state directory cannot be used: {self.strerror}; set NACRE_HOME to a directory that can be used"


class Files(Protocol):
    """Makes calls that touch the files of a state directory."""

    def call(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function; raises StateDirectoryError when there is no answer in time."""

    def call_within(self, seconds: float, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that may take so long; raises as `call` does."""


class _Here:
    """Makes the calls itself."""

    def call(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return function(*args, **kwargs)

    def call_within(self, seconds: float, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return function(*args, **kwargs)

    def __reduce__(self) -> str:
        return "HERE"


HERE: Files = _Here()

_worker: Worker | None = None
# Whether a directory is on a file system that may not answer. A worker asks no other worker.
_far: dict[str, bool] = {}
_is_worker = False


def answers(directory: str) -> bool:
    """True if the directory is on a file system of this machine, which is not waited for in vain."""
    far = _far.get(directory)
    if far is None:
        far = _far[directory] = not _is_worker and is_far(directory)
    return not far


def files(directory: str) -> Files:
    """Return what makes the calls on files below this directory.

    Raises:
        StateDirectoryError: its file system did not answer a moment ago, or no worker can be started.
    """
    global _worker
    if answers(directory):
        return HERE
    from nacre.state_worker import Worker

    # Two threads must not start two workers, nor a fork have a copy of a socket that nothing holds yet.
    with forks.held_off:
        forks.check()
        if _worker is None or _worker.is_over:
            _worker = Worker()
        return _worker


def survey(directory: str, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function that looks at everything below a directory; raises StateDirectoryError."""
    place = files(directory)
    if place is not HERE:
        # One that hangs already is found out by a short look.
        place.call(os.path.exists, directory)
    return place.call_within(SURVEY_SECONDS, function, *args, **kwargs)


class StoredBelow(Protocol):
    """An object whose files are below `root`. It can be pickled."""

    @property
    def root(self) -> str | os.PathLike[str]: ...


K = TypeVar("K", bound=StoredBelow)


def answered(
    *, whole: bool = False, kind: type[NacreError] | None = None
) -> Callable[[Callable[Concatenate[K, P], T]], Callable[Concatenate[K, P], T]]:
    """Have a method called by way of `files`.

    Args:
        whole: the method looks at everything in the directory.
        kind: what is raised in place of StateDirectoryError.
    """

    def decorate(method: Callable[Concatenate[K, P], T]) -> Callable[Concatenate[K, P], T]:
        @functools.wraps(method)
        def call(self: K, /, *args: P.args, **kwargs: P.kwargs) -> T:
            try:
                place = files(str(self.root))
                if place is HERE:
                    return method(self, *args, **kwargs)
                bound: Callable[P, T] = getattr(self, method.__name__)
                return survey(str(self.root), bound, *args, **kwargs) if whole else place.call(bound, *args, **kwargs)
            except StateDirectoryError as error:
                if kind is None:
                    raise
                raise kind(str(error)) from error

        return call

    return decorate


def lock_seconds() -> float:
    """How long to wait for a lock in the state directory; a stopped process may hold it for ever."""
    return WORKERS_LOCK_SECONDS if _is_worker else LOCK_SECONDS


def become_worker() -> None:
    """Make every call here: what a worker does first."""
    global _is_worker
    _is_worker = True
