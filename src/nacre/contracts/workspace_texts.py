"""What the `workspace` tool answers: a text for the model, and `details` in camelCase for programs. Pure."""

from __future__ import annotations

from typing import Any, Literal

from nacre.contracts.contract import Reply
from nacre.contracts.facts import blame_of, facts_of
from nacre.contracts.waiting_texts import how_to_answer
from nacre.errors import InterceptedError, NacreError, WorkingDirectoryError
from nacre.kept_command import Background
from nacre.output.render import spell_omitted
from nacre.output.sizes import human_size
from nacre.result import SIGNAL_BASE, Exited, Lost, Output, ShellResult, Signalled, Stopped, TimedOut, Truncation
from nacre.settings import INLINE_BYTES, LINE_BYTES
from nacre.wording import counted


def present_refusal(error: NacreError) -> Reply:
    """Answer a call that ran nothing."""
    details = {"suggestedTool": error.tool} if isinstance(error, InterceptedError) else {}
    return Reply(text=_spell(error), is_error=True, details=details | blame_of(error))


def _spell(error: NacreError) -> str:
    if isinstance(error, WorkingDirectoryError):
        if error.reason == "does not exist":
            return f"Working directory does not exist: {error.path}"
        if error.reason == "is not a directory":
            return f"Working directory is not a directory: {error.path}"
    return str(error)


def present_result(result: ShellResult) -> Reply:
    """Answer a command that has ended: output, time, notices, status."""
    lines = [result.text.rstrip("\n") or "(no output)", "", f"Wall time: {result.elapsed:.2f} seconds", *result.notices]
    if result.adopted is not None:
        lines.append(f"it goes on as background job {result.adopted}")
    status = _status(result)
    if status is not None:
        lines += ["", status]
    notice = _output_notice(result.output)
    if notice is not None:
        lines += ["", f"[{notice}]"]
    return Reply(text="\n".join(lines), is_error=not result.ok, details=_details(result))


def present_aborted(shown: str) -> Reply:
    """Answer a call that its caller aborted, with the newest output; for wires that answer such calls."""
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
            return f"Command exited with code {SIGNAL_BASE + death.number} (killed by {death.name})"
        case TimedOut(limit):
            return f"[Command timed out after {limit:g} second{'' if limit == 1 else 's'}]"
        case Stopped("request"):
            return "[Command aborted]"
        case Stopped(by):
            return f"[Command stopped: {by}]"
        case Lost(reason):
            return f"Command failed: missing exit status ({reason})"


def _output_notice(output: Output) -> str | None:
    parts = []
    cut = output.truncation
    if cut is not None:
        total = output.total_lines
        shown = " and ".join(f"{first}-{last}" for first, last in (_head_range(cut), _tail_range(cut, total)) if last)
        limit = f" ({human_size(cut.limit_bytes or INLINE_BYTES)} limit)" if cut.by == "bytes" else ""
        left_out = spell_omitted(cut.omitted_lines, cut.omitted_bytes)
        parts.append(f"Showing lines {shown} of {total}{limit}; {left_out} left out")
    if output.capped_lines:
        parts.append(f"Some lines truncated to {output.line_bytes or LINE_BYTES} bytes")
    if output.redraws:
        parts.append(f"{counted(output.redraws, 'earlier state')} of redrawn lines left out")
    if output.artifact is not None and output.minimized is None:
        uri = f"artifact://{output.artifact.id}"
        parts.append(f"Full output: {uri}{_how_to_read(cut, output.total_lines)}")
        if output.artifact.dropped_bytes:
            parts.append(f"{human_size(output.artifact.dropped_bytes)} of its middle were over the cap and are gone")
    return ". ".join(parts) if parts else None


def _how_to_read(cut: Truncation | None, total: int) -> str:
    """Say how the lines that are left out are read; the tool's description has the rest."""
    first = 1 if cut is None else cut.skipped_lines + cut.head_lines + 1
    last = total if cut is None else total - cut.tail_lines
    return "" if cut is None or cut.skipped_lines or first > last else f' (read tool: lines "{first}:{last}")'


def _head_range(cut: Truncation) -> tuple[int, int]:
    """Return the first and last line number of the beginning; zeros if none is shown."""
    return (cut.skipped_lines + 1, cut.skipped_lines + cut.head_lines) if cut.head_lines else (0, 0)


def _tail_range(cut: Truncation, total: int) -> tuple[int, int]:
    return (total - cut.tail_lines + 1, total) if cut.tail_lines else (0, 0)


def _details(result: ShellResult) -> dict[str, Any]:
    details = _timeouts(result) | facts_of(result)
    if result.exit_code:
        details["exitCode"] = result.exit_code
    if result.adopted is not None:
        details["async"] = {"state": "running", "jobId": result.adopted, "type": "bash"}
    if result.recording is not None:
        details["recording"] = str(result.recording)
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
    """Write 300 rather than 300.0, as the caller did."""
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
            "maxBytes": cut.limit_bytes or INLINE_BYTES,
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
        most = output.line_bytes or LINE_BYTES
        meta["limits"] = {"columnTruncated": {"maxColumn": most, "unit": "bytes", "artifactId": artifact_id}}
    if output.redraws:
        meta["redraws"] = output.redraws
    return meta


def present_background(job: Background) -> Reply:
    """Answer a command that goes on as a job, or that became one and has ended."""
    lines = []
    if preview := job.preview.rstrip():
        lines += [preview, ""]
    lines += list(job.notices)
    if job.event is not None:
        lines.append(f"Happened after {job.elapsed:.2f} seconds: {job.event}")
    if job.outcome is not None:
        return _ended_at_once(job, lines)
    lines.append(f"Background job {job.job_id} started: {job.label}")
    if job.waiting_for is not None:
        lines.append(how_to_answer(job.job_id, job.waiting_for, shown=job.preview))
    lines.append(f'Its result will be delivered when it ends; to wait for it: job {{"poll": ["{job.job_id}"]}}')
    return Reply(text="\n".join(lines), is_error=False, details=_job_details(job, "running"))


def _ended_at_once(job: Background, lines: list[str]) -> Reply:
    lines.append(f"Background job {job.job_id} has ended already, {job.outcome}: {job.label}")
    ok = job.exit_code == 0
    details = _job_details(job, "completed" if ok else "failed")
    if job.exit_code:
        details["exitCode"] = job.exit_code
    return Reply(text="\n".join(lines), is_error=not ok, details=details)


def _job_details(job: Background, state: Literal["running", "completed", "failed"]) -> dict[str, Any]:
    waiting = {} if job.waiting_for is None else {"waitingFor": job.waiting_for.details()}
    confined = {} if job.sandbox is None else {"sandbox": dict(job.sandbox)}
    return (
        _timeouts(job)
        | {
            "async": {"state": state, "jobId": job.job_id, "type": "bash"},
            "pid": job.pid,
            "outputFile": job.output_file,
        }
        | waiting
        | confined
    )
