"""Commands that cannot be what a default rule is about, told at a glance and without the reader of scripts.

Most commands are: they pay neither for the reading nor, in a program that runs only such ones, for loading it.
"""

import re
from typing import Final

# Nothing here can expand, redirect input or name a program in another way, so a rule can only be about a program whose
# name is spelled in the text. A quoted text is a word of its own, so that no name is put together from pieces.
_LETTERS: Final = r"[A-Za-z0-9_./:,+@%=^\s;|&()>#-]"
_NOTHING_TO_EXPAND: Final = re.compile(rf"""(?:{_LETTERS}++|(?<!\S)(?:"{_LETTERS}*+"|'{_LETTERS}*+')(?![^\s;|&)]))*+""")
_NAMED: Final = re.compile(
    r"""rm|git|hub|eval|alias|source|(?:^|[\s;|&("'])\.[\s"']|sh(?![A-Za-z0-9_])|xargs|parallel|base(?:64|32)|xxd"""
    r"""|openssl|rev|tr[\s"']|[Mm]ake"""
)


def is_plain(command: str) -> bool:
    """Whether no default rule can concern the command."""
    return _NOTHING_TO_EXPAND.fullmatch(command) is not None and _NAMED.search(command) is None
