"""The `workspace` contract (docs/statements.md, W, X): a coding agent's shell with jobs, artifacts and readable output.

Decoding and view; workspace_schema.py has the schema, workspace_texts.py the answers. Pure.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

from nacre.call_budget import Budget
from nacre.command import TerminalSize
from nacre.contracts import workspace_schema
from nacre.contracts.contract import Reply, SchemaContext
from nacre.contracts.fields import arguments_of, command_of, flag_of, mapping_of, number_of, text_of
from nacre.contracts.workspace_texts import present_background, present_refusal, present_result
from nacre.errors import InvalidRequestError, NacreError, shown
from nacre.kept_command import Background
from nacre.output.render import render
from nacre.profile import CaptureShape, Profile
from nacre.request import ShellRequest, check_env, name_of
from nacre.result import ShellResult
from nacre.until import decode_until

DEFAULT_SECONDS = 300.0
# Output that is rendered for the view; the redraws of a progress bar count, too.
WHOLE_BYTES = 512 * 1024
END_BYTES = 64 * 1024

FIELDS = ("command", "env", "timeout", "cwd", "pty", "async", "head", "tail", "until", "raw", "try")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Workspace:
    """The contract `workspace`."""

    profile = Profile(
        contract="workspace",
        timeout=DEFAULT_SECONDS,
        grace=5.0,
        streams="merged",
        capture=CaptureShape(whole_bytes=WHOLE_BYTES, head_bytes=END_BYTES, tail_bytes=END_BYTES),
        view=render,
        sized_by_settings=True,
        normalises=True,
        adopts_survivors=True,
        moves_to_background=True,
        tells_early_end=True,
        sources_rc=True,
        persists=True,
        minimizes=True,
        quiets=True,
    )

    def schema(self, context: SchemaContext) -> dict[str, Any]:
        return workspace_schema.schema(context)

    def decode(self, arguments: object) -> ShellRequest:
        fields = arguments_of(arguments, known=FIELDS, by_programs=("budget",))
        background = flag_of(fields, "async")
        until = fields.get("until")
        if background and until is not None:
            raise InvalidRequestError(
                "fields 'async' and 'until' cannot be combined: async does not wait; leave out async", field="until"
            )
        tries = flag_of(fields, "try")
        for name in ("async", "pty", "until") if tries else ():
            if fields.get(name):
                raise InvalidRequestError(
                    f"fields 'try' and '{name}' cannot be combined: a try is waited for to its end, without a terminal",
                    field=name,
                )
        return ShellRequest(
            command=command_of(fields),
            env=_variables(fields.get("env")),
            timeout=_seconds(fields.get("timeout")),
            cwd=text_of(fields, "cwd") or None,
            terminal=TerminalSize() if flag_of(fields, "pty") else None,
            mode="background" if background else "foreground",
            # 0 means the same as an absent field.
            head=number_of(fields, "head", least=0) or None,
            tail=number_of(fields, "tail", least=0) or None,
            raw=flag_of(fields, "raw"),
            tries=tries,
            until=None if until is None else decode_until(until),
            budget=_budget(fields),
        )

    def present(self, result: ShellResult | Background) -> Reply:
        if isinstance(result, Background):
            return present_background(result)
        return present_result(result)

    def refuse(self, error: NacreError) -> Reply:
        return present_refusal(error)


def _budget(fields: Mapping[str, Any]) -> Budget | None:
    text = text_of(fields, "budget")
    if not text:
        return None
    # Loaded for the calls that have one.
    from nacre.budget_words import budget_in

    return budget_in(text)


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
