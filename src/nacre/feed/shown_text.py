"""Output as viewers get it: text without terminal control and without hidden values, chunk by chunk."""

from __future__ import annotations

from nacre.output.decode import IncrementalDecoder
from nacre.output.escapes import EscapeFilter
from nacre.output.redaction.redactor import Redactor


class ShownText:
    """Makes text of one stream. TAB, LF and CR stay in it."""

    def __init__(self, redactor: Redactor | None = None) -> None:
        """Take what knows the hidden values: one that escapes had broken in two is whole without them."""
        self._decoder = IncrementalDecoder("replace")
        self._filter = EscapeFilter()
        self._redactor = redactor.fresh() if redactor else None
        self._redacted = IncrementalDecoder("replace")

    def feed(self, data: bytes, *, final: bool = False) -> str:
        """Return the text of the next bytes; with `final` also what was held back."""
        text = self._filter.feed(self._decoder.decode(data, final))
        if self._redactor is None:
            return text
        shown = self._redactor.feed(text.encode("utf-8", "replace"))
        if final:
            shown += self._redactor.flush()
        return self._redacted.decode(shown, final)
