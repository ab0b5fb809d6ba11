"""Keeps the content of files before a command runs: by reflink, by a second link, or by a copy.

A second link is enough where the command unlinks the file or renames another over it; what is written in place is
copied. What goes beyond the size or the time that a save may take is left out, and named.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from nacre.undo.destroyers import How
from nacre.undo.destruction import Destruction, Repository, Target
from nacre.undo.path_state import PathState, is_below, state_of, walk
from nacre.undo.repository import GitUnavailableError, Places, listing, places_of, signature

# ioctl of Linux: make a file share the blocks of another.
_FICLONE = 0x40049409
_NO_CLONE = (errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EPERM)
Choice: TypeAlias = Callable[[str], How]


class Kept(NamedTuple):
    """One path as it was before the command."""

    path: str
    state: PathState | None
    """None if nothing was there."""
    content: str = ""
    """The file that keeps its content, or `blob:NAME` for what git has."""
    linked: bool = False
    """True if the content is a second link, which a write in place would change."""


class RepositoryMark(NamedTuple):
    """A repository and its state at one moment."""

    top: str
    git: str
    common: str
    signature: str
    untracked: bool
    tree: bool


class Saved(NamedTuple):
    """What was kept."""

    paths: dict[str, Kept]
    repositories: list[RepositoryMark]
    problems: list[str]
    """Why something is not kept; empty if all is."""
    size: int
    trashes: list[str]
    """The directories that hold content."""


class LimitReachedError(Exception):
    """The size or the time of a save is used up."""


class Saver:
    """Keeps paths for one entry, within limits; used by one thread, stopped by any."""

    def __init__(self, directory: str, *, state_dir: str, most_bytes: int, deadline: float) -> None:
        """Keep content below `directory`, or in a trash of the file system that a path is on."""
        self.directory = directory
        self.stopped = threading.Event()
        self._skipped = (os.path.join(state_dir, "undo"), os.path.join(state_dir, "tries"))
        self._left = most_bytes
        self._most = most_bytes
        self._deadline = deadline
        self._paths: dict[str, Kept] = {}
        self._problems: list[str] = []
        self._trashes: dict[int, str] = {}
        self._clones: dict[int, bool] = {}
        self._number = 0

    def save(self, destruction: Destruction) -> Saved:
        """Keep what a command would destroy, as far as the limits allow."""
        repositories: list[RepositoryMark] = []
        try:
            for repository in destruction.repositories:
                mark = self._repository(repository)
                repositories += [] if mark is None else [mark]
            for target in _outermost(destruction.targets):
                self._tree(target.path, _how_of(destruction.targets))
        except LimitReachedError as error:
            self._problems.append(str(error))
        return self._saved(repositories)

    def save_paths(self, paths: list[str]) -> Saved:
        """Keep these paths, each without what is below it."""
        try:
            for path in paths:
                self._one(path, "replaced")
        except LimitReachedError as error:
            self._problems.append(str(error))
        return self._saved([])

    def _saved(self, repositories: list[RepositoryMark]) -> Saved:
        size = self._most - self._left
        return Saved(self._paths, repositories, self._problems, size, list(self._trashes.values()))

    def _repository(self, repository: Repository) -> RepositoryMark | None:
        places = places_of(repository.directory)
        if places is None:
            return None
        try:
            mark = signature(places, self._deadline)
        except GitUnavailableError as error:
            self._problems.append(f"{places.top}: {error}")
            mark = ""
        for place in dict.fromkeys((places.git, places.common)):
            for path in _walk_metadata(place, objects=repository.objects):
                # git appends to its logs; it replaces everything else, and never changes an object.
                self._one(path, "replaced" if "/objects/" in path else "overwritten")
        if repository.ignored:
            self._tree(places.top, lambda _: "replaced", skipped=(places.git, places.common))
        elif repository.tree:
            self._work_tree(places)
        return RepositoryMark(*places, mark, repository.untracked, repository.tree or repository.ignored)

    def _work_tree(self, places: Places) -> None:
        try:
            files = listing(places, self._deadline)
        except GitUnavailableError as error:
            self._problems.append(f"{places.top}: {error}")
            return
        parents = {os.path.dirname(path) for path in (*files.clean, *files.others)}
        for path in sorted(parents | {above for parent in parents for above in _between(parent, places.top)}):
            self._one(path, "replaced")
        for path in files.others:
            self._one(path, "replaced")
        for path, blob in files.clean.items():
            if path not in self._paths:
                self._paths[path] = Kept(path, state_of(path), f"blob:{places.top}\0{blob}")

    def _tree(self, path: str, how: Choice, skipped: tuple[str, ...] = ()) -> None:
        if not os.path.lexists(path):
            self._paths.setdefault(path, Kept(path, None))
            return
        try:
            for one in walk(path, (*self._skipped, *skipped)):
                self._one(one, how(one))
        except OSError as error:
            self._problems.append(f"{error.filename or path}: {error.strerror}")
        real = os.path.realpath(path)
        if real != path and how(path) == "overwritten":
            # A write goes through the link.
            self._one(real, "overwritten")

    def _one(self, path: str, how: How) -> None:
        known = self._paths.get(path)
        if known is not None and not (how == "overwritten" and (known.linked or known.content.startswith("blob:"))):
            return
        if self.stopped.is_set() or time.monotonic() > self._deadline:
            raise LimitReachedError("the time for saving was over (setting undo.save_seconds)")
        try:
            state = state_of(path)
            if state is None or state.kind != "file":
                self._paths[path] = Kept(path, state)
                return
            if state.size > self._left:
                raise LimitReachedError(
                    f"it is more than the {self._most} bytes that are kept (setting undo.trash_bytes)"
                )
            content, linked = self._keep(path, state, how)
        except OSError as error:
            self._problems.append(f"{path}: {error.strerror}")
            return
        self._left -= state.size
        self._paths[path] = Kept(path, state, content, linked)

    def _keep(self, path: str, state: PathState, how: How) -> tuple[str, bool]:
        self._number += 1
        kept = os.path.join(self._trash(path, state.device), str(self._number))
        if self._clones.get(state.device, True):
            self._clones[state.device] = _clone(path, kept)
            if self._clones[state.device]:
                _copy_facts(path, kept, state)
                return kept, False
        if how == "replaced" or "/.git/objects/" in path:
            try:
                os.link(path, kept, follow_symlinks=False)
                return kept, True
            except OSError as error:
                # Another file system, or a file of another user.
                if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EACCES):
                    raise
        shutil.copyfile(path, kept)
        _copy_facts(path, kept, state)
        return kept, False

    def _trash(self, path: str, device: int) -> str:
        known = self._trashes.get(device)
        if known is None:
            known = self._trashes[device] = _trash_on(device, path, self.directory)
        return known


def _clone(path: str, kept: str) -> bool:
    """Copy a file by sharing its blocks; False where the file system does not do that."""
    with open(path, "rb") as source, open(kept, "xb") as target:
        try:
            fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())
        except OSError as error:
            if error.errno not in _NO_CLONE:
                raise
            os.unlink(kept)
            return False
    return True


def _copy_facts(path: str, kept: str, state: PathState) -> None:
    """Give a copy the mode, owner, time and attributes of its original."""
    if os.geteuid() == 0:
        os.chown(kept, state.uid, state.gid)
    for name in os.listxattr(path):
        os.setxattr(kept, name, os.getxattr(path, name))
    os.chmod(kept, state.mode)
    os.utime(kept, ns=(state.mtime, state.mtime))


def _trash_on(device: int, path: str, directory: str) -> str:
    """Return a directory for content on the file system of a path, or the entry's own."""
    own = os.path.join(directory, "content")
    os.makedirs(own, mode=0o700, exist_ok=True)
    if os.lstat(own).st_dev == device:
        return own
    # The uppermost directory of that file system that this user may write to.
    best, here = None, os.path.dirname(path)
    while os.lstat(here).st_dev == device:
        if os.access(here, os.W_OK | os.X_OK):
            best = here
        if here == "/":
            break
        here = os.path.dirname(here)
    if best is None:
        return own
    trash = os.path.join(best, f".nacre-trash-{os.geteuid()}")
    try:
        os.makedirs(trash, mode=0o700, exist_ok=True)
        found = os.lstat(trash)
        if found.st_uid != os.geteuid() or found.st_mode & 0o077 or not os.path.isdir(trash) or os.path.islink(trash):
            return own
        place = os.path.join(trash, f"{os.path.basename(directory)}-{time.time_ns()}")
        os.mkdir(place, 0o700)
    except OSError:
        # A copy in the state directory is as good, and only slower.
        return own
    return place


def _walk_metadata(place: str, *, objects: bool) -> Iterator[str]:
    for path in walk(place, () if objects else (os.path.join(place, "objects"), os.path.join(place, "lfs"))):
        inner = path[len(place) :]
        # Submodules have their repositories in here.
        if objects or not (inner.startswith("/modules/") and "/objects" in inner):
            yield path


def _between(path: str, top: str) -> Iterator[str]:
    while is_below(path, top) and path != top:
        yield path
        path = os.path.dirname(path)


def _outermost(targets: tuple[Target, ...]) -> list[Target]:
    chosen: list[Target] = []
    for target in sorted(targets):
        if not chosen or not is_below(target.path, chosen[-1].path):
            chosen.append(target)
    return chosen


def _how_of(targets: tuple[Target, ...]) -> Choice:
    overwritten = [target.path for target in targets if target.how == "overwritten"]

    def how(path: str) -> How:
        return "overwritten" if any(is_below(path, one) for one in overwritten) else "replaced"

    return how
