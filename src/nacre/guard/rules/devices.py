"""Rule `no_device_write`: what formats, wipes or overwrites a disk.

A disk is told by its name. A target that the script does not spell out is not taken for one.
"""

import posixpath
import re
from collections.abc import Callable
from typing import Final

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import plain
from nacre.guard.interpret.invocation import Invocation, flags, operands

# Glob characters stand for letters (`/dev/sd?`), and a mark for a part that is not known (`/dev/sd$x`).
_DISK: Final = re.compile(
    r"/dev/(?:(?:s|h|v|xv)d(?:[A-Za-z?*\[]|[^\x00-\x7f])|nvme|mmcblk|r?disk|mapper/(?!control$)|md[\d/?*\[]|dm-|loop"
    r"|nbd\d|z?ram\d|sr\d|bcache|pmem|zvol/|block/|(?:mem|kmem|port)$)"
)
# Other names below /dev: streams, files in memory, terminals, printers, tapes, sound and screens.
_NO_DISK: Final = re.compile(
    r"/dev/(?:null|zero|full|u?random|std(?:in|out|err)|fd|shm|pts|tty\w*|cu\..*|console|u?lp|n?st|dsp|audio|fb|i2c-"
    r"|spidev.*|hidraw|watchdog|kmsg|log)(?:/.*|\d*)"
)
_CHANGES_TABLE: Final = frozenset(
    names("mklabel mktable mkpart rm resizepart --zap-all -Z --zap -z -o --clear -d --delete --load-backup -l")
)
_ERASES: Final = frozenset(
    names(
        "luksFormat luksErase erase reencrypt format sanitize write-zeroes --zero-superblock eraseDisk eraseVolume "
        "partitionDisk secureErase zeroDisk randomDisk reformat --security-erase --security-erase-enhanced "
        "--trim-sector-ranges"
    )
)
# For other programs of this kind these letters mean something else.
_TRIES: Final = {**dict.fromkeys(names("mke2fs mkfs.ext2 mkfs.ext3 mkfs.ext4"), "-n"), "mkfs.xfs": "-N"}
_NO_TABLE: Final = frozenset(
    names("-l --list -d --dump -J --json -s --show-size -V --verify -n --no-act -h --help -v --version -F -r --reorder")
)


def is_disk(path: str) -> bool:
    """True if the path is a disk, or memory, as a device."""
    return _DISK.match(path) is not None


def _path(word: str, directory: str) -> str:
    text = plain(word)
    if text.startswith("/"):
        return "/" + posixpath.normpath(text).lstrip("/")
    # `cd /dev && dd of=sda`
    return posixpath.normpath(posixpath.join(directory, text)) if directory.startswith("/dev") else text


def _disks(invocation: Invocation, words: list[str]) -> list[str]:
    return [path for word in words if is_disk(path := _path(word, invocation.directory))]


def _devices(invocation: Invocation, words: list[str]) -> list[str]:
    """Return the words below /dev that may be disks, for programs that are used on disks."""
    paths = [_path(word, invocation.directory) for word in words]
    return [path for path in paths if path.startswith("/dev/") and _NO_DISK.fullmatch(path) is None]


def _first(found: list[str], what: str) -> str | None:
    return f"{found[0]} would be {what}" if found else None


def _formats(invocation: Invocation) -> str | None:
    """mkfs and its like, unless they are given a file, or only try."""
    harmless = {"--help", "--version", "--no-act", "--test", "--check", _TRIES.get(invocation.name)}
    return (
        None
        if harmless.intersection(invocation.words)
        else _first(_devices(invocation, operands(invocation)), "formatted")
    )


def _wipefs(invocation: Invocation) -> str | None:
    words = invocation.words
    erases = any(re.match(r"-[a-z]*[ao]|--(?:all|offset)", word) for word in words)
    dry = any(re.match(r"-[a-z]*n|--no-act", word) for word in words)
    return _first(_devices(invocation, operands(invocation)), "wiped") if erases and not dry else None


