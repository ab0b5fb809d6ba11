"""The `modes` contract (REQ-BASH, N): one command, one mode, combined output in true order."""

from __future__ import annotations

from typing import Any

from nacre.contracts.contract import Reply, Scene
from nacre.contracts.facts import facts_of
from nacre.contracts.fields import arguments_of, command_of
from nacre.errors import InvalidRequestError, NacreError, RefusedError, RequestError, shown
from nacre.output.captured import EVERYTHING, Captured, Selection
from nacre.output.decode import CHARACTER_BYTES, decode, fit_head, fit_tail
from nacre.output.sizes import human_size
from nacre.profile import Background, CaptureShape, Profile
from nacre.request import ShellRequest
from nacre.result import (
    SIGNAL_BASE,
    Exited,
    Lost,
    Output,
    ShellResult,
    Signalled,
    Stopped,
    TimedOut,
    Truncation,
)

# Mode → seconds (REQ-BASH-002, REQ-BASH-003).
TIMEOUTS = {"default": 30.0, "slow": 15 * 60.0, "background": 24 * 3600.0}
LIMIT_BYTES = 128 * 1024
SNIP_BYTES = 4 * 1024
SNIP = "\n\n[snip]\n\n"

DESCRIPTION = """\
Executes shell commands via bash -c, returning combined stdout/stderr.
Bash state changes (working dir, variables, aliases) don't persist between calls.

With mode="background", returns immediately with output redirected to a file.
Use background for servers/demos that need to stay running.

Use mode="slow" for potentially slow commands: builds, downloads,
installs, tests, or any other substantive operation.

IMPORTANT: Keep commands concise. The command input must be less than 60k tokens.
For complex scripts, write them to a file first and then execute the file.

<pwd>{working_directory}</pwd>"""


def view(captured: Captured, selection: Selection = EVERYTHING) -> Output:
    """All of it up to the limit; beyond, the first and the last 4 KiB around a snip."""
    text = decode(captured.whole) if captured.whole is not None else None
    truncation = None
    # Undecodable bytes grow when shown, so the limit is asked of the text as well.
    if text is None or len(text.encode()) > LIMIT_BYTES:
        head, head_kept = fit_head(captured.head, SNIP_BYTES)
        tail, tail_kept = fit_tail(captured.tail, SNIP_BYTES)
        text = head + SNIP + tail
        truncation = Truncation(
            kept="both",
            omitted_bytes=captured.total_bytes - head_kept - tail_kept,
            omitted_lines=captured.omitted_lines(head, tail),
        )
    return captured.shown_as(text, truncation)


class Modes:
    profile = Profile(
        contract="modes",
        timeout=TIMEOUTS["default"],
        grace=15.0,
        streams="merged",
        # A character more than is shown, so that the cut is made here and on its border.
        capture=CaptureShape(
            whole_bytes=LIMIT_BYTES,
            head_bytes=SNIP_BYTES + CHARACTER_BYTES,
            tail_bytes=SNIP_BYTES + CHARACTER_BYTES,
        ),
        view=view,
        names_paths=True,
        completion_line=True,
    )

    def schema(self, scene: Scene) -> dict[str, Any]:
        return {
            "name": "bash",
            "description": DESCRIPTION.format(working_directory=scene.cwd),
            "input_schema": {
                "type": "object",
                "required": ["command"],
                "properties": {
                    "command": {"type": "string", "description": "Shell command to execute via bash -c"},
                    "mode": {
                        "type": "string",
                        "enum": list(TIMEOUTS),
                        "description": "Execution mode: default (30s timeout), slow (15min timeout), "
                        "background (detached)",
                    },
                },
                "additionalProperties": False,
            },
        }

    def decode(self, arguments: object) -> ShellRequest:
        fields = arguments_of(arguments, known=["command", "mode"])
        # A strict schema has a model say null for what it leaves out.
        mode = "default" if fields.get("mode") is None else fields["mode"]
        if not isinstance(mode, str) or mode not in TIMEOUTS:
            raise InvalidRequestError(
                f"field 'mode' is {shown(mode)}; it must be one of {', '.join(TIMEOUTS)}", field="mode"
            )
        return ShellRequest(
            command=command_of(fields),
            timeout=TIMEOUTS[mode],
            mode="background" if mode == "background" else "foreground",
        )

    def present(self, result: ShellResult | Background) -> Reply:
        if isinstance(result, Background):
            lines = [
                f"<pid>{result.pid}</pid>",
                f"<output_file>{result.output_file}</output_file>",
                f"<reminder>To stop: kill -9 -{result.pid}</reminder>",
                *(f"[{notice}]" for notice in result.notices),
            ]
            details = {"pid": result.pid, "outputFile": result.output_file, "jobId": result.job_id}
            return Reply(text="\n".join(lines), is_error=False, details=details)
        return present_result(result)

    def refuse(self, error: NacreError) -> Reply:
        # A failure of ours must not look like the command's; a refusal is the caller's to correct.
        theirs = isinstance(error, RequestError | RefusedError)
        return Reply(text=str(error) if theirs else f"[could not run: {error}]", is_error=True, details={})


def present_result(result: ShellResult) -> Reply:
    """What failed, then the output, then the notices."""
    first = _first_line(result)
    text = "".join([f"{first}\n" if first else "", _truncation_line(result.output), result.output.text])
    if result.notices:
        separator = "" if not text or text.endswith("\n") else "\n"
        text += separator + "\n".join(f"[{notice}]" for notice in result.notices)
    return Reply(text=text, is_error=not result.ok, details={"exitCode": result.exit_code, **facts_of(result)})


def _first_line(result: ShellResult) -> str | None:
    match result.outcome:
        case Exited(0):
            return None
        case Exited(code):
            return f"[command failed: exit code {code}]"
        case Signalled() as death:
            return f"[command failed: killed by {death.name} ({SIGNAL_BASE + death.number})]"
        case TimedOut(limit):
            return f"[command timed out after {limit:g}s]"
        case Stopped(by):
            return f"[command cancelled: {by}]"
        case Lost(reason):
            return f"[could not run: how the command ended is not known: {reason}]"


def _truncation_line(output: Output) -> str:
    if output.truncation is None:
        return ""
    kept = f"; full output: {output.artifact.path}" if output.artifact is not None else ""
    got, limit = human_size(output.total_bytes), human_size(LIMIT_BYTES)
    return f"[output truncated in middle: got {got}, max is {limit}{kept}]\n"
