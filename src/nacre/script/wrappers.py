"""Programs that run another program: which of their words is the command inside.

The knowledge of option letters is in `wrapper_table`. `unwrap` gives the inner argument lists and the inner
scripts of one argument list; it never runs or judges anything. `ssh`, `docker exec` and the like reach another
machine and are not looked through.
"""

import itertools
import re
import shlex
from dataclasses import dataclass
from typing import Final

from nacre.script.alphabet import HOME, UNKNOWN, plain
from nacre.script.escapes import decode
from nacre.script.wrapper_table import (
    BWRAP_VALUES,
    SUBCOMMAND_OPERANDS,
    SUBCOMMAND_OPTIONS,
    SUBCOMMANDS,
    WRAPPERS,
    Options,
)

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


@dataclass(frozen=True, slots=True)
class Inner:
    """What a wrapper would run."""

    commands: tuple[tuple[str, ...], ...] = ()
    scripts: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    reads_arguments: bool = False
    """Arguments are added from standard input (xargs, parallel)."""
    placeholder: str = ""
    """The word that is replaced by each line of input."""
    separator: str | None = None
    """What stands between the arguments in the input; None for blanks."""
    source: str = ""
    """The file the arguments are read from, instead of standard input."""


def split_words(text: str) -> list[str]:
    """Split as a shell would, without expanding; unbalanced quotes split at blanks."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def basename(word: str) -> str:
    """The name of a program without its folders."""
    name = plain(word)
    name = name.rsplit("/", 1)[-1] if "/" in name else name
    return name.removesuffix(".exe")


def unwrap(argv: tuple[str, ...]) -> Inner | None:
    """What the program in `argv` would run, or None when it is no wrapper we know."""
    name = basename(argv[0])
    special = _SPECIAL.get(name)
    if special is not None:
        return special(argv)
    verbs = SUBCOMMANDS.get(name)
    if verbs is not None:
        at = next((i for i, word in enumerate(argv[1:4], 1) if not word.startswith("-")), None)
        if at is not None and plain(argv[at]) in verbs:
            options = SUBCOMMAND_OPTIONS.get(name, Options())
            operands = SUBCOMMAND_OPERANDS.get(name, 0)
            return _peeled(argv[at:], Options(options.short, options.long, operands, script=options.script))
    found = WRAPPERS.get(name)
    return None if found is None else _peeled(argv, found)


def option_end(argv: tuple[str, ...], options: Options, start: int = 1) -> tuple[int, dict[str, str]]:
    """Where the operands begin, and the values of the options that take one."""
    values: dict[str, str] = {}
    index = start
    while index < len(argv):
        word = plain(argv[index])
        if word == "--":
            return index + 1, values
        if not word.startswith("-") or word == "-":
            break
        index += 1
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if not equals and name in options.long and index < len(argv):
                value = argv[index]
                index += 1
            values["--" + name] = value
            continue
        for at, char in enumerate(word[1:], 1):
            if char in options.short:
                value = word[at + 1 :]
                if not value and index < len(argv):
                    value = argv[index]
                    index += 1
                values["-" + char] = value
                break
            values["-" + char] = ""
    return index, values


def _peeled(argv: tuple[str, ...], options: Options) -> Inner:
    index, values = option_end(argv, options)
    scripts = tuple(plain(values[name]) for name in options.script if name in values)
    assignments: list[str] = []
    while options.assignments and index < len(argv) and _ASSIGNMENT.match(plain(argv[index])):
        assignments.append(argv[index])
        index += 1
    index += options.operands
    if index < len(argv) and argv[index] == "--":
        index += 1
    rest = argv[index:]
    return Inner((rest,) if rest else (), scripts, tuple(assignments))


def _sudo(argv: tuple[str, ...]) -> Inner:
    inner = _peeled(argv, WRAPPERS["sudo"])
    _, values = option_end(argv, WRAPPERS["sudo"])
    if ("-s" in values or "-i" in values or "--shell" in values or "--login" in values) and inner.commands:
        # The shell that sudo starts gets the words with every special character escaped; one word is one command.
        words = inner.commands[0]
        return Inner((words,), (" ".join(plain(word) for word in words),) if len(words) == 1 else (), inner.assignments)
    return inner


def _env(argv: tuple[str, ...]) -> Inner:
    rest = list(argv)
    for index, word in enumerate(rest[1:], 1):
        text = plain(word)
        if text == "--" or not text.startswith("-"):
            if not _ASSIGNMENT.match(text):
                break
            continue
        match = re.match(r"(?:--split-string(?:=|$)|-[iv0]*S)(.*)", text, re.DOTALL)
        if match is not None:
            value, skip = (match.group(1), 1) if match.group(1) else (plain("".join(rest[index + 1 : index + 2])), 2)
            words = tuple(_home_named(word) for word in split_words(value))
            return _env((argv[0], *words, *rest[index + skip :]))
    return _peeled(argv, WRAPPERS["env"])


def _home_named(word: str) -> str:
    """A word of env's own language, where `${HOME}` is the home; whoever writes `~` there means it too."""
    return re.sub(r"^~(?=/|$)|^\$HOME\b|^\$\{HOME\}", HOME, word)


