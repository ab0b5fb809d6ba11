"""Run a program on a terminal of its own: `python -I -S terminal_relay.py INPUT PROGRAM [ARGUMENT…]`.

What is written to the fifo INPUT is typed; what the terminal shows comes on the standard output. It ends with the
program, whoever else still holds the terminal, and with its status. Standard library only; see `terminal.py`.
"""

import fcntl
import os
import select
import signal
import struct
import sys
import termios

# So large that nothing breaks a line or waits for a key because of it.
ROWS, COLUMNS = 1000, 1000
CHUNK_BYTES = 65536
# Linux: no terminal holds more than 640 KiB.
MOST_HELD_BYTES = 1 << 20


def relay(source: str, argv: list[str]) -> int:
    """Run the program to its end; the status is what a shell would say."""
    terminal, own_end = os.openpty()
    _set_up(own_end)
    pid = os.fork()
    if pid == 0:
        _become(own_end, argv)
    os.close(own_end)
    os.set_blocking(terminal, False)
    # Whoever types holds it open for both, so this waits for nobody.
    typing = os.open(source, os.O_RDONLY)
    ended = os.pidfd_open(pid)
    held, pending = True, b""
    while True:
        reading = [ended, *([terminal] if held else []), *([] if pending else [typing])]
        readable, writable, _ = select.select(reading, [terminal] if pending else [], [])
        if ended in readable:
            # All that it wrote is there by now; beyond what a terminal can hold, it is of somebody it has left.
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
                # Nobody is left to type: the terminal is closed with us, and its programs hear of that.
                return 128 + signal.SIGHUP


def _show(terminal: int) -> int:
    """Pass on what the terminal shows: how many bytes; -1 when no program has it open any more."""
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
    """Type as much as the terminal takes: how many bytes; all when no program has it open any more."""
    try:
        return os.write(terminal, data)
    except BlockingIOError:
        return 0
    except OSError:
        return len(data)


def _set_up(own_end: int) -> None:
    attributes = termios.tcgetattr(own_end)
    # What is typed is known; programs that edit lines show it all the same.
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(own_end, termios.TCSANOW, attributes)
    fcntl.ioctl(own_end, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))


def _become(own_end: int, argv: list[str]) -> None:
    os.login_tty(own_end)
    # Python ignores them, and a program would inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execv(argv[0], argv)


if __name__ == "__main__":
    sys.exit(relay(sys.argv[1], sys.argv[2:]))
