"""Programs that run another program: which of their words is the command inside.

The knowledge of option letters is in `wrapper_table`. `unwrap` gives the inner argument lists and the inner
scripts of one argument list; it never runs or judges anything. `ssh`, `docker exec` and the like reach another
machine and are not looked through.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from nacre.guard.interpret.alphabet import HOME, plain
from nacre.guard.programs import feeders, terminal_programs
from nacre.guard.programs.inner import ASSIGNMENT, Inner, basename, option_end, peeled, split_words
from nacre.guard.programs.wrapper_table import BWRAP_VALUES, SUBCOMMANDS, WRAPPERS, options


def unwrap(argv: tuple[str, ...]) -> Inner | None:
    """Return what the program in `argv` would run, or None when it is not a known wrapper."""
    name = basename(argv[0])
    special = _SPECIAL.get(name)
    if special is not None:
        return special(argv)
    verbs, row = SUBCOMMANDS.get(name, (frozenset(), None))
    at = next((i for i, word in enumerate(argv[1:4], 1) if not word.startswith("-")), 0) if verbs else 0
    if row is not None and plain(argv[at]) in verbs:
        return peeled(argv[at:], row)
    found = WRAPPERS.get(name)
    return None if found is None else peeled(argv, found)


def _sudo(argv: tuple[str, ...]) -> Inner:
    inner = peeled(argv, WRAPPERS["sudo"])
    _, values = option_end(argv, WRAPPERS["sudo"])
    if ("-s" in values or "-i" in values or "--shell" in values or "--login" in values) and inner.commands:
        # The shell that sudo starts gets the words with every special character escaped; one word is one command.
        words = inner.commands[0]
        return replace(inner, scripts=(" ".join(plain(word) for word in words),) if len(words) == 1 else ())
    return inner


def _env(argv: tuple[str, ...]) -> Inner:
    rest = list(argv)
    for index, word in enumerate(rest[1:], 1):
        text = plain(word)
        if text == "--" or not text.startswith("-"):
            if not ASSIGNMENT.match(text):
                break
            continue
        match = re.match(r"(?:--split-string(?:=|$)|-[iv0]*S)(.*)", text, re.DOTALL)
        if match is not None:
            value, skip = (match.group(1), 1) if match.group(1) else (plain("".join(rest[index + 1 : index + 2])), 2)
            words = tuple(_home_named(word) for word in split_words(value))
            return _env((argv[0], *words, *rest[index + skip :]))
    return peeled(argv, WRAPPERS["env"])


def _home_named(word: str) -> str:
    """Replace `${HOME}` as `env -S` does, and a `~` that was meant as the home."""
    return re.sub(r"^~(?=/|$)|^\$HOME\b|^\$\{HOME\}", HOME, word)


def _command(argv: tuple[str, ...]) -> Inner:
    if len(argv) > 1 and re.fullmatch(r"-[pvV]*[vV][pvV]*", plain(argv[1])):
        return Inner()
    return peeled(argv, WRAPPERS["command"])


def _following(pattern: str, argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words behind the options that the pattern matches."""
    return tuple(plain(argv[i + 1]) for i, word in enumerate(argv[:-1]) if re.fullmatch(pattern, plain(word)))


def _su(argv: tuple[str, ...]) -> Inner:
    attached = (re.match(r"(?:--(?:session-)?command=|-c)(.+)", plain(word), re.DOTALL) for word in argv[1:])
    scripts = _following(r"-[lmpf]*c|--command|--session-command", argv)
    return Inner(scripts=(*scripts, *(found[1] for found in attached if found is not None)))


def _runuser(argv: tuple[str, ...]) -> Inner:
    inner = peeled(argv, WRAPPERS["runuser"])
    _, values = option_end(argv, WRAPPERS["runuser"])
    if "-u" in values or "--user" in values:
        return inner
    # Like su: the user is an operand, and -c may follow it.
    return Inner(scripts=_su(argv).scripts)


def _script(argv: tuple[str, ...]) -> Inner:
    row = options("-cEIBOTo --command --log-in --log-out --log-io --log-timing --echo --output-limit $-c $--command")
    inner = peeled(argv, row)
    late = _following(r"-[a-z]*c|--command", argv)
    if inner.scripts or not inner.commands:
        return Inner(scripts=inner.scripts or late)
    # BSD: script FILE COMMAND …; util-linux: script FILE -c COMMAND
    return Inner((inner.commands[0][1:],) if len(inner.commands[0]) > 1 else (), late)