def _command(argv: tuple[str, ...]) -> Inner:
    if len(argv) > 1 and re.fullmatch(r"-[pvV]*[vV][pvV]*", plain(argv[1])):
        return Inner()
    return _peeled(argv, WRAPPERS["command"])


def _nice(argv: tuple[str, ...]) -> Inner:
    if len(argv) > 1 and re.fullmatch(r"--?\d+", plain(argv[1])):
        return _peeled((argv[0], *argv[2:]), WRAPPERS["nice"])
    return _peeled(argv, WRAPPERS["nice"])


def _su(argv: tuple[str, ...]) -> Inner:
    scripts = [
        plain(argv[i + 1])
        for i, word in enumerate(argv[:-1])
        if re.fullmatch(r"-[lmpf]*c|--command|--session-command", plain(word))
    ]
    scripts += [
        plain(word).partition("=")[2] for word in argv if plain(word).startswith(("--command=", "--session-command="))
    ]
    scripts += [plain(word)[2:] for word in argv[1:] if re.match(r"-c.", plain(word))]
    return Inner(scripts=tuple(scripts))


def _runuser(argv: tuple[str, ...]) -> Inner:
    inner = _peeled(argv, WRAPPERS["runuser"])
    _, values = option_end(argv, WRAPPERS["runuser"])
    if "-u" in values or "--user" in values:
        return inner
    # Like su: the user is an operand, and -c may follow it.
    return Inner(scripts=_su(argv).scripts)


def _script(argv: tuple[str, ...]) -> Inner:
    options = Options(
        "cEIBOTo",
        ("command", "log-in", "log-out", "log-io", "log-timing", "echo", "output-limit"),
        script=("-c", "--command"),
    )
    inner = _peeled(argv, options)
    if inner.scripts or not inner.commands:
        late = [
            plain(argv[i + 1]) for i, word in enumerate(argv[:-1]) if re.fullmatch(r"-[a-z]*c|--command", plain(word))
        ]
        return Inner(scripts=inner.scripts or tuple(late))
    # BSD: script FILE COMMAND …; util-linux: script FILE -c COMMAND
    late = [plain(argv[i + 1]) for i, word in enumerate(argv[:-1]) if re.fullmatch(r"-[a-z]*c|--command", plain(word))]
    return Inner((inner.commands[0][1:],) if len(inner.commands[0]) > 1 else (), tuple(late))


