"""The jobs of a state directory: a list, the live log of the selected one, and what a person may do with it."""

from __future__ import annotations

import time
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from nacre.errors import NacreError
from nacre.jobs.job import Job
from nacre.jobs.output_file import JobFile
from nacre.jobs.table import JobTable
from nacre.output.decode import decode, trim_tail
from nacre.output.escapes import strip
from nacre.output.lines import settle
from nacre.tui.job_words import job_state
from nacre.tui.whole_output import rows_of

LOOKS = 4
"""How often the files are looked at, in a second."""
# What is read of a log: more than a screen shows.
LOG_BYTES = 32 * 1024
MOST_JOBS = 200


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


class JobsPanel(Vertical):
    """Jobs, the newest first; running ones before those that have ended."""

    DEFAULT_CSS = """
    JobsPanel { background: $surface; border-left: vkey $panel; }
    JobsPanel > #jobs-title { height: 1; padding: 0 1; background: $panel; text-style: bold; }
    JobsPanel > OptionList, JobsPanel > OptionList:focus {
        height: auto; max-height: 40%; border: none; padding: 0; background: $surface; scrollbar-size-vertical: 1;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    JobsPanel > OptionList > .option-list--option { padding: 0 1; }
    JobsPanel > OptionList > .option-list--option-highlighted,
    JobsPanel > OptionList:focus > .option-list--option-highlighted {
        background: $panel; color: $foreground; text-style: none;
    }
    JobsPanel > #jobs-keys { height: 1; padding: 0 1; color: $foreground 60%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "stop", "Stop"),
    ]

    class Chosen(Message):
        """The person wants the whole log of a job."""

        def __init__(self, job: Job) -> None:
            super().__init__()
            self.job = job

    class Stopped(Chosen):
        """The person stopped a job."""

    def __init__(self, table: JobTable, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._table = table
        self._jobs: dict[str, Job] = {}
        self._lines: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        yield Static("Jobs", id="jobs-title")
        yield OptionList(id="jobs-list")
        yield JobLog()
        yield Static("Enter whole log · s stop", id="jobs-keys")

    def on_mount(self) -> None:
        self.set_interval(1 / LOOKS, self.look)

    @property
    def selected(self) -> Job | None:
        """The job that is highlighted in the list."""
        options = self.query_one(OptionList)
        if options.highlighted is None:
            return None
        return self._jobs.get(options.get_option_at_index(options.highlighted).id or "")

    def look(self) -> None:
        """Read the records and the log again."""
        if not self.display:
            return
        try:
            found = self._table.list().jobs
        except NacreError as error:
            self.query_one("#jobs-title", Static).update(f"Jobs: {error}")
            return
        jobs = sorted(found, key=lambda job: (job.running, job.record.get("startedAt", 0)), reverse=True)[:MOST_JOBS]
        self._list(jobs)
        running = sum(job.running for job in jobs)
        self.query_one("#jobs-title", Static).update(f"Jobs · {running} running of {len(jobs)}" if jobs else "No jobs")
        self.query_one(JobLog).show(self.selected)

    def _list(self, jobs: list[Job]) -> None:
        options = self.query_one(OptionList)
        lines = {job.id: _line(job) for job in jobs}
        if list(lines) == list(self._jobs):
            for job in jobs:
                if lines[job.id].plain != self._lines.get(job.id):
                    options.replace_option_prompt(job.id, lines[job.id])
        else:
            selected = self.selected
            options.clear_options()
            options.add_options(Option(line, id=job_id) for job_id, line in lines.items())
            if jobs:
                ids = list(lines)
                options.highlighted = ids.index(selected.id) if selected is not None and selected.id in ids else 0
        self._jobs = {job.id: job for job in jobs}
        self._lines = {job_id: line.plain for job_id, line in lines.items()}

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._send(self.Chosen)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self.query_one(JobLog).show(self.selected)

    def _send(self, kind: type[JobsPanel.Chosen]) -> None:
        job = self.selected
        if job is not None:
            self.post_message(kind(job))

    def action_stop(self) -> None:
        """Stop the selected job and everything it started."""
        job = self.selected
        if job is None or not job.running:
            return
        try:
            self._table.stop(job.id)
        except NacreError as error:
            self.notify(str(error), severity="error")
        else:
            self._send(self.Stopped)


_COLOURS = {"running": "bold", "failed": "red", "ok": "green"}


def _line(job: Job) -> Text:
    record = job.record
    seconds = (record.get("endedAt") or time.time()) - record.get("startedAt", time.time())
    state = job_state(job)
    kind = "running" if job.running else "ok" if state == "exit 0" else "failed"
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(f"{job.id:<6}", "bold")
    line.append(f"{state:<9} ", _COLOURS[kind])
    line.append(f"{_age(seconds):>6}  ", "dim")
    line.append(" ".join(str(record.get("command", "")).split()))
    return line


def _age(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
