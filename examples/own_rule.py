"""A rule of your own: a table in a TOML file, with the examples that prove it.

    python examples/own_rule.py

prints the rule as it was read, and the answers to a command that it denies and to one that it leaves alone.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import nacre
from nacre.guard.rules.rule_file import load_rules
from nacre.settings import PolicySettings

RULES = """
[[rule]]
name = "no-deploys"
decision = "deny"
words = ["make", ["deploy", "release"]]
reason = "Deployments run in the pipeline; push a tag instead."
match = ["make deploy", "cd app && make release"]
not_match = ["make test"]
"""


async def main() -> None:
    # Reading checks the rule against its examples, so that one which says nothing is found before it is needed.
    rule: nacre.Rule
    (rule,) = load_rules(RULES, "rules.toml")
    print(f"rule: {rule.name}, {rule.decision}")
    with tempfile.TemporaryDirectory() as directory:
        rules = Path(directory, "rules.toml")
        rules.write_text(RULES, encoding="utf-8")
        settings = nacre.Settings(policy=PolicySettings(rules_file=str(rules)))
        async with nacre.Tool("workspace", cwd=directory, settings=settings) as tool:
            for command in ("cd / && make deploy", "echo make deploy"):
                reply = await tool.call({"command": command})
                if isinstance(reply.refusal, nacre.DeniedError):
                    print(f"denied by {reply.refusal.rule}: {command}")
                else:
                    print(f"ran: {command}")


if __name__ == "__main__":
    asyncio.run(main())
