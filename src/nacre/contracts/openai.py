"""The `openai` contract: the `shell` action of the Responses API, several commands with separate stdout and stderr.

An action is answered with its output, a whole `shell_call` item with a whole `shell_call_output` item. The shape has no
place for notices, so they are the last lines of stderr, in brackets. Pure.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nacre.contracts.contract import Reply, SchemaContext, SeriesContract
from nacre.contracts.fields import arguments_of, number_of
from nacre.contracts.tool_schema import tool_schema
from nacre.contracts.two_streams import Stream, capture_of, shares, view
from nacre.errors import InvalidRequestError, NacreError, RefusedError, shown
from nacre.profile import Profile
from nacre.request import ShellRequest, check_command
from nacre.result import Lost, ShellResult, Stopped, TimedOut

DEFAULT_SECONDS = 300.0
# No caller waits a day for an answer.
LONGEST_SECONDS = 24 * 3600.0
DEFAULT_CHARACTERS = 50 * 1024
# No model reads more, and all of it would be held in memory.
MOST_CHARACTERS = 1024 * 1024
# The exit codes of `nacre run` for a command that has none of its own.
NOT_RUN, REFUSED = 125, 126

ACTION = ("commands", "timeout_ms", "max_output_length")
ITEM = ("type", "id", "call_id", "action", "status", "environment", "caller", "created_by")

DESCRIPTION = """\
Runs shell commands with bash, one after another, each in a shell of its own, and returns stdout, stderr and the outcome
of each. Nothing but files carries over from one command to the next: join with && what belongs together.

- `timeout_ms` (default 300000) is for all commands together; then the running one is killed with everything it started.
- `max_output_length` (characters for each command) keeps the beginning and the end; a file that the output names has
  all of it.
