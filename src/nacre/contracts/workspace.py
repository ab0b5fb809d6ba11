"""The `workspace` contract (W, X): a coding agent's shell, with jobs, artifacts and readable output.

Pure translation: arguments become a request, a result becomes a text and `details`; docs/statements.md has the names.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Literal

from nacre.contracts.contract import Reply, Scene
from nacre.contracts.facts import facts_of
from nacre.contracts.fields import arguments_of, command_of, mapping_of, number_of
from nacre.errors import InterceptedError, InvalidRequestError, NacreError, WorkingDirectoryError, shown
from nacre.output.captured import EVERYTHING, Captured, Selection
from nacre.output.render import INLINE_BYTES, Rendered, render, spell_omitted
from nacre.output.sizes import human_size
from nacre.profile import Background, CaptureShape, Profile
from nacre.request import ShellRequest, check_encodable, check_env, name_of
from nacre.result import Exited, Lost, Output, ShellResult, Signalled, Stopped, TimedOut, Truncation
from nacre.until import decode_until

DEFAULT_SECONDS = 300.0
# What is looked at to make the view; what a progress bar redraws is raw output too.
WHOLE_BYTES = 512 * 1024
END_BYTES = 64 * 1024

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

DESCRIPTION = """\
Runs a shell command with bash in the workspace and returns stdout and stderr merged in true order.

{state}
- `timeout` (default 300 s, at most 3600) kills the command and everything it started.{patience}
- Output over 50 KB is shown as its first and last lines; all of it is kept, and the result says how to read the rest.
  Never pipe into head or tail to save tokens and never run a command again to see more of its output.
- stdin is empty and prompts are disabled. A failing stage hidden by a pipe is pointed out.
{background}- Working directory: {cwd}"""

PERSISTS = """\
- One shell for all calls: its directory, variables and functions stay. `cwd` and `env` are for one call only; use `env`
  for values with quotes or newlines. Calls run one at a time."""

STATELESS = """\
- State (cwd, variables, functions) does not carry over between calls: use `cwd`, and `env` for values with quotes or
  newlines."""

BACKGROUND = """\
- Servers, watchers and long builds: `async: true` returns a job id at once, or `until` ({"port": 3000},
  {"regex": "ready"}, {"file": "out.log"}, {"quiet": 5}) returns when that has happened and keeps the command as a job.
  What a command leaves running with `&` becomes a job too.
