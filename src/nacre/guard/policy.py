"""What the guard judges by: the decision of each of its own rules, the user's rules, and how a denial begins."""

from dataclasses import dataclass
from typing import Final, Literal

from nacre.guard.interpret.invocation import Invocation
from nacre.guard.rules.default_rules import DEFAULT_RULES, DefaultRule
from nacre.guard.rules.rule_file import Rule, chosen_rule
from nacre.guard.verdict import ALLOWED, Verdict
from nacre.profile import GUARD_DENIAL
from nacre.settings import Decision, RuleDecisions, RuleName

_DEFAULTS: Final[dict[RuleName, Decision]] = {rule.name: rule.decision for rule in DEFAULT_RULES}


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one call."""

    profile: Literal["default", "strict"] = "default"
    rules: tuple[Rule, ...] = ()
    """The user's own."""
    decisions: RuleDecisions = ()
    """Those of the contract and, behind them, of the user about the guard's own rules."""
    denial: str = GUARD_DENIAL
    """How a denial begins; `{rule}` is the rule's name."""

    def decision(self, name: RuleName) -> Decision:
        """Return what a rule of the guard decides about a command that it concerns."""
        profile: Decision = "deny" if name == "unchecked" or self.profile == "strict" else "allow"
        return dict(self.decisions).get(name, _DEFAULTS.get(name, profile))

    @property
    def needs_every_command(self) -> bool:
        """True if commands that no default rule can concern are judged, too."""
        return bool(self.rules) or self.decision("extended") != "allow"

    def rule_for(self, invocation: Invocation) -> Rule | None:
        """Return the rule of the user that decides about a command."""
        return chosen_rule(self.rules, invocation)

    def lets_pass(self, invocation: Invocation) -> bool:
        """True if the user's rules allow a command whatever the guard's own rules say."""
        rule = self.rule_for(invocation)
        return rule is not None and rule.decision == "allow"

    def verdict(self, name: RuleName, message: str, span: tuple[int, int] | None = None, subject: str = "") -> Verdict:
        """Return what follows where a rule of the guard concerns a command."""
        return self.decided(self.decision(name), name, message, span, subject)

    def verdict_of(self, rule: DefaultRule, span: tuple[int, int] | None, subject: str = "") -> Verdict:
        """Return what follows where a default rule concerns a command."""
        own = rule.permission_message is not None and self.denial != GUARD_DENIAL
        return self.verdict(rule.name, (own and rule.permission_message) or rule.message, span, subject)

    def verdict_by(self, rule: Rule, span: tuple[int, int], subject: str) -> Verdict:
        """Return what follows where a rule of the user covers a command."""
        reason = f": {rule.reason}" if rule.reason else ""
        if rule.decision == "ask":
            message = f"rule {rule.name!r} allows this only after approval{reason}"
        elif self.denial == GUARD_DENIAL:
            message = rule.reason or "a rule of the user does not allow this command"
        else:
            message = f"rule {rule.name!r} does not allow this{reason}"
        return self.decided(rule.decision, rule.name, message, span, subject)

    def decided(
        self, decision: Decision, name: str, message: str, span: tuple[int, int] | None, subject: str
    ) -> Verdict:
        """Return the verdict of a decision; a denial begins as the contract has it."""
        if decision == "allow":
            return ALLOWED
        denial = self.denial.format(rule=name)
        text = f"{denial}{message}" if decision == "deny" else message
        return Verdict(decision, name, text, span, subject, denial)


DEFAULT_POLICY: Final = Policy()
