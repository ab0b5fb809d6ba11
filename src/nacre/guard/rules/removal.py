"""Rule `no_dangerous_rm`: a recursive rm of something critical.

`rm -r` counts without `-f` too: standard input is not a terminal, so rm would not ask. A target that is not spelled
out in the script is left to the run-time guard.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import OUTSIDE, is_opaque, plain, show
from nacre.guard.interpret.invocation import Invocation
from nacre.guard.programs.getopt import getopt
from nacre.guard.programs.inner import basename
from nacre.guard.rules.critical_paths import critical_reason

PROGRAMS: Final = ("rm", "grm")
_LONG_OPTIONS: Final = names(
    "--recursive --force --no-preserve-root --preserve-root --one-file-system --interactive --dir --verbose --help "
    "--version"
)


@dataclass(frozen=True, slots=True)
class Removal:
    """A call of rm, taken apart."""

    recursive: bool
    asks: bool
    targets: tuple[str, ...]


def removal(argv: tuple[str, ...]) -> Removal | None:
    """Take a call of rm apart; None when it is not rm, or only asks for help."""
    if not argv or basename(argv[0].replace(OUTSIDE, "")) not in PROGRAMS:
        return None
    options, targets = getopt(argv[1:], long=_LONG_OPTIONS)
    recursive = asks = False
    for option, value in options:
        match option:
            case "--help" | "--version":
                return None
            case "-r" | "-R" | "--recursive":
                recursive = True
            case "-i":
                asks = True
            case "--interactive":
                asks = value not in ("never", "no", "none", "once")
            case "-f" | "--force":
                asks = False
            case _:
                pass
    return Removal(recursive, asks, tuple(targets))


def dangerous_targets(invocation: Invocation) -> Iterator[tuple[str, str]]:
    """Return the critical targets of a recursive rm, each with the reason."""
    call = removal(invocation.argv)
    if call is None or not call.recursive:
        return
    if call.asks and not _answered(invocation):
        return
    for target in (*call.targets, *invocation.resolved):
        reason = critical_reason(target, invocation.directory)
        if reason is not None:
            yield target, reason


def _answered(invocation: Invocation) -> bool:
    """True if rm reads answers from a pipe or a file; an empty standard input says no."""
    fed = bool(invocation.upstream) or invocation.stdin is not None
    # xargs and parallel read the pipe themselves; what they start gets nothing.
    return fed and not {"xargs", "parallel"} & set(invocation.via)


def looks_like_removal(argv: tuple[str, ...]) -> bool:
    """True if an unknown program gets the words of a recursive rm of the root."""
    if not argv or not is_opaque(argv[0]):
        return False
    call = removal(("rm", *argv[1:]))
    flags = [plain(word) for word in argv[1:] if word.startswith("-")]
    return call is not None and call.recursive and any("f" in flag for flag in flags) and "/" in call.targets


def check(invocation: Invocation) -> str | None:
    """Return the reason to refuse this command, or None."""
    for target, reason in dangerous_targets(invocation):
        return f"{show(target)} is {reason}"
    return "an unknown program with the words of rm -rf /" if looks_like_removal(invocation.argv) else None
