"""The queue of outgoing lines. Only the newest update of a running call waits, so a slow client costs no memory.

Answers and notices are never dropped; their sender checks `full` before it accepts more work. Pure.
"""

from __future__ import annotations

from collections.abc import Callable

# With this much unread, no more requests are read until the client has caught up.
FULL_BYTES = 4 * 1024 * 1024

Post = Callable[[], bytes]


class Outbox:
    """Lines in order; an update is made when it is taken."""

    def __init__(self) -> None:
        self._posts: dict[object, bytes | Post] = {}
        self._waiting_bytes = 0

    def __bool__(self) -> bool:
        return bool(self._posts)

    @property
    def full(self) -> bool:
        return self._waiting_bytes >= FULL_BYTES

    def put(self, line: bytes, *, ends: object = None) -> None:
        """Add a line that must go out; a waiting update of the call `ends` is dropped."""
        self._posts.pop(ends, None)
        self._posts[object()] = line
        self._waiting_bytes += len(line)

    def put_update(self, call: object, make: Post) -> None:
        """Add the newest state of a call, in place of a waiting one; `make` runs when its turn comes."""
        self._posts[call] = make

    def take(self) -> bytes:
        """Remove and return the next line."""
        key = next(iter(self._posts))
        post = self._posts.pop(key)
        if isinstance(post, bytes):
            self._waiting_bytes -= len(post)
            return post
        return post()
