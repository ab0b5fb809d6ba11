"""Where the output of one run goes: a bounded window and an artifact per stream, and whoever watches live."""

from __future__ import annotations

from collections.abc import Callable

from nacre.artifacts.spill import Spill
from nacre.artifacts.store import ArtifactStore
from nacre.artifacts.writer import ArtifactWriter
from nacre.execution.live import LiveTail
from nacre.output.capture import Captured
from nacre.output.redact import Redactor
from nacre.output.window import Window
from nacre.profile import Profile
from nacre.result import ArtifactRef, Output
from nacre.settings import OutputSettings

Passthrough = Callable[[int, memoryview], None]

_KINDS = {"merged": ("output",), "split": ("stdout", "stderr")}


class Nowhere:
    """The sink of a command whose output the far side keeps."""

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        raise AssertionError("a kept command's output is not read here")


class Capture:
    """The sink of a run whose output is wanted."""

    def __init__(
        self,
        store: ArtifactStore,
        profile: Profile,
        settings: OutputSettings,
        *,
        redactor: Redactor,
        live: LiveTail | None = None,
        passthrough: Passthrough | None = None,
    ) -> None:
        def create(kind: str) -> Callable[[], ArtifactWriter]:
            return lambda: store.create(
                kind, cap_bytes=settings.artifact_cap_bytes, head_bytes=settings.artifact_head_bytes
            )

        shape = profile.capture
        self._profile = profile
        self._redactors = [redactor.fresh() for _ in _KINDS[profile.streams]] if redactor else []
        self._live = live
        self._passthrough = passthrough
        self._spills = [
            Spill(Window(shape.head_bytes, shape.tail_bytes, whole_bytes=shape.whole_bytes), create(kind))
            for kind in _KINDS[profile.streams]
        ]

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        if self._redactors:
            buffer = bytearray(self._redactors[stream - 1].feed(memoryview(buffer)[:size]))
            size = len(buffer)
        self._take(stream, buffer, size)

    def _take(self, stream: int, buffer: bytearray, size: int) -> None:
        self._spills[stream - 1].feed(buffer, size)
        if self._live is not None:
            self._live.feed(buffer, size)
        if self._passthrough is not None:
            self._passthrough(stream, memoryview(buffer)[:size])

    def outputs(self, *, keep_all: bool) -> tuple[list[Output], list[str]]:
        """What is shown of each stream, and the notices about what could not be kept."""
        self._flush()
        outputs = []
        problems = []
        for spill in self._spills:
            captured = _captured(spill.window, None)
            # What the view cuts must be on disk, even if the window still holds all of it.
            if keep_all or (captured.whole is not None and self._profile.view(captured).truncation is not None):
                spill.keep()
            result = spill.finish()
            outputs.append(self._profile.view(_captured(result.window, result.artifact)))
            if result.error is not None:
                problems.append(f"the full output could not be kept: {result.error}")
        return outputs, problems

    def _flush(self) -> None:
        """Let go of what a redactor held back as the possible beginning of a secret."""
        redactors, self._redactors = self._redactors, []
        for stream, redactor in enumerate(redactors, start=1):
            if rest := redactor.flush():
                self._take(stream, bytearray(rest), len(rest))

    def close(self) -> None:
        """End the artifacts of a run that gave no result; what they hold is kept."""
        self._flush()
        for spill in self._spills:
            spill.finish()


def _captured(window: Window, artifact: ArtifactRef | None) -> Captured:
    return Captured(
        whole=window.whole,
        head=window.head,
        tail=window.tail,
        total_bytes=window.total_bytes,
        total_lines=window.total_lines,
        artifact=artifact,
    )
