"""The loop of an agent, with a scripted model in the place of a real one.

    python examples/agent_loop.py

A real program sends `messages` and `tools` to its model instead of calling `ScriptedModel`; the rest stays as it is.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from typing import Any

import nacre

Message = dict[str, Any]


@dataclass
class ScriptedModel:
    """Answers with one tool call after another, then with a text."""

    calls: list[dict[str, Any]]

    def __call__(self, messages: list[Message], tools: list[dict[str, Any]]) -> Message:
        made = sum(message["role"] == "assistant" for message in messages)
        if made < len(self.calls):
            return {"role": "assistant", "call": {"name": tools[0]["name"], "arguments": self.calls[made]}}
        return {"role": "assistant", "text": "The test passes now."}


async def converse(model: ScriptedModel, task: str, cwd: str) -> list[Message]:
    """Let the model work on a task until it answers with a text."""
    messages: list[Message] = [{"role": "user", "text": task}]
    async with nacre.Tool("workspace", cwd=cwd) as tool:
        while True:
            answer = model(messages, [tool.schema()])
            messages.append(answer)
            if "call" not in answer:
                return messages
            reply = await tool.call(answer["call"]["arguments"])
            messages.append({"role": "tool", "text": reply.text, "is_error": reply.is_error})


async def main() -> None:
    model = ScriptedModel(
        [
            {"command": "echo 'assert 1 + 1 == 3' > test_sum.py; python3 test_sum.py"},
            {"command": "sed -i 's/3/2/' test_sum.py; python3 test_sum.py && echo passed"},
        ]
    )
    with tempfile.TemporaryDirectory() as cwd:
        for message in await converse(model, "Make the test pass.", cwd):
            shown = message.get("text") or message["call"]["arguments"]["command"]
            print(f"--- {message['role']}\n{shown}")


if __name__ == "__main__":
    asyncio.run(main())
