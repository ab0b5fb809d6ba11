"""Builtins of bash that change what later words mean: variables, positions, directory, aliases, traps, eval.

Each takes the walk, the argument list and the call, changes the scope, and gives what it would print, if anything.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from nacre.guard.interpret.alphabet import OUTSIDE, PWD, UNKNOWN, is_opaque, plain, settled
from nacre.guard.interpret.scope import MAX_ALTERNATIVES, Alternatives
from nacre.guard.interpret.words import expand_tilde
from nacre.guard.programs.getopt import getopt
from nacre.guard.programs.outputs import echo, printf

if TYPE_CHECKING:
    from nacre.guard.interpret.invocation import Call
    from nacre.guard.interpret.walk import Walk

    Builtin: TypeAlias = Callable[[Walk, tuple[str, ...], Call], str | None]

DECLARING: Final = frozenset(("declare", "typeset", "local", "export", "readonly"))
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _declare(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    reference = any(re.fullmatch(r"-[a-zA-Z]*n[a-zA-Z]*", plain(word)) for word in argv[1:]) and argv[0] != "export"
    for word in argv[1:]:
        name, equals, value = plain(word).partition("=")
        if name.endswith("+"):
            walk.scope.append(name[:-1], (value,))
        elif equals and _NAME.fullmatch(name):
            # The tilde after `=` expands, unless it was quoted.
            value = expand_tilde(value) if word.partition("=")[2].startswith("~") else value
            if reference:
                walk.scope.references[name] = value
            else:
                walk.scope.assign(name, (value,))


def _unset(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    functions = "-f" in argv
    for word in argv[1:]:
        name = plain(word)
        if name.startswith("-"):
            continue
        if functions or (name in walk.scope.functions and name not in walk.scope.variables and "-v" not in argv):
            walk.scope.functions.pop(name, None)
        if not functions:
            walk.scope.unset(name)


def _set(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    index = 1
    while index < len(argv):
        word = plain(argv[index])
        if word == "--":
            walk.scope.positional = (tuple(settled(item) for item in argv[index + 1 :]),)
            return
        if word in ("-o", "+o") or re.fullmatch(r"[-+][a-zA-Z]*o", word):
            index += 2
        elif word[:1] in ("-", "+"):
            index += 1
        else:
            walk.scope.positional = (tuple(settled(item) for item in argv[index:]),)
            return


def _shift(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    count = plain(argv[1]) if len(argv) > 1 else "1"
    if count.isdigit():
        walk.scope.positional = tuple(
            items if isinstance(items, str) or items in ((OUTSIDE,), (UNKNOWN,)) else items[int(count) :]
            for items in walk.scope.positional
        )


def _read(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    options, operands = getopt(argv[1:], letters="adinNptu")
    given = dict(options)
    array = plain(given.get("-a", ""))
    lines = [UNKNOWN] if call.stdin is None else [call.stdin] if "-d" in given else call.stdin.splitlines() or [""]
    ifs = walk.scope.lookup("IFS")[0]
    separators = ifs if isinstance(ifs, str) else " \t\n"
    if array:
        walk.scope.assign(array, tuple(tuple(_split(line, separators)) for line in lines[:MAX_ALTERNATIVES]))
        return
    names = [plain(word) for word in operands] or ["REPLY"]
    columns: list[list[str]] = [[] for _ in names]
    for line in lines[:MAX_ALTERNATIVES]:
        fields = _split(line, separators, len(names) - 1)
        for position, column in enumerate(columns):
            column.append(fields[position] if position < len(fields) else UNKNOWN if is_opaque(line) else "")
    for name, column in zip(names, columns, strict=True):
        walk.scope.assign(name, tuple(dict.fromkeys(column)))


def _split(line: str, separators: str, limit: int = -1) -> list[str]:
    line = line.strip("".join(char for char in separators if char.isspace()) or "\n")
    if not separators:
        return [line]
    parts = re.split("[" + re.escape(separators) + "]+", line, maxsplit=max(limit, 0))
    return parts if limit != 0 else [line]


def _mapfile(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    names = [plain(word) for word in argv[1:] if not word.startswith("-")]
    lines = tuple(call.stdin.splitlines()) if call.stdin is not None else (UNKNOWN,)
    walk.scope.assign(names[-1] if names else "MAPFILE", (lines,))


def _printf(walk: "Walk", argv: tuple[str, ...], call: "Call") -> str:
    words = tuple(plain(word) for word in argv[1:])
    text = printf(words[2:] if words[:1] == ("-v",) else words)
    if words[:1] == ("-v",) and len(words) > 1:
        walk.scope.assign(words[1], (UNKNOWN if text is None else text,))
        return ""
    return UNKNOWN if text is None else text


def _echo(walk: "Walk", argv: tuple[str, ...], call: "Call") -> str:
    return echo(tuple(plain(word) for word in argv[1:]))


def _cd(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    targets = [word for word in argv[1:] if not re.fullmatch(r"-[LPe@]+|--", plain(word))]
    target = targets[0] if targets else walk.scope.lookup("HOME")[0]
    before = walk.scope.directory or PWD
    walk.scope.enter(target if isinstance(target, str) else UNKNOWN)
    walk.scope.assign("OLDPWD", (before,))


def _popd(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    walk.scope.directory = UNKNOWN


def _alias(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    for word in argv[1:]:
        name, equals, text = plain(word).partition("=")
        if equals:
            walk.scope.aliases[name] = text


def _unalias(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    for word in argv[1:]:
        walk.scope.aliases.pop(plain(word), None)
    if "-a" in argv:
        walk.scope.aliases.clear()


def _eval(walk: "Walk", argv: tuple[str, ...], call: "Call") -> str:
    words = argv[2:] if argv[1:2] == ("--",) else argv[1:]
    return walk.run_text(" ".join(plain(word) for word in words), call, wrapper="eval")


def _source(walk: "Walk", argv: tuple[str, ...], call: "Call") -> str:
    words = [word for word in argv[1:] if word != "--"]
    if not words:
        return ""
    path = plain(words[0])
    text = call.stdin if path in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0") else walk.scope.file(path)
    return UNKNOWN if text is None else walk.run_text(text, call, wrapper="source")


def _trap(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    words = [plain(word) for word in argv[1:]]
    if words[:1] == ["--"]:
        words = words[1:]
    if len(words) > 1 and words[0] not in ("-", "", "-p", "-l"):
        walk.run_text(words[0], call, wrapper="trap", isolated=True)


def _hash(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    if len(argv) == 4 and plain(argv[1]) == "-p":
        walk.scope.files["\0program:" + plain(argv[3])] = plain(argv[2])


def _getopts(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    unknown: Alternatives = (UNKNOWN,)
    for name in ("OPTARG", "OPTIND", *(plain(word) for word in argv[2:3])):
        walk.scope.assign(name, unknown)


def _let(walk: "Walk", argv: tuple[str, ...], call: "Call") -> None:
    for word in argv[1:]:
        match = re.match(r"([A-Za-z_]\w*)\s*[-+*/%]?=", plain(word))
        if match is not None:
            walk.scope.assign(match.group(1), (UNKNOWN,))


BUILTINS: "Final[dict[str, Builtin]]" = {
    **dict.fromkeys(DECLARING, _declare),
    "unset": _unset,
    "set": _set,
    "shift": _shift,
    "read": _read,
    **dict.fromkeys(("mapfile", "readarray"), _mapfile),
    "printf": _printf,
    "echo": _echo,
    **dict.fromkeys(("cd", "pushd"), _cd),
    "popd": _popd,
    "alias": _alias,
    "unalias": _unalias,
    "eval": _eval,
    **dict.fromkeys(("source", "."), _source),
    "trap": _trap,
    "hash": _hash,
    "getopts": _getopts,
    "let": _let,
}
