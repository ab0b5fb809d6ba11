"""Prints a part of a kept output, as `nacre artifacts show` and `nacre jobs logs` do.

Offsets are those of the whole output, lines are those that are kept of it; stderr tells where its cap dropped bytes. A
terminal gets the output without escape sequences, which could act on that terminal.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from nacre.artifacts.stored import Gap, Line, Stored, line_range
from nacre.cli.frame import complain
from nacre.output.decode import IncrementalDecoder, decode
from nacre.output.escapes import EscapeFilter
from nacre.wording import were

# A JSON object is built in memory, so without --limit it has this much and an offset to continue at.
JSON_BYTES = 1024 * 1024


def add_range(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a part of an output."""
    parser.add_argument("--offset", type=count, default=0, metavar="BYTE", help="begin at this byte of the output")
    parser.add_argument("--limit", type=count, metavar="BYTES", help="at most this many bytes")
    ranges = parser.add_mutually_exclusive_group()
    ranges.add_argument("--lines", type=_line_range, metavar="A:B", help="lines A to B, counted from 1")
    ranges.add_argument("--tail", type=count, metavar="N", help="the last N lines")


def print_range(stored: Stored, namespace: argparse.Namespace) -> None:
    """Print the part that the options name."""
    if namespace.lines is not None:
        _print_lines(_lines(stored, namespace))
    elif namespace.tail is not None:
        _Screen().write(stored.tail(namespace.tail).data)
    else:
        _print_bytes(stored, offset=namespace.offset, limit=namespace.limit)


def range_facts(stored: Stored, namespace: argparse.Namespace) -> dict[str, Any]:
    """Return the part that the options name, for a JSON object."""
    if namespace.lines is not None:
        return {"lines": [line_facts(item) for item in _lines(stored, namespace)]}
    limit = JSON_BYTES if namespace.limit is None else namespace.limit
    piece = stored.read(namespace.offset, limit) if namespace.tail is None else stored.tail(namespace.tail, limit)
    answer = {"offset": piece.offset, "nextOffset": piece.end, "skippedBytes": piece.skipped_bytes}
    return {**answer, "text": decode(piece.data)}


def _lines(stored: Stored, namespace: argparse.Namespace) -> Iterable[Line | Gap]:
    first, last = namespace.lines
    return stored.lines(first - 1, None if last is None else max(0, last - first + 1))


def _print_bytes(stored: Stored, *, offset: int, limit: int | None) -> None:
    screen = _Screen()
    for piece in stored.blocks(offset):
        if limit == 0:
            return
        if piece.skipped_bytes:
            note_gap(Gap(piece.skipped_bytes))
        screen.write(piece.data[:limit])
        limit = None if limit is None else max(0, limit - len(piece.data))


def _print_lines(items: Iterable[Line | Gap]) -> None:
    screen = _Screen()
    for item in items:
        if isinstance(item, Gap):
            note_gap(item)
            continue
        screen.write(item.data + b"\n")
        if item.cut_bytes:
            note_gap(Gap(item.cut_bytes))


class _Screen:
    """Writes bytes to stdout unchanged; a terminal gets text without escapes."""

    def __init__(self) -> None:
        self._watched = sys.stdout.isatty()
        self._text = IncrementalDecoder("replace")
        self._escapes = EscapeFilter()

    def write(self, data: bytes) -> None:
        if self._watched:
            sys.stdout.write(self._escapes.feed(self._text.decode(data)))
        else:
            sys.stdout.buffer.write(data)


def note_gap(gap: Gap) -> None:
    """Report missing bytes on stderr, after flushing stdout so that the order is right."""
    sys.stdout.flush()
    done = "not searched, of a long line" if gap.reason == "unsearched" else "dropped here"
    complain(f"{were(gap.bytes, 'byte')} {done}")


def line_facts(item: Line | Gap) -> dict[str, object]:
    if isinstance(item, Gap):
        return {"gapBytes": item.bytes, "reason": item.reason}
    return {"line": item.number, "text": decode(item.data), "cutBytes": item.cut_bytes}


def count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return int(text)


def _line_range(text: str) -> tuple[int, int | None]:
    lines = line_range(text)
    if lines is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of lines; write 10:20, 10: or :20")
    return lines
