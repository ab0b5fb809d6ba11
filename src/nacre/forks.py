"""Protects descriptors and imports of nacre when the host program forks or closes all descriptors.

Objects that hold descriptors register here. A forked child closes its copies at once and starts anew; it takes no lock,
because a thread of the parent may have held it. A fork waits until no thread holds an unregistered descriptor.

A host that closes all descriptors (a daemon does, with `closerange`) reuses their numbers. This module detects that
with a sentinel descriptor, known by its inode: registered descriptors are then forgotten, not closed.
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
            """Forget every descriptor, after closing it if `close` is true; replace locks. Raise nothing."""


# The longest wait of a fork for descriptors that are about to be registered or closed; that takes a millisecond.
FORK_WAIT_SECONDS = 1.0

held_off = _thread.RLock()
"""Hold this lock while a descriptor is open that a fork must not copy and that no registered object holds."""

_holders: weakref.WeakSet[Holder] | None = None
_forking: set[int] = set()
"""The threads that hold the lock in order to fork."""
_pid = os.getpid()
# The sentinel descriptor, and its device and inode.
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
    """Drop descriptors that the host has closed; call it before using one that was opened for an earlier call."""
    if os.getpid() != _pid:
        # A fork outside Python runs no hook.
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
    """Close a socket, or detach it from its number, so that nothing closes that number later."""
    if close:
        sock.close()
    else:
        sock.detach()


def close() -> None:
    """Close the sentinel; the next `check` opens another."""
    global _sentinel
    fd, _sentinel = _sentinel, -1
    if fd >= 0 and is_same(fd, _identity):
        os.close(fd)


def _renew_sentinel() -> None:
    """Open the sentinel; if the host has closed an earlier one, drop all registered descriptors."""
    global _sentinel, _identity
    if is_same(_sentinel, _identity):
        return  # another thread was first
    if _sentinel >= 0:
        _drop_all(close=False)
    # One end of a pipe: every pipe has its own inode, on every system.
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
            # A thread of the parent had closed the descriptor without recording it: there is nothing left to drop.
            continue


def _in_child() -> None:
    global _pid, held_off
    _pid = os.getpid()
    held_off = _thread.RLock()
    _forking.clear()
    ours = _sentinel >= 0 and is_same(_sentinel, _identity)
    # Without a sentinel no call was made yet, so the host cannot have closed a descriptor in use.
    _drop_all(close=ours or _sentinel < 0)
    if ours:
        close()


def _wait_for_starts() -> None:
    if held_off.acquire(timeout=FORK_WAIT_SECONDS):
        _forking.add(_thread.get_ident())


def _go_on() -> None:
    if _thread.get_ident() in _forking:
        _forking.discard(_thread.get_ident())
        held_off.release()


def _end_imports() -> None:
    """In a child: drop the modules that a thread of the parent was importing, as if that import had failed.

    Modules of nacre are imported at first use, by any thread. An import of the same module in the child would wait
    forever for a thread that does not exist there. The table of running imports has no public name, and nothing public
    does the same (docs/decisions/imports-in-a-forked-child.md).
    """
    if "threading" not in sys.modules:
        return
    importing = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    for name, reference in list(importing.items()):
        if getattr(reference(), "owner", None) not in (None, _thread.get_ident()):
            del importing[name]
            # Including submodules: a package that is imported again expects to import them, too.
            for loaded in [name, *(one for one in sys.modules if one.startswith(f"{name}."))]:
                sys.modules.pop(loaded, None)


os.register_at_fork(after_in_child=_end_imports)
