"""The artifacts of one state directory, shared by every nacre on it."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import replace

from nacre.artifacts import directory
from nacre.artifacts.layout import CAP_BYTES, HEAD_BYTES
from nacre.artifacts.writer import ArtifactWriter
from nacre.errors import ArtifactError, UnknownArtifactError, some_of
from nacre.state_directory import HERE, StateDirectoryError, answered, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.artifacts.expiry import PruneReport
    from nacre.artifacts.opening import Artifact, ArtifactEntry

KIND_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


class ArtifactStore:
    """Artifacts under one directory, which is made when the first one is."""

    __slots__ = ("root",)

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.path.abspath(root)

    def create(self, kind: str, *, cap_bytes: int = CAP_BYTES, head_bytes: int = HEAD_BYTES) -> ArtifactWriter:
        """Allot an id and open its file for writing.

        Raises:
            ArtifactError: the directory is not safe or not usable.
            ArtifactQuotaError: there is no room.
        """
        if not kind or not KIND_LETTERS.issuperset(kind):
            raise ValueError(f"an artifact kind is made of a-z, 0-9 and '-', not {kind!r}")
        if not 0 <= head_bytes < cap_bytes:
            raise ValueError(f"a cap of {cap_bytes} bytes leaves no ring behind a head of {head_bytes}")
        try:
            place = files(self.root)
            new = place.call(directory.allot, self.root, kind, cap_bytes=cap_bytes, head_bytes=head_bytes)
        except StateDirectoryError as error:
            raise ArtifactError(str(error)) from error
        return ArtifactWriter(new, place)

    def open(self, artifact_id: int) -> Artifact:
        """Open an artifact for reading.

        Raises:
            UnknownArtifactError: no artifact has that id; the message lists those that exist.
        """
        try:
            place = files(self.root)
            found = place.call(self._open, artifact_id)
        except StateDirectoryError as error:
            raise ArtifactError(str(error)) from error
        return found if place is HERE else replace(found, files=place)

    def _open(self, artifact_id: int) -> Artifact:
        from nacre.artifacts.opening import Artifact

        known = directory.logs(self.root)
        if artifact_id in known:
            with contextlib.suppress(FileNotFoundError):
                return Artifact.open(artifact_id, known[artifact_id], directory.sidecar_of(self.root, artifact_id))
        raise UnknownArtifactError(f"no artifact {artifact_id}; available: {some_of(list(map(str, sorted(known))))}")

    @answered(whole=True, kind=ArtifactError)
    def list(self) -> tuple[ArtifactEntry, ...]:
        """Return every artifact, oldest first."""
        entries = []
        for artifact_id in sorted(directory.logs(self.root)):
            # One that another process has pruned in the meantime, or that is no file of ours, is not listed.
            with contextlib.suppress(ArtifactError), self.open(artifact_id) as artifact:
                entries.append(artifact.entry)
        return tuple(entries)

    @answered(whole=True, kind=ArtifactError)
    def prune(self, *, max_age_seconds: float, max_total_bytes: int, now: float | None = None) -> PruneReport:
        """Remove artifacts that are too old, then the oldest beyond the total; one being written always stays."""
        from nacre.artifacts.expiry import prune

        return prune(
            self,
            max_age_seconds=max_age_seconds,
            max_total_bytes=max_total_bytes,
            now=time.time() if now is None else now,
        )

    @answered(kind=ArtifactError)
    def remove(self, artifact_id: int) -> bool:
        """Remove an artifact; False when it is being written or already gone."""
        with directory.translated(self.root), directory.locked(self.root):
            path = directory.logs(self.root).get(artifact_id)
            if path is None or directory.is_being_written(path):
                return False
            os.unlink(path)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(directory.sidecar_of(self.root, artifact_id))
            return True

    @answered(whole=True, kind=ArtifactError)
    def plain_path(self, artifact_id: int) -> str:
        """Return the path of an artifact as a file in plain order, to be read by any program.

        A ring that has wrapped is first put in order, the dropped middle marked by a line.
        """
        from nacre.artifacts.ordering import put_in_order

        with self.open(artifact_id) as artifact:
            if artifact.in_order:
                return artifact.entry.path
        with (
            directory.translated(self.root),
            directory.locked(self.root),
            self.open(artifact_id) as artifact,
        ):
            sidecar = directory.sidecar_of(self.root, artifact_id)
            put_in_order(artifact, sidecar, os.path.join(self.root, f".{artifact_id}.tmp"))
            return artifact.entry.path
