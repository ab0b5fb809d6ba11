"""Rule `no_system_permissions`: a recursive change of owner or mode of the root or a system directory."""

from typing import Final

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import plain
from nacre.guard.interpret.invocation import Invocation, flags
from nacre.guard.rules.critical_paths import system_directory

PROGRAMS: Final = frozenset(names("chmod chown chgrp setfacl chattr gchmod gchown gchgrp"))

_OWNERS: Final = frozenset(names("chown chgrp gchown gchgrp"))


def is_recursive(invocation: Invocation) -> bool:
    return "R" in flags(invocation) or any(plain(word).startswith("--rec") for word in invocation.argv)


def check(invocation: Invocation) -> str | None:
    """Return the reason to refuse this command, or None."""
    if invocation.name not in PROGRAMS or not is_recursive(invocation):
        return None
    words = list(zip(invocation.argv[1:], invocation.resolved or invocation.argv[1:], strict=True))
    paths = [pair for pair in words if not pair[0].startswith("-")]
    if invocation.name in _OWNERS and not any(plain(word).startswith("--ref") for word in invocation.argv):
        # The first names the owner, and `root` is no directory.
        del paths[:1]
    for path in (path for pair in paths for path in pair):
        if (found := system_directory(path, invocation.directory)) is not None:
            return f"owner or mode of everything in {found} would change"
    return None
