"""Reads a file that the settings, the environment or a project name: a regular one, of a bounded size, without waiting.

A FIFO in its place would wait for a writer, and opening a device can do harm; neither is ever opened. A file system
that is not this machine's own (FUSE, a network) may never answer: a runner of the warden looks there.
"""

from __future__ import annotations

import os
import re
import stat
import time

from nacre.errors import ConfigError, reason_of
from nacre.warden.protocol import MOST_FILE_BYTES, PLACEHOLDER_MODE

# How long a file system that is not this machine's own has for an answer, and for how long the answer counts.
LOOK_SECONDS = 1.0
ANSWER_SECONDS = 5.0
SILENCE_SECONDS = 60.0
MOUNTS_SECONDS = 1.0
MOST_LINKS = 40
MOST_ANSWERS = 64

_LOCAL = frozenset(
    b"bcachefs binfmt_misc bpf btrfs cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs erofs exfat ext2 ext3 "
    b"ext4 f2fs fusectl hugetlbfs iso9660 jfs mqueue nsfs ntfs3 overlay proc pstore ramfs reiserfs securityfs "
    b"selinuxfs squashfs sysfs tmpfs tracefs udf vfat xfs zfs".split()
)

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISCHR, "a character device"),
)


def read_regular(path: str, *, most_bytes: int = MOST_FILE_BYTES) -> bytes:
    """The file's content.

    Raises:
        ConfigError: it cannot be read, is no regular file or is too large; the message names it and says which.
    """
    if is_far(path):
        found = _look(path)
        if found is None:
            raise ConfigError(f"{path} cannot be read: no such file; correct its name or its rights", source=path)
        if len(found) > most_bytes:
            raise _too_large(path, most_bytes)
        return found
    try:
        _check(path, os.stat(path), most_bytes)
        # Should a FIFO have taken its place since, this returns at once all the same.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            _check(path, os.fstat(fd), most_bytes)
            data = file.read(most_bytes + 1)
    except OSError as error:
        reason = reason_of(error.errno) if error.errno is not None else str(error)
        raise ConfigError(f"{path} cannot be read: {reason}; correct its name or its rights", source=path) from error
    except ValueError as error:
        raise ConfigError(f"{path!r} cannot be the name of a file: {error}", source=path) from error
    if len(data) > most_bytes:
        raise _too_large(path, most_bytes)
    return data


def read_regular_text(path: str, *, most_bytes: int = MOST_FILE_BYTES) -> str:
    """The file's content as text, which is UTF-8; raises as `read_regular` does."""
    data = read_regular(path, most_bytes=most_bytes)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}:{line}: it is not UTF-8 text (byte 0x{data[error.start]:02x}); save it as UTF-8", source=path
        ) from error


def stamp_of(path: str) -> object:
    """What tells whether a file has changed, cheap to ask; None where there is none that this user could see."""
    return stamps_of(path)[0]


def stamps_of(*paths: str) -> list[object]:
    """The stamps of several files."""
    stamps: list[object] = []
    far = _far_mounts()
    for path in paths:
        # Most systems have no such file system, and then no path is taken apart.
        if far and is_far(path):
            stamps.append(_far_stamp(path))
            continue
        try:
            seen = os.stat(path)
        except (OSError, ValueError):  # a path with a NUL names no file either
            stamps.append(None)
        else:
            held = seen.st_mode == stat.S_IFDIR | PLACEHOLDER_MODE
            stamps.append(None if held else (seen.st_mtime_ns, seen.st_size, seen.st_ino))
    return stamps


def _far_stamp(path: str) -> object:
    try:
        found = _look(path)
    except ConfigError as error:
        return str(error)
    return None if found is None else hash(found)


def is_far(path: str) -> bool:
    """Whether the way to a file leads through a file system that may not answer; none of those is touched."""
    far = _far_mounts()
    if not far:
        return False
    current, links = "/", 0
    try:
        here = os.getcwd() + "/"
    except OSError:
        here = "/"  # in a directory that is gone a relative path names no file
    left = os.path.join(here, path).split("/")[::-1]
    while left:
        part = left.pop()
        if part in ("", "."):
            continue
        if part == "..":
            current = os.path.dirname(current)
            continue
        current = f"{current.rstrip('/')}/{part}"
        if current in far:
            return True
        if here.startswith(f"{current}/"):
            continue  # no link, as the kernel has told
        try:
            target = os.readlink(current)
        except (OSError, ValueError):
            continue
        links += 1
        if links > MOST_LINKS:
            return False  # a circle, which the kernel names
        current = "/" if target.startswith("/") else os.path.dirname(current)
        left += target.split("/")[::-1]
    return False


_mounts: tuple[float, frozenset[str]] | None = None


def _far_mounts() -> frozenset[str]:
    """Where file systems are mounted that may not answer. Without that of the root this program would not run."""
    global _mounts
    now = time.monotonic()
    if _mounts is None or now - _mounts[0] > MOUNTS_SECONDS:
        kinds: dict[bytes, bytes] = {}
        try:
            with open("/proc/self/mountinfo", "rb") as file:
                for line in file:
                    place, _, kind = line.partition(b" - ")
                    kinds[place.split()[4]] = kind.split()[0]
        except FileNotFoundError:
            kinds = {}  # without /proc there is no telling them apart
        except OSError:
            # Without a free descriptor, say. The start of a command tells that; the next call looks again.
            return frozenset()
        far = [place for place, kind in kinds.items() if kind not in _LOCAL and place != b"/"]
        _mounts = now, frozenset(os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), one)) for one in far)
    return _mounts[1]


_ESCAPED = re.compile(rb"\\([0-7]{3})")

_answers: dict[str, tuple[float, bytes | ConfigError | None]] = {}


def _look(path: str) -> bytes | None:
    """The content of a file, as a process of its own saw it a moment ago; None where there is none."""
    now = time.monotonic()
    known = _answers.get(path)
    if known is None or now > known[0]:
        if len(_answers) >= MOST_ANSWERS:
            _answers.clear()
        answer = _looked(path)
        silent = isinstance(answer, ConfigError)
        known = _answers[path] = (now + (SILENCE_SECONDS if silent else ANSWER_SECONDS), answer)
    if isinstance(known[1], ConfigError):
        raise known[1]
    return known[1]


def _looked(path: str) -> bytes | ConfigError | None:
    # Loaded only here: most machines have no such file system.
    from nacre.warden_client.path_query import UnansweredError, read_file

    try:
        answer = read_file(path, LOOK_SECONDS)
    except UnansweredError:
        return ConfigError(
            f"{path} was not read: its file system did not answer within {LOOK_SECONDS:g} s", source=path
        )
    if answer.get("error") == "irregular":
        return ConfigError(f"{path} is no regular file; put a regular file there, or take it away", source=path)
    if "error" in answer:
        return ConfigError(f"{path} cannot be read; correct its name or its rights", source=path)
    return answer["found"].encode("latin-1") if isinstance(answer["found"], str) else None


def _check(path: str, found: os.stat_result, most_bytes: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = next((words for is_kind, words in _KINDS if is_kind(found.st_mode)), "something else")
        raise ConfigError(f"{path} is {kind}; put a regular file there, or take it away", source=path)
    if found.st_size > most_bytes:
        raise _too_large(path, most_bytes)


def _too_large(path: str, most_bytes: int) -> ConfigError:
    return ConfigError(f"{path} is larger than {most_bytes} bytes, which no file of this kind needs", source=path)
