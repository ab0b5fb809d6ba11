"""What a caller asks for, checked once: the same value whatever contract it came through."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from nacre.command import TerminalSize
from nacre.errors import SHOWN_CHARACTERS, InvalidRequestError, kind_of, shown

if TYPE_CHECKING:
    from nacre.call_budget import Budget
    from nacre.lifted_stage import Lifted
    from nacre.until import Until

Mode = Literal["foreground", "background", "restart"]
By = Literal["model", "person"]


class Owner(NamedTuple):
    """Whose call it is; a job that comes of it belongs to the session and to the project of the directory."""

    session: str | None
    """Unique among all programs on a state directory; None for a caller without one."""
    directory: str
    """Where the caller works; its commands may run elsewhere."""


class Ground(NamedTuple):
    """The directory that a sandbox leaves writable, which no command of the model's moves, and whose /tmp it has."""

    directory: str
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellRequest:
    """One command and the wishes of its caller."""

    command: str
    """The script, as the caller wrote it."""
    script: str | None = None
    """What is run, where that differs from what the caller wrote."""
    timeout: float | None = None
    """Seconds; None leaves it to the contract."""
    requested_timeout: float | None = None
    """What was asked for, where it was clamped."""
    mode: Mode = "foreground"
    cwd: str | None = None
    """None is the tool's own directory."""
    stays: bool = False
    """Whether a session stays in `cwd` afterwards: the command began with `cd`."""
    env: Mapping[str, str] | None = None
    """Variables for this call, on top of all others."""
    terminal: TerminalSize | None = None
    """The terminal that the command should run in."""
    watched: bool = False
    """Whether a person watches that terminal."""
    answered: bool = False
    """Whether the caller answers its prompts itself, so that a command that waits for input is not kept as a job."""
    open_input: bool = False
    """Whether the input of a job without a terminal stays open."""
    head: int | None = None
    """Show only this many lines from the beginning."""
    tail: int | None = None
    """Show only this many lines from the end."""
    tries: bool = False
    """Whether it runs on an overlay of the workspace, whose changes are committed or discarded afterwards."""
    raw: bool = False
    """Whether the output is shown without the minimiser."""
    lifted: Lifted | None = None
    """The last stage of the pipeline, where it only selects lines."""
    until: Until | None = None
    """Return as soon as this has happened, and keep the command as a job."""
    notices: tuple[str, ...] = ()
    """What was changed about the request, to be said in the result."""
    budget: Budget | None = None
    """What this call may spend at most; the settings may allow less."""
    ground: Ground | None = None
    """Where the caller works, if that is not the directory of the program."""
    owner: Owner | None = None
    """None is a caller without a session, in the directory of the command."""
    by: By = "model"
    """Who has written the command, for the log and for viewers."""


def check_command(command: str, *, field: str = "command") -> None:
    """Refuse what no shell can be given."""
    if not command.strip():
        raise InvalidRequestError(f"empty command: field '{field}' is blank, give a shell command", field=field)
    if "\0" in command:
        raise InvalidRequestError(
            f"field '{field}' holds a NUL character at position {command.index(chr(0))}; no program can be given one",
            field=field,
        )
    check_encodable(command, field)


def check_encodable(text: str, field: str) -> None:
    """Refuse what cannot be written as bytes: a lone surrogate that stands for none."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidRequestError(
            f"field '{field}' holds the lone surrogate {text[error.start]!r} at position {error.start}, "
            "which is not text",
            field=field,
        ) from error


def name_of(name: object) -> str:
    """The name of a field or variable as a message quotes it."""
    if isinstance(name, str) and name.isprintable() and len(name) <= SHOWN_CHARACTERS:
        return f"'{name}'"
    return shown(name)


def check_env(env: object) -> None:
    """Refuse variables that are not text; an error names the variable and never shows its value."""
    if not isinstance(env, Mapping):
        raise InvalidRequestError(f"field 'env' must map names to texts, got {kind_of(env)}", field="env")
    for name, value in env.items():
        if not isinstance(name, str) or not isinstance(value, str):
            wrong = "name" if not isinstance(name, str) else "value"
            kind = kind_of(name if wrong == "name" else value)
            raise InvalidRequestError(
                f"field 'env': the {wrong} of variable {name_of(name)} must be a string, got {kind}", field="env"
            )
        try:
            value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise InvalidRequestError(
                f"field 'env': the value of variable {name_of(name)} holds a lone surrogate at position {error.start}, "
                "which is not text",
                field="env",
            ) from error


def check_call(command: object, *, timeout: object = None, env: Mapping[str, str] | None = None) -> None:
    """Refuse arguments with which nothing can be run, by the name of the field."""
    if not isinstance(command, str):
        raise InvalidRequestError(f"command must be a string, got {shown(command)}", field="command")
    check_command(command)
    if timeout is not None:
        check_timeout(timeout)
    if env is not None:
        check_env(env)


def check_timeout(timeout: object) -> None:
    """Refuse what no clock can count."""
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
        raise InvalidRequestError(f"timeout must be a number of seconds above 0, got {shown(timeout)}", field="timeout")
    # A whole number can be too large for the clock's float, which is as good as infinite.
    if timeout > sys.float_info.max:
        raise InvalidRequestError("timeout must be finite; give a large number of seconds", field="timeout")
