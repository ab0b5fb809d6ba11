"""One row of the tables of losses: how a command would take a service or its data away.

Only what takes everything at once, or a whole environment, and cannot be brought back belongs in a table: one named
pod, image, object or row is ordinary work.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """One way to lose a service or its data."""

    words: str
    """How the command begins, in lower case, `|` between alternatives; options may stand between the words."""
    reason: str
    match: tuple[str, ...]
    """Its own examples, to which the tests hold it."""
    not_match: tuple[str, ...]
    needs: str = ""
    """Options of which one must be there."""
    spared: str = ""
    """Options or words with which it is harmless."""
    says: re.Pattern[str] | None = None
    """What a statement must say that the program is given as an argument or reads."""
    everything: bool = False
    """What it names must be a list of all there is, such as `$(docker ps -aq)`."""
