"""The `basic` contract (docs/statements.md, B): `{stdout, stderr, exitCode}` and nothing else. Pure.

The environment and directory are those of the harness. The object has no place for notices; they go to the log and to
the stderr of the command line.
"""

from __future__ import annotations

from typing import Any

from nacre.contracts.contract import Reply, SchemaContext
from nacre.contracts.fields import arguments_of, command_of
from nacre.contracts.tool_schema import text_property, tool_schema
from nacre.errors import NacreError
from nacre.kept_command import Background
from nacre.output.captured import EVERYTHING, Captured, Selection
from nacre.output.decode import CHARACTER_BYTES, fit_head
from nacre.profile import CaptureShape, Profile
from nacre.request import ShellRequest
from nacre.result import ArtifactRef, Lost, Output, ShellResult, Stopped, TimedOut, Truncation
from nacre.wording import counted

LIMIT_BYTES = 1024 * 1024
SUFFIX = "... (truncated)"
NOT_EXECUTABLE, NOT_FOUND = 126, 127


def view(captured: Captured, selection: Selection = EVERYTHING) -> Output:
    """Show the first megabyte, cut at a character border, then the suffix."""
    source = captured.whole if captured.whole is not None else captured.head
    text, kept = fit_head(source, LIMIT_BYTES)
    truncation = None
    if kept < captured.total_bytes:
        lines = text.count("\n")
        text += SUFFIX
        truncation = Truncation(
            kept="head",
            omitted_bytes=captured.total_bytes - kept,
            omitted_lines=captured.total_lines - lines,
        )
    return captured.shown_as(text, truncation)


class Basic:
    """The contract `basic`."""

    profile = Profile(
        contract="basic",
        timeout=30.0,
        grace=5.0,
        streams="split",
        # One character more than is shown, so that the view cuts at a character border.
        capture=CaptureShape(
            whole_bytes=LIMIT_BYTES + CHARACTER_BYTES, head_bytes=LIMIT_BYTES + CHARACTER_BYTES, tail_bytes=0
        ),
        view=view,
        environment="inherited",
        guard=False,
        keep_partial=True,
        names_paths=True,
    )

    def schema(self, context: SchemaContext) -> dict[str, Any]:
        return tool_schema(
            "bash",
            "Execute a bash command and return stdout/stderr",
            {"command": text_property("The bash command to execute")},
            required=["command"],
        )

    def decode(self, arguments: object) -> ShellRequest:
        return ShellRequest(command=command_of(arguments_of(arguments, known=["command"])))

    def present(self, result: ShellResult | Background) -> Reply:
        assert isinstance(result, ShellResult)
        assert result.stderr is not None
        notices = (*_kept(result), *result.notices)
        if (problem := _problem(result)) is not None:
            return _error(problem, notices)
        stdout, stderr = result.output.text, result.stderr.text
        answer = {"stdout": stdout, "stderr": stderr, "exitCode": result.exit_code}
        return Reply(
            text=stdout + stderr,
            is_error=False,
            details={"exitCode": result.exit_code},
            bare=answer,
            notices=notices,
        )

    def refuse(self, error: NacreError) -> Reply:
        return _error(str(error), ())


def _error(message: str, notices: tuple[str, ...]) -> Reply:
    return Reply(text=message, is_error=True, details={"error": message}, bare={"error": message}, notices=notices)


def _problem(result: ShellResult) -> str | None:
    """Return the reason for an error object; None for an ordinary result."""
    assert result.stderr is not None
    match result.outcome:
        case TimedOut(limit):
            return (
                f"timeout: the command ran longer than {limit:g} s and was killed with all its processes; "
                f"{_partial_output(result)}"
            )
        case Stopped("request" as by):
            return f"stopped: the command was ended ({by})"
        case Stopped(by):
            return f"resources: the command was killed with all its processes ({by}); {_partial_output(result)}"
        case Lost(reason):
            return f"lost: how the command ended is not known: {reason}"
    unrunnable = result.exit_code in (NOT_EXECUTABLE, NOT_FOUND) and not result.output.total_bytes
    if unrunnable and _is_single_simple_command(result.command):
        return result.stderr.text.strip() or f"the command could not be run (exit code {result.exit_code})"
    return None


def _is_single_simple_command(command: str) -> bool:
    # Few commands need the parser.
    from nacre.bash.command_shape import is_single_simple_command

    return is_single_simple_command(command)


def _partial_output(result: ShellResult) -> str:
    if kept := [artifact.path for _, artifact in _artifacts(result)]:
        return f"partial output is kept in {' and '.join(kept)}"
    written = sum(output.total_bytes for _, output in _streams(result))
    return f"its {counted(written, 'byte')} of output could not be kept" if written else "it wrote no output"


def _kept(result: ShellResult) -> list[str]:
    """Name the artifacts with the full output, for which the object has no place."""
    return [f"the full {name} is artifact {artifact.id}: {artifact.path}" for name, artifact in _artifacts(result)]


def _artifacts(result: ShellResult) -> list[tuple[str, ArtifactRef]]:
    return [(name, output.artifact) for name, output in _streams(result) if output.artifact is not None]


def _streams(result: ShellResult) -> list[tuple[str, Output]]:
    assert result.stderr is not None
    return [("stdout", result.output), ("stderr", result.stderr)]
