"""The terminal of a job, in its runner: what is typed, its size, what it waits for, and its recording.

Any process of the same user reaches it by files in the job's directory: a datagram socket for input and sizes, a small
JSON file for the state. Input is written to the terminal and nowhere else.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import socket
import struct
import termios
import time

from nacre.warden.last_line import LastLine
from nacre.warden.recording import NAME as RECORDING
from nacre.warden.recording import Recording
from nacre.warden.terminal_look import Look, look, unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.warden.intake import Intake
    from nacre.warden.kept_job import KeptJob

# IUTF8 of Linux, which `termios` does not name.
_UTF8_INPUT = 0x4000
SOCKET, STATE = "terminal", "terminal.json"
# The first byte of a datagram.
TYPED, SIZE, SHOWN = b"t", b"s", b"r"
# What the kernel of the other machine tells, for a job whose process here only follows a command there.
FAR_LOOK = b"f"
ALTERNATE = b"\x1b[?1049"
# The answer to one whose sender has an address: it was typed, and the state is up to date.
DONE = b"k"
# The answer to text that was not typed: its line is longer than a terminal that collects lines can hold.
TOO_LONG = b"l"
# Linux keeps this much of a line and drops the rest silently (N_TTY_BUF_SIZE, one byte for the line end).
LONGEST_LINE_BYTES = 4095
# What ends a line for such a terminal, or takes it back: line ends, Ctrl-C, Ctrl-D, Ctrl-U, Ctrl-backslash, Ctrl-Z.
_LINE_ENDS = bytes([10, 13, 3, 4, 21, 28, 26])
_TO_LINES = bytes.maketrans(_LINE_ENDS, b"\n" * len(_LINE_ENDS))
SIZES = struct.Struct("=HH")
OFFSET = struct.Struct("=Q")
# What the job's file may hold beyond what its attendant has shown: the program waits for a slow terminal, as it always
# does, so that a key is answered soon after a flood.
MOST_UNSHOWN_BYTES = 256 * 1024
MOST_TYPED_BYTES = 64 * 1024
# After this much silence an unfinished line is a prompt, and a blocked read without one is a wait for input.
PROMPT_SECONDS = 0.3
# After this much silence a person should see what was written, also if it may be the beginning of a hidden value.
EARLY_SECONDS = 0.03
SILENT_READ_SECONDS = 1.0
# How often the terminal is looked at, and how often when nothing has happened for a while.
LOOK_SECONDS = 0.1
SELDOM_SECONDS = 0.4
BUSY_SECONDS = 10.0


def bind_socket(directory: str) -> socket.socket:
    """Make the socket for input. Through the descriptor: the path of a socket holds 107 bytes at most."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    fd = -1
    try:
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        sock.bind(f"/proc/self/fd/{fd}/{SOCKET}")
        os.chmod(os.path.join(directory, SOCKET), 0o600)
    except OSError:
        sock.close()
        raise
    finally:
        if fd >= 0:
            os.close(fd)
    return sock


def tell_far_look(directory: str, packed: int) -> None:
    """Tell the runner of a job what a look at the terminal on the other machine has found.

    Raises:
        BlockingIOError: it has not taken what it was told before.
        OSError: the job's terminal is closed.
    """
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.settimeout(0)
            sock.sendto(FAR_LOOK + bytes([packed]), f"/proc/self/fd/{fd}/{SOCKET}")
    finally:
        os.close(fd)


def open_terminal(columns: int, rows: int) -> tuple[int, int]:
    """The two ends of a new terminal: the one that shows its output and types, and the one for a shell.

    Raises:
        OSError: there is no terminal to be had.
        termios.error: its mode could not be set.
    """
    shown, used = os.openpty()
    try:
        set_size(used, columns, rows)
        mode = termios.tcgetattr(used)
        # So that Backspace erases a whole character of UTF-8.
        mode[0] |= _UTF8_INPUT
        termios.tcsetattr(used, termios.TCSANOW, mode)
    except BaseException:
        os.close(shown)
        os.close(used)
        raise
    return shown, used


def set_size(fd: int, columns: int, rows: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("=HHHH", rows, columns, 0, 0))


