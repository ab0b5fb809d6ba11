"""Rule `extended`, for the strict profile: the same damage by other means.

Deleting without rm, overwriting repositories and account files, undoing work with git, running text from the network,
stopping the machine. One function per program, in a table; each gives the reason to refuse, or None.
"""

import re
from typing import Final

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import HOME, NETWORK, plain
from nacre.guard.interpret.invocation import Invocation, flags, operands
from nacre.guard.programs.finds import FindCall, find_call
from nacre.guard.programs.inner import basename
from nacre.guard.programs.shells import SHELLS
from nacre.guard.rules.critical_paths import (
    critical_reason,
    glob_covers_repository,
    is_here_or_above,
    is_whole_repository,
)
from nacre.guard.rules.extended import git_losses, services, storage
from nacre.guard.rules.extended.storage import GIT_FILES, Check, critical, is_storage, overwritten
from nacre.guard.rules.permissions import is_recursive
from nacre.guard.rules.removal import removal

MESSAGE: Final = "{reason}. Do a narrower, reversible step instead"

_DESTROYERS: Final = frozenset(("rm", "shred", "unlink", "truncate", "srm", "wipe", "grm"))
# To kill these by name is to cut the way to the machine, and to end this shell.
_VITAL: Final = SHELLS | {"sshd", "systemd", "init", "dbus-daemon"}


def _find(invocation: Invocation) -> str | None:
    call = find_call(invocation.argv)
    destroys = call.deletes or any(_destroys(command) for command in call.commands)
    if destroys and _finds_repositories(call):
        return "repository data would be removed"
    reason = critical(invocation, call.roots) if destroys and not call.limited else None
    return f"find acts on all it finds, starting at {reason}" if reason is not None else None


def _finds_repositories(call: FindCall) -> bool:
    return any(re.fullmatch(r"(?:.*/)?\.git(?:/\*)?", name) for name in call.names)


def _fd(invocation: Invocation) -> str | None:
    words = [plain(word) for word in invocation.argv]
    at = next((i for i, word in enumerate(words) if word in ("-x", "-X", "--exec", "--exec-batch")), None)
    if at is None or not _destroys(invocation.argv[at + 1 :]):
        return None
    narrowed = any(word not in (".", "-H", "-I", "-u", "--hidden", "--no-ignore", "-a") for word in words[1:at])
    return None if narrowed else "fd acts on all it finds here"


def _destroys(command: tuple[str, ...]) -> bool:
    words = [plain(word) for word in command]
    while words and basename(words[0]) in ("sudo", "env", "nice", "command", "xargs"):
        words = words[1:]
    if not words:
        return False
    scripts = any(re.search(r"\brm\b|\bshred\b", word) for word in words[1:]) if basename(words[0]) in SHELLS else False
    return basename(words[0]) in _DESTROYERS or words[:2] == ["git", "add"] or scripts


def _rm(invocation: Invocation) -> str | None:
    call = removal(invocation.argv)
    if call is None:
        return None
    upstream = invocation.upstream
    if call.recursive and upstream and basename(upstream[0]) == "find" and _finds_repositories(find_call(upstream)):
        return "repository data would be removed"
    for target in filter(None, call.targets):
        if call.recursive and glob_covers_repository(target):
            return "the glob matches .git"
        if is_whole_repository(target):
            return "the whole work tree would be removed"
        if GIT_FILES.fullmatch(plain(target)):
            return "repository data would be removed"
        if target.startswith((HOME + "/*", "/home/")) and critical_reason(target) is not None:
            return "files in a home directory would be removed"
    return None


def _permissions(invocation: Invocation) -> str | None:
    recursive = is_recursive(invocation)
    paths = operands(invocation)
    for path in paths:
        reason = critical_reason(path, invocation.directory)
        if reason is None or (
            is_here_or_above(path) and plain(paths[0]) not in ("000", "0", "777", "a-rwx", "a=", "-rwx")
        ):
            continue
        if recursive or path.strip("/") == "":
            return f"permissions or owners of {reason} would change"
    return None


def _mv(invocation: Invocation) -> str | None:
    paths = operands(invocation)
    words = [plain(word) for word in invocation.argv]
    if "-t" in words[:-1]:
        # The directory that the others go into stands in front of them.
        into = invocation.argv[words.index("-t") + 1]
        paths = [*(path for path in paths if path != into), into]
    if len(paths) > 1:
        away = plain(paths[-1]) == "/dev/null"
        for path in paths[:-1]:
            reason = critical_reason(path, invocation.directory)
            if reason is not None and (away or not is_here_or_above(path)):
                return f"{reason} would be moved away"
    return overwritten(invocation)


def _rsync(invocation: Invocation) -> str | None:
    paths = operands(invocation)
    moves = any(word.startswith("--remove-source") for word in invocation.words)
    deletes = moves or any(word.startswith("--delete") for word in invocation.words)
    reason = critical(invocation, paths[:-1] if moves else paths[-1:]) if deletes else None
    return f"rsync would delete in {reason}" if reason is not None else None


