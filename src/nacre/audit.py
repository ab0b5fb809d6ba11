"""Reads the audit log: one JSON line for each call, never the content of its output.

engine/call_log.py writes it, and so does warden/log_line.py for what ends on the far side.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

from nacre.errors import NacreError, reason_of
from nacre.state_directory import answers, survey
from nacre.warden.log_line import NAME, append_line, open_for_reading

__all__ = ["NAME", "append_line", "decode_line", "entries"]


def entries(state_dir: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Return the calls, oldest first; a damaged line is skipped, as it can only be half of a write that was cut off.

    Raises:
        NacreError: the log cannot be read.
    """
    directory = os.path.abspath(state_dir)
    log = os.path.join(directory, NAME)
    try:
        for line in _lines(log) if answers(directory) else survey(directory, _all_lines, log):
            entry = decode_line(line)
            if entry is not None:
                yield entry
    except OSError as error:
        reason = error.strerror if isinstance(error, NacreError) else reason_of(error.errno or 0)
        raise NacreError(
            f"the log {log} cannot be read: {reason}; set NACRE_HOME to a directory that can be used"
        ) from error


def _lines(log: str) -> Iterator[str]:
    for path in (f"{log}.1", log):
        with (
            contextlib.suppress(FileNotFoundError),
            open(path, encoding="ascii", errors="replace", opener=open_for_reading) as file,
        ):
            yield from file


def _all_lines(log: str) -> list[str]:
    return list(_lines(log))


def decode_line(line: str) -> dict[str, Any] | None:
    """Return the entry in a line; None if the line is damaged."""
    # A write that a full disk cut off is followed by the next entry in the same line; quotes within one are escaped.
    for text in (line, line[max(0, line.rfind('{"time":')) :]):
        with contextlib.suppress(ValueError):
            entry = json.loads(text)
            return entry if isinstance(entry, dict) else None
    return None
