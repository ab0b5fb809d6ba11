"""`python -m benchmarks.console`: how `nacre tui` starts, and how it answers keys while a command floods it.

The start is the time from the process to the first screen, against `python -c 'import textual'`, one of each a round;
the ratio of the quickest of both is judged. A key is typed into the line below a card that is flooded, and into a
program whose console is flooded; its time is that to the letter on the screen, and to the program.
"""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path

ROUNDS = 7
FLOOD_SECONDS = 10.0
MOST_RATIO, MOST_KEY_MS = 2.8, 100.0
_ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()][A-Z0-9]")


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, place: Path, *words: str) -> None:
        self._fd, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self._seen = b""
        self.process = subprocess.Popen(
            words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=place, env=environment(place), start_new_session=True
        )
        os.close(theirs)

    def wait(self, seconds: float, wanted: Callable[[bytes, bytes], bool] = lambda seen, data: False) -> bool:
        """Read until something is wanted of what was seen and of the newest of it; False when the time is up."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self._fd], [], [], left)[0]:
                data = os.read(self._fd, 65536)
                self._seen = (self._seen + data)[-200_000:]
                if wanted(self._seen, data):
                    return True
        return False

    def press(self, key: bytes) -> None:
        os.write(self._fd, key)

    def mebibytes(self) -> float:
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii"))
        return 0.0 if found is None else int(found[1]) / 1024

    def close(self) -> None:
        self.process.terminate()
        with contextlib.suppress(OSError):
            self.wait(1.0)
        self.process.wait()
        os.close(self._fd)


def environment(place: Path) -> dict[str, str]:
    own = {"HOME": str(place), "NACRE_HOME": f"{place}/state", "TERM": "xterm-256color", "NACRE_SNAPSHOT": "false"}
    return {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")} | own


def opened(place: Path) -> Terminal:
    terminal = Terminal(place, sys.executable, "-m", "nacre", "tui")
    assert terminal.wait(30.0, lambda seen, _: b"F1 help" in seen), "the console did not open"
    return terminal


def start(place: Path) -> tuple[float, float]:
    """Return the milliseconds to the first screen, and those of the import, the quickest of each."""
    screens, imports = [], []
    for _ in range(ROUNDS):
        began = time.monotonic()
        terminal = opened(place)
        screens.append(time.monotonic() - began)
        terminal.close()
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", "import textual"], env=environment(place), check=True)
        imports.append(time.monotonic() - began)
    return 1000 * min(screens), 1000 * min(imports)


def flooded(place: Path, *, on_terminal: bool) -> tuple[list[float], float]:
    """Return the milliseconds of each key, and the mebibytes that the console grew by."""
    keys = place / "keys"
    keys.write_bytes(b"")
    flood = f"timeout {FLOOD_SECONDS + 5:g} yes"
    command = flood
    if on_terminal:
        command = f"{flood} & while IFS= read -rsn1 key; do echo $EPOCHREALTIME >> {keys}; done"
    terminal = opened(place)
    # A console opens by itself only where no key was pressed a moment ago.
    terminal.wait(1.5)
    arguments = json.dumps({"command": command, "pty": on_terminal})
    agent = subprocess.Popen(
        [sys.executable, "-m", "nacre", "call", "workspace", arguments],
        stdout=subprocess.DEVNULL,
        env=environment(place),
        cwd=place,
    )
    sign = b"force-kill" if on_terminal else b"running"
    assert terminal.wait(20.0, lambda seen, _: sign in seen), "the flood is not shown"
    terminal.wait(1.0)
    took: list[float] = []
    before, end = terminal.mebibytes(), time.monotonic() + FLOOD_SECONDS
    while time.monotonic() < end:
        took.append(1000 * (_typed(terminal, keys, len(took)) if on_terminal else _echoed(terminal, len(took))))
        terminal.wait(0.2)
    grown = terminal.mebibytes() - before
    terminal.close()
    agent.kill()
    agent.wait()
    return took, grown


def _echoed(terminal: Terminal, number: int) -> float:
    """Type a letter into the line; return the seconds until it is drawn."""
    key = b"abcdefghijklmnopqrstuvwx"[number % 24 :][:1]
    began = time.monotonic()
    terminal.press(key)
    terminal.wait(5.0, lambda _, data: key in _ESCAPES.sub(b"", data))
    return time.monotonic() - began


def _typed(terminal: Terminal, keys: Path, number: int) -> float:
    """Type a letter into the program; return the seconds until it has read it, by its own clock."""
    began = time.time()
    terminal.press(b"k")
    while time.time() < began + 5.0:
        terminal.wait(0.005)
        lines = keys.read_text(encoding="ascii").split()
        if len(lines) > number:
            return float(lines[number]) - began
    return 5.0


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        screen, imported = start(place)
        good = screen / imported <= MOST_RATIO
        print(f"first screen {screen:.0f} ms, import textual {imported:.0f} ms: {screen / imported:.2f} times")
        for where, on_terminal in (("card", False), ("console", True)):
            took, grown = flooded(place, on_terminal=on_terminal)
            good = good and max(took) <= MOST_KEY_MS
            print(
                f"{len(took)} keys with a flood in a {where}: median {statistics.median(took):.0f} ms, "
                f"slowest {max(took):.0f} ms; the console grew by {grown:.0f} MiB"
            )
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
