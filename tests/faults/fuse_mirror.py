"""A FUSE file system over a directory, which works until it is told to hang. Run in a mount namespace of its own.

`mount(point, backing)` returns the pid of its server. SIGUSR1 makes the server swallow every request from then on, so
that the kernel waits for the answers uninterruptibly. It ends by itself after a minute, and every waiter gets an error.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import signal
import stat
import struct
import sys
import time
from collections.abc import Callable

LIFE_SECONDS = 60.0

FORGET, INTERRUPT, BATCH_FORGET = 2, 36, 42
_ATTRIBUTES = struct.Struct("<QQQQQQIIIIIIIIII")
_SETATTR = struct.Struct("<IIQQQQQQIIIIIIII")
_SIZE, _MODE, _ATIME, _MTIME, _HANDLE = 1 << 3, 1 << 0, 1 << 4, 1 << 5, 1 << 6


class Mirror:
    """Answers the kernel's requests from the backing directory."""

    def __init__(self, backing: str) -> None:
        self._paths = {1: backing}
        self._operations: dict[int, Callable[[int, bytes], bytes]] = {
            1: lambda node, body: self._entry(self._child(node, body)),
            3: self._getattr,
            4: self._setattr,
            5: lambda node, _: os.readlink(os.fsencode(self._paths[node])),
            8: self._mknod,
            9: self._mkdir,
            10: lambda node, body: _nothing(os.unlink(self._child(node, body))),
            11: lambda node, body: _nothing(os.rmdir(self._child(node, body))),
            12: lambda node, body: self._rename(node, body, 8),
            14: self._open,
            15: self._read,
            16: self._write,
            17: lambda *_: struct.pack(
                "<QQQQQIIII24x", 1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19, 4096, 255, 4096, 0
            ),
            18: lambda _, body: _nothing(os.close(_handle(body))),
            20: lambda *_: b"",
            25: lambda *_: b"",
            26: lambda *_: struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 1 << 5, 0, 0, 1 << 17, 1, 0, 0, 0),
            27: lambda *_: struct.pack("<QII", 0, 0, 0),
            28: self._readdir,
            29: lambda *_: b"",
            35: self._create,
            45: lambda node, body: self._rename(node, body, 16),
        }

    def answer(self, opcode: int, node: int, body: bytes) -> tuple[int, bytes]:
        operation = self._operations.get(opcode)
        if operation is None:
            return -errno.ENOSYS, b""
        try:
            return 0, operation(node, body)
        except OSError as error:
            return -(error.errno or errno.EIO), b""

    def _child(self, node: int, name: bytes) -> str:
        return os.path.join(self._paths[node], os.fsdecode(name.split(b"\0")[0]))

    def _entry(self, path: str) -> bytes:
        found = os.lstat(path)
        self._paths[found.st_ino] = path
        return struct.pack("<QQQQII", found.st_ino, 0, 0, 0, 0, 0) + _attributes(found)

    def _getattr(self, node: int, body: bytes) -> bytes:
        flags, _, handle = struct.unpack_from("<IIQ", body)
        found = os.fstat(handle) if flags & 1 else os.lstat(self._paths[node])
        return struct.pack("<QII", 0, 0, 0) + _attributes(found)

    def _setattr(self, node: int, body: bytes) -> bytes:
        valid, _, handle, size, _, atime, mtime, _, _, _, _, mode, *_ = _SETATTR.unpack_from(body)
        where: int | str = handle if valid & _HANDLE else self._paths[node]
        if valid & _SIZE:
            os.truncate(where, size)
        if valid & _MODE:
            os.chmod(where, stat.S_IMODE(mode))
        if valid & (_ATIME | _MTIME):
            os.utime(where, (atime, mtime))
        found = os.stat(where)
        return struct.pack("<QII", 0, 0, 0) + _attributes(found)

    def _mknod(self, node: int, body: bytes) -> bytes:
        (mode,) = struct.unpack_from("<I", body)
        path = self._child(node, body[16:])
        os.mknod(path, mode)
        return self._entry(path)

    def _mkdir(self, node: int, body: bytes) -> bytes:
        (mode,) = struct.unpack_from("<I", body)
        path = self._child(node, body[8:])
        os.mkdir(path, mode)
        return self._entry(path)

    def _rename(self, node: int, body: bytes, head: int) -> bytes:
        (to,) = struct.unpack_from("<Q", body)
        old, new, *_ = body[head:].split(b"\0")
        source, target = self._child(node, old), self._child(to, new)
        inode = os.lstat(source).st_ino
        os.rename(source, target)
        self._paths[inode] = target
        return b""

    def _open(self, node: int, body: bytes) -> bytes:
        (flags,) = struct.unpack_from("<I", body)
        wanted = flags & (os.O_ACCMODE | os.O_TRUNC)
        return struct.pack("<QII", os.open(self._paths[node], wanted), 0, 0)

    def _create(self, node: int, body: bytes) -> bytes:
        flags, mode = struct.unpack_from("<II", body)
        path = self._child(node, body[16:])
        handle = os.open(path, (flags & (os.O_ACCMODE | os.O_EXCL | os.O_TRUNC)) | os.O_CREAT, mode)
        return self._entry(path) + struct.pack("<QII", handle, 0, 0)

    def _read(self, _: int, body: bytes) -> bytes:
        handle, offset, size = struct.unpack_from("<QQI", body)
        return os.pread(handle, size, offset)

    def _write(self, _: int, body: bytes) -> bytes:
        handle, offset, size = struct.unpack_from("<QQI", body)
        return struct.pack("<II", os.pwrite(handle, body[40 : 40 + size], offset), 0)

    def _readdir(self, node: int, body: bytes) -> bytes:
        _, offset, size = struct.unpack_from("<QQI", body)
        names = [".", "..", *sorted(os.listdir(self._paths[node]))]
        found = b""
        for number, name in enumerate(names[offset:], start=offset + 1):
            encoded = os.fsencode(name)
            entry = struct.pack("<QQII", number, number, len(encoded), 0) + encoded
            entry += bytes(-len(entry) % 8)
            if len(found) + len(entry) > size:
                break
            found += entry
        return found


