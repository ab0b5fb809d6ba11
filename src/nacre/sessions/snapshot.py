"""What the user's ~/.bashrc defines, read once: functions, aliases, options, PATH. Best effort, and only in memory.

A session begins with it, so that commands find what they find at the user's prompt, and no login shell is run for each.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace

from nacre.backends.contained import ContainedBackend
from nacre.command import Command
from nacre.errors import NacreError, StartError
from nacre.execution.run import Run
from nacre.planning.secret_names import name_reason, words
from nacre.sessions.checkpoint import DUMP, Checkpoint, read_dump

RC_NAME = ".bashrc"
BUDGET_SECONDS = 2.0
MOST_BYTES = 1024 * 1024

# A command must mean the program: scripts are written for that, and the guard judges that.
_TOOLS = words(
    """
    awk basename cat chmod chown cp curl cut date df diff dirname docker du echo env find git grep head kill ln ls make
    mkdir mv node npm perl pip ps pwd python python3 rm rmdir rsync sed sh sort ssh stat sudo tail tar tee test touch tr
    uniq wc wget which xargs
    """
)
_UNWANTED = f"_*|{'|'.join(sorted(_TOOLS))}"
_REFERENCE = re.compile(r"\$\{?[#!]?([A-Za-z_]\w*)", re.ASCII)
# What a function refers to and every shell has by itself.
_USUAL = words("HOME IFS OLDPWD PS1 PS2 PS3 PS4 PWD SHELL SHLVL TERM USER")
_OFF = ("onecmd", "monitor", "restricted", "errexit", "nounset", "xtrace", "verbose", "noexec")


# What was made of an rc, by what it depends on; a program has one user, and hardly ever two environments.
_known: dict[tuple[object, ...], str] = {}
_MOST_KNOWN = 8


async def snapshot(command: Command) -> tuple[str, str | None]:
    """The text that a shell begins with; the first time also why it could not be had, if so."""
    path = os.path.join(command.env.get("HOME") or "/nonexistent", RC_NAME)
    try:
        stamp = os.stat(path).st_mtime_ns
    except OSError:
        return "", None
    key = (path, stamp, command.shell, tuple(sorted(command.env.items())))
    if key in _known:
        return _known[key], None
    text, problem = "", None
    try:
        text = await _read(command)
    except NacreError as error:
        problem = f"~/{RC_NAME} was not read, so its functions and aliases are missing: {error}"
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[key] = text
    return text, problem


class _Sink:
    def __init__(self) -> None:
        self.data = bytearray()

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        if len(self.data) <= MOST_BYTES:
            self.data += memoryview(buffer)[:size]


def _script() -> str:
    return (
        f"{{ umask 077; . ~/{RC_NAME}; }} </dev/null >/dev/null 2>&1\n"
        "for __nacre in $(builtin compgen -A function); do\n"
        f'  case $__nacre in {_UNWANTED}) unset -f "$__nacre";; esac\n'
        "done\n"
        'for __nacre in "${!BASH_ALIASES[@]}"; do\n'
        f'  case $__nacre in {_UNWANTED}) unalias -- "$__nacre";; esac\n'
        "done\n"
        f"{DUMP}"
    )


async def _read(command: Command) -> str:
    sink = _Sink()
    asked = Command(script=_script(), cwd="/", env=command.env, timeout=BUDGET_SECONDS, grace=0.0, shell=command.shell)
    run = Run.start(ContainedBackend(), asked, sink)
    try:
        ending = await run.wait()
        await run.settle()
    finally:
        run.release()
    if ending.why == "timeout":
        raise StartError(f"it took longer than {BUDGET_SECONDS:g} s")
    state = read_dump(bytes(sink.data)) if len(sink.data) <= MOST_BYTES else None
    if state is None:
        raise StartError("it ended the shell, or defines too much")
    return chosen(state).restoring({})


def chosen(state: Checkpoint) -> Checkpoint:
    """What of the rc's state a session begins with. Pure."""
    needed = (set(_REFERENCE.findall(state.functions)) - _USUAL) | {"PATH"}
    variables = "".join(
        text
        for name, text in state.each_variable()
        if name in needed
        and not name.startswith(("BASH", "LC_"))
        and (name == "PATH" or name_reason(name, text) is None)
    )
    options = [line for line in state.options.splitlines() if line.startswith("set -o") and not line.endswith(_OFF)]
    shopt = state.shopt
    if state.aliases:
        shopt = shopt.replace("shopt -u expand_aliases", "shopt -s expand_aliases")
    return replace(
        state,
        directory="",
        shopt=shopt,
        variables=variables,
        traps="",
        umask="",
        arguments="",
        options="\n".join(options),
    )


def _is_harmless(name: str, text: str) -> bool:
    return name == "PATH" or not (name.startswith(("BASH", "LC_")) or name_reason(name, text))
