"""The newest rows of a job's output, as they are written."""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.widget import Widget

from nacre.errors import NacreError
from nacre.feed.folding import rows_of
from nacre.jobs.job import Job
from nacre.jobs.output_file import JobFile
from nacre.output.decode import decode, trim_tail
from nacre.output.escapes import strip
from nacre.output.lines import settle

# What is read of a log: more than a screen shows.
LOG_BYTES = 32 * 1024


class JobLog(Widget, can_focus=False):
    """The newest rows of a job's output."""

    DEFAULT_CSS = "JobLog { height: 1fr; padding: 0 1; background: $background; color: $foreground 88%; }"

    def __init__(self) -> None:
        super().__init__()
        self._job: Job | None = None
        self._read_to = -1
        self.text = ""

    def show(self, job: Job | None) -> None:
        """Show the log of a job as it is now."""
        if job is None or self._job is None or job.id != self._job.id:
            self._read_to = -1
        self._job = job
        if job is None:
            self.text = ""
            self.refresh()
            return
        try:
            with JobFile.open(job) as file:
                if file.end == self._read_to:
                    return
                self._read_to = file.end
                data = file.read(max(0, file.end - LOG_BYTES), LOG_BYTES).data
        except NacreError as error:
            self.text = str(error)
        else:
            self.text = settle(strip(decode(trim_tail(data)))).text
        self.refresh()

    def render(self) -> Text:
        rows = rows_of(self.text, max(1, self.content_size.width))[-max(1, self.content_size.height) :]
        return Text("\n".join(rows), no_wrap=True)

    def on_resize(self, event: events.Resize) -> None:
        self.refresh()
