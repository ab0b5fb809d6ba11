"""A command that is kept: its output goes to a file that cannot grow without bound, its end into its record.

The runner reads the pipe and writes the file, because output written straight to a file could be neither capped nor
redacted; a runner per job limits what its death costs to that one job, which is then `lost`.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import os
import signal
import time

from nacre.warden import children, ledger, record
from nacre.warden.stages import hidden_failure, producers_status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol, Self

    from nacre.warden.messages import Facts, JobSpec, Living
    from nacre.warden.record import Record

    class Redactor(Protocol):
        held: bytes

        @classmethod
        def from_forms(cls, forms: Sequence[tuple[str, bytes]], /) -> Self: ...
        def feed(self, chunk: bytes, /) -> bytes: ...
        def flush(self) -> bytes: ...
        def redact_text(self, text: str, /) -> str: ...


FALLOC_FL_KEEP_SIZE = 1
FALLOC_FL_PUNCH_HOLE = 2
# Holes are punched in steps, so that a flood costs one extra call for many megabytes.
PUNCH_STEP = 4 * 1024 * 1024
# So little of a possible value is shown when nothing follows: what a person types at a terminal is seen at once.
SHOWN_EARLY_BYTES = 3
# Refused hosts in a record, whose room on disk is reserved.
MOST_REFUSED = 10


def punch_hole(fd: int, offset: int, length: int) -> bool:
    """Give the blocks of a range back to the file system; False where it cannot."""
    try:
        fallocate = ctypes.CDLL(None, use_errno=True).fallocate
    except (OSError, AttributeError):
        return False
    fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_longlong, ctypes.c_longlong)
    return int(fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, offset, length)) == 0


_redactor_module = ""


def lend_redactor(module: str) -> None:
    """Name the near side's module with the class `Redactor`: this folder imports nothing outside itself."""
    global _redactor_module
    _redactor_module = module


def load_redactor() -> type[Redactor]:
    """The class that takes values out of a stream: a megabyte of memory, so it is loaded only for jobs."""
    loaded: type[Redactor] = importlib.import_module(_redactor_module).Redactor
    return loaded


class JobOutput:
    """The capped file: the first bytes and the newest ones stay, the middle becomes a hole, so offsets stay true."""

    def __init__(self, fd: int, *, head_bytes: int, cap_bytes: int, hidden: Sequence[tuple[str, bytes]] = ()) -> None:
        """With `hidden`, the values that are taken out: they come over a socket and are never on disk."""
        self.fd = fd
        self._hidden = hidden
        self._redactor: Redactor | None = None
        self._early = b""
        """What was shown although it may be the beginning of a value."""
        self._size = os.lseek(fd, 0, os.SEEK_END)
        self._head = head_bytes
        self._tail = cap_bytes - head_bytes
        self._punched = head_bytes
        self._can_punch = True
        self.dropped = 0
        self.error: str | None = None
        self.copy: Callable[[memoryview], None] | None = None
        """Given what is written, for a job on a terminal."""

    def feed(self, data: bytes) -> None:
        """Append what the command wrote, without the values that were taken out of its environment."""
        redactor = self._own_redactor()
        self.write(memoryview(data if redactor is None else self._without_early(redactor.feed(data))))

    def show_early(self) -> None:
        """Show the few bytes that are held back, which are no value yet; should they become one, its rest is hidden."""
        held = b"" if self._redactor is None else self._redactor.held
        if len(self._early) < len(held) <= SHOWN_EARLY_BYTES:
            early, self._early = self._early, held
            self.write(memoryview(held)[len(early) :])

    def _without_early(self, data: bytes) -> bytes:
        """What follows the bytes that were shown early."""
        if self._early and data:
            early, self._early = self._early, b""
            return data[len(early) :] if data.startswith(early) else data
        return data

    def hide_in(self, text: str) -> str:
        """A text for the job's record without these values."""
        redactor = self._own_redactor()
        return text if redactor is None else redactor.redact_text(text)

    def _own_redactor(self) -> Redactor | None:
        if self._hidden:
            self._redactor = load_redactor().from_forms(self._hidden)
            self._hidden = ()
        return self._redactor

    def flush(self) -> None:
        """Append what was held back because it might have become such a value."""
        if self._redactor is not None:
            self.write(memoryview(self._without_early(self._redactor.flush())))

    def write(self, data: memoryview) -> None:
        """Append; the first failure is remembered and ends the writing, never the command."""
        if self.copy is not None:
            self.copy(data)
        if self.error is not None:
            self.dropped += len(data)
            return
        if not self._can_punch:
            room = max(0, self._head + self._tail - self._size)
            self.dropped += max(0, len(data) - room)
            data = data[:room]
        try:
            while data:
                written = os.write(self.fd, data)
                self._size += written
                data = data[written:]
        except OSError as error:
            self.error = error.strerror or str(error)
            self.dropped += len(data)
            return
        self._cap()

    def _cap(self) -> None:
        keep_from = self._size - self._tail
        if not self._can_punch or keep_from - self._punched < PUNCH_STEP:
            return
        if punch_hole(self.fd, self._punched, keep_from - self._punched):
            self.dropped += keep_from - self._punched
            self._punched = keep_from
        else:
            self._can_punch = False

    @property
    def size(self) -> int:
        return self._size

    def close(self) -> None:
        os.close(self.fd)


def open_output(path: str) -> int:
    return record.open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def hidden_forms(spec: JobSpec) -> list[tuple[str, bytes]]:
    """The values that a job's output must not show, by name."""
    return [(name, form.encode("latin-1")) for name, form in spec.get("hidden", ())]