def _nothing(_: object) -> bytes:
    return b""


def _handle(body: bytes) -> int:
    return int(struct.unpack_from("<Q", body)[0])


def _attributes(found: os.stat_result) -> bytes:
    times = [divmod(moment, 10**9) for moment in (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns)]
    return _ATTRIBUTES.pack(
        found.st_ino,
        found.st_size,
        found.st_blocks,
        *(seconds for seconds, _ in times),
        *(rest for _, rest in times),
        found.st_mode,
        found.st_nlink,
        found.st_uid,
        found.st_gid,
        0,
        4096,
        0,
    )


def mount(point: str, backing: str) -> int:
    """Mount it, and return the pid of its server."""
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"nacre-mirror", point.encode(), b"fuse", 0, options) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    ready, told = os.pipe()
    if server := os.fork():
        os.close(fd)
        os.close(told)
        os.read(ready, 1)
        os.close(ready)
        return server
    null = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    _serve(fd, Mirror(backing), told)
    os._exit(0)


def _serve(fd: int, mirror: Mirror, told: int) -> None:
    hung = False

    def hang(*_: object) -> None:
        nonlocal hung
        hung = True

    signal.signal(signal.SIGUSR1, hang)
    os.close(told)
    end = time.monotonic() + LIFE_SECONDS
    while (left := end - time.monotonic()) > 0 and select.select([fd], [], [], left)[0]:
        request = os.read(fd, 1 << 18)
        _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
        if hung or opcode in (FORGET, INTERRUPT, BATCH_FORGET):
            continue
        problem, body = mirror.answer(opcode, node, request[40:])
        os.write(fd, struct.pack("<IiQ", 16 + len(body), problem, unique) + body)


if __name__ == "__main__":
    print(mount(*sys.argv[1:]), flush=True)
