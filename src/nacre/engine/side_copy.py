"""The copy of what a lifted last stage selects from, such as all that `| tail -n 5` reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nacre.artifacts.spill import Spill, SpillResult
from nacre.artifacts.writer import ArtifactWriter
from nacre.lifted_stage import Lifted
from nacre.output.redaction.redactor import Redactor
from nacre.output.window import Window
from nacre.result import ArtifactRef, Output

# Smaller outputs are kept only if the stage hid something.
SIDE_BYTES = 64 * 1024


class SideCopy:
    """All output of the command before a lifted stage; it becomes an artifact if the stage hides a part of it."""

    def __init__(self, lifted: Lifted, create: Callable[[], ArtifactWriter], redactor: Redactor | None) -> None:
        """Make an empty copy; without a redactor nothing is hidden in it."""
        self._lifted = lifted
        self._spill = Spill(Window(0, 0, whole_bytes=SIDE_BYTES), create)
        self._redactor = redactor

    def feed(self, buffer: bytearray, size: int) -> None:
        if self._redactor is not None:
            buffer = bytearray(self._redactor.feed(memoryview(buffer)[:size]))
            size = len(buffer)
        self._spill.feed(buffer, size)

    def flush(self) -> None:
        """Take what the redactor held back as the possible beginning of a hidden value."""
        if self._redactor is not None:
            self._spill.feed(self._redactor.flush())
            self._redactor = None

    def finish(self) -> SpillResult:
        """End the copy, and keep it if the stage hid something."""
        window = self._spill.window
        if self._lifted.hides(lines=window.total_lines, size=window.total_bytes):
            self._spill.keep()
        return self._spill.finish()

    def end(self) -> ArtifactRef | None:
        """End the copy while its command goes on; return what is kept of it."""
        self.flush()
        return self.finish().artifact

    def attached_to(self, output: Output, problems: list[str]) -> Output:
        """Return the output with the artifact of the whole; what could not be kept is added to the problems."""
        result = self.finish()
        if result.error is not None:
            problems.append(f"the full output could not be kept: {result.error}")
        if result.artifact is None:
            return output
        if output.artifact is not None:
            # The numbers of the lines shown are those of what was selected, so its own artifact stays the first.
            problems.append(f"all that `{self._lifted.stage}` selected from is artifact://{result.artifact.id}")
            return output
        return replace(output, artifact=result.artifact)

    def close(self) -> None:
        """End the artifact of a run that gave no result; what it holds is kept."""
        self.flush()
        self._spill.finish()
