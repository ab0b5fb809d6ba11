"""Has pytest write a report beside its output, and compares a shortened text with it (`minimizer.reports`)."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Mapping
from dataclasses import replace

from nacre.minimize.reports import disagreement, report_of
from nacre.request import ShellRequest

VARIABLE = "PYTEST_ADDOPTS"
FOLDER = "reports"
# So many reports exist at once; a newer one takes the place of the oldest.
MOST_REPORTS = 32
MOST_BYTES = 16 * 1024 * 1024

_PATH = re.compile(r"--junitxml=(\S*/reports/\d+\.xml)$")
_numbers = itertools.count()


def with_report(request: ShellRequest, environ: Mapping[str, str], state_dir: str) -> ShellRequest:
    """Return the request whose pytest writes a report; options that the user or the call set stay before it."""
    own = request.env or {}
    options = own.get(VARIABLE, environ.get(VARIABLE, ""))
    if "--junitxml" in options or "--junit-xml" in options or "--junit" in request.command or " " in state_dir:
        return request
    folder = os.path.join(state_dir, FOLDER)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, f"{next(_numbers) % MOST_REPORTS}.xml")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    except OSError:
        # Without a state directory there is no report; the text is judged by its evidence alone.
        return request
    return replace(request, env={**own, VARIABLE: f"{options} --junitxml={path}".strip()})


def faults_of(request: ShellRequest, shown: str) -> str:
    """What of pytest's report a shortened text lacks; empty if they agree or if there is no report."""
    match = _PATH.search((request.env or {}).get(VARIABLE, ""))
    if match is None:
        return ""
    try:
        with open(match[1], encoding="utf-8", errors="replace") as file:
            text = file.read(MOST_BYTES)
        os.unlink(match[1])
    except OSError:
        return ""
    report = report_of(text)
    return "" if report is None else disagreement(report, shown)
