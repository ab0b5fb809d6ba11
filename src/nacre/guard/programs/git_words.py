"""git as a program: its global options, its subcommand, and the shell commands that some subcommands run.

Facts about git's command line only; which of them are dangerous is the policy's business.
"""

import re
from dataclasses import dataclass
from typing import Final

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import OUTSIDE, plain
from nacre.guard.programs.inner import basename

_VALUE_OPTIONS: Final = frozenset(
    names("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --exec-path")
)
# Settings whose value git hands to a shell.
_SHELL_SETTINGS: Final = re.compile(
    r"(?:core\.(?:editor|pager|sshcommand|fsmonitor|hookspath)|sequence\.editor|pager\.\w+|diff\.external"
    r"|(?:diff|merge|filter)\.[^.]+\.(?:command|driver|textconv|clean|smudge|process)|credential\.helper)",
    re.IGNORECASE,
)
_FILTERS: Final = frozenset(
    names(
        "--tree-filter --index-filter --env-filter --msg-filter --parent-filter --commit-filter --tag-name-filter "
        "--setup"
    )
)


@dataclass(frozen=True, slots=True)
class GitCall:
    """One call of git, taken apart."""

    subcommand: str
    arguments: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()
    """What `-c` and the environment set for this call."""


def git_call(argv: tuple[str, ...], environment: tuple[tuple[str, str], ...] = ()) -> GitCall | None:
    """Take a call of git apart; None when `argv` is not git or names no subcommand."""
    name = basename(argv[0].replace(OUTSIDE, ""))
    settings = _environment_settings(dict(environment))
    if name.startswith("git-") and name != "git-":
        return GitCall(name[4:], argv[1:], settings)
    if name not in ("git", "hub"):
        return None
    index = 1
    while index < len(argv):
        word = plain(argv[index])
        if not word.startswith("-"):
            break
        if word in ("--help", "-h", "--version", "-v", "--html-path", "--man-path", "--info-path"):
            return None
        index += 1
        option, equals, value = word.partition("=")
        if word in _VALUE_OPTIONS:
            value = plain(argv[index]) if index < len(argv) else ""
            # `--exec-path` alone prints and ends; with a value it is written with `=`.
            if word != "--exec-path":
                index += 1
        elif not equals and word.startswith(("-c", "-C")) and len(word) > 2:
            option, value = word[:2], word[2:]
        if option == "-c":
            key, given, setting = value.partition("=")
            settings = (*settings, (key, setting if given else "true"))
    if index >= len(argv):
        return None
    return GitCall(plain(argv[index]).replace(OUTSIDE, ""), argv[index + 1 :], settings)


def _environment_settings(environment: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return what GIT_CONFIG_COUNT, GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n set."""
    keys = {name[15:]: value for name, value in environment.items() if name.startswith("GIT_CONFIG_KEY_")}
    return tuple((plain(key), plain(environment.get("GIT_CONFIG_VALUE_" + number, ""))) for number, key in keys.items())


def aliased(call: GitCall, aliases: dict[str, str]) -> str | None:
    """Return the text an alias stands for, from this call's settings or from those the script stored."""
    wanted = "alias." + call.subcommand
    for key, value in reversed(call.settings):
        if key.lower() == wanted.lower() or key.lower() == wanted.lower() + ".command":
            return value
    return aliases.get(call.subcommand)


def stored_alias(call: GitCall) -> tuple[str, str] | None:
    """Return the alias that `git config alias.x …` stores."""
    if call.subcommand != "config":
        return None
    words = [plain(word) for word in call.arguments if not word.startswith("-")]
    words = words[1:] if words[:1] == ["set"] else words
    if len(words) >= 2 and words[0].lower().startswith("alias."):
        return words[0][6:], words[1]
    return None


def inner_scripts(call: GitCall) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the scripts and the commands that this call of git runs."""
    scripts = [value.removeprefix("!") for key, value in call.settings if _SHELL_SETTINGS.fullmatch(key)]
    words = call.arguments
    texts = [plain(word) for word in words]
    commands: list[tuple[str, ...]] = []
    match call.subcommand:
        case "bisect" if texts[:1] == ["run"]:
            commands.append(words[1:])
        case "rebase":
            scripts += _option_values(texts, ("-x", "--exec"))
        case "submodule" if "foreach" in texts:
            rest = [
                word for word in texts[texts.index("foreach") + 1 :] if word not in ("--recursive", "--quiet", "-q")
            ]
            scripts.append(" ".join(rest))
        case "filter-branch":
            scripts += [value for name in _FILTERS for value in _option_values(texts, (name,))]
        case "difftool" | "mergetool":
            scripts += _option_values(texts, ("-x", "--extcmd"))
        case "push" | "fetch" | "clone" | "pull":
            scripts += _option_values(texts, ("--upload-pack",))
        case "for-each-repo":
            commands.append(("git", *(word for word in words if not word.startswith("--"))))
        case _:
            pass
    return tuple(script for script in scripts if script), tuple(command for command in commands if command)


def _option_values(words: list[str], names: tuple[str, ...]) -> list[str]:
    values = [words[i + 1] for i, word in enumerate(words[:-1]) if word in names]
    for name in names:
        prefix = name + "=" if name.startswith("--") else name
        values += [word[len(prefix) :] for word in words if word.startswith(prefix) and len(word) > len(prefix)]
    return values
