"""Lines that a person typed, newest last, kept in the state directory between two consoles."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

from nacre.warden.record import open_regular

NAME = "tui-history"
MOST_LINES = 1000
# A line beyond this is not kept: it was pasted, not typed.
LINE_CHARACTERS = 4000


class LineHistory:
    """The lines typed so far, and a position among them."""

    def __init__(self, state_dir: str, *, hide: Callable[[str], str] = str) -> None:
        """Read the kept lines; `hide` takes secret values out of a line before it is kept."""
        self._path = os.path.join(state_dir, NAME)
        self._hide = hide
        self.lines = self._read()
        self._at: int | None = None
        self._draft = ""
        self.problem: str | None = None
        """Why lines are not kept, where they are not."""

    def _read(self) -> list[str]:
        try:
            fd = open_regular(self._path, os.O_RDONLY)
        except OSError:
            return []
        with open(fd, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()[-MOST_LINES:]

    def add(self, line: str) -> None:
        """Keep a line, unless it repeats the last one."""
        self._at = None
        if "\n" in line or not line.strip() or len(line) > LINE_CHARACTERS or self.lines[-1:] == [line]:
            return
        self.lines = [*self.lines, line][-MOST_LINES:]
        try:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            self._write()
        except OSError as error:
            self.problem = f"the history is not kept: {self._path}: {error.strerror}"

    def _write(self) -> None:
        temporary = f"{self._path}.{os.getpid()}"
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with open(fd, "w", encoding="utf-8") as file:
                file.writelines(f"{self._hide(one)}\n" for one in self.lines)
            os.replace(temporary, self._path)
        except OSError:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise

    def earlier(self, current: str) -> str | None:
        """Return the line before the one shown; None at the oldest."""
        if self._at is None:
            self._draft, self._at = current, len(self.lines)
        if self._at == 0:
            return None
        self._at -= 1
        return self.lines[self._at]

    def later(self) -> str | None:
        """Return the line after the one shown, at last the one that was being typed; None if none is shown."""
        if self._at is None:
            return None
        self._at += 1
        if self._at >= len(self.lines):
            self._at = None
            return self._draft
        return self.lines[self._at]

    def beginning_with(self, text: str) -> str | None:
        """Return the newest line that begins with a text and is longer."""
        return next((line for line in reversed(self.lines) if line != text and line.startswith(text)), None)
