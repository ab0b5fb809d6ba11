"""The jobs of a state directory: a list, the live log of the selected one, and what a person may do with it."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from nacre.errors import NacreError
from nacre.jobs import job_input, job_terminal
from nacre.jobs.job import Job
from nacre.jobs.table import JobTable
from nacre.kept_command import Waiting
from nacre.tui.job_log import JobLog
from nacre.tui.job_rows import job_row

LOOKS = 4
"""How often the files are looked at, in a second."""
MOST_JOBS = 200


class JobsPanel(Vertical):
    """Jobs, the newest first; running ones before those that have ended.

    Most of its methods are the handlers and actions that Textual calls by name.
    """

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
    JobsPanel > #jobs-prompt { height: auto; max-height: 3; padding: 0 1; background: $warning 20%; display: none; }
    JobsPanel > #jobs-prompt.-open { display: block; }
    JobsPanel > #jobs-input { display: none; height: 1; border: none; padding: 0 1; background: $panel; }
    JobsPanel > #jobs-input.-open { display: block; }
    JobsPanel > #jobs-keys { height: 1; padding: 0 1; color: $foreground 60%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "stop", "Stop"),
        Binding("i", "type", "Input"),
        Binding("t", "console", "Console"),
        Binding("escape", "leave", "Leave", show=False),
    ]

    class Chosen(Message):
        """The person wants the whole log of a job."""

        def __init__(self, job: Job) -> None:
            super().__init__()
            self.job = job

    class Stopped(Chosen):
        """The person stopped a job."""

    class Entered(Chosen):
        """The person wants the console of a job."""

    class Left(Message):
        """The person leaves the panel."""

    def __init__(self, table: JobTable, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._table = table
        self._jobs: dict[str, Job] = {}
        self._waiting: dict[str, Waiting] = {}
        self._lines: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        yield Static("Jobs", id="jobs-title")
        yield OptionList(id="jobs-list")
        yield JobLog()
        yield Static(id="jobs-prompt")
        yield Input(id="jobs-input", compact=True)
        yield Static("Enter whole log · i input · t console · s stop", id="jobs-keys")

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
        states = {job.id: job_terminal.state(job) for job in jobs if job.running}
        self._waiting = {one: state.waiting for one, state in states.items() if state is not None and state.waiting}
        self._list(jobs)
        running = sum(job.running for job in jobs)
        self.query_one("#jobs-title", Static).update(f"Jobs · {running} running of {len(jobs)}" if jobs else "No jobs")
        self._show_selected()

    def _list(self, jobs: list[Job]) -> None:
        options = self.query_one(OptionList)
        colours = self.app.theme_variables
        lines = {job.id: job_row(job, self._waiting.get(job.id), colours) for job in jobs}
        if list(lines) == list(self._jobs):
            for job in jobs:
                if lines[job.id].markup != self._lines.get(job.id):
                    options.replace_option_prompt(job.id, lines[job.id])
        else:
            selected = self.selected
            options.clear_options()
            options.add_options(Option(line, id=job_id) for job_id, line in lines.items())
            if jobs:
                ids = list(lines)
                options.highlighted = ids.index(selected.id) if selected is not None and selected.id in ids else 0
        self._jobs = {job.id: job for job in jobs}
        self._lines = {job_id: line.markup for job_id, line in lines.items()}

    def _show_selected(self) -> None:
        job = self.selected
        self.query_one(JobLog).show(job)
        waiting = None if job is None else self._waiting.get(job.id)
        prompt = self.query_one("#jobs-prompt", Static)
        prompt.set_class(waiting is not None, "-open")
        if waiting is not None:
            hidden = " (hidden)" if waiting.hidden else ""
            prompt.update(Text.assemble(("i answers: ", "bold"), waiting.prompt.strip(), hidden))
        entry = self.query_one(Input)
        # Once hidden it stays so while something is typed: what was typed for a password is not shown afterwards.
        entry.password = (waiting is not None and waiting.hidden) or (entry.password and bool(entry.value))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._send(self.Chosen)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._show_selected()

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

    def action_console(self) -> None:
        self._send(self.Entered)

    def action_type(self) -> None:
        """Open the line that is typed into the selected job."""
        job = self.selected
        if job is None or not job.running:
            return
        entry = self.query_one(Input)
        waiting = self._waiting.get(job.id)
        nowhere = "; it is recorded nowhere" if waiting is not None and waiting.hidden else ""
        entry.placeholder = f"a line for {job.id}: Enter sends, Esc leaves{nowhere}"
        entry.add_class("-open")
        entry.focus()

    def action_leave(self) -> None:
        entry = self.query_one(Input)
        if entry.has_class("-open"):
            self._close_line()
        else:
            self.post_message(self.Left())

    def _close_line(self) -> None:
        entry = self.query_one(Input)
        entry.value = ""
        entry.remove_class("-open")
        self.query_one(OptionList).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Type a line into the job: on its terminal, or where it has none into its open stdin."""
        event.stop()
        job, line = self.selected, event.value
        self._close_line()
        if job is None:
            return
        try:
            if job_terminal.has_terminal(job):
                job_terminal.write(job, f"{line}\r".encode("utf-8", "surrogateescape"))
            else:
                job_input.write_to(job, f"{line}\n".encode("utf-8", "surrogateescape"))
        except NacreError as error:
            self.notify(str(error), severity="warning")
