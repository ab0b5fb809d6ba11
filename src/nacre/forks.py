"""Keeps the descriptors of this process out of its forks, and out of numbers that the host program has taken over.

Objects that hold descriptors register here. A forked child closes its copies of them at once, without a lock that a
thread of the parent may hold, and starts anew. A fork waits for a moment in which no thread holds descriptors that are
not registered yet.

A host that closes all descriptors (a daemon does, with `closerange`) reuses their numbers. A descriptor that this
module opens first, and knows by its inode, tells that: the numbers are then forgotten and not closed, as they may be
the host's.
"""

from __future__ import annotations

import _thread
import os
import sys

# Not from typing, nor weakref: the warden loads this too.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    import weakref
    from typing import Protocol

    class Holder(Protocol):
        """An object that holds descriptors, or a lock."""

        def drop(self, *, close: bool) -> None:
            """Forget every descriptor, and close it too if it is still ours; replace locks. Say nothing."""


# How long a fork waits for descriptors that are about to be registered or closed, which takes a millisecond.
PATIENCE_SECONDS = 1.0

held_off = _thread.RLock()
"""To be held while descriptors are open that a fork must not copy and that no registered object holds."""

_holders: weakref.WeakSet[Holder] | None = None
_forking: set[int] = set()
"""The threads that hold the lock because they fork."""
_pid = os.getpid()
# The descriptor that tells whether ours are still open, and its device and inode.
_sentinel = -1
_identity = (0, 0)


def hold(holder: Holder) -> None:
    """Register an object for as long as it lives."""
    global _holders
    if _holders is None:
        from weakref import WeakSet

        _holders = WeakSet()
        os.register_at_fork(before=_wait_for_starts, after_in_parent=_go_on, after_in_child=_in_child)
    _holders.add(holder)


def check() -> None:
    """Drop what is not ours any more; call it before a descriptor is used that was opened for an earlier call."""
    if os.getpid() != _pid:
        # A fork that Python did not make ran no hook.
        _in_child()
    if not is_same(_sentinel, _identity):
        with held_off:
            _renew_sentinel()


def is_same(fd: int, identity: tuple[int, int]) -> bool:
    """True if the descriptor is open and is the file of that device and inode."""
    try:
        state = os.fstat(fd)
    except OSError:
        return False
    return (state.st_dev, state.st_ino) == identity


def close_or_forget(sock: socket.socket, *, close: bool) -> None:
    """Close a socket, or take its number away from it, so that nothing closes it later."""
    if close:
        sock.close()
    else:
        sock.detach()


def close() -> None:
    """Close the descriptor that `check` looks at; the next `check` opens another."""
    global _sentinel
    fd, _sentinel = _sentinel, -1
    if fd >= 0 and is_same(fd, _identity):
        os.close(fd)


def _renew_sentinel() -> None:
    """Open the sentinel; where the host has closed an earlier one, drop what was open with it."""
    global _sentinel, _identity
    if is_same(_sentinel, _identity):
        return  # another thread was first
    if _sentinel >= 0:
        _drop_all(close=False)
    # An end of a pipe: every pipe has an inode of its own, on every system.
    fd, other = os.pipe()
    os.close(other)
    state = os.fstat(fd)
    # In this order: a thread that sees the new number must not compare it with the old identity.
    _identity = (state.st_dev, state.st_ino)
    _sentinel = fd


def _drop_all(*, close: bool) -> None:
    for holder in list(_holders or ()):
        try:
            holder.drop(close=close)
        except OSError:
            # A thread of the parent has closed a descriptor and not yet said so: there is nothing left to drop.
            continue


def _in_child() -> None:
    global _pid, held_off
    _pid = os.getpid()
    held_off = _thread.RLock()
    _forking.clear()
    ours = _sentinel >= 0 and is_same(_sentinel, _identity)
    # Without a sentinel nothing was used yet that a host could have closed.
    _drop_all(close=ours or _sentinel < 0)
    if ours:
        close()


def _wait_for_starts() -> None:
    if held_off.acquire(timeout=PATIENCE_SECONDS):
        _forking.add(_thread.get_ident())


def _go_on() -> None:
    if _thread.get_ident() in _forking:
        _forking.discard(_thread.get_ident())
        held_off.release()


def _end_imports() -> None:
    """In a child: let go of modules that a thread of the parent was importing, as if that import had failed.

    Our modules are loaded when they are first used, maybe by a thread. An import of the same module in the child would
    wait for ever for a thread that does not exist there.
    """
    # The interpreter's own table of modules that are being imported: there is no public one.
    importing = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    for name, reference in list(importing.items()):
        if getattr(reference(), "owner", None) not in (None, _thread.get_ident()):
            del importing[name]
            # With what is below: a package that is loaded again expects to load its modules, too.
            for loaded in [name, *(one for one in sys.modules if one.startswith(f"{name}."))]:
                sys.modules.pop(loaded, None)


os.register_at_fork(after_in_child=_end_imports)
