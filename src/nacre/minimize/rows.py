"""Output as rows: each is shown, cut or hidden, and what is hidden is counted by kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

_BLANKS = re.compile(r"[ \t\u00a0]{2,}")


@dataclass(slots=True)
class Row:
    """One line of the raw text."""

    raw: str
    is_evidence: bool = False
    """Whether no stage may hide it."""
    stays: bool = False
    """Whether not even a filter that knows the row better may hide it."""
    shown: str = ""
    """What is shown of it: all of it, or a part."""
    hidden: str = ""
    """Why it is not shown; empty while it is."""
    times: int = 1
    """How many rows it stands for."""
    marker: str = ""
    """A counted note after it."""
    place: str = ""
    """The place in a file that it names."""
    form: str = ""
    """What it has in common with its repeats; empty until a stage asks for it."""

    def hide(self, kind: str) -> bool:
        """Hide the row unless it is evidence; whether it is hidden now."""
        if not self.is_evidence and not self.hidden:
            self.hidden = kind
        return bool(self.hidden)


def rows_of(text: str) -> list[Row]:
    return [Row(line, shown=line) for line in text.split("\n")]


def visible(rows: list[Row]) -> list[Row]:
    return [row for row in rows if not row.hidden]


def render(rows: list[Row]) -> str:
    """The text of what is shown; of blank lines one at a time."""
    return "\n".join(_lines(rows)).strip("\n")


def _lines(rows: list[Row]) -> Iterator[str]:
    blank = True
    for row in rows:
        if row.hidden:
            if row.marker:
                yield row.marker
                blank = False
            continue
        text = row.shown.rstrip()
        if not text:
            if not blank:
                yield ""
            blank = True
            continue
        yield text if row.times == 1 else f"{text} (×{row.times})"
        if row.marker:
            yield row.marker
        blank = False


def hidden_kinds(rows: list[Row]) -> Counter[str]:
    """How many rows with text each reason hides."""
    return Counter(row.hidden for row in rows if row.hidden and row.raw.strip())


def hidden_bytes(rows: list[Row]) -> int:
    """How many bytes the hidden rows have, their line ends included."""
    return sum(len(row.raw.encode("utf-8", "surrogatepass")) + 1 for row in rows if row.hidden)


def squeezed(text: str) -> str:
    """A line with one blank in the place of several, its indentation kept."""
    body = text.lstrip()
    return text[: len(text) - len(body)] + _BLANKS.sub(" ", body)
