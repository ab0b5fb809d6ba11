"""Takes secret values out of a stream of output, however it is cut into chunks.

Bytes in, bytes out, no IO. What is held back is exactly the end of the text that may be the beginning of a secret, so
nothing waits longer than it must and no chunking reveals a value. Standard library only and light to import: a job's
runner rebuilds a redactor from ``to_forms``.
"""

from __future__ import annotations

from nacre.output.redaction.form_table import FormTable
from nacre.output.redaction.replacing import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self


class Redactor:
    """Replaces secret values by ``[redacted:NAME]`` in one stream; false when there is nothing to replace.

    Example:
        >>> redactor = Redactor({"GH_TOKEN": "not-a-real-token"})
        >>> redactor.feed(b"token: not-a-real-") + redactor.feed(b"token.") + redactor.flush()
        b'token: [redacted:GH_TOKEN].'
    """

    __slots__ = ("_table", "counts", "held")

    def __init__(self, secrets: Mapping[str, str | tuple[str, ...]]) -> None:
        # Only the process that builds the forms needs to know how.
        from nacre.output.redaction.forms import all_forms

        self._set_up(FormTable(all_forms(secrets)))

    def _set_up(self, table: FormTable) -> None:
        self._table = table
        self.held = b""
        """What is held back because it may be the beginning of a value."""
        self.counts: dict[str, int] = {}
        """How many occurrences were replaced so far, by the name of their variable."""

    @classmethod
    def from_forms(cls, forms: Iterable[tuple[str, bytes]]) -> Self:
        """Rebuild a redactor from what ``to_forms`` returned, in another process."""
        redactor = cls.__new__(cls)
        redactor._set_up(FormTable(forms))
        return redactor

    @classmethod
    def empty(cls) -> Self:
        """Return a redactor with nothing to replace."""
        return cls.from_forms(())

    def to_forms(self) -> list[tuple[str, bytes]]:
        """Return what is looked for, with the names of the variables."""
        return [(form.name, form.raw) for form in self._table.forms]

    def fresh(self) -> Self:
        """Return a redactor for another stream, sharing what was prepared for this one."""
        redactor = type(self).__new__(type(self))
        redactor._set_up(self._table)
        return redactor

    def __bool__(self) -> bool:
        return bool(self._table.forms)

    def __repr__(self) -> str:
        names = sorted({form.name for form in self._table.forms})
        return f"Redactor(names={names}, replaced={sum(self.counts.values())})"

    def feed(self, chunk: bytes | memoryview) -> bytes:
        """Take the next bytes of the stream and return those that are safe to show."""
        if not self._table.forms:
            return bytes(chunk)
        text = self.held + chunk if self.held else bytes(chunk)
        shown, self.held = redact(self._table, text, self.counts)
        return shown

    def flush(self) -> bytes:
        """Return the rest when the stream has ended."""
        held, self.held = self.held, b""
        return redact(self._table, held, self.counts, final=True)[0] if held else b""

    def give_up(self) -> bytes:
        """Return what is held back, not redacted, for another redactor to go on with."""
        held, self.held = self.held, b""
        return held

    def redact_text(self, text: str) -> str:
        """Redact a complete text, such as an error or a log line, apart from the stream."""
        if not self._table.forms:
            return text
        surrogates = "surrogateescape"
        try:
            raw = text.encode("utf-8", surrogates)
        except UnicodeEncodeError:
            # A lone surrogate that stands for no byte, as JSON can hold one.
            surrogates = "surrogatepass"
            raw = text.encode("utf-8", surrogates)
        from nacre.output.plain_bytes import CONTROL_BYTES

        shown, _ = redact(self._table, raw, {}, final=True, control=CONTROL_BYTES)
        return shown.decode("utf-8", surrogates)
