"""What the guard answers about a command. Decisions are ordered, and the strictest of several wins."""

from dataclasses import dataclass
from typing import Final

from nacre.settings import Decision

STRICTNESS: Final[dict[Decision, int]] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer for one command."""

    decision: Decision
    rule: str | None = None
    """The rule that decided; None when nothing objected."""
    message: str = ""
    """A denial for the model: what was refused and what to do instead. Of an `ask`: what the question is about."""
    span: tuple[int, int] | None = None
    """The characters of the command that the rule is about."""
    subject: str = ""
    """The command the rule matched, as it would be run, after expansion and behind its wrappers."""

    denial: str = ""
    """How the refusal of an `ask` begins."""

    def refusal(self, reason: str = "") -> str:
        """Return what the model reads where the command does not run, with the reason why an `ask` was refused."""
        return f"{self.denial}{self.message} ({reason})" if reason else self.message

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
