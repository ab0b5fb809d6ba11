"""An approver of your own: your program decides about the commands that a rule says to ask about.

    python examples/own_approver.py

prints what it is asked, and the answers to an approved command and to one that it declines.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import nacre
from nacre.settings import PolicySettings

RULES = """
[[rule]]
name = "deploys"
decision = "ask"
words = ["make", ["deploy", "release"]]
reason = "This changes what users see."
match = ["make deploy", "cd app && make release"]
not_match = ["make test"]
"""


async def approver(command: str, verdict: nacre.Verdict) -> bool:
    """Approve what only shows its plan. A real one would ask a person, and is cancelled when the time is up."""
    print(f"asked: {command} ({verdict.rule})")
    return "-n" in command.split()


async def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        rules = Path(directory, "rules.toml")
        rules.write_text(RULES, encoding="utf-8")
        Path(directory, "Makefile").write_text("deploy:\n\t@echo deployed\n", encoding="utf-8")
        settings = nacre.Settings(policy=PolicySettings(rules_file=str(rules)))
        async with nacre.Tool("workspace", cwd=directory, settings=settings, approver=approver) as tool:
            for command in ("make deploy -n", "make deploy"):
                reply = await tool.call({"command": command})
                if isinstance(reply.refusal, nacre.DeniedError):
                    print(f"denied by {reply.refusal.rule}: {command}")
                else:
                    print(f"ran: {command}")


if __name__ == "__main__":
    asyncio.run(main())