class KeptJob:
    """A kept command's directory: lock, record and output, from the moment of keeping to the final status."""

    def __init__(self, spec: JobSpec, *, lock: int, claim: int, output: JobOutput) -> None:
        self.directory: str = spec["directory"]
        self.record: Record = spec["record"]
        self._refusals = spec.get("refusals", "")
        self.output = output
        self.lock = lock
        self.claim = claim

    @classmethod
    def open(cls, spec: JobSpec) -> Self:
        if spec.get("hidden") and not _redactor_module:
            raise OSError(errno.ENOSYS, "values cannot be taken out of its output here")
        lock = record.lock(spec["directory"])
        claim = -1
        try:
            claim = record.claim(spec["directory"])
            output = JobOutput(
                open_output(os.path.join(spec["directory"], record.OUTPUT)),
                head_bytes=spec["headBytes"],
                cap_bytes=spec["capBytes"],
                hidden=hidden_forms(spec),
            )
        except OSError:
            os.close(lock)
            if claim >= 0:
                os.close(claim)
            raise
        if spec.get("held"):
            # What the caller's redactor held back when it handed over.
            output.feed(spec["held"].encode("latin-1"))
        return cls(spec, lock=lock, claim=claim, output=output)

    @property
    def fds(self) -> tuple[int, ...]:
        return self.lock, self.claim, self.output.fd

    def started(self, leader: int, *, runner: int) -> None:
        self.running(leader, runner=runner)
        record.write(self.directory, self.record, by=record.FIRST)
        ledger.note(runner, self.directory)

    def running(self, leader: int, *, runner: int) -> None:
        """Name the processes that run it in the record, without writing it."""
        self.record |= {
            "version": record.VERSION,
            "state": "running",
            "pid": leader,
            "pidStart": children.start_time(leader),
            "runnerPid": runner,
            "runnerStart": children.start_time(runner),
            "bootId": children.boot_id(),
            "outputFile": os.path.join(self.directory, record.OUTPUT),
        }

    def finished(self, facts: Facts, survivors: Sequence[Living] = ()) -> None:
        """Write the final status, then what follows from it; neither changes afterwards.

        The output file stays open for what survivors write, until the runner closes it.
        What cannot be written is left to the next nacre that reads the record: a runner cannot tell its caller, and
        must go on with what is left of the command.
        """
        self.output.flush()
        self.record |= final_state(facts, producer=self.record.get("producer"))
        self.record |= {
            "endedAt": time.time(),
            "outputBytes": self.output.size,
            "droppedBytes": self.output.dropped,
        }
        if self.output.error is not None:
            self.record["outputError"] = self.output.error
        hidden = hidden_failure(
            self.record["stages"],
            self.record["exitCode"],
            self.record.get("answering", ()),
            lifted="producer" in self.record,
        )
        if hidden is not None:
            self.record["hiddenFailure"] = hidden
        if self._refusals:
            self._name_refused()
        if survivors:
            self._name(survivors)
        else:
            self.output.close()
        try:
            if not record.holds(self.directory, self.lock):
                # Its directory was removed in use; one of the same name is another job's.
                return
            self._write_final()
            record.finish(self.directory, self.record)
        except OSError:
            pass
        finally:
            os.close(self.lock)
            os.close(self.claim)

    def _name(self, survivors: Sequence[Living]) -> None:
        named = [(one["pid"], [self.output.hide_in(word) for word in one["argv"]]) for one in survivors]
        self.record["survivors"] = [{"pid": pid, "argv": argv} for pid, argv in named]
        self.record["stillRunning"] = record.still_running(named)

    def _name_refused(self) -> None:
        """Record what the proxy of the sandbox has refused: this process is its runner, or a keeper below that."""
        # Loaded by the runners whose network is a list of hosts.
        from nacre.warden.refusals import refused_since

        since = self.record.get("startedAt", 0.0)
        refused = refused_since(self._refusals, since, (os.getpid(), os.getppid()))
        if refused:
            self.record["refusedHosts"] = refused[:MOST_REFUSED]

    def _write_final(self) -> None:
        try:
            record.write(self.directory, self.record)
        except OSError:
            if "survivors" not in self.record:
                raise
            # The room that was set aside is for the status; the names of survivors may take more.
            del self.record["survivors"], self.record["stillRunning"]
            record.write(self.directory, self.record)


def final_state(facts: Facts, *, producer: int | None = None) -> Record:
    """A job's final state from the facts of its end; with `producer` the status is that stage's."""
    if producer is not None and facts["why"] is None and "code" in facts:
        code, stages = producers_status(facts.get("stages", ()), facts["code"], producer=producer)
        facts = {**facts, "code": code, "stages": list(stages)}
    common: Record = {"exitCode": None, "signal": None, "signalName": None, "stages": facts.get("stages", [])}
    if "budget" in facts:
        common["budget"] = facts["budget"]
    if facts["why"] == "timeout":
        return common | {"state": "timed_out"}
    if facts["why"] in record.SIGNALLED:
        return common | {"state": "lost", "reason": f"lost: {record.SIGNALLED[facts['why']]}"}
    if facts["why"] == "runner killed":
        return common | {"state": "lost", "reason": record.RUNNER_KILLED}
    if facts["why"] is not None:
        return common | {"state": "stopped"}
    if "signal" in facts:
        return common | {"state": "killed", "signal": facts["signal"], "signalName": signal_name(facts["signal"])}
    if "code" in facts:
        return common | {"state": "exited", "exitCode": facts["code"]}
    # An adopted survivor whose own parent collected it.
    reason = (
        f"lost: it has ended, but its parent collected its exit status; a session's shell tells it: wait {facts['pid']}"
    )
    return common | {"state": "lost", "reason": reason}


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