- stdin is empty and prompts are disabled. Lines in brackets at the end of stderr are notices.
- Working directory: {cwd}"""


class OpenAI(SeriesContract):
    """The contract `openai`."""

    def schema(self, context: SchemaContext) -> dict[str, Any]:
        length = "Most characters of stdout and stderr of each command"
        return tool_schema(
            "shell",
            DESCRIPTION.format(cwd=context.cwd),
            {
                "commands": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Shell commands to run in order",
                },
                "timeout_ms": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Most milliseconds for all commands together",
                },
                "max_output_length": {"type": "integer", "minimum": 0, "description": length},
            },
            required=["commands"],
        )

    def decode_series(self, arguments: object) -> CommandSeries:
        if not isinstance(arguments, Mapping) or "action" not in arguments:
            return _decode_action(arguments, call_id=None)
        call_id = _call_id_of(arguments_of(arguments, known=ITEM))
        try:
            return _decode_action(arguments["action"], call_id=call_id)
        except InvalidRequestError as problem:
            # The API waits for an answer to this call even if the call is wrong.
            return CommandSeries(call_id=call_id, problem=problem)

    def refuse(self, error: NacreError) -> Reply:
        return _reply([_refused(error)])


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSeries:
    """The commands of one call, and the facts that its answer needs."""

    requests: tuple[ShellRequest, ...] = ()
    timeout: float = DEFAULT_SECONDS
    max_output_length: int | None = None
    call_id: str | None = None
    problem: InvalidRequestError | None = None
    """Why nothing is run."""

    @property
    def limit(self) -> int:
        """The most characters that are shown of one command."""
        return min(DEFAULT_CHARACTERS if self.max_output_length is None else self.max_output_length, MOST_CHARACTERS)

    @property
    def profile(self) -> Profile:
        return Profile(
            contract="openai",
            timeout=DEFAULT_SECONDS,
            grace=5.0,
            streams="split",
            capture=capture_of(self.limit),
            view=functools.partial(view, self.limit),
            names_paths=True,
            minimizes=True,
            quiets=True,
        )

    def present(self, results: Sequence[ShellResult | NacreError | None]) -> Reply:
        # The API documents: "Should be passed back with the raw output."
        passed_back = {} if self.max_output_length is None else {"max_output_length": self.max_output_length}
        item = {} if self.call_id is None else {"type": "shell_call_output", "call_id": self.call_id}
        if self.problem is not None:
            return replace(_reply([_refused(self.problem)], item | passed_back), refusal=self.problem)
        notices: list[str] = []
        outputs = [self._output(result, notices) for result in results]
        return replace(_reply(outputs, item | passed_back), notices=tuple(notices))

    def _output(self, result: ShellResult | NacreError | None, notices: list[str]) -> dict[str, Any]:
        """Return the answer to one command; `notices` receives the facts that have no room in it."""
        if isinstance(result, NacreError):
            return _refused(result)
        if result is None:
            said = f"[not started: the commands before it took the {self.timeout:g} s of this call]\n"
            return _entry("", said, {"type": "timeout"})
        assert result.stderr is not None
        stdout, stderr = Stream.of(result.output, "stdout"), Stream.of(result.stderr, "stderr")
        stderr = stderr.ending_with("".join(f"[{notice}]\n" for notice in (*_endings(result), *result.notices)))
        room, error_room = shares(stdout.wants, stderr.wants, self.limit)
        notices += [*stdout.unsaid(room), *stderr.unsaid(error_room)]
        return _entry(stdout.fit(room), stderr.fit(error_room), _outcome(result))


def _endings(result: ShellResult) -> list[str]:
    """Describe the endings that an exit code cannot express."""
    match result.outcome:
        case Stopped("request" as by):
            return [f"command cancelled: {by}"]
        case Stopped(by):
            return [f"command stopped: {by}"]
        case Lost(reason):
            return [f"could not run: how the command ended is not known: {reason}"]
    return []


def _outcome(result: ShellResult) -> dict[str, Any]:
    if isinstance(result.outcome, TimedOut):
        return {"type": "timeout"}
    return {"type": "exit", "exit_code": NOT_RUN if result.exit_code is None else result.exit_code}


def _entry(stdout: str, stderr: str, outcome: Mapping[str, Any]) -> dict[str, Any]:
    return {"stdout": stdout, "stderr": stderr, "outcome": outcome}


def _refused(error: NacreError) -> dict[str, Any]:
    code = REFUSED if isinstance(error, RefusedError) else NOT_RUN
    return _entry("", f"{error}\n", {"type": "exit", "exit_code": code})


def _reply(outputs: list[dict[str, Any]], more: Mapping[str, Any] | None = None) -> Reply:
    return Reply(
        text="".join(output["stdout"] + output["stderr"] for output in outputs),
        is_error=any(output["outcome"] != {"type": "exit", "exit_code": 0} for output in outputs),
        details={"outcomes": [output["outcome"] for output in outputs]},
        bare={**(more or {}), "output": outputs},
    )


def _decode_action(arguments: object, *, call_id: str | None) -> CommandSeries:
    fields = arguments_of(arguments, known=ACTION)
    timeout, notices = _limit_of(fields)
    return CommandSeries(
        requests=tuple(ShellRequest(command=command, notices=notices) for command in _commands_of(fields)),
        timeout=timeout,
        max_output_length=number_of(fields, "max_output_length", least=0),
        call_id=call_id,
    )


def _call_id_of(item: Mapping[str, Any]) -> str:
    kind, call_id = item.get("type", "shell_call"), item.get("call_id")
    if kind != "shell_call":
        raise InvalidRequestError(f"field 'type' must be 'shell_call', got {shown(kind)}", field="type")
    if not isinstance(call_id, str) or not call_id:
        raise InvalidRequestError(f"field 'call_id' must be a string, got {shown(call_id)}", field="call_id")
    return call_id


def _limit_of(fields: Mapping[str, Any]) -> tuple[float, tuple[str, ...]]:
    """Return the seconds, and a notice if they differ from the request."""
    milliseconds = number_of(fields, "timeout_ms", least=1)
    if milliseconds is None:
        return DEFAULT_SECONDS, ()
    # Compared as whole numbers: a JSON number can be too large for a float.
    if milliseconds > LONGEST_SECONDS * 1000:
        return LONGEST_SECONDS, (f"timeout_ms is at most {LONGEST_SECONDS * 1000:.0f}; that is the limit now",)
    return milliseconds / 1000, ()


def _commands_of(fields: Mapping[str, Any]) -> list[str]:
    commands = fields.get("commands")
    if not isinstance(commands, list) or not commands:
        raise InvalidRequestError(
            f"field 'commands' must be a list of one shell command or more, got {shown(commands)}", field="commands"
        )
    for index, command in enumerate(commands):
        place = f"commands[{index}]"
        if not isinstance(command, str):
            raise InvalidRequestError(f"field '{place}' must be a string, got {shown(command)}", field=place)
        check_command(command, field=place)
    return commands
