"""A job's terminal as a viewer sees it: the screen, kept up with the job's output, and what the viewer types.

The job's file is the source: every viewer in any process shows the same. Work per update is bounded, and a viewer that
is behind goes on with the newest output.
"""

from __future__ import annotations

import os

from nacre.errors import JobError, UnknownJobError
from nacre.jobs import job_terminal
from nacre.jobs.job import Job
from nacre.jobs.output_file import JobFile
from nacre.jobs.table import JobTable
from nacre.kept_command import Waiting
from nacre.screen import VirtualScreen, encode_key, encode_mouse, encode_paste, open_screen
from nacre.screen.keys import MouseAction
from nacre.screen.unseen_output import DRAWN_BYTES, RESYNC, decisive

# What is shown of a longer output: its beginning, which has the modes of a full-screen program, and its newest part.
HEAD_BYTES = 32 * 1024
# How much more than later is drawn at first.
FIRST = 8
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class TerminalView:
    """One viewer's screen of one job.

    It has a method for each kind of input, and for each thing that is shown.
    """

    def __init__(self, job: Job, *, table: JobTable | None = None) -> None:
        """Show the job's output so far.

        Args:
            table: where the job is looked up again, to find its end.

        Raises:
            JobError: the job has no terminal.
            ScreenUnavailableError: no emulator is installed.
        """
        if not job_terminal.has_terminal(job):
            raise JobError(f"{job.id} has no terminal, so it has no screen; read its output")
        self.job = job
        self._table = JobTable(str(job.directory.parent.parent)) if table is None else table
        self._state = job_terminal.state(job)
        size = job_terminal.DEFAULT_SIZE if self._state is None else self._state.size
        self.screen: VirtualScreen = open_screen(size.columns, size.rows)
        self._offset = 0
        self._fd: int | None = None
        self._gone = False
        self._closed = False

    def update(self) -> bool:
        """Take what is new, a bounded amount of it; True if there was anything."""
        self._look()
        state = self._state
        if state is not None and state.size != (self.screen.columns, self.screen.rows):
            self.screen.resize(*state.size)
        # At first more: modes that the program has set long ago are drawn by too.
        most = DRAWN_BYTES[self.screen.emulator] * (1 if self._offset else FIRST)
        if self._size() <= self._offset:
            return False
        assert self._fd is not None
        with JobFile.again(self.job, self._fd) as file:
            if self._offset < HEAD_BYTES:
                piece = file.read(self._offset, min(HEAD_BYTES - self._offset, most))
                self._offset = piece.end
                self.screen.feed(piece.data)
                most -= len(piece.data)
            start = max(self._offset, file.end - most)
            piece = file.read(start, most)
            if piece.offset > self._offset:
                self.screen.feed(RESYNC)
            self._offset = max(piece.end, start)
            self.screen.feed(decisive(piece.data, self.screen.rows))
        return True

    def _size(self) -> int:
        # Held open: a call that ends in the foreground removes its job, and the last rows are still to be shown.
        try:
            if self._closed:
                return 0
            if self._fd is None:
                self._fd = self.job.files.call(os.open, self.job.output_file, _FLAGS)
            found: int = os.fstat(self._fd).st_size
        except OSError:
            return 0
        return found

    def _look(self) -> None:
        if self.job.running:
            self._state = job_terminal.state(self.job)
            if self._state is None:
                try:
                    self.job = self._table.get(self.job.id)
                except UnknownJobError:
                    self._gone = True  # its output so far stays on the screen

    @property
    def ended(self) -> bool:
        return self._gone or not self.job.running

    def close(self) -> None:
        """Give back what it holds open; nothing is read any more."""
        self._closed = True
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    @property
    def waiting(self) -> Waiting | None:
        """What it asks for, as of the last update."""
        return None if self._state is None else self._state.waiting

    @property
    def interactive(self) -> bool:
        return self._state is not None and self._state.interactive

    # Input; each raises JobError where the job has ended or does not read.

    def write(self, data: bytes) -> None:
        if data:
            job_terminal.write(self.job, data)

    def press(self, key: str) -> None:
        """Press a key by its name, as `nacre.screen.encode_key` has it."""
        self.write(encode_key(key, self.screen.modes))

    def paste(self, text: str) -> None:
        self.write(encode_paste(text, self.screen.modes))

    def mouse(
        self, action: MouseAction, button: int, column: int, row: int, *, modifiers: frozenset[str] = frozenset()
    ) -> None:
        """Tell a program that asked for the mouse what it does; nothing for one that did not."""
        self.write(encode_mouse(action, button, column, row, self.screen.modes, modifiers=modifiers))

    def resize(self, columns: int, rows: int) -> None:
        """Resize the terminal of the job, and so the screens of all its viewers."""
        job_terminal.resize(self.job, columns, rows)
