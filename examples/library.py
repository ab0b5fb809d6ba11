"""Run commands from a program: one command, a session, a tool call, a background job.

python examples/library.py
"""

from __future__ import annotations

import asyncio

import nacre


async def main() -> None:
    # A non-zero exit, a signal and a timeout are values; only what cannot be started raises.
    result = await nacre.run("echo hello; exit 3", timeout=10)
    print(f"run: exit code {result.exit_code}, text {result.text!r}")

    # A failure that a pipe hides is pointed out.
    hidden = await nacre.run("false | cat")
    print(f"hidden failure: exit code {hidden.exit_code}, notice: {hidden.notices[0]}")

    # The commands of a session share one bash.
    async with nacre.Session(cwd="/") as session:
        await session.run("cd /tmp; greeting=hello")
        print("session:", (await session.run('echo "$greeting from $PWD"')).text.strip())

    # A tool is what a model holds: a schema, and calls that are always answered.
    async with nacre.Tool("workspace", cwd="/") as tool:
        print("tool:", tool.schema()["name"], "takes", sorted(tool.schema()["input_schema"]["properties"])[:3])
        reply = await tool.call({"command": "echo ready; sleep 60", "until": {"regex": "ready"}})
        job = reply.details["async"]["jobId"]
        print("background:", job)
        async with nacre.Tool("job") as jobs:
            stopped = await jobs.call({"cancel": [job]})
            print("stopped:", not stopped.is_error)


if __name__ == "__main__":
    asyncio.run(main())
