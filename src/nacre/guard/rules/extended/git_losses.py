"""The git part of rule `extended`: work that would be lost, and settings that store a forbidden command.

Kept apart from `git.py`, whose two rules hold in every profile.
"""

import re
from typing import Final

from nacre.guard.interpret.alphabet import plain
from nacre.guard.interpret.invocation import Invocation
from nacre.guard.programs.git_words import GitCall, git_call
from nacre.guard.rules.critical_paths import is_here_or_above, is_whole_repository

_MAIN_BRANCHES: Final = frozenset(("main", "master", "trunk", "develop"))
STAGED: Final = "the whole work tree would be staged"
_TRUE: Final = frozenset(("true", "yes", "on", "1"))
_FALSE: Final = frozenset(("false", "no", "off", "0"))


def check(invocation: Invocation) -> str | None:
    """Return the reason to refuse this git command under the strict profile, or None."""
    call = git_call(invocation.argv, invocation.environment)
    if call is None:
        return None
    words = [plain(word) for word in call.arguments]
    flags = "".join(word[1:] for word in words if re.fullmatch(r"-[A-Za-z]+", word))
    operands = [word for word in words if not word.startswith("-")]
    whole = any(_is_all(word) for word in call.arguments)
    match call.subcommand:
        case "add" | "stage":
            return STAGED if _names_the_tree(call, invocation.stdin) else None
        case "update-index":
            adds = "--add" in words
            return STAGED if adds and _names_the_tree(call, invocation.stdin) else None
        case "clean":
            unasked = any(
                key.lower() == "clean.requireforce" and value.lower() in _FALSE for key, value in call.settings
            )
            return _clean([*words, "--force"] if unasked else words, flags, operands)
        case "reset":
            hard = any(len(word) > 4 and "--hard".startswith(word) for word in words)
            return "uncommitted work would be lost" if hard else None
        case "checkout":
            forced = "f" in flags or "--force" in words
            return "uncommitted work would be lost" if whole or (forced and not operands) else None
        case "branch":
            forced = "f" in flags or "--force" in words
            deletes = "D" in flags or (forced and ("d" in flags or "--delete" in words))
            return "a main branch would be deleted" if deletes and _MAIN_BRANCHES & set(operands) else None
        case "restore":
            staged_only = ("--staged" in words or "S" in flags) and not ("--worktree" in words or "W" in flags)
            return "uncommitted work would be lost" if whole and not staged_only else None
        case "switch":
            forced = "f" in flags or not {"--force", "--discard-changes"}.isdisjoint(words)
            return "uncommitted work would be lost" if forced else None
        case "stash":
            return "stashed work would be lost" if operands[:1] in (["clear"], ["drop"]) else None
        case "rm":
            cached = "--cached" in words or "--dry-run" in words or "n" in flags
            return "the whole work tree would be removed" if whole and not cached else None
        case "push":
            return _push(words, flags, operands)
        case "config":
            return _config(call)
        case "remote":
            mirrors = any(word in ("--mirror", "--mirror=push") for word in words)
            return "the remote would be set to mirror" if operands[:1] == ["add"] and mirrors else None
        case "reflog":
            return "the reflog would be lost" if operands[:1] in (["expire"], ["delete"]) else None
        case "gc" | "prune":
            now = any(re.search(r"--(?:prune|expire)=(?:now|all)", word) for word in words)
            return "unreachable commits would be lost" if now or (call.subcommand == "prune" and not words) else None
        case "filter-branch" | "filter-repo":
            return "history would be rewritten"
        case "update-ref" | "symbolic-ref":
            listed = "--stdin" in words and re.search(r"^delete\b", invocation.stdin or "", re.MULTILINE)
            return "a reference would be deleted" if listed or "-d" in words or "--delete" in words else None
        case _:
            return None


def _names_the_tree(call: GitCall, stdin: str | None) -> bool:
    """True if the whole work tree is among the paths, given as words or in a list that git reads."""
    paths = [word.partition("=")[2] if word.startswith("--pathspec-from-file=") else word for word in call.arguments]
    if any(plain(word) == "--stdin" or word.startswith("--pathspec-from-file=") for word in call.arguments):
        paths += (stdin or "").split()
    return any(is_whole_repository(path) for path in paths if path)


def _is_all(word: str) -> bool:
    text = plain(word)
    if not text or text.startswith("-"):
        return False
    return text in (":/", ":", ":/.", ":(top)") or is_here_or_above(text) or is_whole_repository(text)


def _clean(words: list[str], flags: str, operands: list[str]) -> str | None:
    forced = "f" in flags or any(len(word) > 3 and "--force".startswith(word) for word in words)
    dry = "n" in flags or "--dry-run" in words
    narrowed = any(not _is_all(word) for word in operands) and not any(_is_all(word) for word in operands)
    return "untracked files would be lost" if forced and not dry and not (operands and narrowed) else None


def _push(words: list[str], flags: str, operands: list[str]) -> str | None:
    if "--dry-run" in words or "n" in flags:
        return None
    if "--delete" in words or "d" in flags or any(re.match(r":[^:]", operand) for operand in operands[1:]):
        return "a remote branch would be deleted"
    return "remote branches would be pruned" if "--prune" in words else None


def _config(call: GitCall) -> str | None:
    given = [plain(word) for word in call.arguments]
    files = {i + 1 for i, word in enumerate(given) if word in ("-f", "--file", "--blob")}
    words = [word for i, word in enumerate(given) if i not in files and not word.startswith("-")]
    words = words[1:] if words[:1] in (["set"], ["add"]) else words
    if len(words) < 2:
        return None
    key, value = words[0].lower(), words[1]
    if re.fullmatch(r"remote\..*\.push", key) and value.startswith("+"):
        return "a forced refspec would be stored"
    if re.fullmatch(r"remote\..*\.mirror", key) and value.lower() in _TRUE:
        return "the remote would be set to mirror"
    return None