def _discards(invocation: Invocation) -> str | None:
    return _first(_devices(invocation, operands(invocation)), "wiped")


def _copies(invocation: Invocation) -> str | None:
    """dd and its like."""
    outputs = [plain(word)[3:] for word in invocation.argv[1:] if plain(word).startswith("of=")]
    return _first(_devices(invocation, outputs), "overwritten")


def _every(invocation: Invocation) -> str | None:
    return _first(_disks(invocation, operands(invocation)), "overwritten")


def _last(invocation: Invocation) -> str | None:
    paths = operands(invocation)
    words = invocation.words
    into = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-t", "--target-directory")]
    return _first(_disks(invocation, into or paths[-1:]), "overwritten") if len(paths) > 1 else None


def _rescues(invocation: Invocation) -> str | None:
    """ddrescue: input, output, map."""
    return _first(_disks(invocation, operands(invocation)[1:2]), "overwritten")


def _writes(invocation: Invocation) -> str | None:
    """badblocks, which only reads unless it is told to write."""
    return _every(invocation) if "w" in flags(invocation) else None


def _downloads(invocation: Invocation) -> str | None:
    words = invocation.argv[1:]
    into = [words[at + 1] for at, word in enumerate(words[:-1]) if plain(word) in ("-o", "-O", "--output")]
    into += [word.partition("=")[2] for word in words if word.startswith(("--output=", "--output-document="))]
    return _first(_disks(invocation, into), "overwritten")


def _erases(invocation: Invocation) -> str | None:
    """Programs with a word that erases a disk; diskutil names disks without /dev."""
    words = invocation.words
    named = _disks(invocation, operands(invocation)) or (["a disk"] if invocation.name == "diskutil" else [])
    return _first(named, "erased") if _ERASES.intersection(word.partition("=")[0] for word in words) else None


def _partitions(invocation: Invocation) -> str | None:
    words = [word.partition("=")[0] for word in invocation.words]
    changes = _CHANGES_TABLE.intersection(words)
    return _first(_disks(invocation, operands(invocation)), "partitioned anew") if changes else None


def _sfdisk(invocation: Invocation) -> str | None:
    """sfdisk, fdisk and gdisk do what standard input says."""
    words = [word.partition("=")[0] for word in invocation.words]
    fed = invocation.stdin is not None or bool(invocation.upstream)
    fed = fed or any(operator.startswith("<") for operator, _ in invocation.targets)
    if _NO_TABLE.intersection(words) or not (fed or "--delete" in words):
        return None
    return _first(_disks(invocation, operands(invocation)), "partitioned anew")


_CHECKS: Final[dict[str, Callable[[Invocation], str | None]]] = {
    **dict.fromkeys(names("mkfs mke2fs mkswap newfs mkdosfs mkntfs mkexfatfs"), _formats),
    "wipefs": _wipefs,
    **dict.fromkeys(names("blkdiscard nwipe"), _discards),
    **dict.fromkeys(names("dd gdd dcfldd dc3dd"), _copies),
    **dict.fromkeys(names("tee sponge shred gshred srm wipe scrub truncate"), _every),
    **dict.fromkeys(names("cp gcp mv install bmaptool rpi-imager qemu-img"), _last),
    **dict.fromkeys(names("ddrescue dd_rescue"), _rescues),
    "badblocks": _writes,
    **dict.fromkeys(names("curl wget"), _downloads),
    **dict.fromkeys(names("cryptsetup nvme hdparm mdadm diskutil"), _erases),
    **dict.fromkeys(names("parted sgdisk"), _partitions),
    **dict.fromkeys(names("sfdisk fdisk gdisk"), _sfdisk),
}


def check(invocation: Invocation) -> str | None:
    """Return the reason to refuse this command, or None."""
    for operator, target in invocation.targets:
        if ">" in operator and is_disk(path := _path(target, invocation.directory)):
            return f"{path} would be overwritten"
    name = invocation.name
    found = _CHECKS.get(name) or (_formats if name.startswith(("mkfs.", "newfs_")) else None)
    return found(invocation) if found is not None else None