def _flock(argv: tuple[str, ...]) -> Inner:
    index, _ = option_end(argv, Options("wE", ("timeout", "wait", "conflict-exit-code")))
    rest = argv[index + 1 :]
    if rest and plain(rest[0]) in ("-c", "--command"):
        return Inner(scripts=tuple(plain(word) for word in rest[1:2]))
    return Inner((rest,) if rest else ())


def _joined(options: Options, argv: tuple[str, ...]) -> Inner:
    index, _ = option_end(argv, options)
    rest = argv[index:]
    return Inner((rest,), (" ".join(plain(word) for word in rest),)) if rest else Inner()


def _watch(argv: tuple[str, ...]) -> Inner:
    return _joined(Options("nq", ("interval", "equexit")), argv)


def _graphical_sudo(argv: tuple[str, ...]) -> Inner:
    return _joined(Options("u", ("user", "message")), argv)


def _start_stop_daemon(argv: tuple[str, ...]) -> Inner:
    index, values = option_end(
        argv, Options("xapunrgRdN", ("exec", "startas", "pidfile", "user", "name", "chuid", "chdir"))
    )
    program = next((values[name] for name in ("-a", "--startas", "-x", "--exec") if values.get(name)), None)
    return Inner(((program, *argv[index:]),) if program is not None else ())


def _coreutils(argv: tuple[str, ...]) -> Inner:
    """All of coreutils in one program: the name is the first word, or the value of an option."""
    if len(argv) < 2:
        return Inner()
    return Inner(((argv[1].removeprefix("--coreutils-prog="), *argv[2:]),))


def _xargs(argv: tuple[str, ...]) -> Inner:
    options = Options("aEIdLnPs", ("arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"))
    index, values = option_end(argv, options)
    rest = argv[index:] or ("echo",)
    placeholder = plain(
        values.get("-I") or values.get("--replace") or ("{}" if {"-i", "--replace"} & values.keys() else "")
    )
    source = plain(values.get("-a") or values.get("--arg-file") or "")
    delimiter = values.get("-d") or values.get("--delimiter")
    separator = "\0" if {"-0", "--null"} & values.keys() else decode(plain(delimiter)) if delimiter else None
    return Inner((rest,), reads_arguments=True, placeholder=placeholder, separator=separator, source=source)


def _parallel(argv: tuple[str, ...]) -> Inner:
    options = Options(
        "jNnILSaPdEs",
        (
            "jobs",
            "max-args",
            "max-procs",
            "arg-file",
            "joblog",
            "results",
            "sshlogin",
            "delay",
            "timeout",
            "retries",
            "colsep",
            "tmpdir",
            "workdir",
            "load",
        ),
    )
    index, _ = option_end(argv, options)
    words = [plain(word) for word in argv[index:]]
    cut = next((i for i, word in enumerate(words) if word in (":::", "::::", ":::+")), len(words))
    template, values = words[:cut], [word for word in words[cut + 1 :] if not word.startswith(":::")]
    if any(re.search(r"\{\d\}", word) for word in template):
        return Inner(scripts=_combined(" ".join(template), words[cut:]))
    if cut == len(words):
        return Inner((argv[index:],), (" ".join(template),) if template else (), reads_arguments=True, placeholder="{}")
    if words[cut] == "::::":
        values = [UNKNOWN]
    if not template:
        return Inner(scripts=tuple(values))
    joined = " ".join(template)
    scripts = tuple(joined.replace("{}", value) if "{}" in joined else f"{joined} {value}" for value in values)
    return Inner(scripts=scripts)


def _combined(template: str, sources: list[str]) -> tuple[str, ...]:
    """`parallel … {1} … {2} ::: a b ::: c d`: one script for each combination."""
    lists: list[list[str]] = []
    for word in sources:
        if word.startswith(":::"):
            lists.append([UNKNOWN] if word == "::::" else [])
        elif lists and UNKNOWN not in lists[-1]:
            lists[-1].append(word)
    scripts = []
    for choice in itertools.islice(itertools.product(*lists), 64):
        script = template
        for number, value in enumerate(choice, 1):
            script = script.replace(f"{{{number}}}", value)
        scripts.append(script)
    return tuple(scripts)


