"""What a sandbox finds on this machine: which of the names that its policy speaks of are there, and of what kind."""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Mapping
from typing import Literal, NamedTuple

from nacre.sandbox.repositories import Repositories, is_git_directory, is_within
from nacre.sandbox.sandbox_policy import SandboxPolicy

Kind = Literal["file", "directory"]

# Credentials in the home directory.
HOME_SECRETS = (
    ".ssh",
    ".aws",
    ".netrc",
    ".config/gh",
    ".config/gcloud",
    ".config/hub",
    ".docker",
    ".kube",
    ".azure",
    ".gnupg",
    ".git-credentials",
    ".config/git/credentials",
    ".npmrc",
    ".pypirc",
    ".password-store",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".config/op",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".claude/.credentials.json",
    ".codex/auth.json",
)
# Sockets of services that give root, where UNIX sockets are allowed.
ROOT_SOCKETS = ("/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/run/crio/crio.sock")
# Names that a workspace's own files of secrets have, and endings that say that there are none in one.
_ENV_FILE, _HARMLESS = ".env", (".example", ".sample", ".template", ".dist")

# What git runs, or reads to know what to run: in every git directory.
GIT_DIRECTORIES, GIT_FILES = ("hooks",), ("config", "config.worktree")
# What decides about later, unconfined runs: directly in a writable directory.
PROTECTED = (
    *(f".git/{name}" for name in (*GIT_DIRECTORIES, *GIT_FILES)),
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".vscode",
    ".mcp.json",
    ".envrc",
    "nacre.toml",
)
# The same, if the writable directory is the home directory.
PROTECTED_AT_HOME = (
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".inputrc",
    ".gitconfig",
    ".config/nacre",
    ".config/git",
    ".config/fish",
    ".config/autostart",
)


# What the kernel may let user 0 read without capabilities.
KERNEL_MEMORY = ("kcore", "keys", "timer_list", "sched_debug", "kpagecount", "kpageflags")


class Surroundings(NamedTuple):
    """The facts about the file system that a sandbox is made with."""

    writable: tuple[str, ...]
    """Directories that stay writable, outer ones first."""
    pinned: tuple[str, ...]
    """Directories in them that must keep their names, because what is protected lies below."""
    protected: tuple[str, ...]
    """What is read-only in them."""
    placeholders: tuple[str, ...]
    """What is protected and does not exist: an empty directory is there meanwhile."""
    empty_files: tuple[str, ...]
    """The same of files that git reads: an empty file."""
    hidden: tuple[tuple[str, Kind], ...]
    temporary: str
    """The directory that is /tmp inside, unless everything can be written."""
    granted: tuple[str, ...] = ()
    """Git directories elsewhere that stay writable, because work trees in writable directories are theirs."""
    shown: tuple[str, ...] = ()
    """Directories below /tmp that stay what they are, read-only."""
    kernel_memory: tuple[str, ...] = ()
    """Files of /proc that show what is the kernel's alone."""
    problems: tuple[str, ...] = ()
    """What cannot be protected here, and why."""


NO_REPOSITORIES = Repositories()


def look_around(
    policy: SandboxPolicy,
    workspace: str,
    environ: Mapping[str, str],
    *,
    temporary: str,
    state_dir: str,
    held: Container[str] = (),
    repositories: Repositories = NO_REPOSITORIES,
) -> Surroundings:
    """Find what the policy names.

    Args:
        held: placeholders of other sandboxes, which stand for nothing.
        repositories: the git directories of what is writable.

    Raises:
        OSError: a directory that must be writable does not exist.
    """
    home = os.path.realpath(environ["HOME"]) if environ.get("HOME") else None
    writable = writable_roots(policy, workspace, home)
    names = _Names(held)
    for root in writable:
        for name in _protected_names(policy, at_home=root == home):
            names.protect(root, name)
    granted = tuple(path for path in repositories.outside if not _is_below_any(path, repositories.outside))
    for path in filter(os.path.isdir, (*repositories.inside, *repositories.outside)):
        root = max((root for root in (*writable, *granted) if is_within(path, root)), key=len)
        for name in (*GIT_DIRECTORIES, *GIT_FILES):
            names.protect(root, os.path.relpath(os.path.join(path, name), root))
    return Surroundings(
        writable=writable,
        pinned=tuple(sorted(names.pinned, key=len)),
        protected=tuple(names.protected),
        placeholders=tuple(names.placeholders),
        empty_files=tuple(names.empty_files),
        hidden=_hidden(policy, writable, home, state_dir),
        temporary=temporary,
        granted=granted,
        shown=() if policy.access == "full" else _shown(workspace, home, state_dir),
        kernel_memory=tuple(name for name in KERNEL_MEMORY if os.path.exists(f"/proc/{name}")),
        problems=tuple(names.problems),
    )


def _is_below_any(path: str, others: tuple[str, ...]) -> bool:
    return any(path != other and is_within(path, other) for other in others)


