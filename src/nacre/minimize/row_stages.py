"""What a filter may do to rows: fold repeats, hide quoted source, cut rows. Evidence is not hidden."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from itertools import groupby

from nacre.minimize.rows import Row, squeezed, visible

# Words with a digit in them: what differs between two rows that say the same.
_TO_SIGNS = bytes.maketrans(b"0123456789", b"##########")
_WORD_WITH_DIGITS = re.compile(r"(?<![a-zA-Z])[a-zA-Z]*#[a-zA-Z#]*")
# Values that differ between rows of a log: quoted texts, values behind a sign, paths and addresses.
_VALUES = re.compile(r""""[^"]*"|'[^']*'|(?<==)\S+|(?<!\S)\S*[/@]\S+""")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
# Rows of one form from which on only the first is shown.
FREQUENT = 6
# Consecutive rows of one form that are folded into the first.
RUN = 5
# How many rows of evidence of one form are shown; more where a detector is certain, as a number may name what failed.
MOST_ALIKE = 40
MOST_CERTAIN = 200
# With more rows left, values are masked as well.
MANY_ROWS = 100
REPEATS = "repeats of rows that are shown"


def set_forms(rows: list[Row]) -> None:
    """Note the form of each row; a place in a file is part of it."""
    wanting = [row for row in rows if not row.form]
    if wanting:
        for row, form in zip(wanting, _masked("\n".join(row.raw for row in wanting)).split("\n"), strict=True):
            row.form = f"{form}\0{row.place}"


def _masked(text: str) -> str:
    signs = text.encode("utf-8", "surrogatepass").translate(_TO_SIGNS).decode("utf-8", "surrogatepass")
    return _WORD_WITH_DIGITS.sub("#", signs)


def fold_repeats(rows: list[Row]) -> None:
    """Show one row of each form that occurs often, with its count; rare rows stay."""
    shown = visible(rows)
    set_forms(shown)
    _fold_forms(shown, [row.form for row in shown], most_alike=MOST_ALIKE)
    left = visible(rows)
    if len(left) > MANY_ROWS:
        # What a value says may be what went wrong: evidence is not folded by this form.
        _fold_forms(left, [_VALUES.sub("#", row.form) for row in left], most_alike=len(left))


def _fold_forms(shown: list[Row], forms: list[str], *, most_alike: int) -> None:
    counts = Counter(forms)
    frequent = {form for form, count in counts.items() if count >= FREQUENT and len(_LETTERS.findall(form)) >= 2}
    first: dict[tuple[str, bool], Row] = {}
    alike: Counter[str] = Counter()
    for row, form in zip(shown, forms, strict=True):
        if form not in frequent:
            continue
        key = (form, row.is_evidence)
        alike[form] += row.is_evidence
        most = max(most_alike, MOST_CERTAIN) if row.is_certain else most_alike
        if key not in first or (row.is_evidence and (row.stays or alike[form] <= most)):
            first[key] = row
            continue
        row.fold_into(first[key], REPEATS)


def fold_runs(rows: list[Row]) -> None:
    """Show the first of consecutive rows of one form, with their count; blank rows between them count as none."""
    shown = [row for row in visible(rows) if row.raw.strip()]
    set_forms(shown)
    for form, run in groupby(shown, lambda row: (row.form, row.is_evidence)):
        head, *others = run
        says_something = _LETTERS.search(form[0]) or all(row.raw == head.raw for row in others)
        if len(others) + 1 >= RUN and not head.is_evidence and says_something:
            for row in others:
                row.fold_into(head, REPEATS)


def fold_equal(rows: list[Row], *, least: int = 25) -> None:
    """Hide long rows that occurred before, letter for letter; evidence only if it names its file.

    The same error below the name of another file is another error.
    """
    seen: dict[str, Row] = {}
    for row in visible(rows):
        text = row.raw.strip()
        if len(text) < least or (row.is_evidence and not row.place):
            continue
        if text in seen:
            row.fold_into(seen[text], REPEATS)
        else:
            seen[text] = row


_POINTER = re.compile(r"^\s{2,}\^-*\^?\s")


def squeeze_blanks(rows: list[Row]) -> None:
    """Show one blank in the place of several, and a message behind a pointer without the way to it."""
    for row in visible(rows):
        row.shown = squeezed(row.shown.lstrip() if _POINTER.match(row.shown) else row.shown)


_FRAME = re.compile(
    r"^\s*(?:>\s*)?\d*\s*[|│┆](?:\s|$|_)|^\s*[\^~|_-]*[\^~]+[\s\^~|_-]*$|^\s*\.\.\.\s*$|^\s*\d+\s+[-+]\s|^\s+[-+] \s"
)
_SOURCE = re.compile(r"^\s*>?\s*\d+\s*[|│]\s*\S")
_DIAGNOSTIC = re.compile(r"(?i)\berror\b|^E\b|error\[")


def drop_code_frames(rows: list[Row]) -> None:
    """Hide the source that a diagnostic quotes; of an error its first line stays."""
    diagnostic: Row | None = None
    for row in visible(rows):
        # Most rows begin with a letter, which no row of a frame does.
        if row.raw[:1].isalpha() or not _FRAME.match(row.raw):
            if row.is_evidence and row.raw.strip():
                diagnostic = row
            continue
        is_source = _SOURCE.match(row.raw) is not None
        if row.is_evidence and not is_source:
            continue
        if is_source and diagnostic is not None and _DIAGNOSTIC.search(diagnostic.raw):
            diagnostic = None
            continue
        row.hide_known("rows of quoted source")


