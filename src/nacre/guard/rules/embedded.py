"""Commands inside texts that no shell of this script reads: crontabs, other machines, other languages, stored aliases.

For the strict profile only. Gives the shell texts that would be run later or elsewhere, and paths that another
language would delete; the caller reviews the texts with the ordinary rules.
"""

import re
import shlex
from typing import Final

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import HOME, PWD, plain
from nacre.guard.interpret.invocation import Invocation
from nacre.guard.programs.git_words import git_call, stored_alias
from nacre.guard.programs.inner import basename, option_end
from nacre.guard.programs.outputs import literal_output
from nacre.guard.programs.wrapper_table import options
from nacre.guard.rules.critical_paths import critical_reason

_INTERPRETER: Final = re.compile(
    r"(?:python[\d.]*|pypy3?|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|Rscript|g?awk|mawk|nawk|vim?|nvim|emacs|expect|tclsh)"
)
_CALL: Final = re.compile(
    r"(?:system|exec\w*|popen|spawn\w*|run|call|check_output|check_call|passthru|shell_exec|Popen|getoutput|getstatusoutput|shell-command|sh|os\.execute)"
    r"\s*+\(?+\s*+\[?+\s*+(['\"])(.*?)(?<!\\)\1",
    re.DOTALL,
)
_LIST_CALL: Final = re.compile(r"(?:run|call|Popen|check_\w+|spawn\w*|exec\w*)\s*\(\s*\[([^\]]*)\]", re.DOTALL)
_BACKQUOTED: Final = re.compile(
    r"`([^`]+)`|(?:%x|qx)\s?(?:\(([^)]*)\)|\{([^}]*)\}|\[([^\]]*)\]|/([^/]*)/|!([^!]*)!)", re.DOTALL
)
# `system("rm", "-rf", "/")` and `spawn("rm", ["-rf", "/"])`: the words of one command.
_WORDS_CALL: Final = re.compile(
    r"(?:system|exec\w*+|spawn\w*+)\s*+\(?+\s*+((?:\[?+\s*+(?:\"[^\"]*+\"|'[^']*+')\s*+\]?+\s*+,?+\s*+){2,40}+)"
)
_AWK_PIPE: Final = re.compile(r"\|\s*\"([^\"]+)\"")
_EDITOR_SHELL: Final = re.compile(r"(?:^|\|)\s*\+?(?::?!|:?silent !|:?call system\()(.*)", re.DOTALL)
_DELETION: Final = re.compile(
    r"(?:rmtree|rm_rf|rm_r|rm|remove_dir_all|rmSync|rmdirSync|rmdir|rimraf(?:\.sync)?|remove_tree|removeSync|remove_entry_secure|unlink)"
    r"\s*+\(?+\s*+(?:os\.path\.expanduser\(\s*+)?+(?:Path\(\s*+)?+(['\"])(.*?)\1"
)
_HOME_IN_CODE: Final = re.compile(
    r"(?:rmtree|rm_rf|rm_r|rmSync|rmdirSync|rimraf(?:\.sync)?|remove_tree|removeSync)\s*+\(?+\s*+"
    r"(?:Dir\.(?:home|pwd)|Path\.(?:home|cwd)\(|(?:os\.)?homedir\(|process\.(?:env\.HOME|cwd\()|os\.getcwd\("
    r"|ENV\[.HOME.\]|\$ENV\{HOME\}|os\.environ\[.HOME.\]|require\(.os.\)\.homedir\()"
)
_SED_RUN: Final = re.compile(r"(?:^|;)s([/|#,])[^/|#,]*\1((?:[^/|#,\\]|\\.)*)\1[a-z0-9]*e")
_TCL_CALL: Final = re.compile(r"\b(?:spawn|exec)\s+([^;\n\]]+)")
# What the next shell, the next commit or the scheduler would run.
_RUN_LATER: Final = re.compile(
    r"(?:.*/)?\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zprofile|zshenv|kshrc)"
    r"|/etc/(?:profile|bash\.bashrc|bashrc|zshrc|rc\.local|profile\.d/.*|cron\..*)"
    r"|(?:.*/)?(?:\.git/hooks|\.husky)/[\w-]+"
)
_GIT_SETTINGS: Final = re.compile(r"(?:.*/)?(?:\.gitconfig|\.git/config)|/etc/gitconfig|.*/\.config/git/config")
_CRONTABS: Final = re.compile(r"/etc/crontab|/etc/cron\.d/.*|/var/spool/cron/.*")
_SCHEDULE: Final = re.compile(r"\s*(?:@\w+|(?:[\d*,/A-Za-z-]+\s+){5})\s*(.+)")
_REMOTE: Final = frozenset(names("ssh mosh pssh parallel-ssh clush ansible salt vagrant gcloud heroku"))
# These pass the words on as they are; the others give them, joined by blanks, to a shell.
_CONTAINERS: Final = frozenset(("docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "multipass"))
_SSH: Final = options("-BbcDEeFIiJLlmOopQRSWw")
# The words behind these are texts or patterns, not commands.
_TAKES_TEXT: Final = frozenset(("echo", "printf", "grep", "egrep", "fgrep", "rg", "ag"))


def embedded_scripts(invocation: Invocation) -> list[str]:
    """Return the shell texts that this command would store, send or hand over."""
    if not invocation.argv:
        return []
    name = invocation.name
    words = invocation.words
    later = _stored_for_later(invocation, name, words)
    if later:
        return later
    if name == "crontab" and invocation.stdin is not None:
        return [match.group(1) for line in invocation.stdin.splitlines() if (match := _SCHEDULE.match(line))]
    if name in ("at", "batch") and invocation.stdin is not None:
        return [invocation.stdin]
    if _INTERPRETER.fullmatch(name):
        code = "\n".join([*words, invocation.stdin or ""])
        others = _TCL_CALL if name in ("expect", "tclsh") else _AWK_PIPE if name.endswith("awk") else None
        return _called(code) + (others.findall(code) if others is not None else [])
    if name in _REMOTE or name in _CONTAINERS:
        proxies = [word.partition("ProxyCommand=")[2] for word in words if "ProxyCommand=" in word]
        return [*_remote(invocation.argv), *proxies, *_mounted(invocation.argv), invocation.stdin or ""]
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


def _stored_for_later(invocation: Invocation, name: str, words: list[str]) -> list[str]:
    """Return the text that goes into a file which a shell, git or the scheduler runs by itself."""
    paths = [plain(path) for operator, path in invocation.targets if ">" in operator]
    if name == "tee":
        paths += words
    run, scheduled = any(map(_RUN_LATER.fullmatch, paths)), any(map(_CRONTABS.fullmatch, paths))
    aliases = any(map(_GIT_SETTINGS.fullmatch, paths))
    if not run and not scheduled and not aliases:
        return []
    text = literal_output(invocation.argv, invocation.stdin, {}) or ""
    if aliases:
        values = [value.strip() for _, equals, value in (line.partition("=") for line in text.splitlines()) if equals]
        return [value[1:] if value.startswith("!") else "git " + value for value in values]
    jobs = [match.group(1) for line in text.splitlines() if (match := _SCHEDULE.match(line))]
    # The system's tables name a user before the command.
    return [text] if run else [*jobs, *(job.partition(" ")[2] for job in jobs)]


def _program_options(words: list[str]) -> list[str]:
    scripts = [word.partition("exec=")[2] for word in words if word.startswith("--checkpoint-action=exec=")]
    texts = ("--to-command=", "--use-compress-program=", "--rsh=")
    scripts += [word.partition("=")[2] for word in words if word.startswith(texts)]
    scripts += [words[i + 1] for i, word in enumerate(words[:-1]) if word in ("-TT", "-e", "-I", "-P")]
    scripts += [match.group(2).replace("\\", "") for word in words if (match := _SED_RUN.search(word))]
    return scripts + [match.group(1) for word in words if (match := re.search(r"(?:^|[;0-9$/{])\s*e\s+(.+)", word))]


def _called(code: str) -> list[str]:
    scripts = [match.group(2) for match in _CALL.finditer(code)]
    scripts += [next(group for group in match.groups() if group is not None) for match in _BACKQUOTED.finditer(code)]
    scripts += [" ".join(re.findall(r"['\"]([^'\"]*)['\"]", match.group(1))) for match in _LIST_CALL.finditer(code)]
    scripts += [" ".join(re.findall(r"['\"]([^'\"]*)['\"]", match.group(1))) for match in _WORDS_CALL.finditer(code)]
    scripts += [match.group(1) for line in code.split("\n") if (match := _EDITOR_SHELL.match(line))]
    return scripts


def _remote(argv: tuple[str, ...]) -> list[str]:
    """Return what may be the remote command: every tail of the words, where options cannot be told apart."""
    words = [plain(word) for word in argv[1:]]
    if basename(argv[0]) == "ssh":
        host, _ = option_end(argv, _SSH)
        command, _ = option_end(argv, _SSH, host + 1)
        return [" ".join(words[command - 1 :])] if words[command - 1 :] else []
    end = next((i for i, word in enumerate(words) if basename(word) in _TAKES_TEXT), len(words)) + 1
    if basename(argv[0]) in _CONTAINERS:
        return [shlex.join(words[index:]) for index in range(1, len(words))[: min(12, end - 1)]]
    tails = [(index, word) for index, word in enumerate(words[:end]) if index > 0 or " " in word]
    return [word if " " in word else " ".join(words[index:]) for index, word in tails[:12]]


def _mounted(argv: tuple[str, ...]) -> list[str]:
    """Return the remote commands again, with the paths of this machine that the container sees under other names."""
    words = [plain(word) for word in argv[1:]]
    volumes = [words[i + 1] for i, word in enumerate(words[:-1]) if word in ("-v", "--volume")]
    volumes += [word.partition("=")[2] for word in words if word.startswith("--volume=")]
    scripts: list[str] = []
    for source, _, target in (volume.partition(":") for volume in volumes[:4]):
        inside = re.compile(re.escape(target.partition(":")[0].rstrip("/") or "/") + r"(?=[/\s'\"]|$)")
        here = source.replace(HOME, "~").replace(PWD, ".").replace("\\", "\\\\")
        scripts += [inside.sub(here, script) for script in _remote(argv)]
    return scripts


def deletes_in_code(invocation: Invocation) -> str | None:
    """Return the reason why another language's code would delete something critical, or None."""
    if not invocation.argv or not _INTERPRETER.fullmatch(invocation.name):
        return None
    code = "\n".join([*invocation.words, invocation.stdin or ""])
    if _HOME_IN_CODE.search(code):
        return "the home or the current directory would be removed"
    for match in _DELETION.finditer(code):
        path = match.group(2)
        reason = critical_reason(HOME + path[1:] if path.startswith("~") else path)
        if reason is not None:
            return f"{reason} would be removed"
    return None
