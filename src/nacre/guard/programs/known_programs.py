"""Programs known not to run their arguments: to them `rm -rf /` is text, file names or another machine's business.

Behind a program that is neither in the list nor a known wrapper, the words are searched for a command.
"""

from pathlib import Path
from typing import Final

NOT_RUNNING_OTHERS: Final = frozenset(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split())
