"""What goes out, in order, and bounded where nobody reads: of a running call only the newest update waits.

Pure. Answers and notices are never dropped; whoever makes them asks first whether there is room.
"""

from __future__ import annotations

from collections.abc import Callable

# A reader that leaves this much unread is not asked for more work until it has caught up.
FULL_BYTES = 4 * 1024 * 1024

Post = Callable[[], bytes]


class Outbox:
    def __init__(self) -> None:
        self._posts: dict[object, bytes | Post] = {}
        self._waiting_bytes = 0

    def __bool__(self) -> bool:
        return bool(self._posts)

    @property
    def full(self) -> bool:
        return self._waiting_bytes >= FULL_BYTES

    def put(self, line: bytes, *, ends: object = None) -> None:
        """A line that must go out; the update that waits for the call that it ends need not any more."""
        self._posts.pop(ends, None)
        self._posts[object()] = line
        self._waiting_bytes += len(line)

    def put_update(self, call: object, make: Post) -> None:
        """The newest state of a call, in place of the one that still waits; made when its turn comes."""
        self._posts[call] = make

    def take(self) -> bytes:
        """The next line."""
        key = next(iter(self._posts))
        post = self._posts.pop(key)
        if isinstance(post, bytes):
            self._waiting_bytes -= len(post)
            return post
        return post()
