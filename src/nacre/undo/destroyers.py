"""Programs that destroy files: which of their words name what is destroyed, and how. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import UNKNOWN, plain
from nacre.guard.interpret.invocation import Invocation
from nacre.guard.programs.finds import find_call
from nacre.guard.programs.getopt import getopt
from nacre.guard.rules.removal import removal

How: TypeAlias = Literal["replaced", "overwritten"]
"""Whether the file is unlinked or renamed over, so that a second link keeps its content, or written in place."""


class Loss(NamedTuple):
    """A word that names something that would be destroyed, in the guard's alphabet."""

    word: str
    how: How = "replaced"
    into: str = ""
    """The source of a copy or move: what is destroyed is the entry of its name, if the word is a directory."""
    creates: bool = False
    """Whether the program makes something new there."""


Losses: TypeAlias = Iterator[Loss]


def _rm(call: Invocation) -> Losses:
    found = removal(("rm", *call.argv[1:]))
    for word in found.targets if found is not None else ():
        yield Loss(word)


def _every(call: Invocation) -> Losses:
    yield from (Loss(word) for word in getopt(call.argv[1:])[1])


def _written(call: Invocation) -> Losses:
    options, operands = getopt(call.argv[1:], letters="so", long=("--append", "--size", "--reference"))
    if call.name == "tee" and any(option in ("-a", "--append") for option, _ in options):
        return
    for word in operands:
        yield Loss(word, "overwritten", creates=call.name != "shred")


_INTO: Final = names("--target-directory --suffix --backup --no-clobber --no-target-directory --symbolic --force")


def _copied(call: Invocation) -> Losses:
    """cp, mv, install, ln: the destination, and for mv the sources."""
    letters = "tS" if call.name != "install" else "tSgmo"
    options, operands = getopt(call.argv[1:], letters=letters, long=_INTO, values=("--target-directory", "--suffix"))
    given = {option for option, _ in options}
    if call.name == "ln" and not given & {"-f", "--force"}:
        return
    into = next((value for option, value in options if option in ("-t", "--target-directory")), None)
    sources = operands if into is not None else operands[:-1]
    if call.name == "mv":
        yield from (Loss(word) for word in sources)
    if given & {"-n", "--no-clobber"}:
        return
    target = into if into is not None else operands[-1] if len(operands) > 1 else None
    how: How = "overwritten" if call.name == "cp" else "replaced"
    for source in sources if target is not None else ():
        yield Loss(target or UNKNOWN, how, "" if given & {"-T", "--no-target-directory"} else source, creates=True)


def _dd(call: Invocation) -> Losses:
    for word in call.argv[1:]:
        if plain(word).startswith("of="):
            yield Loss(word[3:], "overwritten", creates=True)


def _edited(call: Invocation) -> Losses:
    """sed, perl, ruby with -i; gawk with -i inplace: a new file takes the place of each."""
    words = call.words
    if call.name in ("awk", "gawk"):
        if "inplace" in words or "-iinplace" in words:
            yield from (Loss(word) for word in getopt(call.argv[1:], letters="iFvf")[1][1:])
        return
    letters = "efl" if call.name == "sed" else "eEIMmC"
    options, operands = getopt(
        call.argv[1:], letters=letters, long=("--in-place", "--expression", "--file"), values=("--expression", "--file")
    )
    given = [option for option, _ in options]
    if "-i" not in given and "--in-place" not in given:
        return
    has_script = bool({"-e", "-E", "-f", "--expression", "--file"} & set(given))
    # perl without -e names a script first; so does sed without -e.
    yield from (Loss(word) for word in (operands if has_script else operands[1:]))


def _find(call: Invocation) -> Losses:
    found = find_call(call.argv)
    inner = {plain(command[0]).rpartition("/")[2] for command in found.commands if command}
    if found.deletes or not inner.isdisjoint(DESTROYERS):
        how: How = "overwritten" if not inner.isdisjoint(IN_PLACE) else "replaced"
        yield from (Loss(root, how) for root in found.roots)


def _output_option(call: Invocation) -> Losses:
    """sort -o, curl -o, wget -O."""
    letter = "-O" if call.name == "wget" else "-o"
    options, _ = getopt(
        call.argv[1:],
        letters="oktSTHXdAeuOP",
        long=("--output", "--output-document"),
        values=("--output", "--output-document"),
    )
    for option, value in options:
        if option in (letter, "--output", "--output-document") and value != "-":
            yield Loss(value, "overwritten", creates=True)


def _synchronised(call: Invocation) -> Losses:
    """rsync: its destination, where it is on this machine."""
    options, operands = getopt(call.argv[1:], letters="efMT", long=("--inplace",))
    if len(operands) > 1 and ":" not in plain(operands[-1]):
        in_place = any(option == "--inplace" for option, _ in options)
        yield Loss(operands[-1], "overwritten" if in_place else "replaced", creates=True)


def _compressed(call: Invocation) -> Losses:
    options, operands = getopt(call.argv[1:], letters="S", long=("--stdout", "--keep"))
    if not {"-c", "-k", "--stdout", "--keep"} & {option for option, _ in options}:
        yield from (Loss(word) for word in operands)


DESTROYERS: Final[dict[str, Callable[[Invocation], Losses]]] = {
    **dict.fromkeys(names("rm grm"), _rm),
    **dict.fromkeys(names("unlink rmdir srm trash dos2unix unix2dos"), _every),
    **dict.fromkeys(names("tee sponge truncate shred"), _written),
    **dict.fromkeys(names("mv gmv cp gcp install ln"), _copied),
    "dd": _dd,
    **dict.fromkeys(names("sed gsed perl ruby awk gawk"), _edited),
    "find": _find,
    **dict.fromkeys(names("sort curl wget"), _output_option),
    "rsync": _synchronised,
    **dict.fromkeys(names("gzip gunzip bzip2 bunzip2 xz unxz"), _compressed),
}
IN_PLACE: Final = frozenset(names("tee truncate shred dd cp gcp sponge"))
# What opens a file for writing and empties it.
_EMPTYING: Final = frozenset((">", ">|", "&>", "<>", ">&"))


def losses(call: Invocation) -> Losses:
    """Name what one program would destroy, redirections included."""
    for operator, target in call.targets:
        text = plain(target)
        if operator in _EMPTYING and not (operator == ">&" and (text.isdigit() or text == "-")):
            yield Loss(target, "overwritten", creates=True)
    destroy = DESTROYERS.get(call.name)
    if destroy is not None:
        yield from destroy(call)
