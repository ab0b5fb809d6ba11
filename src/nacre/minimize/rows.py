"""Output as rows: each is shown, cut or hidden, and what is hidden is counted by kind.

A row is hidden by the methods of `Row` and in no other way. `restored` is the last word before the text is rendered: it
shows every row of evidence again that is hidden without a right to be.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

# The patterns see the beginning of a longer row, and the row is shown: no pattern may take long over it.
LONGEST_ROW = 2000

_BLANKS = re.compile(r"[ \t\u00a0]{2,}")


@dataclass(slots=True)
class Row:
    """One line of the raw text."""

    raw: str
    """The line; the beginning of a very long one."""
    is_evidence: bool = False
    """Whether a detector recognises it: it may be folded into its like, and hidden by a filter that knows it better."""
    is_certain: bool = False
    """Whether a detector is certain that it reports a fault: no filter knows it better."""
    stays: bool = False
    """Whether it is shown whatever it says."""
    shown: str = ""
    """What is shown of it: all of it, or a part."""
    hidden: str = ""
    """Why it is not shown; empty while it is."""
    is_known: bool = False
    """Whether a filter that knows the row hides it, although a detector recognises it."""
    stands_in: Row | None = None
    """The row that is shown in its place, with a count."""
    times: int = 1
    """How many rows it stands for."""
    marker: str = ""
    """A counted note after it."""
    place: str = ""
    """What sets it apart from rows of its form: the place in a file that it names, or the status of an answer."""
    form: str = ""
    """What it has in common with its repeats; empty until a stage asks for it."""

    def hide(self, kind: str) -> bool:
        """Hide the row unless it is evidence; whether it is hidden now."""
        if not self.is_evidence and not self.hidden:
            self.hidden = kind
        return bool(self.hidden)

    def hide_known(self, kind: str) -> bool:
        """Hide a row that the caller knows better than a detector: a test that passed, quoted source, a frame."""
        if not self.is_certain and not self.stays and not self.hidden:
            self.hidden, self.is_known = kind, True
        return bool(self.hidden)

    def fold_into(self, other: Row, kind: str) -> None:
        """Hide the row in favour of one that says the same and counts it."""
        if not self.stays and not self.hidden:
            self.hidden, self.stands_in = kind, other
            other.times += self.times


def rows_of(text: str) -> list[Row]:
    return [
        Row(line, shown=line)
        if len(line) <= LONGEST_ROW
        else Row(line[:LONGEST_ROW], shown=line, is_evidence=True, stays=True)
        for line in text.split("\n")
    ]


def restored(rows: list[Row]) -> int:
    """Show each row of evidence again that no filter knows and that no shown row stands in for; how many there are."""
    wrong = [row for row in rows if row.hidden and row.is_evidence and not row.is_known and not _is_counted(row)]
    for row in wrong:
        row.hidden = row.marker = ""
    return len(wrong)


def _is_counted(row: Row) -> bool:
    other = row.stands_in
    return other is not None and not other.hidden and other.times > 1


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
    if "  " not in body and "\t" not in body and "\u00a0" not in body:
        return text
    return text[: len(text) - len(body)] + _BLANKS.sub(" ", body)
