"""A contract of your own: what the model sends and reads is yours, running and containment stay nacre's.

    python examples/own_contract.py

prints the schema's name and two answers of a tool that takes a list of words and answers with one line.
"""

from __future__ import annotations

import asyncio
import shlex
from typing import Any

import nacre

MOST_BYTES = 2_000


def view(captured: nacre.Captured, selection: nacre.Selection) -> nacre.Output:
    """Show the last bytes."""
    text = captured.tail[-MOST_BYTES:].decode("utf-8", "replace")
    return captured.shown_as(text, None)


class Words:
    """A tool that runs one program with its arguments, without a shell's syntax."""

    profile = nacre.Profile(
        contract="words",
        timeout=30.0,
        grace=5.0,
        streams="merged",
        capture=nacre.CaptureShape(whole_bytes=2 * MOST_BYTES, head_bytes=0, tail_bytes=MOST_BYTES),
        view=view,
    )

    def schema(self, context: nacre.SchemaContext) -> dict[str, Any]:
        words = {"type": "array", "items": {"type": "string"}, "description": "the program and its arguments"}
        return {
            "name": "run_program",
            "description": f"Runs one program in {context.cwd}.",
            "input_schema": {"type": "object", "properties": {"words": words}, "required": ["words"]},
        }

    def decode(self, arguments: object) -> nacre.ShellRequest:
        match arguments:
            case {"words": [str(), *_] as words} if all(isinstance(word, str) for word in words):
                return nacre.ShellRequest(command=shlex.join(words))
            case _:
                raise nacre.InvalidRequestError("field 'words' must be a list of texts, not empty", field="words")

    def present(self, result: nacre.ShellResult | nacre.Background) -> nacre.Reply:
        assert isinstance(result, nacre.ShellResult)
        return nacre.Reply(text=f"{result.exit_code}: {result.text.strip()}", is_error=not result.ok)

    def refuse(self, error: nacre.NacreError) -> nacre.Reply:
        return nacre.Reply(text=f"not run: {error}", is_error=True)


async def main() -> None:
    async with nacre.Tool(Words()) as tool:
        print("tool:", tool.schema()["name"])
        print((await tool.call({"words": ["echo", "two  spaces", "$HOME"]})).text)
        print((await tool.call({"words": "ls"})).text)


if __name__ == "__main__":
    asyncio.run(main())
