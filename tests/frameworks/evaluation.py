"""An evaluation as a program of its own: `python evaluation.py COMMAND...` tells what the model reads of each.

Its scripted model calls inspect's own bash tool. The sandbox is named, not imported: the framework finds it.
"""

import asyncio
import json
import sys

from inspect_ai import Task, eval_async
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageTool, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import bash


async def evaluate(commands: list[str]) -> list[str]:
    calls = [ModelOutput.for_tool_call("mockllm/model", "bash", {"command": command}) for command in commands]
    outputs = [*calls, ModelOutput.from_content("mockllm/model", "done")]
    for output in outputs:
        # Else tokens would be counted, with a table from the network.
        output.usage = ModelUsage()
    model = get_model("mockllm/model", custom_outputs=outputs)
    task = Task(dataset=[Sample(input="go")], solver=[use_tools(bash(timeout=1)), generate()], sandbox="nacre")
    (log,) = await eval_async(task, model=model)
    assert log.status == "success", log.error
    assert log.samples is not None
    answers = [message for message in log.samples[0].messages if isinstance(message, ChatMessageTool)]
    return [message.text if message.error is None else message.error.message for message in answers]


if __name__ == "__main__":
    # The framework itself writes to stdout.
    sys.stderr.write(json.dumps(asyncio.run(evaluate(sys.argv[1:]))))
