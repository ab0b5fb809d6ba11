"""The prefilter: most commands cannot concern a default rule, and skip the review and the loading of its code.

What a rule needs is declared by the rule itself, in `rules/default_rules.py`.
"""

import re
from collections.abc import Collection
from typing import Final

from nacre.guard.rules.default_rules import DEFAULT_RULES

# Nothing here can expand, redirect input or name a program in another way, so a rule can only be about a program whose
# name is spelled in the text. A quoted text is a word of its own, so that no name is put together from pieces.
_LETTERS: Final = r"[A-Za-z0-9_./:,+@%=^\s;|&()>#-]"
_NOTHING_TO_EXPAND: Final = re.compile(rf"""(?:{_LETTERS}++|(?<!\S)(?:"{_LETTERS}*+"|'{_LETTERS}*+')(?![^\s;|&)]))*+""")
_NEEDED: Final = re.compile("|".join(dict.fromkeys(need for rule in DEFAULT_RULES for need in rule.needs)))
_WORDS: Final = re.compile(r"""[^\s;|&()>"']+""")


def needs_review(command: str, names: Collection[str] = ()) -> bool:
    """True if a default rule may concern the command; `names` are the functions and aliases of its shell."""
    if _NOTHING_TO_EXPAND.fullmatch(command) is None or _NEEDED.search(command) is not None:
        return True
    return bool(names) and any(word in names for word in _WORDS.findall(command))
