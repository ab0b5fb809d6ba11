"""The streams of a run whose output is not small and plain: windows, artifacts, redaction and observers."""

from __future__ import annotations

import os
from collections.abc import Callable

from nacre.artifacts.spill import Spill
from nacre.artifacts.store import ArtifactStore
from nacre.artifacts.writer import ArtifactWriter
from nacre.engine.observers import Observers
from nacre.errors import ArtifactError
from nacre.output.redaction.redactor import Redactor
from nacre.output.sizes import human_size
from nacre.output.window import Window
from nacre.profile import CaptureShape
from nacre.state_directory import SURVEY_SECONDS, files


class OutputStreams:
    """A window and an artifact for each stream of a run, and what observes them."""

    def __init__(
        self,
        kinds: tuple[str, ...],
        shape: CaptureShape,
        create: Callable[[str], Callable[[], ArtifactWriter]],
        redactor: Redactor | None,
        observers: Observers,
    ) -> None:
        """Make empty streams.

        Args:
            kinds: the name of each stream, which is the kind of its artifact.
            create: makes what begins an artifact of a kind.
            redactor: hides values; None if there are none.
        """
        self._observers = observers
        self._watch: Callable[[bytes], object] | None = None
        self._redactors = [] if redactor is None else [redactor.fresh() for _ in kinds]
        self.spills = [
            Spill(Window(shape.head_bytes, shape.tail_bytes, whole_bytes=shape.whole_bytes), create(kind))
            for kind in kinds
        ]

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        if self._redactors:
            buffer = bytearray(self._redactors[stream - 1].feed(memoryview(buffer)[:size]))
            size = len(buffer)
        self._take(stream, buffer, size)

    def _take(self, stream: int, buffer: bytearray, size: int) -> None:
        self.spills[stream - 1].feed(buffer, size)
        if self._observers.live is not None:
            self._observers.live.feed(buffer, size)
        if self._watch is not None:
            self._watch(bytes(memoryview(buffer)[:size]))
        if self._observers.passthrough is not None:
            self._observers.passthrough(stream, memoryview(buffer)[:size])

    def watch(self, feed: Callable[[bytes], object]) -> None:
        """Show the output to a watcher, from now on, beside the one that sees it already."""
        before = self._watch

        def both(data: bytes) -> None:
            assert before is not None
            before(data)
            feed(data)

        self._watch = feed if before is None else both

    def flush(self) -> None:
        """Pass on what a redactor held back as the possible beginning of a hidden value."""
        redactors, self._redactors = self._redactors, []
        for stream, redactor in enumerate(redactors, start=1):
            if rest := redactor.flush():
                self._take(stream, bytearray(rest), len(rest))

    def hand_over(self, path: str, store: ArtifactStore) -> tuple[bytes, str | None]:
        """Write all output of the only stream to a job's file; return what is held back, and what could not be kept.

        What is held back is the possible beginning of a hidden value: the far side goes on with the redaction where
        this side stops, so a value cut in two is still found. What could not be kept is told in words, and the file
        has a mark in its place.
        """
        (spill,) = self.spills
        held = b"".join(redactor.give_up() for redactor in self._redactors)
        self._redactors = []
        whole = spill.window.whole
        result = spill.finish()
        window, artifact, problem = spill.window, result.artifact, None
        try:
            place = files(os.path.dirname(os.path.dirname(path)))
            if whole is not None:
                place.call(_write_new, path, whole)
            elif artifact is not None:
                # The job's file takes the artifact's place.
                place.call_within(SURVEY_SECONDS, _copy, store.plain_path(artifact.id), path)
                store.remove(artifact.id)
            else:
                problem = f"{human_size(window.omitted_bytes)} of the output so far could not be kept: {result.error}"
                place.call(_write_new, path, window.head + f"\n[… {problem} …]\n".encode() + window.tail)
        except (OSError, ArtifactError) as error:
            # A full disk costs the output so far, not the command.
            reason = error.strerror if isinstance(error, OSError) else error
            problem = f"the output so far ({human_size(window.total_bytes)}) could not be kept: {reason}"
        return held, problem


def _copy(source: str, path: str) -> None:
    # Loaded here: it brings every kind of compression along.
    import shutil

    shutil.copyfile(source, path)
    os.chmod(path, 0o600)


def _write_new(path: str, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        file.write(data)
