"""Which words of a wrapper are its own: the rows of `wrappers.txt`, where their notation is explained."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nacre.bash.word_table import names as words_of


@dataclass(frozen=True, slots=True)
class Options:
    """How a wrapper's own words end: options with values, then this many operands."""

    short: str = ""
    long: tuple[str, ...] = ()
    operands: int = 0
    assignments: bool = False
    script: tuple[str, ...] = ()
    """Options whose value is a script for the shell."""
    directory: tuple[str, ...] = ()
    """Options whose value is where the command runs."""
    joined: bool = False
    """The command may also be one script, in one word or several."""


def options(row: str) -> Options:
    """Read what a row says behind the programs."""
    words = row.split()
    return Options(
        "".join(word[1:] for word in words if word[0] == "-" and word[1] != "-"),
        tuple(word[2:] for word in words if word.startswith("--")),
        sum(int(word[1:]) for word in words if word[0] == "+"),
        "NAME=" in words,
        tuple(word[1:] for word in words if word[0] == "$"),
        tuple(word[1:] for word in words if word[0] == "@"),
        "…" in words,
    )


def _rows() -> list[tuple[str, str, Options]]:
    """Return the rows of wrappers.txt: programs, the words after them, options."""
    text = Path(__file__).with_name("wrappers.txt").read_text(encoding="utf-8").replace("\n    ", " ")
    rows = (line.partition(":") for line in text.split("\n") if line and not line.startswith("#"))
    return [(*programs.partition(" / ")[::2], options(row)) for programs, _, row in rows]


WRAPPERS: Final = {name: row for names, verbs, row in _rows() if not verbs for name in names.split()}
SUBCOMMANDS: Final = {
    name: (frozenset(verbs.split()), row) for names, verbs, row in _rows() if verbs for name in names.split()
}
"""Two-word wrappers: the words after which a command follows, and the options between."""

BWRAP_VALUES: Final = {
    **dict.fromkeys(
        words_of(
            "--bind --ro-bind --dev-bind --bind-try --ro-bind-try --dev-bind-try --symlink --setenv --chmod --file "
            "--bind-data --ro-bind-data"
        ),
        2,
    ),
    **dict.fromkeys(
        words_of(
            "--proc --dev --tmpfs --dir --chdir --unsetenv --uid --gid --hostname --lock-file --remount-ro --mqueue "
            "--seccomp --perms --size --cap-add --cap-drop --args --info-fd --sync-fd --block-fd --exec-label "
            "--file-label --overlay-src --userns --pidns"
        ),
        1,
    ),
}
