"""Asks the user of a client about a command, if a rule requires approval.

With older protocol versions the server asks during the call. With newer ones the call is answered with the question,
and the client repeats the call with the answer; the state that comes back seals the question, so an answer counts only
for its command. For a client that cannot ask its user, the command is denied.
"""

from __future__ import annotations

import asyncio
import hashlib
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolRequestParams, ElicitResult
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from nacre.errors import DeniedError
from nacre.guard.approval import AnswerPendingError
from nacre.guard.verdict import Verdict

# The key of the question among the input requests of a call.
QUESTION = "approval"
# Well-known clients abandon a call after 60 s.
ANSWER_SECONDS = 45.0
# The question shows this much of a long command.
COMMAND_CHARACTERS = 2_000

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "allow": {"type": "boolean", "title": "Run this command", "description": "This once; the rule stays in force"}
    },
    "required": ["allow"],
}


class QuestionError(AnswerPendingError):
    """The client must repeat the call with an answer; carries the result that says so."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__("the client has to ask first")
        self.result = result


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks the user during one call."""

    context: ServerRequestContext[Any, Any]
    params: CallToolRequestParams

    async def approve(self, command: str, verdict: Verdict) -> bool:
        if not self._can_ask():
            raise DeniedError(
                f"{verdict.message} (it needs approval, and this client cannot ask anybody: it does not offer "
                "elicitation; to allow it, add a rule to the file of the setting policy.rules_file)",
                rule=verdict.rule,
            )
        if self.context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return self._answered(command, verdict)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = await self.context.session.elicit_form(
                    question(command, verdict), SCHEMA, related_request_id=self.context.request_id
                )
        except TimeoutError as error:
            raise DeniedError(
                f"{verdict.message} (it needs approval, and no answer came within {ANSWER_SECONDS:g} s; "
                "nothing was run)",
                rule=verdict.rule,
            ) from error
        except MCPError as error:
            raise DeniedError(
                f"{verdict.message} (it needs approval, and the client could not ask: {error})", rule=verdict.rule
            ) from error
        return is_yes(answer)

    def _can_ask(self) -> bool:
        capabilities = self.context.session.client_capabilities
        offered = None if capabilities is None else capabilities.elicitation
        # An empty capability means forms, the first kind of elicitation.
        return offered is not None and (offered.form is not None or offered.url is None)

    def _answered(self, command: str, verdict: Verdict) -> bool:
        mark = hashlib.sha256(f"{verdict.rule}\0{command}".encode("utf-8", "surrogatepass")).hexdigest()
        answer = (self.params.input_responses or {}).get(QUESTION)
        if isinstance(answer, ElicitResult) and self.params.request_state == mark:
            return is_yes(answer)
        asked = {"message": question(command, verdict), "mode": "form", "requestedSchema": SCHEMA}
        raise QuestionError(
            {
                "resultType": "input_required",
                "inputRequests": {QUESTION: {"method": "elicitation/create", "params": asked}},
                "requestState": mark,
            }
        )


# The call of this task; all calls share the tools of a server.
ASKING: ContextVar[Asking] = ContextVar("asking")


async def approver(command: str, verdict: Verdict) -> bool:
    """Ask the user of the current call; the tools of a server use this."""
    return await ASKING.get().approve(command, verdict)


def question(command: str, verdict: Verdict) -> str:
    """Return the question that the user reads."""
    shown = command if len(command) <= COMMAND_CHARACTERS else f"{command[:COMMAND_CHARACTERS]} […]"
    return f"Run this command?\n\n{shown}\n\n{verdict.message}"


def is_yes(answer: ElicitResult) -> bool:
    """True only for an explicit yes."""
    return answer.action == "accept" and (answer.content or {}).get("allow") is True
