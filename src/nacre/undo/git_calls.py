"""Which calls of git destroy something: files of the work tree, the index and references, or objects. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import plain
from nacre.guard.interpret.invocation import Invocation
from nacre.guard.programs.git_words import git_call


class GitLoss(NamedTuple):
    """What a call of git may destroy, beside the index and references."""

    directory: str | None
    """Where git is told to work (`-C`), in the guard's alphabet; None for the current directory."""
    tree: bool = False
    """Files that git tracks, and those in their way."""
    ignored: bool = False
    """Every file of the work tree, ignored ones too."""
    objects: bool = False
    untracked: bool = False
    """Files that git does not track may be new afterwards."""


_TREE: Final = frozenset(
    names(
        "checkout switch restore reset stash merge rebase pull cherry-pick revert am apply rm mv read-tree "
        "checkout-index bisect sparse-checkout"
    )
)
_ALL: Final = frozenset(names("clean submodule worktree"))
_OBJECTS: Final = frozenset(names("gc prune repack reflog filter-branch filter-repo"))
_REFERENCES: Final = frozenset(names("branch tag update-ref symbolic-ref update-index remote replace notes"))
# Words with which a call only shows something.
_SHOWS: Final = frozenset(
    names("--dry-run --help -h list show --list -l --show-current --contains --merged --no-merged -v -vv status")
)


def git_loss(call: Invocation) -> GitLoss | None:
    """Return what a call of git may destroy; None for a call that destroys nothing."""
    found = git_call(call.argv, call.environment) if call.argv else None
    if found is None:
        return None
    words = [plain(word) for word in found.arguments]
    given = set(words)
    where = _directory(call.argv)
    name = found.subcommand
    if name == "commit":
        return GitLoss(where) if "--amend" in given else None
    if name == "worktree" and "remove" not in given:
        return None
    if name in _REFERENCES:
        shows = not given or bool(given & _SHOWS) or not any(word.startswith("-") for word in words)
        return None if shows and name in ("branch", "tag", "remote", "notes") else GitLoss(where)
    if given & _SHOWS and name in ("stash", "clean", "bisect", "reflog", "worktree", "submodule", "rm", "mv"):
        return None
    if name == "clean" and any(word.startswith("-") and not word.startswith("--") and "n" in word for word in words):
        return None
    if name in _ALL:
        return GitLoss(where, tree=True, ignored=True)
    if name in _TREE:
        return GitLoss(where, tree=True, untracked=name == "stash")
    return GitLoss(where, objects=True) if name in _OBJECTS else None


def _directory(argv: tuple[str, ...]) -> str | None:
    """Return the value of `-C` before the subcommand."""
    for at, word in enumerate(argv[1:-1], 1):
        text = plain(word)
        if text == "-C":
            return argv[at + 1]
        if not text.startswith("-") and plain(argv[at - 1]) not in ("-c", "--git-dir", "--work-tree", "--namespace"):
            return None
    return None
