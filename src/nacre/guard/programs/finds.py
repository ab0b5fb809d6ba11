"""find as a program: where it starts, whether it picks by name, what it does to what it finds.

Facts about find's command line only.
"""

from dataclasses import dataclass
from typing import Final

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import plain

# Tests that pick some files; negated they pick nearly all.
_NAMES: Final = frozenset(
    names("-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -samefile -inum")
)
_LIMITS: Final = frozenset(
    names("-mtime -mmin -atime -amin -ctime -cmin -newer -size -empty -user -group -perm -links -nouser -xtype")
)
_EVERY: Final = frozenset(("*", "**", "?*", ".*", "./*", "*.*"))
_ACTIONS: Final = frozenset(("-exec", "-execdir", "-ok", "-okdir"))


@dataclass(frozen=True, slots=True)
class FindCall:
    """One call of find, taken apart."""

    roots: tuple[str, ...]
    limited: bool
    """True if a test narrows what is found."""
    deletes: bool
    commands: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    """The name patterns of the files that it acts on, or prints."""

    @property
    def acts(self) -> bool:
        return self.deletes or bool(self.commands)


def find_call(argv: tuple[str, ...]) -> FindCall:
    """Take a call of find apart."""
    words = [plain(word) for word in argv]
    index = 1
    while (index < len(words) and words[index] in ("-H", "-L", "-P")) or words[index : index + 1] == ["-D"]:
        index += 1
    roots: list[str] = []
    while index < len(words) and not words[index].startswith(("-", "(", "!")):
        roots.append(argv[index])
        index += 1
    limited = deletes = False
    # The patterns since the last `-o`, and those in front of an action.
    names: list[str] = []
    acted: list[str] = []
    commands: list[tuple[str, ...]] = []
    while index < len(words):
        word = words[index]
        following = words[index + 1] if index + 1 < len(words) else ""
        negated = words[index - 1] in ("!", "-not")
        if word in _NAMES:
            limited = limited or (not negated and following not in _EVERY)
            names += [] if negated else [following]
            index += 1
        elif word in ("-o", "-or", ","):
            names = []
        elif word in _LIMITS or word.startswith("-newer"):
            limited = True
            index += word not in ("-empty", "-nouser")
        elif word == "-delete":
            deletes = True
            acted += names
        elif word in _ACTIONS:
            end = index + 1
            while end < len(words) and words[end] != ";" and words[end - 1 : end + 1] != ["{}", "+"]:
                end += 1
            commands.append(argv[index + 1 : end])
            acted += names
            index = end
        index += 1
    targets = acted if deletes or commands else names
    return FindCall(tuple(roots) or (".",), limited, deletes, tuple(commands), tuple(targets))
