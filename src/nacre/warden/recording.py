"""Records what a terminal shows, as an asciicast (version 2): output and sizes with their times, never input."""

from __future__ import annotations

import codecs
import json
import os
import time

from nacre.warden import record

NAME = "session.cast"
# A flood is recorded up to here; the output file has the newest of it.
CAP_BYTES = 16 * 1024 * 1024


class Recording:
    def __init__(self, path: str, *, columns: int, rows: int) -> None:
        """Raises OSError when the file cannot be made."""
        self._fd = record.open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._began = time.monotonic()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._size = 0
        header = {
            "version": 2,
            "width": columns,
            "height": rows,
            "timestamp": int(time.time()),
            "env": {"TERM": "xterm-256color"},
        }
        self._write(json.dumps(header))

    def output(self, data: bytes) -> None:
        if self._fd >= 0 and (text := self._decoder.decode(data)):
            self._event("o", text)

    def resized(self, columns: int, rows: int) -> None:
        if self._fd >= 0:
            self._event("r", f"{columns}x{rows}")

    def _event(self, kind: str, text: str) -> None:
        if self._size >= CAP_BYTES:
            kind, text = "m", "the recording ends here: it has reached its largest size"
        self._write(json.dumps([round(time.monotonic() - self._began, 6), kind, text]))
        if kind == "m":
            self.close()

    def _write(self, line: str) -> None:
        data = line.encode("ascii") + b"\n"
        try:
            self._size += os.write(self._fd, data)
        except OSError:
            # A full disk ends the recording, never the command.
            self.close()

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
