"""Taking secret values out of a stream of output, however it is cut into chunks.

Bytes in, bytes out, no IO. What is held back is exactly the end of the text that may be the beginning of a secret, so
nothing waits longer than it must and no chunking reveals a value. Terminal control inside an occurrence does not hide
it, nor do NULs, so UTF-16 does not either. A line break inside an occurrence does not hide it
(wrapped base64), unless it comes within the first bytes, so that a finished line is never held for its last letter.
Standard library only and light to import: a job's runner rebuilds a redactor from ``to_forms``.
"""

from __future__ import annotations

from collections import Counter
from operator import le

from nacre.output.redaction.table import Form, FormTable, flat_text, skip_breaks, skip_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

    from nacre.output.redaction.broken import Unbroken


# From here on replacing all at once is worth the question whether that is the same.
FEW_OCCURRENCES = 16
MOST_AT_ONCE = 8
# A beginning of a value with more control in it than this is let go, so that what is held stays small.
MOST_HELD_BYTES = 64 * 1024
# What the end of a text has beyond two forms: room for terminal control.
TAIL_BYTES = 1024
# The control that a stream is searched without: asking for every kind would cost a third of the search for values.
SIGNS = b"\0\b\x1b\x7f"
_EACH_SIGN = tuple(bytes([sign]) for sign in SIGNS)


