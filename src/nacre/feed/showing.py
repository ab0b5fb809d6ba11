"""Makes what viewers are told of a call from its plan."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from nacre import feed
from nacre.feed.shown_call import ShownCall
from nacre.planning.plan import Plan
from nacre.profile import Profile


def shown_call(call: str, profile: Profile, planned: Plan, *, started_at: float | None = None) -> ShownCall:
    """Return a call as viewers see it, without hidden values."""
    request, redactor = planned.request, planned.redactor
    owner = request.owner
    facts: dict[str, Any] = {
        **_program(started_at, profile.surface),
        "session": None if owner is None else owner.session,
        "directory": planned.logged_cwd if owner is None else redactor.redact_text(owner.directory),
        "contract": profile.contract,
        "command": planned.logged_command,
        "cwd": planned.logged_cwd,
        "timeout": planned.limit,
        "by": request.by,
    }
    if request.env:
        facts["env"] = {name: redactor.redact_text(value) for name, value in request.env.items()}
    if request.requested_timeout is not None:
        facts["requestedTimeout"] = request.requested_timeout
    if request.terminal:
        facts["pty"] = True
    return ShownCall(call, facts, redactor if planned.hides else None)


def refused_call(call: str, shown: Mapping[str, str]) -> ShownCall:
    """Return a call that was refused before it was planned."""
    return ShownCall(call, {**_program(None, None), "session": None, "directory": shown["cwd"], **shown}, None)


def _program(started_at: float | None, surface: str | None) -> dict[str, Any]:
    started = time.time() if started_at is None else started_at
    return {"surface": surface or feed.surface, "pid": os.getpid(), "startedAt": started}
