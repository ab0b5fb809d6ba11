"""Replaces forms in a text with terminal control, which may be in the middle of a value.

A value with colour codes or NULs between its characters (UTF-16 has a NUL in every character) is whole for a reader of
the text, and nowhere in its bytes. So the text is searched without its control, and a place in that is mapped to the
place in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from nacre.output.escapes import SEQUENCE_BYTES, UNFINISHED_BYTES
from nacre.output.plain_bytes import CONTROL_BYTES
from nacre.output.redaction.form_table import UNBROKEN, Form, FormTable, flat_text, skip_breaks, skip_bytes

# A beginning of a value with more control in it than this is passed on, so that what is held stays small.
MOST_HELD_BYTES = 64 * 1024
# What the end of a text has beyond two forms: room for terminal control.
TAIL_BYTES = 1024
# A control string and what follows it, up to the next sequence.
CONTROL_STRING = re.compile(rb"\x1b[\]X^_P][^\x1b]*+")
# A longer sequence is text: waiting for its end would hold back the output.
LONGEST_SEQUENCE = 4096


class Unbroken:
    """A text and the same without terminal control: escape sequences, and single characters of one choice."""

    __slots__ = ("_begins", "_control", "_last", "_removed", "_unsequenced", "end", "raw", "text")

    def __init__(self, raw: bytes, control: bytes, *, final: bool) -> None:
        self.raw = raw
        self._control = control
        self.end = len(raw)
        """Where a sequence begins whose end has not come yet, or the end of the text."""
        unfinished = None if final else UNFINISHED_BYTES.search(raw, max(0, self.end - LONGEST_SEQUENCE))
        if unfinished is not None:
            self.end = unfinished.start()
        self._unsequenced = SEQUENCE_BYTES.sub(b"", raw[: self.end])
        self.text = self._unsequenced.translate(None, control)
        # Where sequences were removed from, and how many bytes up to there.
        self._begins: list[int] | None = None
        self._removed: list[int] = []
        # A place in the text, and the same in the text that has only lost its sequences.
        self._last = (0, 0)

    def place(self, at: int) -> int:
        """Return where the byte at this place comes from."""
        if self._begins is None:
            self._begins = self._mapped()
        done, begin = self._last if self._last[0] <= at else (0, 0)
        left = at - done
        while left or self._unsequenced[begin] in self._control:
            # What is passed here and is no part of the text is still to be passed.
            end = begin + max(left, 1)
            control = sum(self._unsequenced.count(sign, begin, end) for sign in self._control)
            left, begin = (control if left else 0), end
        self._last = (at, begin)
        index = bisect_right(self._begins, begin)
        return begin + (self._removed[index - 1] if index else 0)

    def tail(self, size: int) -> tuple[int, Unbroken]:
        """Return the end of the text, of about this size, and where it begins: outside of a sequence."""
        begin = self.outside(max(0, len(self.raw) - size))
        return begin, Unbroken(self.raw[begin:], self._control, final=False)

    def outside(self, place: int) -> int:
        """Return the same place in the raw text, or the beginning of the sequence that it is in."""
        start = self.raw.rfind(b"\x1b", 0, place)
        if start < 0 or not self._reaches_over(start, place):
            return place
        # The end of a control string is an escape itself.
        before = self.raw.rfind(b"\x1b", 0, start)
        return before if before >= 0 and self._reaches_over(before, start) else start

    def _reaches_over(self, start: int, place: int) -> bool:
        sequence = SEQUENCE_BYTES.match(self.raw, start)
        return sequence is not None and sequence.end() > place

    def _mapped(self) -> list[int]:
        begins: list[int] = []
        removed = 0
        for match in SEQUENCE_BYTES.finditer(self.raw, 0, self.end):
            begins.append(match.start() - removed)
            removed += match.end() - match.start()
            self._removed.append(removed)
        return begins


class SequenceStarts:
    """Tells whether a form may begin inside an escape sequence, and so be missing in the text without sequences.

    The last byte of a colour code may be the first of a value: `ESC [ 0 m y - t o k e n`.
    """

    __slots__ = ("_always", "_pattern", "_table")

    def __init__(self, table: FormTable) -> None:
        self._table = table
        # A form that has control of its own, or is not known by its first bytes, may be anywhere.
        self._always = any(
            form.head < UNBROKEN or len(form.flat.translate(None, CONTROL_BYTES)) != len(form.flat)
            for form in table.forms
        )
        heads = [form.flat[:UNBROKEN] for form in table.forms]
        beginning = (
            b""
            if self._always
            else b"".join(b"[%s]" % re.escape(bytes({*column})) for column in zip(*heads, strict=True))
        )
        # All that a sequence other than a control string has before its last byte.
        self._pattern = re.compile(rb"\x1b[\[ -?]*?(?=%s)" % beginning)

    def found_in(self, text: bytes) -> bool:
        """Return False if no form begins inside a sequence of the text."""
        if self._always or self._pattern.search(text):
            return True
        strings = CONTROL_STRING.findall(text)
        return bool(strings and self._table.occurrences(flat_text(b"\x1b".join(strings))))


def redact_broken(
    table: FormTable, text: bytes, counts: dict[str, int], *, final: bool, control: bytes
) -> tuple[bytes, bytes]:
    """Return what can be shown of a text, and its end that is held back; add the replacements to `counts`."""
    if table.sequence_starts is None:
        table.sequence_starts = SequenceStarts(table)
    unbroken = Unbroken(text, control, final=final)
    found = _found(table, text) if table.sequence_starts.found_in(text) else []
    found += [(unbroken.place(at), unbroken.place(end - 1) + 1, form) for at, end, form in _found(table, unbroken.text)]
    cut = len(text) if final else _finished(table, unbroken)
    shown: list[bytes] = []
    done = 0
    for at, end, form in sorted(found, key=lambda one: (one[0], -one[1])):
        if at < done:
            continue
        if at >= cut:
            break
        # Colours go on as they would: what is replaced is the text alone.
        shown += (text[done:at], form.replacement, *SEQUENCE_BYTES.findall(text[at:end]))
        counts[form.name] = counts.get(form.name, 0) + 1
        done = end
        if done > cut:
            cut = done + _finished(table, Unbroken(text[done:], control, final=False))
    return b"".join((*shown, text[done:cut])), text[cut:]


def _found(table: FormTable, text: bytes) -> list[tuple[int, int, Form]]:
    """Return all occurrences in a text, overlapping ones too."""
    found: list[tuple[int, int, Form]] = []
    at = flat_at = 0
    for place, _, form in table.occurrences(flat_text(text)):
        at, flat_at = skip_breaks(text, skip_bytes(text, at, place - flat_at)), place
        end = skip_bytes(text, at, len(form.flat))
        if form.allows(text[at:end], len(form.flat)):
            found.append((at, end, form))
    return found


def _finished(table: FormTable, unbroken: Unbroken) -> int:
    """Return up to where a text cannot be the beginning of a form, nor of terminal control."""
    # Nothing longer than a form is held, and in a long text the way back to a place is long.
    size = 2 * table.longest + TAIL_BYTES
    if len(unbroken.raw) > 2 * size:
        begin, tail = unbroken.tail(size)
        if len(flat_text(tail.text)) >= table.longest:
            return begin + _finished(table, tail)
    raw, text = unbroken.raw, unbroken.text
    cut = len(text) - table.held(text, flat_text(text))
    place = unbroken.end if cut == len(text) else unbroken.place(cut)
    place = min(place, unbroken.outside(len(raw) - table.held(raw, flat_text(raw))))
    return place if len(raw) - place <= MOST_HELD_BYTES else len(raw)
