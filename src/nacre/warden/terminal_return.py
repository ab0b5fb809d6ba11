"""Gives a person's terminal back when the program that uses it is killed: SIGKILL leaves that program no last word.

A program of its own, in a session of its own, so that what ends the other does not end it. It learns the modes that
the other has set in the first line of its standard input, and in each further line, in hexadecimal digits, what undoes
all that is switched on by then. The end of input is the death of the other: one that ends in order ends this first.

    python -I -S terminal_return.py FD MODES
"""

from __future__ import annotations

import json
import os
import sys
import termios

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

READ_BYTES = 4096


def modes_of(fd: int) -> list[Any]:
    """Return the modes of a terminal in values that can be compared and sent."""
    *numbers, characters = termios.tcgetattr(fd)
    return [*numbers, [one.hex() if isinstance(one, bytes) else one for one in characters]]


def set_modes(fd: int, modes: list[Any]) -> None:
    *numbers, characters = modes
    there = [bytes.fromhex(one) if isinstance(one, str) else one for one in characters]
    termios.tcsetattr(fd, termios.TCSANOW, [*numbers, there])


def main(fd: int, before: list[Any]) -> None:
    said = b""
    while data := os.read(0, READ_BYTES):
        said += data
    in_use, *undone = said.split(b"\n")[:-1] or [b""]
    try:
        # Another program, as a shell with a line editor, may have set its own modes already.
        if in_use and modes_of(fd) == json.loads(in_use):
            set_modes(fd, before)
        if undone:
            os.write(fd, bytes.fromhex(undone[-1].decode("ascii")))
    except (OSError, termios.error):
        pass  # the terminal is gone, too


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]))
