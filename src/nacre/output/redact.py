"""Taking secret values out of a stream of output, however it is cut into chunks.

Bytes in, bytes out, no IO. What is held back is exactly the end of the text that may be the beginning of a secret, so
nothing waits longer than it must and no chunking reveals a value. A line break inside an occurrence does not hide it
(wrapped base64), unless it comes within the first bytes, so that a finished line is never held for its last letter.
Standard library only and light to import: a job's runner rebuilds a redactor from ``to_forms``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise

from nacre.output.redact_search import LiteralSearch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self

# A break this early in a form is taken for the end of a line, not for wrapping.
UNBROKEN = 8
# Beyond this the exact question is dearer than holding a little more.
MOST_HELD_CANDIDATES = 256


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


class FormTable:
    """The forms of one environment, prepared once and shared by all its streams."""

    __slots__ = (
        "_beginnings",
        "_carriers",
        "_joined",
        "_joined_forms",
        "_longest",
        "_search",
        "_short_lines",
        "_starts",
        "forms",
    )

    def __init__(self, forms: Iterable[tuple[str, bytes]]) -> None:
        unique: dict[bytes, Form] = {}
        for name, raw in forms:
            form = Form(name, raw)
            if form.flat:
                unique.setdefault(form.flat, form)
        self.forms: Sequence[Form] = list(unique.values())
        self._longest = max(map(len, unique), default=0)
        self._carriers = carriers(self.forms)
        self._search = LiteralSearch(list(self._carriers))
        self._joined_forms = without_prefixes(self.forms)
        self._joined = b"\n".join(form.flat for form in self._joined_forms)
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
        found = {
            (place - offset, -len(form.flat)): form
            for place, core in cores
            for offset, form in self._carriers[core]
            if place >= offset and flat.startswith(form.flat, place - offset)
        }
        return [(*place, found[place]) for place in sorted(found)]

    def held(self, text: bytes, flat: bytes) -> int:
        """How many bytes at the end of the text may be the beginning of a form."""
        for length, form in self._unfinished(flat, ended=text.endswith((b"\n", b"\r"))):
            begin = last_bytes(text, length)
            if form is None or form.allows(text[begin:], length):
                return len(text) - begin
        return 0

    def _unfinished(self, flat: bytes, *, ended: bool) -> list[tuple[int, Form | None]]:
        """List what the end of a text, perhaps of an ended line, may be the beginning of, longest first."""
        found: list[tuple[int, Form | None]] = []
        end = flat[-UNBROKEN:]
        at = self._joined.find(end) if len(end) == UNBROKEN else -1
        while at >= 0:
            index = bisect_right(self._starts, at) - 1
            form = self._joined_forms[index]
            length = at + UNBROKEN - self._starts[index]
            if length < len(form.flat) and flat.endswith(form.flat[:length]):
                found.append((length, form))
                if len(found) > MOST_HELD_CANDIDATES:
                    return [(min(self._longest - 1, len(flat)), None)]
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
    """Leave out what a longer form begins with: whoever waits for the longer one waits for it too."""
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
    """Where the last ``count`` bytes that are no line breaks begin."""
    at = len(text)
    while count:
        begin = max(0, at - count)
        count = text.count(b"\n", begin, at) + text.count(b"\r", begin, at)
        at = begin
    return at


def skip_bytes(text: bytes, at: int, count: int) -> int:
    """Where the text goes on after ``count`` bytes that are no line breaks."""
    while count:
        end = at + count
        count = text.count(b"\n", at, end) + text.count(b"\r", at, end)
        at = end
    return at


class Redactor:
    """Replaces secret values by ``[redacted:NAME]`` in one stream; false when there is nothing to replace.

    Example:
        >>> redactor = Redactor({"GH_TOKEN": "not-a-real-token"})
        >>> redactor.feed(b"token: not-a-real-") + redactor.feed(b"token.") + redactor.flush()
        b'token: [redacted:GH_TOKEN].'
    """

    __slots__ = ("_held", "_known_tokens", "_table", "_tokens", "counts")

    def __init__(self, secrets: Mapping[str, str | tuple[str, ...]], *, known_tokens: bool = False) -> None:
        # Only the process that builds the forms needs to know how.
        from nacre.output.redact_forms import all_forms

        self._set_up(FormTable(all_forms(secrets)), known_tokens=known_tokens)

    def _set_up(self, table: FormTable, *, known_tokens: bool) -> None:
        self._table = table
        self._known_tokens = known_tokens
        self._held = b""
        self._tokens = None
        self.counts: dict[str, int] = {}
        if known_tokens and table.forms:
            from nacre.output.redact_tokens import TokenRedactor

            self._tokens = TokenRedactor(self.counts)

    @classmethod
    def from_forms(cls, forms: Iterable[tuple[str, bytes]], *, known_tokens: bool = False) -> Self:
        """Rebuild a redactor from what ``to_forms`` gave, in another process."""
        redactor = cls.__new__(cls)
        redactor._set_up(FormTable(forms), known_tokens=known_tokens)
        return redactor

    @classmethod
    def empty(cls) -> Self:
        """Give a redactor with nothing to replace."""
        return cls.from_forms(())

    def to_forms(self) -> list[tuple[str, bytes]]:
        """List what is looked for, by variable name."""
        return [(form.name, form.raw) for form in self._table.forms]

    def fresh(self) -> Self:
        """Give a redactor for another stream, sharing what was prepared for this one."""
        redactor = type(self).__new__(type(self))
        redactor._set_up(self._table, known_tokens=self._known_tokens)
        return redactor

    def __bool__(self) -> bool:
        return bool(self._table.forms)

    def __repr__(self) -> str:
        names = sorted({form.name for form in self._table.forms})
        return f"Redactor(names={names}, replaced={self.replaced})"

    @property
    def replaced(self) -> int:
        """How many occurrences were replaced so far."""
        return sum(self.counts.values())

    def feed(self, chunk: bytes | memoryview) -> bytes:
        """Take the next bytes of the stream and give those that are safe to show."""
        if not self._table.forms:
            return bytes(chunk)
        shown = self._redact(self._held + chunk if self._held else bytes(chunk))
        return self._tokens.feed(shown) if self._tokens else shown

    def idle_flush(self) -> bytes:
        """Give what can be shown when the stream pauses: nothing, since ``feed`` keeps only a possible beginning."""
        return b""

    def flush(self) -> bytes:
        """Give the rest when the stream has ended."""
        rest = self._redact(self._held, final=True) if self._held else b""
        return self._tokens.feed(rest) + self._tokens.flush() if self._tokens else rest

    def redact_text(self, text: str) -> str:
        """Redact a complete text, such as an error or a log line, apart from the stream."""
        if not self._table.forms:
            return text
        one = self.fresh()
        raw = text.encode("utf-8", "surrogateescape")
        return (one.feed(raw) + one.flush()).decode("utf-8", "surrogateescape")

    def _redact(self, text: bytes, *, final: bool = False) -> bytes:
        flat = flat_text(text)
        occurrences = self._table.occurrences(flat)
        cut = len(text) if final else len(text) - self._table.held(text, flat)
        if occurrences:
            return self._replace(text, flat, occurrences, cut)
        self._held = text[cut:]
        return text[:cut]

    def _replace(self, text: bytes, flat: bytes, occurrences: list[tuple[int, int, Form]], cut: int) -> bytes:
        """Replace leftmost, longest occurrences up to where the text may be unfinished."""
        shown: list[bytes] = []
        # `done` and `flat_done` are one place, as are `at` and `flat_at`: in the text, and without its line breaks.
        done = flat_done = at = flat_at = 0
        for place, _, form in occurrences:
            if place < flat_done:
                continue
            at, flat_at = skip_breaks(text, skip_bytes(text, at, place - flat_at)), place
            if at >= cut:
                break
            end = at + len(form.flat)
            if not text.startswith(form.flat, at):
                end = skip_bytes(text, at, len(form.flat))
                if not form.allows(text[at:end], len(form.flat)):
                    continue
            shown += (text[done:at], form.replacement)
            self.counts[form.name] = self.counts.get(form.name, 0) + 1
            done = at = end
            flat_done = flat_at = place + len(form.flat)
            if done > cut:
                cut = len(text) - self._table.held(text[done:], flat[flat_done:])
        self._held = text[cut:]
        shown.append(text[done:cut])
        return b"".join(shown)


def skip_breaks(text: bytes, at: int) -> int:
    while text[at : at + 1] in (b"\n", b"\r"):
        at += 1
    return at
