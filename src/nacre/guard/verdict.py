"""What the guard answers about a command. Decisions are ordered, and the strictest of several wins."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Decision: TypeAlias = Literal["allow", "ask", "deny"]
STRICTNESS: Final[dict[Decision, int]] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer for one command."""

    decision: Decision
    rule: str | None = None
    """The rule that decided; None when nothing objected."""
    message: str = ""
    """For the model: what was refused and what to do instead."""
    span: tuple[int, int] | None = None
    """The characters of the command that the rule is about."""
    subject: str = ""
    """The command the rule matched, as it would be run, after expansion and behind its wrappers."""

    @property
    def strictness(self) -> int:
        return STRICTNESS[self.decision]

    def json(self) -> dict[str, object]:
        """Return the verdict as the CLI prints it."""
        span = list(self.span) if self.span is not None else None
        return {"decision": self.decision, "rule": self.rule, "message": self.message, "span": span}


ALLOWED: Final = Verdict("allow")


def strictest(verdicts: list[Verdict]) -> Verdict:
    """Return the strictest verdict, the first of equals."""
    return max(verdicts, key=lambda verdict: verdict.strictness, default=ALLOWED)
