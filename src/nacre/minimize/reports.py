"""What a tool's own report says of its tests, and whether a shortened text agrees with it. Pure.

A report is written by the tool beside its output (`--junitxml`). A shortened text that lacks the name of a failing test
or gives another count is not shown.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.etree import ElementTree

_COUNT = re.compile(r"(?<!\w)(\d+) (passed|failed|errors?|skipped)\b")


class Report(NamedTuple):
    """The counts of a test run, and the names of what failed."""

    failed: int
    errors: int
    names: tuple[str, ...]


def report_of(text: str) -> Report | None:
    """Read a report in the form of JUnit; None if it is none, or was cut off."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return None
    failed, errors, names = 0, 0, []
    for case in root.iter("testcase"):
        is_failed, is_error = case.find("failure") is not None, case.find("error") is not None
        failed += is_failed
        errors += is_error
        if is_failed or is_error:
            names.append(case.get("name", ""))
    return Report(failed, errors, tuple(names))


def disagreement(report: Report, shown: str) -> str:
    """What of a report a text lacks or denies; empty if they agree."""
    lacking = [name for name in dict.fromkeys(report.names) if name not in shown]
    if lacking:
        return f"{len(lacking)} of {len(set(report.names))} failing tests are missing, {lacking[0]} among them"
    said = {word.rstrip("s"): int(count) for count, word in _COUNT.findall(shown)}
    for word, count in (("failed", report.failed), ("error", report.errors)):
        if said.get(word, 0) != count and (word in said or count):
            return f"{said.get(word, 0)} {word} instead of {count}"
    return ""