_UNDERLINE = re.compile(r"^[\s=\-_*~#+⎯─━]{6,}$")
_RULE = re.compile(r"([=_!*~#⎯─━-])\1{3,}")


def drop_rules(rows: list[Row]) -> None:
    """Hide rows that only draw a line; of a line around a heading show three signs."""
    for row in visible(rows):
        if _UNDERLINE.match(row.raw) and row.raw.strip():
            row.hide("rows that draw a line")
        elif (match := _RULE.match(row.shown)) is not None:
            row.shown = row.shown[match.end() - 3 :]
            if (last := _RULE.search(row.shown, 3)) is not None and last.end() == len(row.shown.rstrip()):
                row.shown = row.shown[: last.start() + 3]


_DEEP = re.compile(r"^(?:[│|]?[\s\u00a0]{1,3})+[├└+`]")


def trees(rows: list[Row]) -> None:
    """Show the upper branches of a drawn tree; what is below each is counted."""
    parent: Row | None = None
    below: defaultdict[int, int] = defaultdict(int)
    for row in visible(rows):
        if _DEEP.match(row.raw):
            if row.hide("rows deeper in the tree") and parent is not None:
                below[id(parent)] += 1
                parent.marker = f"[… {below[id(parent)]} below …]"
        elif row.raw.strip():
            parent = row


_COMMIT = re.compile(r"^(?:[*|\\/ ]*)commit ([0-9a-f]{12})[0-9a-f]*(.*)$")
_TRAILER = re.compile(r"^\s{4}(?:[A-Z][\w-]*-by|Change-Id|Cc|Link|Closes|Fixes|Refs|See-also): ")
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
    """Hide the heading of a task that printed nothing else."""
    heading: Row | None = None
    for row in [*(row for row in visible(rows) if row.raw.strip()), Row("PLAY RECAP")]:
        is_heading = _TASK.match(row.raw) is not None
        if heading is not None and (is_heading or row.raw.startswith("PLAY RECAP")):
            heading.hide("rows of tasks without a fault")
        heading = row if is_heading else None
        if is_heading:
            row.shown = row.raw.rstrip("* ")


_CODE = re.compile(r"^\s*(?P<head>\^[-^]*\s*SC\d+) (?P<message>\((?:info|style|warning)\): .*)$")


def codes(rows: list[Row]) -> None:
    """Show only the code of a message of shellcheck that was shown before."""
    seen: set[str] = set()
    for row in visible(rows):
        if (match := _CODE.match(row.raw)) is not None:
            if match["message"] in seen and not row.stays:
                row.shown = match["head"]
            seen.add(match["message"])


_PYTHON_FRAME = re.compile(r'^(?P<indent>\s*)File "(?P<path>[^"]*)", line \d+')
_LIBRARY_PATH = re.compile(r"site-packages|dist-packages|/lib/python3|<frozen ")


def python_frames(rows: list[Row]) -> None:
    """Hide the frames of a traceback that are in libraries."""
    indent: int | None = None
    for row in visible(rows):
        if (match := _PYTHON_FRAME.match(row.raw)) is not None:
            indent = len(match["indent"]) if _LIBRARY_PATH.search(match["path"]) else None
        elif indent is not None and len(row.raw) - len(row.raw.lstrip()) <= indent:
            indent = None
        if indent is not None:
            row.hide_known("frames of libraries")


_NOTE = re.compile(r": note: ")


def notes(rows: list[Row]) -> None:
    """Hide the notes of a compiler beyond the first behind each message."""
    seen = 0
    for row in visible(rows):
        if _NOTE.search(row.raw):
            seen += 1
            if seen > 1:
                row.hide_known("rows of notes")
        elif row.is_evidence:
            seen = 0


_JS_FRAME = re.compile(r"^\s*>?\s*\d+\s*[|│]|^\s+[|│]\s*\^")


def js_frames(rows: list[Row]) -> None:
    """Hide the source around a failing line; the line itself stays."""
    for row in visible(rows):
        if _JS_FRAME.match(row.raw) and not row.raw.lstrip().startswith(">"):
            row.hide_known("rows of quoted source")


_POSITION = re.compile(r"^(?P<file>[^\s:()]*[^\s:()/])(?P<rest>:\d+(?::\d+)?:? .*|\(\d+,\d+\):? .*)$")
# So many consecutive rows of one file get a heading.
LEAST_OF_A_FILE = 3


def group_by_file(rows: list[Row]) -> None:
    """Show the name of a file once above its diagnostics: the name is of the first row, the rest is of each."""
    for file, group in groupby(visible(rows), lambda row: _file_of(row)):
        members = list(group)
        if not file or len(members) < LEAST_OF_A_FILE or any(row.shown != row.raw for row in members):
            continue
        for row in members:
            row.shown = " " + row.raw[len(file) :].removeprefix(":")
        members[0].shown = f"{file}\n{members[0].shown}"


def _file_of(row: Row) -> str:
    match = _POSITION.match(row.raw)
    return match["file"] if match is not None else ""


_PASSED = re.compile(r"^(?:\S+\.py )?[.sxX]+\s*(?:\[ *\d+%\])?$")


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
            row.fold_into(seen[message], "warnings that say the same as one that is shown")
        else:
            seen[message] = row


Stage = Callable[[list[Row]], None]
STAGES: Mapping[str, Stage] = {
    "repeats": fold_repeats,
    "runs": fold_runs,
    "equal": fold_equal,
    "by_file": group_by_file,
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
    "codes": codes,
    "python_frames": python_frames,
}
