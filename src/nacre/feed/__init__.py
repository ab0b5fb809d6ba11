"""The feed: what every nacre on a state directory does, for viewers that announce themselves there (D37)."""

from __future__ import annotations

import os

from nacre.state_directory import answers

surface = "library"
"""What this program serves commands to, as the feed names it; the command line sets it."""

# Makes a short number of the path of a directory.
_PRIME = (1 << 61) - 1


def directory_of(state_dir: str) -> str:
    """Return the directory of the viewers: one of this machine, where the state directory may not answer."""
    if answers(state_dir):
        return os.path.join(state_dir, "feed")
    return f"/tmp/nacre-feed-{os.geteuid()}-{int.from_bytes(os.fsencode(state_dir), 'big') % _PRIME:x}"