def _find(argv: tuple[str, ...]) -> Inner:
    commands: list[tuple[str, ...]] = []
    index = 1
    while index < len(argv):
        if plain(argv[index]) in ("-exec", "-execdir", "-ok", "-okdir"):
            end = index + 1
            while (
                end < len(argv)
                and plain(argv[end]) != ";"
                and not (plain(argv[end]) == "+" and plain(argv[end - 1]) == "{}")
            ):
                end += 1
            inner = tuple(word.replace("{}", UNKNOWN) for word in argv[index + 1 : end])
            if inner:
                commands.append(inner)
            index = end
        index += 1
    return Inner(tuple(commands))


def _fd(argv: tuple[str, ...]) -> Inner:
    at = next((i for i, word in enumerate(argv) if plain(word) in ("-x", "-X", "--exec", "--exec-batch")), None)
    if at is None:
        return Inner()
    inner = tuple(re.sub(r"\{[./]*\}", UNKNOWN, word) for word in argv[at + 1 :])
    return Inner((inner,) if inner else ())


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


def _gdb(argv: tuple[str, ...]) -> Inner:
    at = next((i for i, word in enumerate(argv) if plain(word) == "--args"), None)
    return Inner((argv[at + 1 :],) if at is not None and argv[at + 1 :] else ())


def _lldb(argv: tuple[str, ...]) -> Inner:
    at = next((i for i, word in enumerate(argv) if plain(word) == "--"), None)
    return Inner((argv[at + 1 :],) if at is not None and argv[at + 1 :] else ())


def _texts_after(options: tuple[str, ...], argv: tuple[str, ...]) -> Inner:
    """The words after one of the options, as a command and, if it is one word, as a script."""
    at = next((i for i, word in enumerate(argv[:-1]) if plain(word) in options), None)
    if at is None:
        return Inner()
    rest = argv[at + 1 :]
    return Inner((rest,), (plain(rest[0]),))


def _terminal(argv: tuple[str, ...]) -> Inner:
    return _texts_after(("-e", "-x", "--", "--command"), argv)


def _entr(argv: tuple[str, ...]) -> Inner:
    index, _ = option_end(argv, Options())
    return _joined(Options(), argv) if argv[index:] else Inner()


def _watchexec(argv: tuple[str, ...]) -> Inner:
    return _joined(Options("wefis", ("watch", "exts", "filter", "ignore", "signal", "shell")), argv)


def _on_change(argv: tuple[str, ...]) -> Inner:
    inner = _texts_after(("-x", "--exec"), argv)
    return inner if inner.commands else _joined(Options("ewi", ("ext", "watch", "ignore")), argv)


def _each_script(argv: tuple[str, ...]) -> Inner:
    return Inner(scripts=tuple(plain(word) for word in argv[1:] if not word.startswith("-")))


def _with_script(argv: tuple[str, ...]) -> Inner:
    return _texts_after(("-c",), argv)


def _hyperfine(argv: tuple[str, ...]) -> Inner:
    index, values = option_end(
        argv, Options("wmMrpcS", ("warmup", "runs", "prepare", "cleanup", "setup", "shell", "export-json"))
    )
    extra = [plain(values[name]) for name in ("-p", "-c", "--prepare", "--cleanup", "--setup") if values.get(name)]
    return Inner(scripts=(*(plain(word) for word in argv[index:]), *extra))