def on_overlay(found: Surroundings, root: str, *, everything: bool) -> Surroundings:
    """What a try may write: of what is writable that which is in the overlay, because the rest would be real.

    Args:
        root: the top of the overlay.
        everything: whether all of the overlay may be written, whatever is writable else.
    """
    inside = [path for path in found.writable if is_within(path, root)]
    if everything or any(is_within(root, path) for path in found.writable):
        inside = [root]
    shown = (*found.shown, *(path for path in (root, *found.granted) if path.startswith("/tmp/")))
    return found._replace(
        writable=tuple(inside),
        pinned=tuple(path for path in found.pinned if is_within(path, root)),
        protected=tuple(path for path in found.protected if is_within(path, root)),
        placeholders=tuple(path for path in found.placeholders if is_within(path, root)),
        empty_files=tuple(path for path in found.empty_files if is_within(path, root)),
        granted=tuple(path for path in found.granted if is_within(path, root)),
        shown=tuple(sorted(dict.fromkeys(shown), key=len)),
    )


def _shown(workspace: str, home: str | None, state_dir: str) -> tuple[str, ...]:
    """What a private /tmp would hide: the workspace, the home directory, and kept output, if they are below it."""
    kept = (os.path.join(state_dir, name) for name in ("artifacts", "jobs"))
    named = [os.path.realpath(path) for path in (workspace, home, *kept) if path is not None]
    return tuple(sorted((path for path in named if path.startswith("/tmp/") and os.path.isdir(path)), key=len))


def expanded(path: str, home: str | None) -> str:
    """A path of the settings: `~` is the home directory."""
    if home is not None and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    return os.path.normpath(path)


def writable_roots(policy: SandboxPolicy, workspace: str, home: str | None) -> tuple[str, ...]:
    """The directories that stay writable, outer ones first; raises OSError for one that does not exist."""
    if policy.access != "workspace-write":
        return ()
    named = [os.path.realpath(workspace), *(os.path.realpath(expanded(path, home)) for path in policy.writable)]
    for path in named:
        # Of the file system: what is not there cannot be bound.
        os.stat(path)
    return tuple(sorted(dict.fromkeys(path for path in named if path != "/"), key=len))


def _protected_names(policy: SandboxPolicy, *, at_home: bool) -> tuple[str, ...]:
    return (*PROTECTED, *(PROTECTED_AT_HOME if at_home else ()), *policy.protected)


class _Names:
    """How names below writable directories are protected: where they stand, or where they would stand."""

    def __init__(self, held: Container[str]) -> None:
        self._held = held
        self.pinned: dict[str, None] = {}
        self.protected: dict[str, None] = {}
        self.placeholders: dict[str, None] = {}
        self.empty_files: dict[str, None] = {}
        self.problems: dict[str, None] = {}

    def protect(self, root: str, name: str) -> None:
        """Decide about one name below a writable directory."""
        path = root
        parts = name.strip("/").split("/")
        for part in parts[:-1]:
            path = os.path.join(path, part)
            found = self._kind_of(path)
            if found == "directory":
                self.pinned[path] = None
                continue
            # What is no directory has nothing below it; the first missing name is held, so that nothing comes below it.
            break
        else:
            path = os.path.join(path, parts[-1])
            found = self._kind_of(path)
        if found == "link":
            self.problems[f"{path} is a symbolic link, so its name cannot be kept from being replaced"] = None
            return
        if found is None:
            is_file = os.path.basename(path) in GIT_FILES and is_git_directory(os.path.dirname(path))
            (self.empty_files if is_file else self.placeholders)[path] = None
        self.protected[path] = None

    def _kind_of(self, path: str) -> Kind | Literal["link"] | None:
        return None if path in self._held else kind_of(path)


def kind_of(path: str) -> Kind | Literal["link"] | None:
    """What a path is, without following it; None for nothing, and for what is no file of a user's."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    return "link" if stat.S_ISLNK(mode) else "directory" if stat.S_ISDIR(mode) else "file"


def _hidden(
    policy: SandboxPolicy, writable: tuple[str, ...], home: str | None, state_dir: str
) -> tuple[tuple[str, Kind], ...]:
    named = [] if home is None else [os.path.join(home, name) for name in HOME_SECRETS]
    for root in writable:
        named += _environment_files(root)
    named += [expanded(path, home) for path in policy.hidden]
    if policy.unix_sockets:
        # The sockets by which viewers answer questions and type into terminals.
        named += [*ROOT_SOCKETS, os.path.join(state_dir, "feed")]
    visible = {os.path.realpath(expanded(path, home)) for path in policy.visible}
    found: dict[str, Kind] = {}
    for path in map(os.path.realpath, named):
        kind = kind_of(path)
        if kind in ("file", "directory") and path not in visible and path != "/":
            found[path] = kind
    inner = [path for path in found if any(path.startswith(f"{outer}/") for outer in found)]
    return tuple((path, kind) for path, kind in found.items() if path not in inner)


def _environment_files(root: str) -> list[str]:
    try:
        names = os.listdir(root)
    except OSError:
        return []
    return [
        os.path.join(root, name)
        for name in names
        if (name == _ENV_FILE or name.startswith(f"{_ENV_FILE}.")) and not name.endswith(_HARMLESS)
    ]
