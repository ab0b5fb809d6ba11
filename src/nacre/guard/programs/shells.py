"""Shells as programs: where the script of `bash …` comes from.

Only the words are looked at; reading and walking the script is the walker's work.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import plain

SHELLS: Final = frozenset(
    names(
        "bash sh zsh dash ksh ash mksh rbash fish pdksh ksh93 yash hush lksh posh oksh csh tcsh nu elvish xonsh pwsh "
        "powershell"
    )
)
INTERPRETERS: Final = frozenset(("python", "python2", "python3", "perl", "ruby", "node", "php", "lua", "deno", "bun"))
"""Programs that run a file in another language."""
# For these `-n` does not mean "read, but run nothing".
_WITHOUT_NOEXEC: Final = frozenset(("nu", "elvish", "xonsh", "pwsh", "powershell"))
_VALUE_OPTIONS: Final = frozenset(("--rcfile", "--init-file", "-o", "+o", "-O", "+O", "--init-command", "-C"))


@dataclass(frozen=True, slots=True)
class ShellStart:
    """How a shell was started."""

    source: Literal["text", "file", "stdin"]
    script: str
    """The text, or the path of the file."""
    arguments: tuple[str, ...]
    """What the script sees as $1, $2 …"""
    name: str = "bash"
    """What it sees as $0."""


def shell_call(argv: tuple[str, ...]) -> ShellStart | None:
    """Return where this shell reads its script from; None when it reads none (`bash --version`)."""
    words = [plain(word) for word in argv]
    index, wants_text, wants_stdin = 1, False, False
    may_only_read = words[0].rsplit("/", 1)[-1] not in _WITHOUT_NOEXEC
    while index < len(words):
        word = words[index]
        if word in ("--", "-"):
            index += 1
            break
        if word in ("--version", "--help"):
            return None
        if word.lower() in ("--command", "-command") or word.startswith("--command="):
            if "=" in word:
                return ShellStart("text", word.partition("=")[2], tuple(argv[index + 1 :]))
            wants_text = True
        elif word in _VALUE_OPTIONS:
            index += 1
        elif re.match(r"-[a-z]*c\S*\s", word):
            # `-c'script'` is an error in every shell; the script is judged all the same.
            return ShellStart("text", word.partition("c")[2], tuple(argv[index + 1 :]))
        elif re.fullmatch(r"-[A-Za-z]+", word):
            if may_only_read and "n" in word and not any(re.fullmatch(r"\+\w*n\w*", other) for other in words):
                return None
            wants_text = wants_text or "c" in word
            wants_stdin = wants_stdin or "s" in word
            # `-xo pipefail`: the value of a clustered `o` is the next word.
            if word[-1] in "oO" and index + 1 < len(words) and len(word) > 2:
                index += 1
        elif not (word.startswith(("--", "+")) and len(word) > 1):
            break
        index += 1
    rest = argv[index:]
    if wants_text and not rest:
        return None
    if wants_text:
        return ShellStart("text", plain(rest[0]), tuple(rest[2:]), plain(rest[1]) if rest[1:] else "bash")
    if wants_stdin or not rest:
        return ShellStart("stdin", "", tuple(rest))
    path = plain(rest[0])
    if path in ("/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"):
        return ShellStart("stdin", "", tuple(rest[1:]))
    return ShellStart("file", path, tuple(rest[1:]))
