"""The spellings of all secrets of one environment, prepared for looking them up in a text.

Two questions are answered here: where forms occur in a text, and how much of its end may be the beginning of one. Both
are asked of the text without its line breaks; which breaks an occurrence may have is the form's own rule. No state of a
stream belongs here: one table serves many. Standard library only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise

from nacre.output.redaction.search import LiteralSearch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nacre.output.redaction.broken import SequenceStarts

# A break this early in a form is taken for the end of a line, not for wrapping.
UNBROKEN = 8
# Beyond this the exact question is dearer than holding a little more.
MOST_HELD_CANDIDATES = 256
# Making the map costs milliseconds, what this many questions cost without it.
MAP_AFTER_QUESTIONS = 1000
MAP_BYTES = 1 << 18


class Form:
    """One spelling of a secret, as it is looked for: without its line breaks."""

    __slots__ = ("flat", "gap", "head", "name", "raw", "replacement")

    def __init__(self, name: str, raw: bytes) -> None:
        self.name = name
        self.raw = raw
        self.flat = flat_text(raw)
        self.replacement = b"[redacted:%s]" % name.encode("utf-8", "surrogateescape")
        breaks = re.findall(rb"[\r\n]+", raw) if len(raw) != len(self.flat) else []
        first_line = re.split(rb"[\r\n]", raw, maxsplit=1)[0] if breaks else raw
        self.head = min(UNBROKEN, len(first_line))
        self.gap = 2 * max(map(len, breaks), default=1)

    def allows(self, text: bytes, length: int) -> bool:
        """Tell whether the line breaks in a text are such that it is still the first ``length`` bytes of this form."""
        if len(text) == length:
            return True
        whole = text[: self.head]
        if b"\n" in whole or b"\r" in whole or (length < self.head):
            return False
        return re.search(rb"[\r\n]{%d}" % (self.gap + 1), text) is None


class Windows:
    """The runs of ``UNBROKEN`` bytes that a long text has; a map rules most of them out once many were looked up."""

    __slots__ = ("_asked", "_map", "_text")

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._asked = 0
        self._map = b""

    def find(self, window: bytes) -> int:
        """Return where it occurs first, or -1."""
        if self._map:
            if not self._map[hash(window) % MAP_BYTES]:
                return -1
        else:
            self._asked += 1
            if self._asked > MAP_AFTER_QUESTIONS:
                self._map = self._mapped()
        return self._text.find(window)

    def _mapped(self) -> bytes:
        found = bytearray(MAP_BYTES)
        for at in range(len(self._text) - UNBROKEN + 1):
            found[hash(self._text[at : at + UNBROKEN]) % MAP_BYTES] = 1
        return bytes(found)


class FormTable:
    """The forms of one environment, prepared once and shared by all its streams."""

    __slots__ = (
        "_beginnings",
        "_carriers",
        "_joined",
        "_joined_forms",
        "_search",
        "_short_lines",
        "_starts",
        "_windows",
        "forms",
        "longest",
        "sequence_starts",
    )

    def __init__(self, forms: Iterable[tuple[str, bytes]]) -> None:
        unique: dict[bytes, Form] = {}
        for name, raw in forms:
            form = Form(name, raw)
            if form.flat:
                unique.setdefault(form.flat, form)
        self.forms: Sequence[Form] = list(unique.values())
        self.sequence_starts: SequenceStarts | None = None
        """Made for the first text with terminal control."""
        self.longest = max(map(len, unique), default=0)
        self._carriers = carriers(self.forms)
        self._search = LiteralSearch(list(self._carriers))
        self._joined_forms = without_prefixes(self.forms)
        self._joined = b"\n".join(form.flat for form in self._joined_forms)
        self._windows = Windows(self._joined)
        self._starts: list[int] = []
        at = 0
        for form in self._joined_forms:
            self._starts.append(at)
            at += len(form.flat) + 1
        # The first bytes of every form, shortest first line first: what a short end of text may turn into.
        self._short_lines = any(form.head < UNBROKEN for form in self.forms)
        self._beginnings: dict[bytes, Form] = {}
        for form in self.forms:
            for length in range(1, min(UNBROKEN, len(form.flat))):
                begin = form.flat[:length]
                if begin not in self._beginnings or form.head < self._beginnings[begin].head:
                    self._beginnings[begin] = form

    def occurrences(self, flat: bytes) -> list[tuple[int, int, Form]]:
        """List where forms occur in a text without line breaks: leftmost first, then longest first."""
        cores = self._search.occurrences(flat)
        if not cores:
            return []
        # No two of one place and one length are of different forms, so forms are never compared.
        return sorted(
            {
                (place - offset, -len(form.flat), form)
                for place, core in cores
                for offset, form in self._carriers[core]
                if form.flat is core or (place >= offset and flat.startswith(form.flat, place - offset))
            }
        )

    def held(self, text: bytes, flat: bytes) -> int:
        """Return how many bytes at the end of the text may be the beginning of a form."""
        for length, form in self._unfinished(flat, ended=text.endswith((b"\n", b"\r"))):
            begin = last_bytes(text, length)
            if form is None or form.allows(text[begin:], length):
                return len(text) - begin
        return 0

    def _unfinished(self, flat: bytes, *, ended: bool) -> list[tuple[int, Form | None]]:
        """List what the end of a text, perhaps of an ended line, may be the beginning of, longest first."""
        found: list[tuple[int, Form | None]] = []
        end = flat[-UNBROKEN:]
        at = self._windows.find(end) if len(end) == UNBROKEN else -1
        while at >= 0:
            index = bisect_right(self._starts, at) - 1
            form = self._joined_forms[index]
            length = at + UNBROKEN - self._starts[index]
            if length < len(form.flat) and flat.endswith(form.flat[:length]):
                found.append((length, form))
                if len(found) > MOST_HELD_CANDIDATES:
                    return [(min(self.longest - 1, len(flat)), None)]
            at = self._joined.find(end, at + 1)
        found.sort(key=lambda pair: -pair[0])
        if not ended or self._short_lines:
            for length in range(min(UNBROKEN - 1, len(flat)), 0, -1):
                if form_begun := self._beginnings.get(flat[-length:]):
                    found.append((length, form_begun))
        return found


def carriers(forms: Sequence[Form]) -> dict[bytes, list[tuple[int, Form]]]:
    """Group forms by the shortest form they contain, and where: looking for that one finds them all."""
    groups: dict[bytes, list[tuple[int, Form]]] = {}
    by_name: dict[str, list[bytes]] = {}
    for form in sorted(forms, key=lambda form: len(form.flat)):
        cores = by_name.setdefault(form.name, [])
        core = next((core for core in cores if core in form.flat), None)
        if core is None:
            cores.append(form.flat)
            core = form.flat
        groups.setdefault(core, []).append((form.flat.find(core), form))
    return groups


def without_prefixes(forms: Sequence[Form]) -> list[Form]:
    """Leave out what a longer form begins with: waiting for the longer one waits for it too."""
    ordered = sorted(forms, key=lambda form: form.flat)
    kept = ordered[-1:]
    for form, after in pairwise(ordered):
        if not after.flat.startswith(form.flat) or after.head > form.head or after.gap < form.gap:
            kept.append(form)
    return kept


def flat_text(text: bytes) -> bytes:
    flat = text.replace(b"\n", b"")
    return flat.replace(b"\r", b"") if b"\r" in flat else flat


def last_bytes(text: bytes, count: int) -> int:
    """Return where the last ``count`` bytes that are no line breaks begin."""
    at = len(text)
    while count:
        begin = max(0, at - count)
        count = text.count(b"\n", begin, at) + text.count(b"\r", begin, at)
        at = begin
    return at


def skip_bytes(text: bytes, at: int, count: int) -> int:
    """Return where the text goes on after ``count`` bytes that are no line breaks."""
    while count:
        end = at + count
        count = text.count(b"\n", at, end) + text.count(b"\r", at, end)
        at = end
    return at


def skip_breaks(text: bytes, at: int) -> int:
    while text[at : at + 1] in (b"\n", b"\r"):
        at += 1
    return at
