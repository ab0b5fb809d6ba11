"""Asks the client's person about a command that a rule says to ask about.

In the handshake era the server asks in the middle of the call. In the modern era the call is answered with the
question, and the client makes the call again with the answer and the state that came with the question. An answer
counts once, and only for the command that it was given for. A client that cannot ask gets a denial that says so.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from nacre.errors import DeniedError
from nacre.guard.approval import AnswerPendingError
from nacre.guard.verdict import Verdict
from nacre.mcp.call_channel import CallChannel
from nacre.mcp.jsonrpc import RpcError
from nacre.mcp.machine import ServerCall

# The key of our one question among a call's input requests.
QUESTION = "approval"
# Well-known clients give a call up after 60 s.
ANSWER_SECONDS = 45.0
# What a person sees of a long command.
COMMAND_CHARACTERS = 2_000
# Questions without an answer; the oldest of more is forgotten, and its answer then leads to a new question.
MOST_QUESTIONS = 1_000

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "allow": {"type": "boolean", "title": "Run this command", "description": "This once; the rule stays in force"}
    },
    "required": ["allow"],
}


class OpenQuestions:
    """The questions of a server in the modern era that have no answer yet."""

    def __init__(self) -> None:
        self._subjects: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def add(self, rule: str, command: str) -> str:
        """Note what a question is about; return the state that comes back with its answer."""
        state = secrets.token_urlsafe(24)
        self._subjects[state] = rule, command
        if len(self._subjects) > MOST_QUESTIONS:
            self._subjects.popitem(last=False)
        return state

    def take(self, state: object, rule: str, command: str) -> bool:
        """True if the state is that of an open question about this command, which is then closed."""
        return isinstance(state, str) and self._subjects.pop(state, None) == (rule, command)


class QuestionError(AnswerPendingError):
    """The call is answered with a question; `result` is that answer."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__("the client has to ask first")
        self.result = result


class UnknownStateError(AnswerPendingError):
    """The state that came with an answer belongs to no open question, or to one about another command."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a person can be asked during one call."""

    call: ServerCall
    channel: CallChannel
    questions: OpenQuestions

    async def approve(self, command: str, verdict: Verdict) -> bool:
        if not self._can_ask():
            raise _denied(verdict, "this client cannot ask a person: it does not offer elicitation")
        if self.call.is_modern:
            return self._answered(command, verdict)
        asked: dict[str, Any] = {"message": question(command, verdict), "requestedSchema": SCHEMA}
        if self.call.revision >= "2025-11-25":
            asked["mode"] = "form"
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = await self.channel.ask("elicitation/create", asked)
        except TimeoutError as error:
            raise _denied(verdict, f"no answer came within {ANSWER_SECONDS:g} s; nothing was run") from error
        except RpcError as error:
            raise _denied(verdict, f"the client could not ask: {error}") from error
        return is_yes(answer)

    def _can_ask(self) -> bool:
        offered = self.call.capabilities.get("elicitation")
        # An empty capability means forms, as it did before there was anything else.
        return isinstance(offered, Mapping) and ("form" in offered or "url" not in offered)

    def _answered(self, command: str, verdict: Verdict) -> bool:
        rule = verdict.rule or ""
        state = self.call.params.get("requestState")
        if state is not None:
            if not self.questions.take(state, rule, command):
                raise UnknownStateError("invalid or expired requestState: make the call again without it")
            answer = (self.call.params.get("inputResponses") or {}).get(QUESTION)
            if isinstance(answer, Mapping):
                return is_yes(answer)
        asked = {"message": question(command, verdict), "mode": "form", "requestedSchema": SCHEMA}
        raise QuestionError(
            {
                "resultType": "input_required",
                "inputRequests": {QUESTION: {"method": "elicitation/create", "params": asked}},
                "requestState": self.questions.add(rule, command),
            }
        )


# The call that is being made in this task; the tools of a server are shared by all its calls.
ASKING: ContextVar[Asking] = ContextVar("asking")


async def approver(command: str, verdict: Verdict) -> bool:
    """What the tools of a server ask."""
    return await ASKING.get().approve(command, verdict)


def _denied(verdict: Verdict, reason: str) -> DeniedError:
    return DeniedError(verdict.refusal(f"it needs a person's approval, and {reason}"), rule=verdict.rule)


def question(command: str, verdict: Verdict) -> str:
    """What the person reads."""
    shown = command if len(command) <= COMMAND_CHARACTERS else f"{command[:COMMAND_CHARACTERS]} […]"
    return f"Run this command?\n\n{shown}\n\n{verdict.message}"


def is_yes(answer: Mapping[str, Any]) -> bool:
    """Anything but a clear yes is a no."""
    content = answer.get("content")
    return answer.get("action") == "accept" and isinstance(content, Mapping) and content.get("allow") is True
