"""Replies of a tool that do not come from a command: a companion's, a refusal's, and what a person hands over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nacre import handover
from nacre.contracts.contract import Companion, Contract, Reply, SeriesContract
from nacre.engine.call_log import hide_in
from nacre.engine.engine import Engine
from nacre.errors import NacreError, shown
from nacre.output.redaction.redactor import Redactor
from nacre.request import Owner


async def companion_reply(companion: Companion, engine: Engine, arguments: object, owner: Owner) -> Reply:
    """Return the answer of a tool beside the shell, or its refusal."""
    try:
        return _redacted(await companion.answer(engine, arguments, owner), engine.redactor)
    except NacreError as error:
        hide_in(error, engine.redactor)
        return refusal_of(companion, error)


def refusal_of(contract: Contract | SeriesContract | Companion, error: NacreError) -> Reply:
    """Return the answer to a call that was not run, in the contract's own shape."""
    if isinstance(contract, Companion):
        return Reply(text=str(error), is_error=True, refusal=error)
    return replace(contract.refuse(error), refusal=error)


def with_handed_over(reply: Reply, redactor: Redactor, session: str | None) -> Reply:
    """Return the answer with what the person at a console ran for its agent to see.

    An answer object of a contract's own has no place for it, so it waits.
    """
    if reply.bare is not None:
        return reply
    # Not a notice of the result: the log tells sizes, never content.
    texts = [redactor.redact_text(text) for text in handover.take(session)]
    return replace(reply, text="\n\n".join([reply.text, *texts]))


def command_in(arguments: object) -> str:
    """Return the command that a call names, for the log of a call that was refused."""
    command = arguments.get("command", arguments.get("commands")) if isinstance(arguments, Mapping) else None
    return command if isinstance(command, str) else "" if command is None else shown(command)


def _redacted(reply: Reply, redactor: Redactor) -> Reply:
    """An answer about kept output without hidden values that were broken by escapes there and are whole here."""
    if not redactor:
        return reply

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return redactor.redact_text(value)
        if isinstance(value, Mapping):
            return {key: clean(one) for key, one in value.items()}
        return [clean(one) for one in value] if isinstance(value, list | tuple) else value

    return replace(reply, text=clean(reply.text), details=clean(reply.details))
