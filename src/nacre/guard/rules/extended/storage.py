"""The storage part of rule `extended`: what overwrites or empties account files and repository data, or changes disks.

One function per kind of program, and their table.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import is_opaque, plain
from nacre.guard.interpret.invocation import Invocation, operands
from nacre.guard.rules.critical_paths import critical_reason
from nacre.guard.rules.devices import is_disk

Check: TypeAlias = Callable[[Invocation], str | None]
_ACCOUNTS: Final = re.compile(r"/etc/(?:passwd|shadow|group|gshadow|sudoers(?:\.d/.*)?|fstab|hosts|ssh/sshd_config)")
GIT_FILES: Final = re.compile(
    r"(?!.*\.lock$)(?:.*/)?\.git/(?:HEAD|index|config|packed-refs|ORIG_HEAD|objects(?:/.*)?|refs(?:/.*)?|logs(?:/.*)?)"
)


def is_storage(path: str) -> bool:
    """True if the path is an account file or repository data."""
    return _ACCOUNTS.fullmatch(path) is not None or GIT_FILES.fullmatch(path) is not None


def critical(invocation: Invocation, paths: Iterable[str] | None = None) -> str | None:
    """Return why one of the paths, by default the operands, must not be touched as a whole, or None."""
    given = operands(invocation) if paths is None else paths
    return next(filter(None, (critical_reason(path, invocation.directory) for path in given)), None)


def _dd(invocation: Invocation) -> str | None:
    for word in invocation.argv[1:]:
        name, _, path = plain(word).partition("=")
        if name == "of" and is_storage(path):
            return f"dd would overwrite {path}"
    return None


def _truncate(invocation: Invocation) -> str | None:
    reason = critical(invocation)
    if reason is not None:
        return f"{reason} would be emptied"
    for path in map(plain, operands(invocation)):
        if is_storage(path):
            return f"{path} would be emptied"
    return None


def _shred(invocation: Invocation) -> str | None:
    keys = (path for path in map(plain, operands(invocation)) if re.search(r"/\.(?:ssh|gnupg)(?:/|$)", path))
    return _truncate(invocation) or next((f"{path} cannot be restored" for path in keys), None)


def overwritten(invocation: Invocation) -> str | None:
    """tee, cp, install: the target is an account file or repository data."""
    paths = operands(invocation) if invocation.name == "tee" else operands(invocation)[-1:]
    for path in map(plain, paths):
        if is_storage(path):
            return f"{path} would be overwritten"
    return None


def _edits(invocation: Invocation) -> str | None:
    in_place = any(re.match(r"-\w{0,8}i|--in-place", plain(word)) for word in invocation.argv[1:])
    return overwritten(invocation) if in_place else None


def _partition(invocation: Invocation) -> str | None:
    words = invocation.words
    changes = names(
        "mklabel mkpart rm --zap-all -Z -o --clear luksFormat erase luksErase destroy format sanitize "
        "--zero-superblock eraseDisk eraseVolume secureErase --wipefs --delete"
    )
    harmless = names(
        "-l --list -h --help print -p status luksDump luksOpen open close luksClose --print --verify --backup "
        "--dump --detail --examine info eject unmountDisk"
    )
    if not set(words).isdisjoint(changes):
        return "a disk would be partitioned anew"
    device = any(is_disk(word) for word in words)
    return "a disk would be changed" if device and set(words).isdisjoint(harmless) else None


def _partition_table(invocation: Invocation) -> str | None:
    named = any(is_opaque(word) or word.startswith("/dev/") for word in map(plain, operands(invocation)))
    return _partition(invocation) if named else None


def _unknown_disk(invocation: Invocation) -> str | None:
    """mkfs and its like, where the disk or file is not spelled out."""
    return "a disk would be formatted" if any(map(is_opaque, operands(invocation))) else None


CHECKS: Final[dict[str, Check]] = {
    **dict.fromkeys(names("unlink truncate"), _truncate),
    **dict.fromkeys(names("sed gsed perl"), _edits),
    "dd": _dd,
    **dict.fromkeys(names("shred srm wipe"), _shred),
    **dict.fromkeys(names("tee cp install ln"), overwritten),
    **dict.fromkeys(names("zpool zfs mdadm nvme cryptsetup hdparm diskutil badblocks"), _partition),
    **dict.fromkeys(names("parted fdisk sfdisk gdisk sgdisk cfdisk"), _partition_table),
    **dict.fromkeys(names("mkfs mke2fs mkswap blkdiscard"), _unknown_disk),
}
