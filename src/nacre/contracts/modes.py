"""The `modes` contract (docs/statements.md, REQ-BASH, N): one command, one mode, output merged in true order. Pure."""

from __future__ import annotations

from typing import Any

from nacre.contracts.contract import Reply, SchemaContext
from nacre.contracts.facts import blame_of, facts_of
from nacre.contracts.fields import arguments_of, command_of
from nacre.contracts.tool_schema import text_property, tool_schema
from nacre.errors import InvalidRequestError, NacreError, RefusedError, RequestError, shown
from nacre.kept_command import Background
from nacre.output.captured import EVERYTHING, Captured, Selection
from nacre.output.decode import CHARACTER_BYTES, decode
from nacre.output.sizes import human_size
from nacre.output.view import both_ends
from nacre.profile import CaptureShape, Profile
from nacre.request import ShellRequest
from nacre.result import SIGNAL_BASE, Exited, Lost, Output, ShellResult, Signalled, Stopped, TimedOut

# Mode → seconds.
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
    """Show all output up to the limit; the first and the last 4 KiB of larger output."""
    text = decode(captured.whole) if captured.whole is not None else None
    truncation = None
    # Undecodable bytes grow when shown, so the text has to keep the limit, too.
    if text is None or len(text.encode()) > LIMIT_BYTES:
        head, tail, truncation = both_ends(captured, SNIP_BYTES, SNIP_BYTES)
        text = head + SNIP + tail
    return captured.shown_as(text, truncation)


class Modes:
    """The contract `modes`."""

    profile = Profile(
        contract="modes",
        timeout=TIMEOUTS["default"],
        grace=15.0,
        streams="merged",
        # One character more than is shown, so that the view cuts at a character border.
        capture=CaptureShape(
            whole_bytes=LIMIT_BYTES,
            head_bytes=SNIP_BYTES + CHARACTER_BYTES,
            tail_bytes=SNIP_BYTES + CHARACTER_BYTES,
        ),
        view=view,
        rules=(("no_blind_git_add", "deny"),),
        denial="permission denied: ",
        names_paths=True,
        completion_line=True,
    )

    def schema(self, context: SchemaContext) -> dict[str, Any]:
        modes = "Execution mode: default (30s timeout), slow (15min timeout), background (detached)"
        return tool_schema(
            "bash",
            DESCRIPTION.format(working_directory=context.cwd),
            {
                "command": text_property("Shell command to execute via bash -c"),
                "mode": {"type": "string", "enum": list(TIMEOUTS), "description": modes},
            },
            required=["command"],
        )

    def decode(self, arguments: object) -> ShellRequest:
        fields = arguments_of(arguments, known=["command", "mode"])
        # With a strict schema, a model sends null for an absent field.
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
            details: dict[str, Any] = {"pid": result.pid, "outputFile": result.output_file, "jobId": result.job_id}
            if result.sandbox is not None:
                details["sandbox"] = dict(result.sandbox)
            return Reply(text="\n".join(lines), is_error=False, details=details)
        return present_result(result)

    def refuse(self, error: NacreError) -> Reply:
        # A failure of nacre must not look like one of the command; a refusal is for the caller to correct.
        refused = isinstance(error, RequestError | RefusedError)
        return Reply(
            text=str(error) if refused else f"[could not run: {error}]", is_error=True, details=blame_of(error)
        )


def present_result(result: ShellResult) -> Reply:
    """Write the failure, then the output, then the notices."""
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
        case Stopped("request" as by):
            return f"[command cancelled: {by}]"
        case Stopped(by):
            return f"[command stopped: {by}]"
        case Lost(reason):
            return f"[could not run: how the command ended is not known: {reason}]"


def _truncation_line(output: Output) -> str:
    if output.truncation is None:
        return ""
    kept = f"; full output: {output.artifact.path}" if output.artifact is not None else ""
    got, limit = human_size(output.total_bytes), human_size(LIMIT_BYTES)
    return f"[output truncated in middle: got {got}, max is {limit}{kept}]\n"
