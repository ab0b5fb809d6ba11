"""The audit log of an engine: for each call one line with its outcome, sizes and facts, never content.

A line is appended with a single write, so lines of several nacres never mix; the log is turned over at a size, so it
cannot fill a disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nacre import forks
from nacre.errors import DeniedError, InterceptedError, NacreError
from nacre.feed import directory_of
from nacre.feed.call_ids import call_ids
from nacre.output.redaction.redactor import Redactor
from nacre.planning.plan import Plan
from nacre.profile import Profile
from nacre.result import Exited, Lost, Output, ShellResult, Signalled, Stopped, TimedOut
from nacre.state_directory import answers, files
from nacre.warden.log_line import FAILURE, NAME, encoded, open_log, write_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.engine.viewing import Viewing

# A turn-over takes microseconds; the lock of one that takes longer is held by a process that does not run.
LOCK_SECONDS = 1.0
# Set on an exception whose call is in the log: it passes several frames that would log it.
_LOGGED = "nacre_logged"


class CallLog:
    """The calls of one engine, in the audit log of its state directory."""

    def __init__(self, state_dir: str, *, cap_bytes: int, redactor: Callable[[], Redactor]) -> None:
        """Take the redactor for calls that were refused before they were planned."""
        self.state_dir = os.path.abspath(state_dir)
        self._audit = AuditLog(state_dir, cap_bytes=cap_bytes)
        self._redactor = redactor
        self.feed = directory_of(self.state_dir)
        """Where viewers announce themselves; it exists only while there are any."""
        self.viewing: Viewing | None = None
        """Tells the viewers; None as long as there was none."""

    def begin(self, profile: Profile, planned: Plan) -> str:
        """Return the id of a call that begins now, and tell viewers of it, if there are any.

        This look is all that the feed costs a call without a viewer: one system call.
        """
        ids = call_ids
        call = planned.call or (f"{ids.prefix}{next(ids.numbers)}" if ids.prefix else ids.new())
        if os.access(self.feed, os.F_OK) and (viewing := self.look_for_viewers()) is not None:
            viewing.begin(call, profile, planned)
        return call

    def add(self, call: str, profile: Profile, planned: Plan, facts: dict[str, Any], *, reason: str = "") -> str | None:
        """Write a call; a failure is returned in words.

        Args:
            reason: why it has no result, for viewers.
        """
        shown = {"contract": profile.contract, "command": planned.logged_command, "cwd": planned.logged_cwd}
        if planned.request.by != "model":
            shown["by"] = planned.request.by
        if self.viewing is not None:
            self.viewing.end(call, {**facts, "error": reason} if reason else facts)
        return self._audit.append({"time": time.time(), "call": call, **shown, **facts})

    def add_failure(
        self, profile: Profile, planned: Plan, error: BaseException, *, call: str | None = None, **facts: Any
    ) -> None:
        """Write a call that has no result, unless a frame below has written the same error."""
        hide_in(error, planned.redactor)
        if not _is_logged(error):
            call = self.begin(profile, planned) if call is None else call
            self.add(call, profile, planned, {**failure_of(error, planned.redactor), **facts}, reason=str(error))

    def add_refusal(self, contract: str, command: str, cwd: str, error: BaseException) -> None:
        """The same for a call that was refused before it was planned."""
        redactor = self._redactor()
        hide_in(error, redactor)
        if not _is_logged(error):
            shown = {"contract": contract, "command": redactor.redact_text(command), "cwd": redactor.redact_text(cwd)}
            call, failure = call_ids.new(), failure_of(error, redactor)
            if (viewing := self.look_for_viewers()) is not None:
                viewing.refuse(call, shown, {**failure, "error": str(error)})
            self._audit.append({"time": time.time(), "call": call, **shown, **failure})

    def has_person(self) -> bool:
        """True if a viewer shows terminals to a person, who can type."""
        viewing = self.look_for_viewers()
        return viewing is not None and viewing.publisher.has_person()

    def look_for_viewers(self) -> Viewing | None:
        """Return what tells viewers; None if there are none."""
        if not os.access(self.feed, os.F_OK):
            return None
        if self.viewing is None:
            # Loaded when the first viewer is there.
            from nacre.engine.viewing import Viewing

            self.viewing = Viewing(self.feed)
        return self.viewing

    def close(self) -> None:
        self._audit.close()
        if self.viewing is not None:
            self.viewing.close()


def _is_logged(error: BaseException) -> bool:
    """True if a frame below has logged it; from now on it counts as logged."""
    known = error.__dict__.get(_LOGGED, False)
    error.__dict__[_LOGGED] = True
    return bool(known)


OUTCOME_WORDS: dict[type, str] = {
    Exited: "exited",
    Signalled: "signalled",
    TimedOut: "timedOut",
    Stopped: "stopped",
    Lost: "lost",
}
"""An outcome as data spells it."""


def entry_of(result: ShellResult) -> dict[str, Any]:
    """The facts of a result for the log: sizes, never content."""
    output, stderr, outcome = result.output, result.stderr, result.outcome
    entry = {
        "outcome": OUTCOME_WORDS[type(outcome)],
        "exitCode": outcome.code if isinstance(outcome, Exited) else result.exit_code,
        **measures(result.elapsed, (output,) if stderr is None else (output, stderr)),
    }
    if result.remote or result.clock is not None:
        entry["cause"], entry["clock"] = result.cause, result.clock
    elif isinstance(outcome, Lost):
        entry["cause"] = result.cause
    shortened = output.minimized
    if stderr is not None and stderr.minimized is not None:
        if shortened is None:
            shortened = stderr.minimized
        else:
            entry["minimizedStderr"] = stderr.minimized.json()
    if shortened is not None:
        entry["minimized"] = shortened.json()
    if result.survivors:
        entry["survivors"] = [{"pid": one.pid, "argv": list(one.argv)} for one in result.survivors]
    if result.recording is not None:
        entry["recording"] = result.recording
    if result.notices:
        entry["notices"] = list(result.notices)
    if output.artifact is not None or (stderr is not None and stderr.artifact is not None):
        kept = (output.artifact, None if stderr is None else stderr.artifact)
        entry["artifacts"] = [artifact.id for artifact in kept if artifact is not None]
    return entry


def failure_of(error: BaseException, redactor: Redactor) -> dict[str, Any]:
    """Why a call has no result, for the log."""
    if isinstance(error, DeniedError):
        return {"outcome": "denied", "rule": error.rule, "cause": error.cause}
    if isinstance(error, InterceptedError):
        return {"outcome": "denied", "rule": "interceptor", "tool": error.tool, "cause": error.cause}
    if isinstance(error, asyncio.CancelledError):
        return {"outcome": "stopped", "cause": "limit", "clock": "stop"}
    cause = error.cause if isinstance(error, NacreError) else "infra"
    return {"outcome": "notStarted", "error": redactor.redact_text(str(error)), "cause": cause}


def hide_in(error: BaseException, redactor: Redactor) -> None:
    """Take hidden values out of an error: its text and its facts quote what the caller gave."""
    if not redactor:
        return
    error.args = tuple(redactor.redact_text(one) if isinstance(one, str) else one for one in error.args)
    for name, value in list(vars(error).items()):
        if isinstance(value, str):
            setattr(error, name, redactor.redact_text(value))


def measures(elapsed: float, outputs: Sequence[Output]) -> dict[str, Any]:
    """How long and how much; both streams through one pipe are counted as stdout."""
    return {
        "durationMs": round(elapsed * 1000, 3),
        "stdoutBytes": outputs[0].total_bytes,
        "stderrBytes": outputs[1].total_bytes if len(outputs) > 1 else None,
    }


class AuditLog:
    """The log of one state directory, held open, because every call writes one line."""

    def __init__(self, state_dir: str | os.PathLike[str], *, cap_bytes: int) -> None:
        self._state_dir = os.path.abspath(state_dir)
        self._answers = answers(self._state_dir)
        self._path = os.path.join(self._state_dir, NAME)
        self._cap = cap_bytes
        self._fd: int | None = None
        self._identity = (0, 0)
        self._lock = threading.Lock()
        self._full_since: float | None = None
        forks.hold(self)

    def append(self, entry: Mapping[str, Any]) -> str | None:
        """Write one line; a failure is returned in words, because a log must not fail a command."""
        line = encoded(entry)
        # One thread must not close the descriptor that another is about to write to.
        with self._lock:
            try:
                if not self._answers:
                    place = files(self._state_dir)
                    return self._turned_over(place.call(_append, self._path, line, self._cap))
                fd, size = self._opened()
                write_line(fd, line)
                if size + len(line) > self._cap:
                    moved = _turn_over(self._path, fd)
                    # By now its path may name a fresh one.
                    self.close()
                    return self._turned_over(moved)
            except OSError as error:
                self.close()
                return f"{FAILURE}: {error.strerror}"
        return None

    def _opened(self) -> tuple[int, int]:
        """Return the descriptor and the size of the log."""
        if self._fd is not None:
            # A host that closes all descriptors may have given this number to a file of its own.
            with contextlib.suppress(OSError):
                state = os.fstat(self._fd)
                if (state.st_dev, state.st_ino) == self._identity:
                    if state.st_nlink:
                        return self._fd, state.st_size
                    # The log was removed, or the whole state directory: it begins anew.
                    os.close(self._fd)
            self._fd = None
        self._fd = open_log(self._path)
        state = os.fstat(self._fd)
        self._identity = (state.st_dev, state.st_ino)
        return self._fd, state.st_size

    def drop(self, *, close: bool) -> None:
        """Start anew in a fork, where the thread that may hold the lock does not exist."""
        self._lock = threading.Lock()
        if close:
            self.close()
        self._fd = None

    def _turned_over(self, moved: bool) -> str | None:
        """Return a notice when a full log has stayed in its place for long."""
        if moved:
            self._full_since = None
            return None
        now = time.monotonic()
        if self._full_since is None:
            self._full_since = now
        if now - self._full_since < LOCK_SECONDS:
            return None
        return "the audit log is full and is not turned over: another process, which may be stopped, holds its lock"

    def close(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None and forks.is_same(fd, self._identity):
            os.close(fd)


def _append(path: str, line: bytes, cap_bytes: int) -> bool:
    """Write one line; False when the log is over its cap and could not be moved aside."""
    fd = open_log(path)
    try:
        write_line(fd, line)
        return os.fstat(fd).st_size <= cap_bytes or _turn_over(path, fd)
    finally:
        os.close(fd)


def _turn_over(path: str, fd: int) -> bool:
    """Move the full log aside; only one of several nacres that find it full does, or a fresh log would replace it.

    False when another process holds the lock: it is not waited for, because that process may be stopped.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.stat(path), os.fstat(fd)):
            os.replace(path, f"{path}.1")
    return True
