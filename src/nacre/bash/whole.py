"""Whether a line can be put after a script without becoming a part of it."""

from __future__ import annotations

import functools
import re

# Not a here-string, which has three.
_HEREDOC = re.compile(r"""(?<!<)<<(?!<)-?[ \t]*\\?['"]?(\w+)""")


@functools.lru_cache(maxsize=512)
def is_whole(script: str) -> bool:
    """Whether a line that follows the script is a command of its own, and not a part of it."""
    from nacre.bash.reader import read
    from nacre.bash.tree import UnreadableError

    if script.rstrip(" \t").endswith(("\\", "&&", "||", "|")):
        return False
    lines = {line.lstrip("\t") for line in script.split("\n")[1:]}
    if not lines.issuperset(_HEREDOC.findall(script)):
        return False
    try:
        return not read(script).damage
    except UnreadableError:
        return False
