"""Normalise a request of the workspace tool before it runs (D3, D4, D7, D8, D16).

A notice tells every change that matters to the reader. The guard judges the command as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from nacre.bash.command_shape import lift_cd, trailing_window
from nacre.command import SIDE_FD
from nacre.errors import InterceptedError, InvalidRequestError
from nacre.guard.interceptor import intercept
from nacre.guard.interceptor_file import interceptor_of
from nacre.lifted_stage import Lifted
from nacre.planning.urls import UrlRouter, expand_command, expand_value
from nacre.regex.automaton import RegexWorkError
from nacre.request import ShellRequest
from nacre.settings import Settings

SHORTEST_SECONDS, LONGEST_SECONDS = 1.0, 3600.0
TOO_MUCH_WORK = (
    "the rules of policy.interceptor_file take too much work on this command and were left aside; use simpler patterns"
)
_JOINT = re.compile(r"\s*(\|&?)\s*")


def normalise(
    request: ShellRequest, settings: Settings, router: UrlRouter, *, tools: Collection[str], can_lift: bool
) -> ShellRequest:
    """Return the request as it will run.

    Raises:
        InvalidRequestError: a job was asked for and jobs are switched off, or a URL leads nowhere.
        InterceptedError: a tool that is present serves the command better.
    """
    if not settings.jobs.async_enabled and (request.mode == "background" or request.until is not None):
        field = "async" if request.mode == "background" else "until"
        raise InvalidRequestError(
            f"Async bash execution is disabled (setting jobs.async_enabled); run it without {field}", field=field
        )
    script, cwd, stays = request.command, request.cwd, False
    warnings: tuple[str, ...] = ()
    if cwd is None and (prefix := lift_cd(script)) is not None:
        script, cwd, stays = prefix.rest, prefix.path, True
    if settings.policy.interceptor:
        interceptor = interceptor_of(settings.policy.interceptor_file)
        warnings = interceptor.warnings
        try:
            better = intercept(request.command, interceptor, tools=tools, without_cd=script)
        except RegexWorkError:
            # The rules are advice, so the command still runs.
            better, warnings = None, (*warnings, TOO_MUCH_WORK)
        if better is not None:
            raise InterceptedError(better.message, tool=better.tool)
    lifted: Lifted | None = None
    lifts = settings.output.lift_head_tail and request.until is None and request.terminal is None
    if lifts and request.mode == "foreground":
        unlifted = script
        script, lifted = _lift(script, request, can_lift=can_lift)
    timeout, requested, notices = _clamp(request.timeout, settings.execution.timeout_seconds)
    prefix_words = f"{settings.shell.prefix} " if settings.shell.prefix else ""
    expanded = prefix_words + expand_command(script, router)
    if lifted is not None and lifted.side:
        lifted = replace(lifted, plain_script=prefix_words + expand_command(unlifted, router))
    return replace(
        request,
        script=None if expanded == request.command else expanded,
        cwd=None if cwd is None else expand_value(cwd, router, purpose="cwd"),
        stays=stays,
        env=None if request.env is None else {name: expand_value(text, router) for name, text in request.env.items()},
        timeout=timeout,
        requested_timeout=requested,
        lifted=lifted,
        notices=(*request.notices, *warnings, *notices),
    )


def _lift(script: str, request: ShellRequest, *, can_lift: bool) -> tuple[str, Lifted | None]:
    window = trailing_window(script)
    if window is None:
        return script, None
    joint = _JOINT.match(script, window.producer_end)
    if joint is None:
        # A line continuation or a comment stands between the pipe and the stage.
        return script, None
    if window.kind == "tail" and request.tail is not None:
        # The caller's own `tail` selects from the producer's whole output, so the stage is removed, unless a backslash
        # before the pipe would then continue the line into nothing.
        return (script if window.producer.endswith("\\") else window.producer), None
    if window.kind == "head" and request.head is not None:
        # The same for `head`, but a stage remains, so that the producer still ends early.
        own = f"head -n {request.head}"
        lifted = Lifted(stage=f"{joint[1]} {own}", producer=-2, side=False, count=request.head)
        return f"{window.producer}{joint[0]}{own}", lifted
    stage = script[joint.end() :].strip()
    shown = f"{joint[1]} {stage}"
    if window.kind == "head" or not can_lift:
        return script, Lifted(stage=shown, producer=-2, side=False, unit=window.unit, count=window.count)
    if window.count == 0:
        # `tail -n 0` reads nothing and would break the pipe of the copy, so the copy alone remains, without output.
        nothing = f"{window.producer}{joint[0]}tee /dev/fd/{SIDE_FD} >/dev/null"
        return nothing, Lifted(stage=shown, producer=-2, side=True, unit=window.unit, count=0)
    # The real tail still selects what the model reads; the copy beside it becomes the artifact.
    copied = f"{window.producer}{joint[0]}tee /dev/fd/{SIDE_FD} | {stage}"
    return copied, Lifted(stage=shown, producer=-3, side=True, unit=window.unit, count=window.count)


def _clamp(timeout: float | None, default: float) -> tuple[float, float | None, list[str]]:
    asked = default if timeout is None else timeout
    effective = min(max(asked, SHORTEST_SECONDS), LONGEST_SECONDS)
    if effective == asked:
        return effective, None, []
    notice = (
        f"Timeout: {effective:g} s in force, {asked:g} s were asked for (allowed: {SHORTEST_SECONDS:g} to "
        f"{LONGEST_SECONDS:g})"
    )
    return effective, None if timeout is None else timeout, [notice]
