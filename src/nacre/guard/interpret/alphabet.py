"""The alphabet of known text: ordinary characters, shielded ones, and marks for what is not known.

A value computed from a script is a plain `str` in which a few private-use code points have a meaning. A *shielded*
character is one that was quoted, so it is not a glob or a tilde any more. A *mark* stands for a piece of text that
the script does not spell out. Source text never contains these code points: `clean` removes them at the door.
"""

from typing import Final

UNKNOWN: Final = "\uf8ff"
"""Text that cannot be known, such as the output of a program; taken as not empty."""
OUTSIDE: Final = "\uf8fe"
"""The value of a variable that the script does not assign; it may be empty."""
HOME: Final = "\uf8fd"
PWD: Final = "\uf8fc"
TOPLEVEL: Final = "\uf8fb"
"""The top of the work tree, as git prints it."""
NETWORK: Final = "\uf8fa"
"""Text that came from the network."""
EVERYTHING: Final = "\uf8f9"
"""The names of all that a place holds, as `ls`, `find .` or `docker ps -aq` print them."""
HERE: Final = "\uf8f8"
"""The last name of the current directory's path."""
MADE: Final = "\uf8f7"
"""What a program makes of a text that the script itself spells out, in a way that is not followed."""

OPAQUE: Final = frozenset((UNKNOWN, OUTSIDE, TOPLEVEL, NETWORK, EVERYTHING, HERE, MADE))
"""Marks whose text could be anything."""
MARKS: Final = OPAQUE | {HOME, PWD}

SPECIAL: Final = "*?[]~!+@()|^-"
_SHIELD_BASE: Final = 0xE000
_SHIELD = {ord(char): chr(_SHIELD_BASE + index) for index, char in enumerate(SPECIAL)}
# `-`, `+`, `@` and the like only matter inside a pattern; shielding them would hide options from plain comparisons.
for _plain in "!+@()|^-]":
    del _SHIELD[ord(_plain)]
_UNSHIELD = {ord(shielded): chr(char) for char, shielded in _SHIELD.items()}
# In `for f in *` the glob is expanded when the list is made, so `"$f"` still stands for its matches.
_LIVE = {ord(char): chr(0xE080 + index) for index, char in enumerate("*?[")}
_REVIVED = {ord(live): chr(char) for char, live in _LIVE.items()}
_RESERVED = dict.fromkeys([*range(_SHIELD_BASE, _SHIELD_BASE + 256), *map(ord, MARKS)], "�")

_SHOWN = {UNKNOWN: "<unknown>", MADE: "<unknown>", OUTSIDE: "<unset?>", HOME: "$HOME", PWD: "$PWD", TOPLEVEL: "<repo>"}
_SHOWN |= {NETWORK: "<network>", EVERYTHING: "<everything>", HERE: "${PWD##*/}"}


def clean(source: str) -> str:
    """Replace code points that have a meaning here, one for one, so offsets stay true."""
    return source if source.isascii() else source.translate(_RESERVED)


def shield(text: str) -> str:
    """Mark every glob character and tilde as literal."""
    return text.translate(_SHIELD)


def shield_tilde(text: str) -> str:
    """Mark tildes as literal: the result of an expansion is globbed but gets no tilde expansion."""
    return text.replace("~", _SHIELD[ord("~")])


def plain(text: str) -> str:
    """Return the text that a program would receive; marks remain."""
    return text if text.isascii() else text.translate(_UNSHIELD)


def settled(field: str) -> str:
    """Return a field as an item of a list: shields are removed, and a glob stands for its matches."""
    return plain(field.translate(_LIVE))


def revived(field: str) -> str:
    """Return a finished field: globs that came through a list are globs again."""
    return field if field.isascii() else field.translate(_REVIVED)


def is_known(text: str) -> bool:
    """True if the text holds no mark at all."""
    return text.isascii() or not any(mark in text for mark in MARKS)


def is_opaque(text: str) -> bool:
    """True if some part of the text could be anything."""
    return not text.isascii() and any(mark in text for mark in OPAQUE)


def show(text: str) -> str:
    """Return the text for people: marks become names."""
    text = plain(text)
    for mark, name in _SHOWN.items():
        text = text.replace(mark, name)
    return text