def _archiver(invocation: Invocation) -> str | None:
    """tar and zip that remove what they have packed."""
    words = invocation.words
    moves = bool({"--remove-files", "--move", "-sdel"} & set(words))
    if invocation.name == "zip":
        moves = moves or "m" in flags(invocation)
    reason = critical(invocation) if moves else None
    return f"{reason} would be removed after packing" if reason is not None else None


def _kill(invocation: Invocation) -> str | None:
    words = invocation.words
    if words[:1] in (["-l"], ["-L"], ["-0"]):
        return None
    if words[:1] == ["-1"] and len(words) > 1 and "-1" not in words[1:]:
        words = words[1:]
    targets = words[1:] if len(words) > 1 else words
    return "every process would be killed" if "-1" in targets or "1" in targets else None


def _pkill(invocation: Invocation) -> str | None:
    patterns = [plain(word) for word in operands(invocation)]
    if bool(patterns) and patterns[-1] in (".", ".*", "", "*"):
        return "every process would be killed"
    spared = any(
        re.match(r"-(?:[Ptgs]|0$|CONT)|--(?:parent|terminal|group|session)", plain(word)) for word in invocation.argv
    )
    if not spared and not _VITAL.isdisjoint(patterns):
        return "every shell, or what the machine needs to be reached, would be killed"
    users = {"-u", "-U", "--euid", "--uid", "--user"}
    words = invocation.words
    named = [i + 1 for i, word in enumerate(words) if word in users]
    rest = [word for i, word in enumerate(words) if i not in named and not word.startswith("-")]
    return "every process of a user would be killed" if named and not rest else None


def _removes(invocation: Invocation) -> str | None:
    reason = critical(invocation)
    return f"{reason} would be removed" if reason is not None else None


def _netcat(invocation: Invocation) -> str | None:
    hands_over = re.search(r"[ec]", flags(invocation)) and "sh" in str(invocation)
    return "a shell would be handed to the network" if hands_over else None


_CHECKS: Final[dict[str, Check]] = {
    **storage.CHECKS,
    **dict.fromkeys(names("find gfind"), _find),
    "rm": _rm,
    **dict.fromkeys(names("chmod chown chgrp setfacl chattr"), _permissions),
    "mv": _mv,
    "rsync": _rsync,
    **dict.fromkeys(names("tar gtar zip 7z 7za"), _archiver),
    **dict.fromkeys(names("fd fdfind"), _fd),
    **dict.fromkeys(names("rimraf trash trash-put gio del-cli"), _removes),
    "kill": _kill,
    **dict.fromkeys(names("pkill killall"), _pkill),
    **dict.fromkeys(names("nc ncat"), _netcat),
    "git": git_losses.check,
}

# Programs that fetch what they run, and how many words in front may be its address (`deno run https://…`).
_RUNS_ADDRESSES: Final = {"deno": 2, "npx": 1, "bunx": 1}


def check(invocation: Invocation) -> str | None:
    """Return the reason to refuse this command under the strict profile, or None."""
    for operator, target in invocation.targets:
        path = plain(target)
        if path == "/proc/sysrq-trigger" or (operator in (">", ">|", "&>") and is_storage(path)):
            return f"{path} would be overwritten"
        if path.startswith(("/dev/tcp/", "/dev/udp/")) and invocation.argv and invocation.name in SHELLS:
            return "a shell would be handed to the network"
    if not invocation.argv:
        return None
    name = invocation.name
    network = _runs_network_text(invocation, name)
    if network is not None:
        return network
    found = _CHECKS.get("mkfs" if name.startswith("mkfs") else name)
    reason = found(invocation) if found is not None else None
    return reason or services.check(invocation)


def _runs_network_text(invocation: Invocation, name: str) -> str | None:
    reason = "text from the network would be run unseen"
    if invocation.script is not None and NETWORK in invocation.script:
        return reason
    words = invocation.argv[1:]
    if name == "eval" and any(NETWORK in word for word in words):
        return reason
    reads = re.fullmatch(r"python[\d.]*|perl|ruby|node|php|lua|source|\.", name)
    if reads and invocation.stdin is not None and NETWORK in invocation.stdin:
        operands = [plain(word) for word in words if not word.startswith("-") or word == "-"]
        module = any(re.match(r"-\w*m", word) for word in words)
        if not module and (not operands or operands[0] in ("-", "/dev/stdin")):
            return reason
    named = [plain(word) for word in words if not word.startswith("-")]
    if name in _RUNS_ADDRESSES and any(re.match("https?://", word) for word in named[: _RUNS_ADDRESSES[name]]):
        return reason
    # What is installed runs its own code.
    if re.fullmatch(r"pip[\d.]*|pipx|npm|gem", name) and "install" in words:
        listed = invocation.stdin is not None and NETWORK in invocation.stdin and {"-", "/dev/stdin"} & set(words)
        if listed or any(word.startswith(NETWORK) for word in words):
            return reason
    if reads and any(NETWORK in word for word in words):
        return reason
    return None
