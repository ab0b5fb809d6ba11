"""Commands that cannot be what a default rule is about, told at a glance and without the reader of scripts.

Most commands are: they pay neither for the reading nor, in a program that runs only such ones, for loading it.
"""

import re
from collections.abc import Collection
from typing import Final

# Nothing here can expand, redirect input or name a program in another way, so a rule can only be about a program whose
# name is spelled in the text. A quoted text is a word of its own, so that no name is put together from pieces.
_LETTERS: Final = r"[A-Za-z0-9_./:,+@%=^\s;|&()>#-]"
_NOTHING_TO_EXPAND: Final = re.compile(rf"""(?:{_LETTERS}++|(?<!\S)(?:"{_LETTERS}*+"|'{_LETTERS}*+')(?![^\s;|&)]))*+""")
_NAMED: Final = re.compile(
    r"""rm|git|hub|eval|alias|source|(?:^|[\s;|&("'])\.[\s"']|sh(?![A-Za-z0-9_])|xargs|parallel|base(?:64|32)|xxd"""
    r"""|openssl|rev|tr[\s"']|[Mm]ake"""
)


_WORDS: Final = re.compile(r"""[^\s;|&()>"']+""")


def is_plain(command: str, names: Collection[str] = ()) -> bool:
    """Whether no default rule can concern the command; `names` are the functions and aliases of its shell."""
    if _NOTHING_TO_EXPAND.fullmatch(command) is None or _NAMED.search(command) is not None:
        return False
    return not names or not any(word in names for word in _WORDS.findall(command))
