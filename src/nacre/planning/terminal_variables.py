"""Whether a command that asks for a terminal gets one (D13), and the environment it has there (D19). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from nacre.environment.noninteractive import noninteractive_defaults
from nacre.request import ShellRequest

TERM = "xterm-256color"

WITHOUT_UI = (
    "pty needs a UI in the foreground, and there is none: the command runs with pipes; async: true gives it a terminal "
    "that the job tool types into"
)
SWITCHED_OFF = "pty is switched off (NACRE_NO_PTY): the command runs with pipes; with async: true its stdin stays open"
NOT_HERE = "there are no terminals where this command runs: it runs with pipes; async: true elsewhere has one"


def place_terminal(request: ShellRequest, *, no_pty: bool, has_ui: bool, supported: bool) -> ShellRequest:
    """Return the request with a terminal, or without one and with the notice that says so.

    Args:
        has_ui: a person can see the terminal and type into it.
        supported: the place where it runs has terminals.
    """
    if request.terminal is None:
        return request
    background = request.mode == "background"
    if supported and not no_pty and (background or has_ui):
        return replace(request, watched=has_ui)
    notice = SWITCHED_OFF if no_pty else NOT_HERE if not supported else WITHOUT_UI
    return replace(request, terminal=None, open_input=background, notices=(*request.notices, notice))


def terminal_environment(
    env: Mapping[str, str], environ: Mapping[str, str], own: Mapping[str, str] | None, *, watched: bool
) -> Mapping[str, str]:
    """Return a child's environment on a terminal.

    What keeps programs from asking and paging stays, unless a person watches: then they behave as at any terminal.

    Args:
        env: as it would be with pipes.
        environ: nacre's own, which has what the person set.
        own: the variables of the call, which stay.
    """
    changed = dict(env)
    if watched:
        for name, value in noninteractive_defaults().items():
            if changed.get(name) != value or (own and name in own):
                continue
            if name in environ:
                changed[name] = environ[name]
            else:
                del changed[name]
    if not own or "TERM" not in own:
        changed["TERM"] = TERM
    # They describe another terminal, and programs believe them more than the terminal itself.
    for name in ("COLUMNS", "LINES"):
        if not own or name not in own:
            changed.pop(name, None)
    return changed