- A job's result is delivered when it ends. Do not poll with sleep, ps or tail: the `job` tool waits for you (poll).
"""

PATIENCE = """ A command that merely takes
  longer than {window} is not killed before its timeout: it goes on as a background job, and you get its id."""


def view(captured: Captured, selection: Selection = EVERYTHING) -> Output:
    """The readable view; what is left out is told as whole lines."""
    rendered = render(captured, selection)
    truncation = None
    if rendered.truncated:
        kept: Literal["head", "tail", "both"] = "head" if rendered.head_lines else "tail"
        truncation = Truncation(
            kept="both" if rendered.head_lines and rendered.tail_lines else kept,
            omitted_bytes=rendered.omitted_bytes,
            omitted_lines=rendered.omitted_lines,
            head_lines=rendered.head_lines,
            tail_lines=rendered.tail_lines,
            skipped_lines=rendered.skipped_lines,
            by=_limit_reached(rendered, selection),
        )
    return captured.shown_as(rendered.text, truncation, capped_lines=rendered.capped_lines, redraws=rendered.redraws)


def _limit_reached(rendered: Rendered, selection: Selection) -> Literal["lines", "bytes"]:
    wanted = [count for count in (selection.head, selection.tail) if count is not None]
    return "lines" if wanted and rendered.head_lines + rendered.tail_lines >= min(wanted) else "bytes"


class Workspace:
    profile = Profile(
        contract="workspace",
        timeout=DEFAULT_SECONDS,
        grace=5.0,
        streams="merged",
        capture=CaptureShape(whole_bytes=WHOLE_BYTES, head_bytes=END_BYTES, tail_bytes=END_BYTES),
        view=view,
        normalises=True,
        adopts_survivors=True,
        moves_to_background=True,
        tells_early_end=True,
        sources_rc=True,
        persists=True,
    )

    def schema(self, scene: Scene) -> dict[str, Any]:
        properties: dict[str, Any] = {
            "command": {"type": "string", "description": "Shell command to run; multi-line scripts are fine"},
            "env": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "Extra environment variables, passed as values, not as shell text",
            },
            "timeout": {
                "type": "number",
                "description": "Seconds until the command and all it started are killed (default 300, 1 to 3600)",
            },
            "cwd": {"type": "string", "description": "Directory to run in, relative to the working directory"},
            "pty": {"type": "boolean", "description": "Only for programs that need a real terminal"},
            "head": {"type": "integer", "minimum": 1, "description": "Show only the first lines; all is kept"},
            "tail": {"type": "integer", "minimum": 1, "description": "Show only the last lines; all is kept"},
        }
        if scene.async_enabled:
            properties["until"] = {
                "type": "object",
                "description": "Return when this has happened and keep the command as a job; give exactly one",
                "properties": {
                    "regex": {"type": "string", "description": "appears in the output"},
                    "port": {"type": "integer", "description": "accepts connections on this machine"},
                    "file": {"type": "string", "description": "exists"},
                    "quiet": {"type": "number", "description": "seconds without output"},
                },
                "additionalProperties": False,
            }
            properties["async"] = {
                "type": "boolean",
                "description": "Start as a background job and return its id at once; it is not waited for",
            }
        moves = scene.async_enabled and scene.window > 0
        description = DESCRIPTION.format(
            state=PERSISTS if scene.persists else STATELESS,
            patience=PATIENCE.format(window=f"{scene.window:g} s") if moves else "",
            background=BACKGROUND if scene.async_enabled else "",
            cwd=scene.cwd,
        )
        return {
            "name": "bash",
            "description": description,
            "input_schema": {
                "type": "object",
                "properties": properties,
                "required": ["command"],
                "additionalProperties": False,
            },
        }

    def decode(self, arguments: object) -> ShellRequest:
        fields = arguments_of(
            arguments, known=["command", "env", "timeout", "cwd", "pty", "async", "head", "tail", "until"]
        )
        background = _flag(fields, "async")
        until = fields.get("until")
        if background and until is not None:
            raise InvalidRequestError(
                "fields 'async' and 'until' cannot be combined: async does not wait; leave out async", field="until"
            )
        return ShellRequest(
            command=command_of(fields),
            env=_variables(fields.get("env")),
            timeout=_seconds(fields.get("timeout")),
            cwd=_text(fields, "cwd") or None,
            terminal=_flag(fields, "pty"),
            mode="background" if background else "foreground",
            head=_lines(fields, "head"),
            tail=_lines(fields, "tail"),
            until=None if until is None else decode_until(until),
        )

    def present(self, result: ShellResult | Background) -> Reply:
        if isinstance(result, Background):
            return present_background(result)
        return present_result(result)

    def refuse(self, error: NacreError) -> Reply:
        details: dict[str, Any] = {}
        if isinstance(error, InterceptedError):
            details["suggestedTool"] = error.tool
        return Reply(text=_spell(error), is_error=True, details=details)


def _spell(error: NacreError) -> str:
    if isinstance(error, WorkingDirectoryError):
        if error.reason == "does not exist":
            return f"Working directory does not exist: {error.path}"
        if error.reason == "is not a directory":
            return f"Working directory is not a directory: {error.path}"
    return str(error)


# Decoding.


def _flag(fields: Any, name: str) -> bool:
    value = fields.get(name)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise InvalidRequestError(f"field '{name}' must be true or false, got {shown(value)}", field=name)
    return value


def _text(fields: Any, name: str) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or "\0" in value:
        raise InvalidRequestError(f"field '{name}' must be a text without NUL, got {shown(value)}", field=name)
    check_encodable(value, name)
    return value


def _lines(fields: Any, name: str) -> int | None:
    # 0 means none, as an absent one does.
    return number_of(fields, name, least=0) or None


def _seconds(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise InvalidRequestError(f"field 'timeout' must be a number of seconds, got {shown(value)}", field="timeout")
    return float(value)


def _variables(value: Any) -> dict[str, str] | None:
    if value is None:
        return None
    value = mapping_of(value, "env")
    check_env(value)
    for name in value:
        if not _NAME.fullmatch(name):
            plain = name_of(name).strip("'")
            raise InvalidRequestError(
                f"Invalid bash env name: {plain}; letters, digits and underscores, no digit first", field="env"
            )
    return value or None


# Presenting.


def present_result(result: ShellResult) -> Reply:
    lines = [result.text.rstrip("\n") or "(no output)", "", f"Wall time: {result.elapsed:.2f} seconds", *result.notices]
    if result.adopted is not None:
        lines.append(f"What it left running goes on as background job {result.adopted}; its output is kept there")
    status = _status(result)
    if status is not None:
        lines += ["", status]
    notice = _output_notice(result.output)
    if notice is not None:
        lines += ["", f"[{notice}]"]
    return Reply(text="\n".join(lines), is_error=not result.ok, details=_details(result))


def present_aborted(shown: str) -> Reply:
    """A call that its caller aborted, for wires that answer such a one too: the newest output so far."""
    shown = shown.rstrip("\n")
    text = f"{shown}\n\n[Command aborted]" if shown else "Command aborted"
    return Reply(text=text, is_error=True, details={"aborted": True})


def _status(result: ShellResult) -> str | None:
    match result.outcome:
        case Exited(0):
            return None
        case Exited(code):
            return f"Command exited with code {code}"
        case Signalled() as death:
            return f"Command exited with code {128 + death.number} (killed by {death.name})"
        case TimedOut(limit):
            return f"[Command timed out after {limit:g} seconds]"
        case Stopped():
            return "[Command aborted]"
        case Lost(reason):
            return f"Command failed: missing exit status ({reason})"


def _output_notice(output: Output) -> str | None:
    parts = []
    cut = output.truncation
    if cut is not None:
        total = output.total_lines
        shown = " and ".join(f"{first}-{last}" for first, last in (_head_range(cut), _tail_range(cut, total)) if last)
        limit = f" ({human_size(INLINE_BYTES)} limit)" if cut.by == "bytes" else ""
        left_out = spell_omitted(cut.omitted_lines, cut.omitted_bytes)
        parts.append(f"Showing lines {shown} of {total}{limit}; {left_out} left out")
    if output.capped_lines:
        parts.append("Some lines truncated to 768 bytes")
    if output.redraws:
        states = f"{output.redraws} earlier state{'' if output.redraws == 1 else 's'}"
        parts.append(f"{states} of redrawn lines left out")
    if output.artifact is not None:
        uri = f"artifact://{output.artifact.id}"
        parts.append(
            f"Full output: {uri} (read tool, or `cat {uri}`; offset, tail and grep work without running it again)"
        )
        if output.artifact.dropped_bytes:
            parts.append(f"{human_size(output.artifact.dropped_bytes)} of its middle were over the cap and are gone")
    return ". ".join(parts) if parts else None


def _head_range(cut: Truncation) -> tuple[int, int]:
    """First and last line of the beginning; zeros where none is shown."""
    return (cut.skipped_lines + 1, cut.skipped_lines + cut.head_lines) if cut.head_lines else (0, 0)


def _tail_range(cut: Truncation, total: int) -> tuple[int, int]:
    return (total - cut.tail_lines + 1, total) if cut.tail_lines else (0, 0)


def _details(result: ShellResult) -> dict[str, Any]:
    details = _timeouts(result) | facts_of(result)
    if result.exit_code:
        details["exitCode"] = result.exit_code
    if result.adopted is not None:
        details["async"] = {"state": "running", "jobId": result.adopted, "type": "bash"}
    if result.terminal_id is not None:
        details["terminalId"] = result.terminal_id
    meta = _meta(result.output)
    if meta:
        details["meta"] = meta
    return details


def _timeouts(result: ShellResult | Background) -> dict[str, Any]:
    details: dict[str, Any] = {"timeoutSeconds": _whole(result.timeout)}
    if result.requested_timeout is not None:
        details["requestedTimeoutSeconds"] = _whole(result.requested_timeout)
    return details


def _whole(seconds: float | None) -> float | int | None:
    """300 rather than 300.0, as the caller wrote it."""
    return int(seconds) if seconds is not None and seconds == int(seconds) else seconds


def _meta(output: Output) -> dict[str, Any]:
    meta: dict[str, Any] = {}
    artifact_id = None if output.artifact is None else str(output.artifact.id)
    cut = output.truncation
    if cut is not None:
        total = output.total_lines
        truncation: dict[str, Any] = {
            "direction": {"both": "middle", "head": "head", "tail": "tail"}[cut.kept],
            "truncatedBy": "middle" if cut.kept == "both" else cut.by,
            "totalLines": total,
            "totalBytes": output.total_bytes,
            "outputLines": cut.head_lines + cut.tail_lines,
            "outputBytes": output.total_bytes - cut.omitted_bytes,
            "maxBytes": INLINE_BYTES,
            "elidedLines": cut.omitted_lines,
            "elidedBytes": cut.omitted_bytes,
        }
        if cut.kept == "both":
            truncation["headRange"] = list(_head_range(cut))
            truncation["tailRange"] = list(_tail_range(cut, total))
        elif cut.kept == "head":
            truncation["shownRange"] = list(_head_range(cut))
            truncation["nextOffset"] = _head_range(cut)[1] + 1
        else:
            truncation["shownRange"] = list(_tail_range(cut, total))
        if artifact_id is not None:
            truncation["artifactId"] = artifact_id
        meta["truncation"] = truncation
    if output.capped_lines:
        meta["limits"] = {"columnTruncated": {"maxColumn": 768, "unit": "bytes", "artifactId": artifact_id}}
    if output.redraws:
        meta["redraws"] = output.redraws
    return meta


def present_background(job: Background) -> Reply:
    lines = []
    if preview := job.preview.rstrip():
        lines += [preview, ""]
    lines += list(job.notices)
    if job.event is not None:
        lines.append(f"Happened after {job.elapsed:.2f} seconds: {job.event}. The command goes on.")
    if job.outcome is not None:
        return _ended_at_once(job, lines)
    lines.append(f"Background job {job.job_id} started: {job.label}")
    lines.append(
        "Its result will be delivered when it ends. Do other work meanwhile; do not poll with sleep, ps or tail. "
        f'The job tool can wait ({{"poll": ["{job.job_id}"]}}), read ({{"read": "{job.job_id}"}}) or cancel it.'
    )
    return Reply(text="\n".join(lines), is_error=False, details=_job_details(job, "running"))


def _ended_at_once(job: Background, lines: list[str]) -> Reply:
    lines.append(f"Background job {job.job_id} has ended already, {job.outcome}: {job.label}")
    ok = job.exit_code == 0
    details = _job_details(job, "completed" if ok else "failed")
    if job.exit_code:
        details["exitCode"] = job.exit_code
    return Reply(text="\n".join(lines), is_error=not ok, details=details)


def _job_details(job: Background, state: Literal["running", "completed", "failed"]) -> dict[str, Any]:
    return _timeouts(job) | {
        "async": {"state": state, "jobId": job.job_id, "type": "bash"},
        "pid": job.pid,
        "outputFile": job.output_file,
    }
