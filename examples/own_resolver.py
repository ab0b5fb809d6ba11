"""A resolver of your own: `ticket://42` in a command becomes the path of that ticket's file.

    python examples/own_resolver.py

prints what `cat ticket://42` shows, and the answer for a ticket that does not exist.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import nacre


class Tickets:
    """Resolves the number after `ticket://` to a file below one directory."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __call__(self, rest: str, *, make_parents: bool) -> str:
        known = sorted(path.stem for path in self._root.glob("*.txt"))
        # Only names that exist, so that no `..` leads out of the directory.
        if rest not in known:
            raise nacre.UnresolvedUrlError(f"there is no ticket {rest}; there are {', '.join(known)}")
        return str(self._root / f"{rest}.txt")


async def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "42.txt").write_text("The door does not close.\n", encoding="utf-8")
        resolver: nacre.Resolver = Tickets(Path(directory))
        async with nacre.Tool("workspace", schemes={"ticket": resolver}) as tool:
            for command in ("cat ticket://42", "cat ticket://7"):
                print((await tool.call({"command": command})).text.splitlines()[0])


if __name__ == "__main__":
    asyncio.run(main())