def _flock(argv: tuple[str, ...]) -> Inner:
    index, _ = option_end(argv, options("-wE --timeout --wait --conflict-exit-code"))
    rest = argv[index + 1 :]
    if rest and plain(rest[0]) in ("-c", "--command"):
        return Inner(scripts=tuple(plain(word) for word in rest[1:2]))
    return Inner((rest,) if rest else ())


def _start_stop_daemon(argv: tuple[str, ...]) -> Inner:
    row = options("-xapunrgRdN --exec --startas --pidfile --user --name --chuid --chdir")
    index, values = option_end(argv, row)
    program = next((values[name] for name in ("-a", "--startas", "-x", "--exec") if values.get(name)), None)
    return Inner(((program, *argv[index:]),) if program is not None else ())


def _coreutils(argv: tuple[str, ...]) -> Inner:
    """Return all of coreutils in one program: the name is the first word, or the value of an option."""
    if len(argv) < 2:
        return Inner()
    return Inner(((argv[1].removeprefix("--coreutils-prog="), *argv[2:]),))


def _bwrap(argv: tuple[str, ...]) -> Inner:
    index = 1
    while index < len(argv):
        word = plain(argv[index])
        if word == "--":
            index += 1
            break
        if not word.startswith("-"):
            break
        index += 1 + BWRAP_VALUES.get(word, 0)
    rest = argv[index:]
    return Inner((rest,) if rest else ())


def _after(mark: str, argv: tuple[str, ...]) -> Inner:
    at = next((i for i, word in enumerate(argv) if plain(word) == mark), len(argv))
    return Inner((argv[at + 1 :],) if argv[at + 1 :] else ())


def _sg(argv: tuple[str, ...]) -> Inner:
    rest = [plain(word) for word in argv[1:] if plain(word) != "-"][1:]
    if rest[:1] == ["-c"]:
        rest = rest[1:]
    return Inner(scripts=(" ".join(rest),) if rest else ())


def _nix(argv: tuple[str, ...]) -> Inner:
    at = next((i for i, word in enumerate(argv) if plain(word) in ("-c", "--command")), len(argv))
    return Inner((argv[at + 1 :],) if argv[at + 1 :] else (), _following("--run|--command", argv))


def _capsh(argv: tuple[str, ...]) -> Inner:
    at = next((i for i, word in enumerate(argv) if plain(word) in ("--", "-+")), None)
    return Inner((("bash", *argv[at + 1 :]),) if at is not None else ())


def _arch(argv: tuple[str, ...]) -> Inner:
    inner = peeled(argv, WRAPPERS["arch"])
    words = inner.commands[0] if inner.commands else ()
    if len(words) > 1 and plain(words[1]).startswith("-") and basename(words[0]) not in ("rm", "git"):
        return peeled(words, WRAPPERS["arch"])
    if len(words) > 1 and re.fullmatch(r"x86_64|arm64\w*|i[3-6]86|aarch64|linux(32|64)|uname26", plain(words[0])):
        return Inner((words[1:],))
    return inner


_SPECIAL: Final[dict[str, Callable[[tuple[str, ...]], Inner]]] = {
    "sudo": _sudo,
    "env": _env,
    "command": _command,
    "su": _su,
    "runuser": _runuser,
    "script": _script,
    "flock": _flock,
    "start-stop-daemon": _start_stop_daemon,
    "coreutils": _coreutils,
    **dict.fromkeys(("xargs", "gxargs"), feeders.xargs),
    "parallel": feeders.parallel,
    **dict.fromkeys(("find", "gfind"), feeders.find),
    **dict.fromkeys(("fd", "fdfind"), feeders.fd),
    "bwrap": _bwrap,
    "gdb": partial(_after, "--args"),
    "lldb": partial(_after, "--"),
    **dict.fromkeys(
        ("xterm", "uxterm", "gnome-terminal", "konsole", "alacritty", "kitty", "xfce4-terminal", "terminator"),
        terminal_programs.terminal,
    ),
    "nodemon": terminal_programs.on_change,
    **dict.fromkeys(("pee", "mispipe"), terminal_programs.each_script),
    **dict.fromkeys(("bpftrace", "execlineb", "repo"), terminal_programs.with_script),
    "hyperfine": terminal_programs.hyperfine,
    "tmux": terminal_programs.tmux,
    "screen": terminal_programs.screen,
    **dict.fromkeys(("sg", "newgrp"), _sg),
    **dict.fromkeys(("nix-shell", "nix"), _nix),
    "capsh": _capsh,
    **dict.fromkeys(("setarch", "arch"), _arch),
}
