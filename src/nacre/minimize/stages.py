"""What a filter may do to rows: hide noise, fold repeats, drop code frames, cut rows. Evidence stays, whatever it asks for."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

from nacre.minimize.evidence import has_position
from nacre.minimize.rows import Row, squeezed, visible

# Words with a digit in them: what differs between two lines that say the same.
_DIGITS = re.compile(r"[0-9]+")
_WORD_WITH_DIGITS = re.compile(r"[0-9a-zA-Z]*#[0-9a-zA-Z#]*")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
# Rows of one form from which on only the first is shown.
FREQUENT = 6
# Consecutive rows of one form that are folded into the first.
RUN = 3
# Of evidence without a place in a file, so many rows of one form are shown.
MOST_ALIKE = 3


def mask(text: str) -> str:
    """The text without what differs between repeats of a line."""
    return _WORD_WITH_DIGITS.sub("#", _DIGITS.sub("#", text))


def fold_repeats(rows: list[Row], *, frequent: int = FREQUENT) -> None:
    """Show one row of each form that occurs often, with its count; rare rows stay."""
    shown = visible(rows)
    forms = mask("\n".join(row.raw for row in shown)).split("\n")
    counts = Counter(forms)
    first: dict[str, Row] = {}
    alike: Counter[str] = Counter()
    foldable: dict[str, bool] = {}
    for row, form in zip(shown, forms, strict=True):
        if counts[form] < frequent:
            continue
        if form not in foldable:
            foldable[form] = len(_LETTERS.findall(form)) >= 2 and not has_position(row.raw)
        if not foldable[form]:
            continue
        if row.is_evidence:
            alike[form] += 1
            if alike[form] <= MOST_ALIKE:
                first[form] = row
                continue
            row.hidden = "repeats of rows that are shown"
            first[form].times += 1
        elif form in first:
            row.hidden = "repeats of rows that are shown"
            first[form].times += 1
        else:
            first[form] = row


def fold_runs(rows: list[Row]) -> None:
    """Show the first of consecutive rows of one form, with their count."""
    shown = visible(rows)
    forms = mask("\n".join(row.raw for row in shown)).split("\n")
    at = 0
    while at < len(shown):
        end = at + 1
        while end < len(shown) and forms[end] == forms[at]:
            end += 1
        head = shown[at]
        if end - at >= RUN and not (head.is_evidence or has_position(head.raw)) and _LETTERS.search(forms[at]):
            for row in shown[at + 1 : end]:
                row.hidden = "repeats of rows that are shown"
            head.times = end - at
        at = end


def fold_equal(rows: list[Row], *, least: int = 25) -> None:
    """Hide long rows that occurred before, letter for letter."""
    seen: dict[str, Row] = {}
    for row in visible(rows):
        text = row.raw.strip()
        if len(text) < least or has_position(text):
            continue
        if text in seen:
            row.hidden = "repeats of rows that are shown"
            seen[text].times += 1
        else:
            seen[text] = row


_POINTER = re.compile(r"^\s{2,}\^-*\^?\s")


def squeeze_blanks(rows: list[Row]) -> None:
    """Show one blank in the place of several; of a message behind a pointer not the way to it."""
    for row in visible(rows):
        row.shown = squeezed(row.shown.lstrip() if _POINTER.match(row.shown) else row.shown)


_FRAME = re.compile(r"^\s*(?:>\s*)?\d*\s*[|│┆](?:\s|$|_)|^\s*[\^~|_-]*[\^~]+[\s\^~|_-]*$|^\s*\.\.\.\s*$|^\s*\d+\s+[-+]\s|^\s+[-+] \s")
_SOURCE = re.compile(r"^\s*>?\s*\d+\s*[|│]\s*\S")
_DIAGNOSTIC = re.compile(r"(?i)\berror\b|^E\b|error\[")


def drop_code_frames(rows: list[Row]) -> None:
    """Hide the source that a diagnostic quotes; of an error its first line stays."""
    keeps = False
    for row in visible(rows):
        if not _FRAME.match(row.raw):
            if row.raw.strip() and row.is_evidence:
                keeps = bool(_DIAGNOSTIC.search(row.raw))
            continue
        if row.is_evidence and not _SOURCE.match(row.raw):
            continue
        if keeps and _SOURCE.match(row.raw):
            keeps = False
            continue
        row.hidden = "rows of quoted source"


_UNDERLINE = re.compile(r"^[\s=\-_*~#+⎯─━]{6,}$")


def drop_rules(rows: list[Row]) -> None:
    """Hide rows that only draw a line."""
    for row in visible(rows):
        if _UNDERLINE.match(row.raw) and row.raw.strip():
            row.hide("rows that draw a line")


def trees(rows: list[Row], *, depth: int = 1) -> None:
    """Of a drawn tree show the upper branches; what is below each is counted."""
    deep = re.compile(r"^((?:[│|]?[\s\u00a0]{1,3}){%d,})[├└+`]" % depth)
    parent: Row | None = None
    below: defaultdict[int, int] = defaultdict(int)
    for row in visible(rows):
        if deep.match(row.raw):
            if row.hide("rows deeper in the tree") and parent is not None:
                below[id(parent)] += 1
                parent.marker = f"[… {below[id(parent)]} below …]"
        elif row.raw.strip():
            parent = row


_COMMIT = re.compile(r"^(?:[*|\\/ ]*)commit ([0-9a-f]{12})[0-9a-f]*(.*)$")
_TRAILER = re.compile(r"^\s{4}(?:[A-Z][\w-]*-by|Change-Id|Cc|Link|Closes|Fixes|Refs|See-also|Co-authored-by|BREAKING): ")
_LOG_FIELD = re.compile(r"^(?:Author|AuthorDate|Commit|CommitDate|Date|Merge|gpg):\s")
# With fewer commits the fields stay.
LEAST_COMMITS = 8


def commits(rows: list[Row]) -> None:
    """Of a long log show hash, subject and message; author, date and trailers are hidden."""
    shown = visible(rows)
    if sum(bool(_COMMIT.match(row.raw)) for row in shown) < LEAST_COMMITS:
        return
    for row in shown:
        if (match := _COMMIT.match(row.raw)) is not None:
            row.shown = f"{match[1]}{match[2]}"
        elif _LOG_FIELD.match(row.raw) or _TRAILER.match(row.raw) or not row.raw.strip():
            row.hide("rows of authors, dates and trailers")


_TASK = re.compile(r"^(?:TASK|RUNNING HANDLER|PLAY) \[|^(?:TASK|RUNNING HANDLER) ")


def tasks(rows: list[Row]) -> None:
    """Hide the heading of a task that has nothing to say."""
    shown = visible(rows)
    for number, row in enumerate(shown):
        following = next((one for one in shown[number + 1 :] if one.raw.strip()), None)
        if _TASK.match(row.raw):
            if following is None or _TASK.match(following.raw) or following.raw.startswith("PLAY RECAP"):
                row.hide("rows of tasks without a fault")
            else:
                row.shown = row.raw.rstrip("* ")


_NOTE = re.compile(r": note: ")


def notes(rows: list[Row]) -> None:
    """Hide the notes of a compiler beyond the first behind each message."""
    seen = 0
    for row in visible(rows):
        if _NOTE.search(row.raw):
            seen += 1
            if seen > 1 and not row.hidden:
                row.hidden = "rows of notes"
        elif row.is_evidence:
            seen = 0


_JS_FRAME = re.compile(r"^\s*>?\s*\d+\s*[|│]|^\s+[|│]\s*\^")


def js_frames(rows: list[Row]) -> None:
    """Hide the source around a failing line; the line itself stays."""
    for row in visible(rows):
        if _JS_FRAME.match(row.raw) and not row.raw.lstrip().startswith(">"):
            row.hidden = "rows of quoted source"


_PASSED = re.compile(r"^\S+\.py [.sxX]+\s*(?:\[ *\d+%\])?$")


def passed(rows: list[Row]) -> None:
    """Hide the progress of pytest where no test of the file failed."""
    for row in visible(rows):
        if _PASSED.match(row.raw):
            row.hide("rows of tests that passed")


_WARNING = re.compile(r"(?i)^\s*\d+:\d+\s+warning\b")


def warnings(rows: list[Row]) -> None:
    """Show the first of the warnings of a linter that say the same; errors all stay."""
    seen: dict[str, Row] = {}
    for row in visible(rows):
        if not _WARNING.match(row.raw):
            continue
        message = re.sub(r"^\s*\d+:\d+\s+", "", row.raw)
        message = re.sub(r"\s+", " ", message)
        if message in seen:
            row.hidden = "warnings that say the same as one that is shown"
            seen[message].times += 1
        else:
            seen[message] = row


Stage = Callable[[list[Row]], None]
STAGES: Mapping[str, Stage] = {
    "repeats": fold_repeats,
    "runs": fold_runs,
    "equal": fold_equal,
    "blanks": squeeze_blanks,
    "frames": drop_code_frames,
    "rules": drop_rules,
    "tree": trees,
    "warnings": warnings,
    "commits": commits,
    "tasks": tasks,
    "notes": notes,
    "js_frames": js_frames,
    "passed": passed,
}
