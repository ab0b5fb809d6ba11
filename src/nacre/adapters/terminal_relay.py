"""Run a program on a terminal of its own: `python -I -S terminal_relay.py INPUT PROGRAM [ARGUMENT…]`.

Bytes from the fifo INPUT are typed; the output of the terminal goes to standard output. The relay ends with the program
and with its status, even if other processes hold the terminal. Standard library only; see `terminal.py`.
"""

import fcntl
import os
import select
import signal
import struct
import sys
import termios

# So large that no program wraps lines or pages.
ROWS, COLUMNS = 1000, 1000
CHUNK_BYTES = 65536
# A terminal of Linux holds at most 640 KiB.
MOST_HELD_BYTES = 1 << 20


def relay(source: str, argv: list[str]) -> int:
    """Run the program to its end; return the status that a shell would report."""
    terminal, own_end = os.openpty()
    _set_up(own_end)
    pid = os.fork()
    if pid == 0:
        _become(own_end, argv)
    os.close(own_end)
    os.set_blocking(terminal, False)
    # The other side has the fifo open for reading and writing, so this open does not wait.
    typing = os.open(source, os.O_RDONLY)
    ended = os.pidfd_open(pid)
    held, pending = True, b""
    while True:
        reading = [ended, *([terminal] if held else []), *([] if pending else [typing])]
        readable, writable, _ = select.select(reading, [terminal] if pending else [], [])
        if ended in readable:
            # All its output has arrived; more than a terminal holds comes from a process that it left running.
            left = MOST_HELD_BYTES
            while left > 0 and (size := _show(terminal)) > 0:
                left -= size
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            return code if code >= 0 else 128 - code
        if terminal in readable:
            held = _show(terminal) >= 0
        if writable:
            pending = pending[_type(terminal, pending) :]
        if typing in readable:
            pending = os.read(typing, CHUNK_BYTES)
            if not pending:
                # The other side is gone: the end of the relay closes the terminal, and its programs get SIGHUP.
                return 128 + signal.SIGHUP


def _show(terminal: int) -> int:
    """Copy output of the terminal; return the number of bytes, -1 if no program has it open."""
    try:
        data = os.read(terminal, CHUNK_BYTES)
    except BlockingIOError:
        return 0
    except OSError:
        return -1
    size, left = len(data), data
    while left:
        left = left[os.write(1, left) :]
    return size


def _type(terminal: int, data: bytes) -> int:
    """Type as much as the terminal takes; return the number of bytes, all if no program has it open."""
    try:
        return os.write(terminal, data)
    except BlockingIOError:
        return 0
    except OSError:
        return len(data)


def _set_up(own_end: int) -> None:
    attributes = termios.tcgetattr(own_end)
    # Without echo; programs with line editing echo by themselves.
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(own_end, termios.TCSANOW, attributes)
    fcntl.ioctl(own_end, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))


def _become(own_end: int, argv: list[str]) -> None:
    os.login_tty(own_end)
    # Python ignores these signals, and the program would inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execv(argv[0], argv)


if __name__ == "__main__":
    sys.exit(relay(sys.argv[1], sys.argv[2:]))
