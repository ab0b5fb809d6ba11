"""Commands inside texts that no shell of this script reads: crontabs, other machines, other languages, stored aliases.

For the strict profile only. Gives the shell texts that would be run later or elsewhere, and paths that another
language would delete; the caller reviews the texts with the ordinary rules.
"""

import re
from typing import Final

from nacre.policy.paths import critical_reason
from nacre.script.alphabet import HOME, plain
from nacre.script.git_words import git_call, stored_alias
from nacre.script.invocation import Invocation
from nacre.script.wrappers import basename

_INTERPRETER: Final = re.compile(
    r"(?:python[\d.]*|pypy3?|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|Rscript|g?awk|mawk|nawk|vim?|nvim|emacs|expect|tclsh)"
)
_CALL: Final = re.compile(
    r"(?:system|exec\w*|popen|spawn\w*|run|call|check_output|check_call|passthru|shell_exec|Popen|getoutput|getstatusoutput|sh|os\.execute)"
    r"\s*\(?\s*\[?\s*(['\"])(.*?)(?<!\\)\1",
    re.DOTALL,
)
_LIST_CALL: Final = re.compile(r"(?:run|call|Popen|check_\w+|spawn\w*|exec\w*)\s*\(\s*\[([^\]]*)\]", re.DOTALL)
_BACKQUOTED: Final = re.compile(r"`([^`]+)`|%x[\[({](.*?)[\])}]|qx[\[({/](.*?)[\])}/]", re.DOTALL)
_EDITOR_SHELL: Final = re.compile(r"(?:^|\|)\s*\+?(?::?!|:?silent !|:?call system\()(.*)", re.DOTALL)
_DELETION: Final = re.compile(
    r"(?:rmtree|rm_rf|rm_r|rm|remove_dir_all|rmSync|rmdirSync|rmdir|rimraf(?:\.sync)?|remove_tree|removeSync|remove_entry_secure|unlink)"
    r"\s*\(?\s*(?:os\.path\.expanduser\(\s*)?(?:Path\(\s*)?(['\"])(.*?)\1"
)
_SCHEDULE: Final = re.compile(r"\s*(?:@\w+|(?:[\d*,/A-Za-z-]+\s+){5})\s*(.+)")
_REMOTE: Final = frozenset(
    ("ssh", "mosh", "docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "multipass", "vagrant", "gcloud", "heroku")
)


def embedded_scripts(invocation: Invocation) -> list[str]:
    """The shell texts that this command would store, send or hand over."""
    if not invocation.argv:
        return []
    name = basename(invocation.argv[0])
    words = [plain(word) for word in invocation.argv[1:]]
    if name == "crontab" and invocation.stdin is not None:
        return [match.group(1) for line in invocation.stdin.splitlines() if (match := _SCHEDULE.match(line))]
    if name in ("at", "batch") and invocation.stdin is not None:
        return [invocation.stdin]
    if _INTERPRETER.fullmatch(name):
        code = "\n".join([*words, invocation.stdin or ""])
        return _called(code)
    if name in _REMOTE:
        return [*_remote(words), *([invocation.stdin] if invocation.stdin is not None else [])]
    if name in ("make", "gmake"):
        recipes = [line.lstrip("\t@-") for line in (invocation.stdin or "").splitlines() if line.startswith("\t")]
        recipes += [line.partition(";")[2] for line in (invocation.stdin or "").splitlines() if ";" in line]
        return recipes + [word.partition("=")[2] for word in words if word.startswith(("SHELL=", "--eval="))]
    if name in ("tar", "gtar", "bsdtar", "zip", "rsync", "sed", "gsed", "man"):
        return _program_options(words)
    if name in ("git", "hub"):
        call = git_call(invocation.argv)
        stored = stored_alias(call) if call is not None else None
        if stored is not None:
            return [stored[1][1:] if stored[1].startswith("!") else "git " + stored[1]]
    if name == "alias":
        return [word.partition("=")[2] for word in words if "=" in word]
    return []


def _program_options(words: list[str]) -> list[str]:
    scripts = [word.partition("exec=")[2] for word in words if word.startswith("--checkpoint-action=exec=")]
    scripts += [
        word.partition("=")[2]
        for word in words
        if word.startswith(("--to-command=", "--use-compress-program=", "--rsh="))
    ]
    scripts += [words[i + 1] for i, word in enumerate(words[:-1]) if word in ("-TT", "-e", "-I", "-P")]
    return scripts + [match.group(1) for word in words if (match := re.search(r"(?:^|[;0-9$/])\s*e\s+(.+)", word))]


def _called(code: str) -> list[str]:
    scripts = [match.group(2) for match in _CALL.finditer(code)]
    scripts += [next(group for group in match.groups() if group is not None) for match in _BACKQUOTED.finditer(code)]
    scripts += [" ".join(re.findall(r"['\"]([^'\"]*)['\"]", match.group(1))) for match in _LIST_CALL.finditer(code)]
    scripts += [match.group(1) for line in code.split("\n") if (match := _EDITOR_SHELL.match(line))]
    return scripts


def _remote(words: list[str]) -> list[str]:
    """Every tail of the words may be the remote command; only those that start with a program matter."""
    scripts: list[str] = []
    for index, word in enumerate(words):
        if " " in word or index > 0:
            scripts.append(" ".join(words[index:]) if " " not in word else word)
    return scripts[:12]


def deletes_in_code(invocation: Invocation) -> str | None:
    """The reason why another language's code would delete something critical, or None."""
    if not invocation.argv or not _INTERPRETER.fullmatch(basename(invocation.argv[0])):
        return None
    code = "\n".join([*(plain(word) for word in invocation.argv[1:]), invocation.stdin or ""])
    for match in _DELETION.finditer(code):
        path = match.group(2)
        reason = critical_reason(HOME + path[1:] if path.startswith("~") else path)
        if reason is not None:
            return f"{reason} would be removed"
    return None