class JobTerminal:
    """Made by the runner when the job's shell has started."""

    def __init__(
        self,
        poll: select.poll,
        intake: Intake,
        job: KeptJob,
        master: int,
        sock: socket.socket,
        *,
        attended: bool,
        records: bool,
    ) -> None:
        self._poll = poll
        self._intake = intake
        self._attended = attended
        self._shown: int | None = None
        """How much of the output its attendant has shown; None where it waits for none."""
        self._job = job
        self._master = os.dup(master)
        self._socket = sock
        self._pending = b""
        """What was typed and the program has not read."""
        self._unfinished = 0
        """How long the line is that was typed without its end."""
        self._holds = False
        self._line = LastLine()
        self._last_look = 0.0
        """When it came: what was printed before it may still be on its way through the terminal here."""
        self._far: Look | None = None
        """The last look of the other machine; None where the program is on this one."""
        self._state: dict[str, object] = {}
        self._last_output = self._last_typed = self._last_event = time.monotonic()
        self.look_at = self._last_event + PROMPT_SECONDS
        self._columns, self._rows = _size_of(self._master)
        self._alternate = False
        """Whether a full-screen program has switched to the alternate screen."""
        self._recording: Recording | None = None
        if records:
            try:
                path = os.path.join(job.directory, RECORDING)
                self._recording = Recording(path, columns=self._columns, rows=self._rows)
            except OSError:
                self._recording = None  # optional: the job's output is kept without it
        job.output.copy = self._written
        sock.settimeout(0)
        poll.register(sock, select.POLLIN)
        self._tell(waiting=None, interactive=False)

    @property
    def fds(self) -> tuple[int, int]:
        return self._socket.fileno(), self._master

    def _written(self, data: memoryview) -> None:
        """Output as the job's file has it, without hidden values."""
        now = time.monotonic()
        self._last_output = self._last_event = now
        self.look_at = now + EARLY_SECONDS
        newest = bytes(data[-4096:])
        self._line.feed(newest)
        if ALTERNATE in newest:
            at = newest.rindex(ALTERNATE) + len(ALTERNATE)
            self._alternate = newest[at : at + 1] == b"h"
        if self._recording is not None:
            self._recording.output(bytes(data))
        self._hold(len(data))

    def _hold(self, more: int = 0) -> None:
        """Read no more output while too much of it is not shown."""
        ahead = 0 if self._shown is None else self._job.output.size + more - self._shown
        self._intake.pause(paused=ahead > MOST_UNSHOWN_BYTES)

    def run_freely(self) -> None:
        """Wait for no attendant any more, whatever it still says."""
        self._attended, self._shown = False, None
        self._hold()

    # Input.

    def serve(self, fd: int) -> None:
        """Do what a descriptor is ready for."""
        if fd == self._master:
            self._type()
            return
        try:
            data, sender = self._socket.recvfrom(MOST_TYPED_BYTES + 1)
        except BlockingIOError:
            return
        self._last_event = time.monotonic()
        kind, rest = data[:1], data[1:]
        answer = DONE
        if kind == TYPED and not self._fits(rest) and sender:
            answer = TOO_LONG
        elif kind == TYPED:
            self._last_typed = self._last_event
            self.look_at = self._last_event + PROMPT_SECONDS
            self._pending += rest
            self._type()
            # The question is answered, until a look finds another.
            self._tell(waiting=None, interactive=bool(self._state.get("interactive")))
        elif kind == SIZE and len(rest) == SIZES.size:
            self._resize(*SIZES.unpack(rest))
        elif kind == FAR_LOOK and len(rest) == 1:
            self._far, self._last_look = unpacked(rest[0]), self._last_event
        elif kind == SHOWN and len(rest) == OFFSET.size and self._attended:
            self._shown = OFFSET.unpack(rest)[0]
            self._hold()
        if sender:
            try:
                self._socket.sendto(answer, sender)
            except OSError:
                return  # it did not wait

    def _fits(self, data: bytes) -> bool:
        """Whether the terminal takes all of it; a terminal without lines always does, by waiting."""
        try:
            mode = termios.tcgetattr(self._master)[3]
            if not (mode & termios.ICANON if self._far is None else self._far.canonical):
                self._unfinished = 0
                return True
        except (OSError, termios.error):
            return True  # the terminal is gone, which typing finds out
        lines = data.translate(_TO_LINES).split(b"\n")
        lengths = [self._unfinished + len(lines[0]), *map(len, lines[1:])]
        if max(lengths) > LONGEST_LINE_BYTES:
            # A person's keys are typed all the same, and the terminal does with them what every terminal does.
            return False
        self._unfinished = lengths[-1]
        return True

    def _type(self) -> None:
        try:
            while self._pending:
                self._pending = self._pending[os.write(self._master, self._pending) :]
        except BlockingIOError:
            pass  # the program does not read: more is taken when it does
        except OSError:
            self._pending = b""  # the terminal is gone
        if self._pending:
            # Backpressure: while the program does not read, the senders are told so by a full socket.
            self._poll.register(self._master, select.POLLOUT)
            self._poll.register(self._socket, 0)
            self._holds = True
        elif self._holds:
            # Not with an empty mask: a terminal that has hung up would be reported again and again.
            self._poll.unregister(self._master)
            self._poll.register(self._socket, select.POLLIN)
            self._holds = False

    def _resize(self, columns: int, rows: int) -> None:
        try:
            set_size(self._master, columns, rows)
        except OSError:
            return  # the terminal is gone
        self._columns, self._rows = columns, rows
        if self._recording is not None:
            self._recording.resized(columns, rows)
        self._tell(waiting=self._state.get("waitingFor"), interactive=bool(self._state.get("interactive")))

    # State.

    def look(self) -> None:
        """Find out whether it waits for input, and tell a change."""
        now = time.monotonic()
        if (early := self._last_output + PROMPT_SECONDS) > now:
            self._job.output.show_early()
            # Which is output, and has set the next look.
            self.look_at = early
            return
        self.look_at = now + (LOOK_SECONDS if now - self._last_event < BUSY_SECONDS else SELDOM_SECONDS)
        try:
            found = look(self._master) if self._far is None else self._far
        except OSError:
            self.look_at = now + SELDOM_SECONDS
            return
        silence, prompt = now - max(self._last_output, self._last_typed, self._last_look), None
        if found.reading and silence >= PROMPT_SECONDS:
            if (found.canonical or not self._line.draws) and self._line.text.strip():
                prompt = self._line.text
            elif found.canonical and found.alone and silence >= SILENT_READ_SECONDS:
                prompt = self._line.previous
        # The prompt may show what the job's output must not.
        hide = self._job.output.hide_in
        waiting = None if prompt is None else {"prompt": hide(prompt.strip()), "hidden": found.hidden}
        self._tell(waiting=waiting, interactive=not found.canonical and waiting is None)

    def _tell(self, *, waiting: object, interactive: bool) -> None:
        state = {
            "columns": self._columns,
            "rows": self._rows,
            "waitingFor": waiting,
            "interactive": interactive,
            "fullScreen": self._alternate,
        }
        if state == self._state:
            return
        self._state = state
        path = os.path.join(self._job.directory, STATE)
        try:
            fd = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                os.write(fd, json.dumps(state).encode("ascii"))
            finally:
                os.close(fd)
            os.replace(f"{path}.new", path)
        except OSError:
            # A full disk, or a directory that was removed: told at the next change.
            self._state = {}

    def close(self) -> None:
        self._poll.unregister(self._socket)
        if self._holds:
            self._poll.unregister(self._master)
        self._socket.close()
        os.close(self._master)
        if self._recording is not None:
            self._recording.close()
        for name in (SOCKET, STATE):
            try:
                os.unlink(os.path.join(self._job.directory, name))
            except OSError:
                continue  # removed with its directory
        self._job.output.copy = None


def _size_of(fd: int) -> tuple[int, int]:
    rows, columns, _, _ = struct.unpack("=HHHH", fcntl.ioctl(fd, termios.TIOCGWINSZ, bytes(8)))
    return columns, rows
