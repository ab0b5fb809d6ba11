"""Where the output of one run goes: a plain buffer while it is small, then streams with windows and artifacts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nacre.artifacts.store import ArtifactStore
from nacre.artifacts.writer import ArtifactWriter
from nacre.backend import SIDE, Ending
from nacre.engine.observers import NO_OBSERVERS, Observers
from nacre.engine.output_streams import OutputStreams
from nacre.errors import ArtifactError
from nacre.output.captured import Captured, Selection
from nacre.output.plain_bytes import is_plain
from nacre.output.window import Window
from nacre.planning.plan import Plan
from nacre.profile import CaptureShape, Profile
from nacre.result import ArtifactRef, Output
from nacre.settings import MinimizerSettings, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.engine.side_copy import SideCopy

# A shorter output cannot save enough.
LEAST_SHORTENED_BYTES = 1024

_KINDS = {"merged": ("output",), "split": ("stdout", "stderr")}


class Nowhere:
    """The sink of a command whose output the far side keeps."""

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        raise AssertionError("a kept command's output is not read here")


class Capture:
    """The sink of a run whose output is wanted. Small output that nothing observes or hides stays a plain buffer.

    Beside taking in and showing, its methods hand a running command over to the far side.
    """

    def __init__(
        self,
        store: ArtifactStore,
        profile: Profile,
        settings: Settings,
        planned: Plan,
        observers: Observers = NO_OBSERVERS,
    ) -> None:
        self._store = store
        self._profile = profile
        self._settings = settings.output
        self._minimizer = settings.minimizer if profile.minimizes else None
        self._planned = planned
        self._observers = observers
        request = planned.request
        inline, head = settings.output.inline_bytes, settings.output.head_bytes
        self._selection = Selection(
            head=request.head,
            tail=request.tail,
            keep=settings.output.keep,
            inline_bytes=inline,
            head_bytes=inline * 2 // 5 if head is None else head,
            line_bytes=settings.output.line_bytes,
        )
        self._shape = _holding(profile.capture, inline) if profile.sized_by_settings else profile.capture
        self._side: SideCopy | None = None
        self._streams: OutputStreams | None = None
        """None while the output of each stream is small …"""
        self._small = [bytearray()] if profile.streams == "merged" else [bytearray(), bytearray()]
        """… and is held here."""
        lifted = request.lifted
        observed = observers.live is not None or observers.passthrough is not None
        if planned.hides or observed or (lifted is not None and lifted.side):
            self._spill()

    def _spill(self) -> OutputStreams:
        """Set up windows, artifacts, redaction and observers, and feed them what was held."""
        if self._streams is not None:
            return self._streams
        planned, lifted = self._planned, self._planned.request.lifted
        if self._observers.live is not None:
            self._observers.live.redactor = planned.redactor
        hiding = planned.redactor if planned.hides else None
        kinds = _KINDS[self._profile.streams]
        self._streams = OutputStreams(kinds, self._shape, self._create, hiding, self._observers)
        if lifted is not None and lifted.side:
            from nacre.engine.side_copy import SideCopy

            fresh = None if hiding is None else hiding.fresh()
            self._side = SideCopy(lifted, self._create("output"), fresh)
        for spill, held in zip(self._streams.spills, self._small, strict=True):
            spill.feed(held)
        self._small = []
        return self._streams

    def _create(self, kind: str) -> Callable[[], ArtifactWriter]:
        settings = self._settings
        return lambda: self._store.create(
            kind, cap_bytes=settings.artifact_cap_bytes, head_bytes=settings.artifact_head_bytes
        )

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        streams = self._streams
        if streams is None:
            held = self._small[stream - 1]
            if len(held) + size <= self._shape.whole_bytes:
                held += buffer if size == len(buffer) else memoryview(buffer)[:size]
                return
            streams = self._spill()
        if stream == SIDE:
            assert self._side is not None
            self._side.feed(buffer, size)
        else:
            streams.feed(stream, buffer, size)

    def watch(self, feed: Callable[[bytes], object]) -> None:
        """Show the output to a watcher, from now on, beside those that see it already."""
        self._spill().watch(feed)

    def so_far(self, most_bytes: int) -> tuple[bytes, int]:
        """Return the newest output, and how many bytes came before it."""
        if self._streams is None:
            pieces = [bytes(held) for held in self._small]
            total = sum(map(len, pieces))
        else:
            windows = [spill.window for spill in self._streams.spills]
            pieces = [window.tail if window.whole is None else window.whole for window in windows]
            total = sum(window.total_bytes for window in windows)
        newest = b"".join(pieces)[-most_bytes:]
        return newest, total - len(newest)

    def outputs(self, *, keep_all: bool = False, ending: Ending | None = None) -> tuple[list[Output], list[str]]:
        """What is shown of each stream, and the notices about what could not be kept.

        Args:
            keep_all: keep small output in an artifact too.
            ending: how the run ended, if it did; then a long output is shortened for a model.
        """
        problems: list[str] = []
        shortened: dict[int, Output] = {}
        if self._minimizer is not None and ending is not None:
            if self._streams is not None or max(map(len, self._small)) >= LEAST_SHORTENED_BYTES:
                shortened = self._shortened(self._minimizer, ending, problems)
            if shortened and self._streams is None and len(self._small) == 1:
                return [shortened[0]], problems
        if self._streams is None and not keep_all and not shortened:
            shown = []
            for held in self._small:
                whole = bytes(held)
                lines = whole.count(b"\n") + (whole[-1:] not in (b"", b"\n"))
                size = len(whole)
                captured = Captured(whole=whole, head=whole, tail=whole, total_bytes=size, total_lines=lines)
                output = self._profile.view(captured, self._selection)
                if output.truncation is not None or output.capped_lines or output.redraws:
                    break
                shown.append(output)
            else:
                return shown, problems
        streams = self._spill()
        self._flush()
        outputs = []
        for number, spill in enumerate(streams.spills):
            if number in shortened:
                # All of it is the artifact of the shortened view.
                spill.discard()
                outputs.append(shortened[number])
                continue
            view = None if spill.window.overflowed else self._view(spill.window, None)
            # What the view cuts must be on disk, even if the window still holds all of it.
            if keep_all or (view is not None and (view.truncation or view.capped_lines or view.redraws)):
                spill.keep()
            result = spill.finish()
            if result.artifact is not None and result.artifact.dropped_bytes and self._profile.names_paths:
                self._put_in_order(result.artifact, problems)
            if view is None or result.artifact is not None:
                view = self._view(result.window, result.artifact)
            outputs.append(view)
            if result.error is not None:
                problems.append(f"the full output could not be kept: {result.error}")
        if self._side is not None:
            outputs[0] = self._side.attached_to(outputs[0], problems)
        return outputs, problems

    def _shortened(self, minimizer: MinimizerSettings, ending: Ending, problems: list[str]) -> dict[int, Output]:
        """The shortened views of streams, by their numbers; a stream that is shown as it is has none."""
        # Loaded here: most outputs are short.
        from nacre.engine.minimizing import MOST_BYTES, shortened_output

        if self._streams is None:
            wholes = [bytes(held) for held in self._small]
        else:
            self._flush()
            wholes = [spill.whole(MOST_BYTES) for spill in self._streams.spills]
        found = {
            number: shortened_output(
                whole,
                self._planned,
                ending.code,
                minimizer,
                problems,
                view=lambda captured: self._profile.view(captured, self._selection),
                create=self._create("bash-original"),
                names_paths=self._profile.names_paths,
            )
            for number, whole in enumerate(wholes)
            if len(whole) >= LEAST_SHORTENED_BYTES
        }
        return {number: output for number, output in found.items() if output is not None}

    def _put_in_order(self, artifact: ArtifactRef, problems: list[str]) -> None:
        """Make the file of an artifact that was over its cap readable for any program."""
        try:
            self._store.plain_path(artifact.id)
        except ArtifactError as error:
            problems.append(
                f"{artifact.path} is not in order; read it with `nacre artifacts show {artifact.id}`: {error}"
            )

    def _view(self, window: Window, artifact: ArtifactRef | None, selection: Selection | None = None) -> Output:
        captured = Captured(
            whole=window.whole,
            head=window.head,
            tail=window.tail,
            total_bytes=window.total_bytes,
            total_lines=window.total_lines,
            artifact=artifact,
        )
        output = self._profile.view(captured, self._selection if selection is None else selection)
        shown = (window.whole,) if window.whole is not None else (window.head, window.tail)
        if not self._planned.hides or all(map(is_plain, shown)):
            return output
        # A value with escapes or NULs inside is whole only where a view has taken them out.
        text = self._planned.redactor.redact_text(output.text)
        return output if text == output.text else replace(output, text=text)

    def _flush(self) -> None:
        """Pass on what redactors held back as the possible beginning of a hidden value."""
        if self._streams is not None:
            self._streams.flush()
        if self._side is not None:
            self._side.flush()

    # Handing over to the far side.

    def preview(self) -> Output:
        """The newest output so far."""
        newest = self._selection._replace(head=None, tail=None, keep="tail")
        return self._view(self._spill().spills[0].window, None, newest)

    def end_side(self) -> ArtifactRef | None:
        """End the copy of what a last stage selects from."""
        return None if self._side is None else self._side.end()

    def hand_over(self, path: str) -> tuple[bytes, str | None]:
        """Write all output so far to a job's file; return what is held back, and what could not be kept."""
        return self._spill().hand_over(path, self._store)

    def close(self) -> None:
        """End the artifacts of a run that gave no result; what they hold is kept."""
        if self._streams is None:
            return
        self._flush()
        for spill in self._streams.spills:
            spill.finish()
        if self._side is not None:
            self._side.close()


def _holding(shape: CaptureShape, shown_bytes: int) -> CaptureShape:
    """The shape, with ends that hold so many bytes of shown text, and a quarter more for escapes."""
    end = shown_bytes * 5 // 4
    head, tail = max(shape.head_bytes, end), max(shape.tail_bytes, end)
    return CaptureShape(max(shape.whole_bytes, head + tail), head, tail)
