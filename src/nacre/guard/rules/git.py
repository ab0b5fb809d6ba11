"""Rules `no_blind_git_add` and `no_force_push`, over git's own grammar of options.

Clusters (`-vfA`), abbreviations (`--forc`), `--`, pathspec magic and refspecs are read as git reads them.
"""

import re
from typing import Final

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import EVERYTHING, HOME, OUTSIDE, plain
from nacre.guard.interpret.invocation import Invocation
from nacre.guard.programs.getopt import getopt
from nacre.guard.programs.git_words import GitCall, git_call
from nacre.guard.rules.critical_paths import is_here_or_above, is_whole_repository

_ADD_LONG: Final = names(
    "--all --no-ignore-removal --ignore-removal --no-all --update --patch --interactive --edit --dry-run --no-dry-run "
    "--intent-to-add --refresh --force --verbose --sparse --renormalize --chmod --ignore-errors --ignore-missing "
    "--pathspec-from-file --pathspec-file-nul --help"
)
# With one of these git stages chosen hunks, tracked files, or nothing.
_HARMLESS_ADD: Final = frozenset(("--update", "--patch", "--interactive", "--edit", "--dry-run", "--refresh", "--help"))
_ADD_SHORT: Final = {"-A": "--all", "-u": "--update", "-p": "--patch", "-i": "--interactive", "-e": "--edit"} | {
    "-n": "--dry-run",
    "-h": "--help",
}
_PUSH_SHORT: Final = {"-f": "--force", "-n": "--dry-run"}
_PUSH_LONG: Final = names(
    "--force --mirror --delete --dry-run --force-with-lease --force-if-includes --no-force --no-mirror"
)
_PUSH_VALUES: Final = frozenset(("--repo", "--push-option", "--receive-pack", "--exec", "--recurse-submodules"))
_TRUE: Final = frozenset(("true", "yes", "on", "1", ""))
_MAGIC: Final = re.compile(r":\(([^)]*)\)(.*)", re.DOTALL)


def check_add(invocation: Invocation) -> str | None:
    """Return the reason to refuse a `git add`, or None."""
    call = git_call(invocation.argv, invocation.environment) if invocation.argv else None
    if call is None or call.subcommand not in ("add", "stage"):
        return None
    options, paths = _add_words(call)
    if "--no-dry-run" in options:
        options.discard("--dry-run")
    if options & _HARMLESS_ADD and "--all" not in options - _HARMLESS_ADD:
        return None
    if "--dry-run" in options or "--help" in options:
        return None
    if "--pathspec-from-file" in options and invocation.stdin is not None:
        paths = [*paths, *invocation.stdin.split()]
    positive = [path for path in paths if not _is_exclusion(path)]
    for path in positive:
        if _is_blind(path, invocation.directory):
            return f"the path {plain(path)!r} stages everything"
    if paths and not positive:
        return "only exclusions are named, so everything else is staged"
    if not paths and ("--all" in options or "--no-ignore-removal" in options):
        return "--all without a path stages everything"
    return None


def _add_words(call: GitCall) -> tuple[set[str], list[str]]:
    found, paths = getopt(call.arguments, long=_ADD_LONG, values=("--chmod", "--pathspec-from-file"))
    return {_ADD_SHORT.get(option, option) for option, _ in found}, paths


def _is_exclusion(path: str) -> bool:
    text = plain(path)
    magic = _MAGIC.match(text)
    return text[:2] in (":!", ":^") or (magic is not None and "exclude" in magic.group(1))


def _is_blind(path: str, directory: str) -> bool:
    text = plain(path)
    magic = _MAGIC.match(text)
    if magic is not None:
        text = magic.group(2) or "."
    elif text.startswith(":"):
        text = text[1:].lstrip("/").removeprefix(":") or "."
    # For git a quoted star is a pathspec that matches like a bare one.
    if text.startswith((HOME, "/")):
        return bool(directory) and text.rstrip("/") == directory.rstrip("/")
    if OUTSIDE in text:
        # `${x}.` with x unset is the current directory; a bare `$files` or `$prefix*` passes.
        text = text.replace(OUTSIDE, "")
        return text in (".", "..", "./", "../")
    # The strict profile refuses a list of all names (`git add $(ls)`).
    return bool(text) and EVERYTHING not in text and (is_here_or_above(text) or is_whole_repository(text))


def check_push(invocation: Invocation) -> str | None:
    """Return the reason to refuse a `git push`, or None."""
    call = git_call(invocation.argv, invocation.environment) if invocation.argv else None
    if call is None:
        return None
    if call.subcommand in ("send-pack", "http-push"):
        forced = any(
            plain(word) in ("--force", "--mirror", "-f") or plain(word).startswith("+") for word in call.arguments
        )
        return "the push is forced" if forced else None
    if call.subcommand != "push":
        return None
    return _forced(call)


def _forced(call: GitCall) -> str | None:
    found, operands = getopt(call.arguments, letters="o", long=_PUSH_LONG, values=_PUSH_VALUES)
    options: set[str] = set()
    for option, _ in found:
        options.add(_PUSH_SHORT.get(option, option))
        options.discard("--" + option.removeprefix("--no-"))
    if not options.isdisjoint(("--dry-run", "--help")):
        return None
    if "--force" in options:
        return "the push is forced"
    if "--mirror" in options:
        return "--mirror overwrites and deletes remote branches"
    operands = [plain(operand).replace(OUTSIDE, "") for operand in operands]
    refspec = next((operand for operand in operands if operand.startswith("+")), None)
    if refspec is not None:
        return f"the refspec {refspec} is forced by its plus sign"
    for key, value in call.settings:
        lowered = key.lower()
        if lowered.endswith(".mirror") and lowered.startswith("remote.") and value.lower() in _TRUE:
            return "the remote is set to mirror"
        if lowered.endswith(".push") and lowered.startswith("remote.") and value.startswith("+"):
            return "the remote is set to a forced refspec"
    return None
