"""The run-time guard: a bash prologue that checks the targets of a recursive rm when bash knows them.

Pure: gives shell text, or None when every target of a recursive rm is spelled out; then the command costs nothing
more. docs/design/guard.md says what the prologue reaches.
"""

import functools
import re
from pathlib import Path
from typing import Final

from nacre.bash.tree import UnreadableError
from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import is_known, is_opaque
from nacre.guard.interpret.invocation import Invocation
from nacre.guard.interpret.shell_state import ShellState
from nacre.guard.interpret.walk import read_script
from nacre.guard.policy import DEFAULT_POLICY, Policy
from nacre.guard.programs.wrapper_table import WRAPPERS, options
from nacre.guard.rules.default_rules import REMOVAL
from nacre.guard.rules.removal import removal
from nacre.warden.launch import quoted

# Bash sees the whole command line of these wrappers when it calls them.
_CHECKED_WRAPPERS: Final = {
    name: WRAPPERS.get(name, options("-wE +1"))
    for name in names("sudo doas env nice ionice nohup timeout stdbuf setsid busybox flock chrt taskset")
}
# These add words of their own, so rm is replaced by a bash that checks them.
_FEEDING_WRAPPERS: Final = frozenset(("xargs", "find"))
_SHELLS: Final = frozenset(("bash",))

# Each function shadows a program of the command: it checks the words, then calls the program.
_PROGRAM: Final = 'function {name} {{ __nacre_rm_allowed "$@" || return 1; builtin command {name} "$@"; }}\n'
_WRAPPER: Final = """function {name} {{
  __nacre_checked {name} "{letters}" {operands} "$@" || return 1
  builtin command {name} "$@"
}}
"""
_FEEDER: Final = 'function {name} {{ __nacre_feeding {name} "$@"; }}\n'


@functools.cache
def _functions() -> dict[str, str]:
    """Return the functions of runtime_guard.bash by name."""
    text = Path(__file__).with_suffix(".bash").read_text(encoding="utf-8")
    found = re.finditer(r"^function (\w+) \{\n.*?^\}\n", text, re.DOTALL | re.MULTILINE)
    return {function[1]: function[0] for function in found}


def runtime_guard(command: str, state: ShellState | None = None, policy: Policy = DEFAULT_POLICY) -> str | None:
    """Return the prologue that the command needs in a shell with this state, or None."""
    if policy.decision(REMOVAL.name) == "allow":
        return None
    try:
        reading = read_script(command, state=state)
    except UnreadableError:
        # The review refuses such a command, so it never runs.
        return None
    calls = [call for call in reading.invocations if _is_open_ended(call) and not policy.lets_pass(call)]
    return _prologue(calls) if calls else None


def _is_open_ended(invocation: Invocation) -> bool:
    call = removal(invocation.argv)
    if call is None or not call.recursive:
        return False
    return any(_is_open_ended_word(word) for word in invocation.argv[1:])


def _is_open_ended_word(word: str) -> bool:
    return is_opaque(word) or any(char in word for char in "*?[") or (".." in word and not is_known(word))


def _prologue(calls: list[Invocation]) -> str:
    via = {name for call in calls for name in call.via}
    # The text itself names the first directory, so that no variable has to hold it.
    functions = _functions()
    before, _, after = (functions["__nacre_critical"] + functions["__nacre_rm_allowed"]).partition("@start@")
    core = f'builtin eval {quoted(before)}"${{PWD@Q}}"{quoted(after)}\n'
    texts = [core, *(_PROGRAM.format(name=name) for name in ("rm", "/bin/rm", "/usr/bin/rm")), functions["command"]]
    checked = [name for name in _CHECKED_WRAPPERS if name in via]
    if checked:
        texts.append(functions["__nacre_checked"])
        for name in checked:
            options = _CHECKED_WRAPPERS[name]
            texts.append(_WRAPPER.format(name=name, letters=options.short, operands=options.operands))
    feeding = sorted(_FEEDING_WRAPPERS & via)
    if feeding:
        texts.append(functions["__nacre_feeding"])
        texts += [_FEEDER.format(name=name) for name in feeding]
    if via & _SHELLS:
        # A child bash gets functions only through the environment.
        texts.append("export -f __nacre_critical __nacre_rm_allowed rm command\n")
    return "".join(texts)
