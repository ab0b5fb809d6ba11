"""Where the output of one run goes: a bounded window and an artifact for each stream, and what observes it live."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from nacre.artifacts.spill import Spill, SpillResult
from nacre.artifacts.store import ArtifactStore
from nacre.artifacts.writer import ArtifactWriter
from nacre.backend import SIDE, Ending
from nacre.errors import ArtifactError
from nacre.output.captured import Captured, Selection
from nacre.output.escapes import is_plain
from nacre.output.redaction.redactor import Redactor
from nacre.output.sizes import human_size
from nacre.output.window import Window
from nacre.planning.plan import Plan
from nacre.profile import CaptureShape, Profile
from nacre.request import Lifted
from nacre.result import ArtifactRef, Minimized, Output
from nacre.settings import MinimizerSettings, Settings
from nacre.state_directory import SURVEY_SECONDS, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.engine.live import LiveTail

# Of a producer whose last stage is lifted: smaller outputs are kept only if the stage hid something.
SIDE_BYTES = 64 * 1024

# A shorter output cannot save enough.
LEAST_SHORTENED_BYTES = 1024

Passthrough = Callable[[int, memoryview], None]

_KINDS = {"merged": ("output",), "split": ("stdout", "stderr")}


class Nowhere:
    """The sink of a command whose output the far side keeps."""

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        raise AssertionError("a kept command's output is not read here")


class Observers(NamedTuple):
    """What sees the output of a run while it comes, without hidden values."""

    live: LiveTail | None = None
    passthrough: Passthrough | None = None


NO_OBSERVERS = Observers()


class Capture:
    """The sink of a run whose output is wanted. Small output that nothing observes or hides stays a plain buffer."""

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
        self._watch: Callable[[bytes], object] | None = None
        self._redactors: list[Redactor] = []
        self._side: Spill | None = None
        self._side_redactor: Redactor | None = None
        self._spills: list[Spill] | None = None
        """None while the output of each stream is small …"""
        self._small = [bytearray()] if profile.streams == "merged" else [bytearray(), bytearray()]
        """… and is held here."""
        lifted = request.lifted
        observed = observers.live is not None or observers.passthrough is not None
        if planned.hides or observed or (lifted is not None and lifted.side):
            self._spill()

    def _spill(self) -> list[Spill]:
        """Set up windows, artifacts, redaction and observers, and feed them what was held."""
        if self._spills is not None:
            return self._spills
        shape, redactor = self._shape, self._planned.redactor
        kinds = _KINDS[self._profile.streams]
        if self._planned.hides:
            self._redactors = [redactor.fresh() for _ in kinds]
        if self._observers.live is not None:
            self._observers.live.redactor = redactor
        self._spills = [
            Spill(Window(shape.head_bytes, shape.tail_bytes, whole_bytes=shape.whole_bytes), self._create(kind))
            for kind in kinds
        ]
        if self._lifted is not None and self._lifted.side:
            self._side = Spill(Window(0, 0, whole_bytes=SIDE_BYTES), self._create("output"))
            self._side_redactor = redactor.fresh() if self._planned.hides else None
        for spill, held in zip(self._spills, self._small, strict=True):
            spill.feed(held)
        self._small = []
        return self._spills

    def _create(self, kind: str) -> Callable[[], ArtifactWriter]:
        settings = self._settings
        return lambda: self._store.create(
            kind, cap_bytes=settings.artifact_cap_bytes, head_bytes=settings.artifact_head_bytes
        )

    @property
    def _lifted(self) -> Lifted | None:
        return self._planned.request.lifted

    def feed(self, stream: int, buffer: bytearray, size: int) -> None:
        if self._spills is None:
            held = self._small[stream - 1]
            if self._watch is None and len(held) + size <= self._shape.whole_bytes:
                held += buffer if size == len(buffer) else memoryview(buffer)[:size]
                return
            self._spill()
        if stream == SIDE:
            self._feed_side(buffer, size)
            return
        if self._redactors:
            buffer = bytearray(self._redactors[stream - 1].feed(memoryview(buffer)[:size]))
            size = len(buffer)
        self._take(stream, buffer, size)

    def _take(self, stream: int, buffer: bytearray, size: int) -> None:
        assert self._spills is not None
        self._spills[stream - 1].feed(buffer, size)
        if self._observers.live is not None:
            self._observers.live.feed(buffer, size)
        if self._watch is not None:
            self._watch(bytes(memoryview(buffer)[:size]))
        if self._observers.passthrough is not None:
            self._observers.passthrough(stream, memoryview(buffer)[:size])

    def _feed_side(self, buffer: bytearray, size: int) -> None:
        assert self._side is not None
        if self._side_redactor is not None:
            buffer = bytearray(self._side_redactor.feed(memoryview(buffer)[:size]))
            size = len(buffer)
        self._side.feed(buffer, size)

    def watch(self, feed: Callable[[bytes], object]) -> None:
        """Show the output to a watcher, from now on, beside the one that sees it already."""
        before = self._watch

        def both(data: bytes) -> None:
            assert before is not None
            before(data)
            feed(data)

        self._watch = feed if before is None else both

    def so_far(self, most_bytes: int) -> tuple[bytes, int]:
        """Return the newest output, and how many bytes came before it."""
        if self._spills is None:
            pieces = [bytes(held) for held in self._small]
            total = sum(map(len, pieces))
        else:
            windows = [spill.window for spill in self._spills]
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
        if self._minimizer is not None and ending is not None:
            long = self._spills is not None or len(self._small[0]) >= LEAST_SHORTENED_BYTES
            if long and (shortened := self._shortened(self._minimizer, ending, problems)) is not None:
                if self._side is not None:
                    shortened = self._with_side(shortened, self._side, problems)
                return [shortened], problems
        if self._spills is None and not keep_all:
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
        spills = self._spill()
        self._flush()
        outputs = []
        for spill in spills:
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
            outputs[0] = self._with_side(outputs[0], self._side, problems)
        return outputs, problems

    def _shortened(self, minimizer: MinimizerSettings, ending: Ending, problems: list[str]) -> Output | None:
        """The shortened view of an output, once all of it is an artifact; None if it stays as it is."""
        whole = self._whole()
        if len(whole) < LEAST_SHORTENED_BYTES:
            return None
        # Loaded here: most outputs are short.
        from nacre.engine.minimizing import shortened_text

        found, notices = shortened_text(whole.decode("utf-8", "replace"), self._planned.request, ending.code, minimizer)
        problems += notices
        if found is None:
            return None
        text = self._planned.redactor.redact_text(found.text) if self._planned.hides else found.text
        data = text.encode("utf-8", "replace")
        lines = text.count("\n") + 1
        captured = Captured(whole=data, head=data, tail=data, total_bytes=len(data), total_lines=lines)
        view = self._profile.view(captured, self._selection)
        original = self._original(whole) if view.truncation is None else None
        if original is None:
            return None
        return replace(
            view,
            text=f"{view.text.rstrip()}\n[raw output: artifact://{original.id}]\n",
            total_bytes=len(whole),
            total_lines=whole.count(b"\n") + (whole[-1:] != b"\n"),
            artifact=original,
            minimized=Minimized(
                filter=found.filter,
                raw_bytes=found.raw_bytes,
                shown_bytes=found.shown_bytes,
                artifact_id=original.id,
            ),
        )

    def _whole(self) -> bytes:
        """All output of the only stream; empty if it is not at hand."""
        if self._spills is None:
            return bytes(self._small[0])
        self._flush()
        return self._spills[0].window.whole or b""

    def _original(self, whole: bytes) -> ArtifactRef | None:
        """The artifact of an output before it is shortened; None if it could not be kept."""
        try:
            writer = self._create("bash-original")()
        except ArtifactError:
            return None
        writer.write(whole)
        artifact = writer.close()
        return artifact if writer.error is None else None

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

    def _with_side(self, output: Output, side: Spill, problems: list[str]) -> Output:
        """The output with the artifact of the whole, of which a last stage showed only a part."""
        result = self._finish_side(side)
        if result.error is not None:
            problems.append(f"the full output could not be kept: {result.error}")
        if result.artifact is None:
            return output
        if output.artifact is not None:
            # The numbers of the lines shown are those of what was selected, so its own artifact stays the first.
            assert self._lifted is not None
            problems.append(f"all that `{self._lifted.stage}` selected from is artifact://{result.artifact.id}")
            return output
        return replace(output, artifact=result.artifact)

    def _finish_side(self, side: Spill) -> SpillResult:
        assert self._lifted is not None
        if self._lifted.hides(lines=side.window.total_lines, size=side.window.total_bytes):
            side.keep()
        return side.finish()

    # Handing over to the far side.

    def preview(self) -> Output:
        """The newest output so far."""
        return self._view(self._spill()[0].window, None, self._selection._replace(head=None, tail=None, keep="tail"))

    def end_side(self) -> ArtifactRef | None:
        """End the copy of what a last stage selects from."""
        if self._side is None:
            return None
        self._flush_side()
        return self._finish_side(self._side).artifact

    def hand_over(self, path: str) -> tuple[bytes, str | None]:
        """Write all output so far to a job's file; returns what is held back as the beginning of a secret.

        And what could not be kept, in words; the file has a mark in its place.
        The far side goes on with the redaction where this side stops, so a value cut in two is still found.
        """
        (spill,) = self._spill()
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
                place.call_within(SURVEY_SECONDS, _copy, self._store.plain_path(artifact.id), path)
                self._store.remove(artifact.id)
            else:
                problem = f"{human_size(window.omitted_bytes)} of the output so far could not be kept: {result.error}"
                place.call(_write_new, path, window.head + f"\n[… {problem} …]\n".encode() + window.tail)
        except (OSError, ArtifactError) as error:
            # A full disk costs the output so far, not the command.
            reason = error.strerror if isinstance(error, OSError) else error
            problem = f"the output so far ({human_size(window.total_bytes)}) could not be kept: {reason}"
        return held, problem

    def _flush(self) -> None:
        """Let go of what a redactor held back as the possible beginning of a secret."""
        redactors, self._redactors = self._redactors, []
        for stream, redactor in enumerate(redactors, start=1):
            if rest := redactor.flush():
                self._take(stream, bytearray(rest), len(rest))
        self._flush_side()

    def _flush_side(self) -> None:
        if self._side is not None and self._side_redactor is not None:
            self._side.feed(self._side_redactor.flush())
            self._side_redactor = None

    def close(self) -> None:
        """End the artifacts of a run that gave no result; what they hold is kept."""
        if self._spills is None:
            return
        self._flush()
        for spill in [*self._spills, *([self._side] if self._side is not None else [])]:
            spill.finish()


def _holding(shape: CaptureShape, shown_bytes: int) -> CaptureShape:
    """The shape, with ends that hold so many bytes of shown text, and a quarter more for escapes."""
    end = shown_bytes * 5 // 4
    head, tail = max(shape.head_bytes, end), max(shape.tail_bytes, end)
    return CaptureShape(max(shape.whole_bytes, head + tail), head, tail)


def _copy(source: str, path: str) -> None:
    # Loaded here: it brings every kind of compression along.
    import shutil

    shutil.copyfile(source, path)
    os.chmod(path, 0o600)


def _write_new(path: str, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        file.write(data)
