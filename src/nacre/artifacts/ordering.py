"""Puts an artifact whose ring has wrapped into plain order, so that any program can read its file.

Done when the path is asked for, not when the command ends: most never are. The record beside the file names the inode
of the ordered copy before that copy takes the file's place, so a reader always knows which one it has.
"""

from __future__ import annotations

import contextlib
import os

from nacre.artifacts.layout import encode_record
from nacre.artifacts.opening import Artifact
from nacre.artifacts.writer import overwrite_record


def put_in_order(artifact: Artifact, sidecar: str, temporary: str) -> None:
    """Replace the file of a complete artifact by one in order, the dropped middle marked by a line."""
    # One that another process has shortened has more than one gap: it stays as it is.
    if artifact.in_order or artifact.entry.state != "complete" or len(artifact.gaps()) != 1:
        return
    head = artifact.extents[0].length if artifact.extents[0].start == 0 else 0
    marker = b"\n[nacre: %d bytes were dropped here]\n" % artifact.entry.dropped_bytes
    # Made under the store's lock, so one that is there was left by a crash.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
    with open(temporary, "xb", opener=_private) as copy:
        try:
            for piece in artifact.blocks():
                copy.write(marker if piece.skipped_bytes else b"")
                copy.write(piece.data)
            copy.flush()
            found = os.fstat(artifact.fd)
            # Its age counts from the command, not from this copy.
            os.utime(copy.fileno(), ns=(found.st_atime_ns, found.st_mtime_ns))
            record = encode_record(
                state="complete",
                head_bytes=head,
                cap_bytes=artifact.entry.stored_bytes,
                total_bytes=artifact.entry.total_bytes,
                created_at=found.st_mtime,
                plain_inode=os.fstat(copy.fileno()).st_ino,
                marker_bytes=len(marker),
            )
            overwrite_record(sidecar, record)
            os.replace(temporary, artifact.entry.path)
        except OSError:
            os.unlink(temporary)
            raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