def _tmux(argv: tuple[str, ...]) -> Inner:
    verbs = (
        "new",
        "new-session",
        "new-window",
        "neww",
        "split-window",
        "splitw",
        "run",
        "run-shell",
        "send-keys",
        "send",
        "respawn-pane",
        "if-shell",
    )
    at = next((i for i, word in enumerate(argv) if plain(word) in verbs), None)
    if at is None:
        return Inner()
    index, _ = option_end(argv, Options("cenFstxy"), at + 1)
    rest = [plain(word) for word in argv[index:]]
    keys = [word for word in rest if word not in ("Enter", "C-m")]
    scripts = (*keys, " ".join(keys)) if plain(argv[at]).startswith("send") or len(rest) != 1 else tuple(rest)
    return Inner(scripts=scripts)


def _screen(argv: tuple[str, ...]) -> Inner:
    if "stuff" in argv[:-1]:
        return Inner(scripts=(plain(argv[-1]),))
    index, _ = option_end(argv, Options("cehpStTX"))
    return Inner((argv[index:],) if argv[index:] else ())


def _sg(argv: tuple[str, ...]) -> Inner:
    rest = [plain(word) for word in argv[1:] if plain(word) != "-"][1:]
    if rest[:1] == ["-c"]:
        rest = rest[1:]
    return Inner(scripts=(" ".join(rest),) if rest else ())


def _nix(argv: tuple[str, ...]) -> Inner:
    scripts = [plain(argv[i + 1]) for i, word in enumerate(argv[:-1]) if plain(word) in ("--run", "--command")]
    at = next((i for i, word in enumerate(argv) if plain(word) in ("-c", "--command")), None)
    return Inner((argv[at + 1 :],) if at is not None and argv[at + 1 :] else (), tuple(scripts))


def _capsh(argv: tuple[str, ...]) -> Inner:
    at = next((i for i, word in enumerate(argv) if plain(word) in ("--", "-+")), None)
    return Inner((("bash", *argv[at + 1 :]),) if at is not None else ())


def _npx(argv: tuple[str, ...]) -> Inner:
    return _peeled(argv, Options("pc", ("package", "call"), script=("-c", "--call")))


def _arch(argv: tuple[str, ...]) -> Inner:
    inner = _peeled(argv, Options("de"))
    words = inner.commands[0] if inner.commands else ()
    if len(words) > 1 and plain(words[1]).startswith("-") and basename(words[0]) not in ("rm", "git"):
        return _peeled(words, Options("de"))
    if len(words) > 1 and re.fullmatch(r"x86_64|arm64\w*|i[3-6]86|aarch64|linux(32|64)|uname26", plain(words[0])):
        return Inner((words[1:],))
    return inner


_SPECIAL: Final = {
    "sudo": _sudo,
    "env": _env,
    "command": _command,
    "nice": _nice,
    "su": _su,
    "runuser": _runuser,
    "script": _script,
    "flock": _flock,
    "watch": _watch,
    **dict.fromkeys(("gksudo", "gksu", "kdesudo", "kdesu", "lxsudo"), _graphical_sudo),
    "start-stop-daemon": _start_stop_daemon,
    "coreutils": _coreutils,
    "xargs": _xargs,
    "gxargs": _xargs,
    "parallel": _parallel,
    "find": _find,
    "gfind": _find,
    "fd": _fd,
    "fdfind": _fd,
    "bwrap": _bwrap,
    "gdb": _gdb,
    "lldb": _lldb,
    **dict.fromkeys(
        ("xterm", "uxterm", "gnome-terminal", "konsole", "alacritty", "kitty", "xfce4-terminal", "terminator"),
        _terminal,
    ),
    "entr": _entr,
    "watchexec": _watchexec,
    "nodemon": _on_change,
    "pee": _each_script,
    "mispipe": _each_script,
    "bpftrace": _with_script,
    "execlineb": _with_script,
    "repo": _with_script,
    "hyperfine": _hyperfine,
    "tmux": _tmux,
    "screen": _screen,
    "sg": _sg,
    "newgrp": _sg,
    "nix-shell": _nix,
    "nix": _nix,
    "npx": _npx,
    "capsh": _capsh,
    "bunx": _npx,
    "setarch": _arch,
    "arch": _arch,
}