class Redactor:
    """Replaces secret values by ``[redacted:NAME]`` in one stream; false when there is nothing to replace.

    Example:
        >>> redactor = Redactor({"GH_TOKEN": "not-a-real-token"})
        >>> redactor.feed(b"token: not-a-real-") + redactor.feed(b"token.") + redactor.flush()
        b'token: [redacted:GH_TOKEN].'
    """

    __slots__ = ("_held", "_table", "counts")

    def __init__(self, secrets: Mapping[str, str | tuple[str, ...]]) -> None:
        # Only the process that builds the forms needs to know how.
        from nacre.output.redaction.forms import all_forms

        self._set_up(FormTable(all_forms(secrets)))

    def _set_up(self, table: FormTable) -> None:
        self._table = table
        self._held = b""
        self.counts: dict[str, int] = {}

    @classmethod
    def from_forms(cls, forms: Iterable[tuple[str, bytes]]) -> Self:
        """Rebuild a redactor from what ``to_forms`` gave, in another process."""
        redactor = cls.__new__(cls)
        redactor._set_up(FormTable(forms))
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
        redactor._set_up(self._table)
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
        return self._redact(self._held + chunk if self._held else bytes(chunk))

    def flush(self) -> bytes:
        """Give the rest when the stream has ended."""
        return self._redact(self._held, final=True) if self._held else b""

    def give_up(self) -> bytes:
        """Give what is held back, not redacted, for another redactor to go on with."""
        held, self._held = self._held, b""
        return held

    def redact_text(self, text: str) -> str:
        """Redact a complete text, such as an error or a log line, apart from the stream."""
        if not self._table.forms:
            return text
        from nacre.output.escapes import CONTROL_BYTES

        one = self.fresh()
        surrogates = "surrogateescape"
        try:
            raw = text.encode("utf-8", surrogates)
        except UnicodeEncodeError:
            # A lone surrogate that stands for no byte, as JSON can hold one.
            surrogates = "surrogatepass"
            raw = text.encode("utf-8", surrogates)
        if len(raw.translate(None, CONTROL_BYTES)) == len(raw):
            shown = one._redact(raw, final=True)
        else:
            shown = one._redact_broken(raw, final=True, control=CONTROL_BYTES)
        return shown.decode("utf-8", surrogates)

    def _redact(self, text: bytes, *, final: bool = False) -> bytes:
        if any(sign in text for sign in _EACH_SIGN):
            return self._redact_broken(text, final=final)
        flat = flat_text(text)
        occurrences = self._table.occurrences(flat)
        cut = len(text) if final else len(text) - self._table.held(text, flat)
        if not occurrences:
            self._held = text[cut:]
            return text[:cut]
        shown = self._replace_many(text, occurrences, cut) if len(occurrences) > FEW_OCCURRENCES else None
        return self._replace(text, flat, occurrences, cut) if shown is None else shown

    def _replace_many(self, text: bytes, occurrences: list[tuple[int, int, Form]], cut: int) -> bytes | None:
        """Replace the occurrences of a few forms at once; None where one is broken, cut, or touches another."""
        tally = Counter(form for _, _, form in occurrences)
        places = [place for place, _, _ in occurrences]
        ends = (place - negative for place, negative, _ in occurrences)
        if len(tally) > MOST_AT_ONCE or not all(map(le, ends, places[1:])):
            return None
        shown = text[:cut]
        for form, count in tally.items():
            # Fewer: one has a line break in it, or is held back. More: a replacement has made one.
            if shown.count(form.flat) != count:
                return None
            shown = shown.replace(form.flat, form.replacement)
        for form, count in tally.items():
            self.counts[form.name] = self.counts.get(form.name, 0) + count
        self._held = text[cut:]
        return shown

    def _redact_broken(self, text: bytes, *, final: bool, control: bytes = SIGNS) -> bytes:
        """The same for a text with terminal control, which may be in the middle of a value."""
        # Not for everybody who has values to hide: most output has no such text.
        from nacre.output.redaction.broken import SequenceStarts, Unbroken, sequences_in

        if self._table.sequence_starts is None:
            self._table.sequence_starts = SequenceStarts(self._table)
        unbroken = Unbroken(text, control, final=final)
        found = self._found(text) if self._table.sequence_starts.found_in(text) else []
        found += [
            (unbroken.place(at), unbroken.place(end - 1) + 1, form) for at, end, form in self._found(unbroken.text)
        ]
        cut = len(text) if final else self._finished(unbroken)
        shown: list[bytes] = []
        done = 0
        for at, end, form in sorted(found, key=lambda one: (one[0], -one[1])):
            if at < done:
                continue
            if at >= cut:
                break
            # Colours go on as they would: what is replaced is the text alone.
            shown += (text[done:at], form.replacement, sequences_in(text[at:end]))
            self.counts[form.name] = self.counts.get(form.name, 0) + 1
            done = end
            if done > cut:
                cut = done + self._finished(Unbroken(text[done:], control, final=False))
        self._held = text[cut:]
        shown.append(text[done:cut])
        return b"".join(shown)

    def _found(self, text: bytes) -> list[tuple[int, int, Form]]:
        """List all occurrences in a text, overlapping ones too."""
        flat = flat_text(text)
        found: list[tuple[int, int, Form]] = []
        at = flat_at = 0
        for place, _, form in self._table.occurrences(flat):
            at, flat_at = skip_breaks(text, skip_bytes(text, at, place - flat_at)), place
            end = skip_bytes(text, at, len(form.flat))
            if form.allows(text[at:end], len(form.flat)):
                found.append((at, end, form))
        return found

    def _finished(self, unbroken: Unbroken) -> int:
        """Up to where a text cannot be the beginning of a form, nor of terminal control."""
        # Nothing longer than a form is held, and in a long text the way back to a place is long.
        size = 2 * self._table.longest + TAIL_BYTES
        if len(unbroken.raw) > 2 * size:
            begin, tail = unbroken.tail(size)
            if len(flat_text(tail.text)) >= self._table.longest:
                return begin + self._finished(tail)
        raw, text = unbroken.raw, unbroken.text
        cut = len(text) - self._table.held(text, flat_text(text))
        place = unbroken.end if cut == len(text) else unbroken.place(cut)
        place = min(place, unbroken.outside(len(raw) - self._table.held(raw, flat_text(raw))))
        return place if len(raw) - place <= MOST_HELD_BYTES else len(raw)

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
