"""Evaluations as a program of its own: `python evaluation.py COMMAND...` tells what the model reads of each.

And of the example of the guide, which is evaluated first. The scripted model calls inspect's own bash tool. The sandbox
is named, not imported: the framework finds it.
"""

import asyncio
import json
import sys

from guide import run_example
from inspect_ai import Task, eval_async
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessageTool, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import bash


def calling(commands: list[str]) -> Model:
    """A model that makes these calls one after another and is content."""
    calls = [ModelOutput.for_tool_call("mockllm/model", "bash", {"command": command}) for command in commands]
    outputs = [*calls, ModelOutput.from_content("mockllm/model", "done")]
    for output in outputs:
        # Else tokens would be counted, with a table from the network.
        output.usage = ModelUsage()
    return get_model("mockllm/model", custom_outputs=outputs, memoize=False)


def answers(log: EvalLog) -> list[str]:
    """What the model reads."""
    assert log.status == "success", log.error
    assert log.samples is not None
    messages = [message for message in log.samples[0].messages if isinstance(message, ChatMessageTool)]
    return [message.text if message.error is None else message.error.message for message in messages]


async def evaluate(commands: list[str]) -> list[list[str]]:
    names = await run_example("inspect_ai", model=calling(["echo $((6 * 7))"]))
    task = Task(dataset=[Sample(input="go")], solver=[use_tools(bash(timeout=3)), generate()], sandbox="nacre")
    (log,) = await eval_async(task, model=calling(commands))
    return [answers(names["log"]), answers(log)]


if __name__ == "__main__":
    # The framework itself writes to stdout.
    sys.stderr.write(json.dumps(asyncio.run(evaluate(sys.argv[1:]))))
