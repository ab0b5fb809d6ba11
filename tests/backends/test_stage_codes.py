"""How the stage codes of a script's last pipeline are taken: from any script, without a trace in it."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Literal

import pytest

from nacre import Tool, run
from nacre.planning.plan import gives_stages
from nacre.settings import ExecutionSettings, Settings

Place = Literal["auto", "off"]
PLACES: tuple[Place, ...] = ("auto", "off")


async def outcome(script: str, place: Place, cwd: Path) -> tuple[str, int | None, tuple[int, ...]]:
    """Text, code and stage codes; twice, so that a shell started in advance has run it too."""
    settings = Settings(execution=ExecutionSettings(containment=place))
    first = await run(script, settings=settings, cwd=cwd)
    await asyncio.sleep(0.05)
    second = await run(script, settings=settings, cwd=cwd)
    assert (first.text, first.exit_code, first.stages) == (second.text, second.exit_code, second.stages)
    return first.text, first.exit_code, first.stages


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("script", "stages"),
    [
        ("false | true", (1, 0)),
        ("echo ${pat:?missing} | wc -l", (127, 0)),
        ("trap 'echo bye $?' EXIT; false | true", (1, 0)),
        ("trap 'echo bye $?' EXIT; true | (exit 3)", (0, 3)),
        ("set -- a b; trap 'echo bye' EXIT\nfalse | true # the end", (1, 0)),
        ("trap 'rm -f x' EXIT; (exit 4) | cat <<'END'\ntext\nEND\n", (4, 0)),
        ("trap 'rm -f x' EXIT; (exit 4) | cat <<<word", (4, 0)),
        ("false | true; exit", (1, 0)),
        ("set -e; (exit 5) | cat", (5, 0)),
    ],
)
async def test_stage_codes_are_given_and_the_output_is_that_of_bash(
    script: str, stages: tuple[int, ...], place: Place, tmp_path: Path
) -> None:
    plain = subprocess.run(
        ["bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path, check=False
    )
    assert await outcome(script, place, tmp_path) == (plain.stdout, plain.returncode, stages)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "script",
    [
        "exec 100>&1; false | true",
        "exec 100>&1 101>&1 102>&1 103>&1; false | true",
        "exec 100>file 101>file 102>file 103>file; false | true; cat file",
        "exec 100>&- 101>&- 102>&-; false | true",
        "trap 'echo bye' EXIT; exec 100>&1 101>&1 102>&1; false | true",
        "trap -p; echo x | cat",
        "trap 'echo own' EXIT; trap -p; echo x | cat",
        "trap 'echo \"did $BASH_COMMAND\"' DEBUG; false | true; :",
        "trap 'echo failed $?' ERR; true | false",
        "set -x; : | :",
        "trap 'echo bye' EXIT; set -x; :; x=1 || true",
        "exec 7>trace; BASH_XTRACEFD=7; set -x; true | :; set +x; sort trace | uniq -c",
        "declare -p | grep __[n]acre; declare -F | grep __[n]acre; echo $-",
        'echo "$BASH_EXECUTION_STRING"; trap : EXIT; true | true',
        "trap 'echo bye' EXIT; cat <<END | cat\nnot closed",
        "trap 'echo bye' EXIT; echo 'not closed | x",
        "trap 'echo bye' EXIT; true |",
        "trap 'echo bye' EXIT; echo a | cat && \\",
    ],
)
async def test_nothing_of_ours_is_in_a_script_and_its_descriptors(script: str, place: Place, tmp_path: Path) -> None:
    plain = subprocess.run(
        ["bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path, check=False
    )
    text, code, _ = await outcome(script, place, tmp_path)
    assert (text, code) == (plain.stdout, plain.returncode)


async def test_basic_writes_no_codes_into_a_descriptor_of_the_script() -> None:
    async with Tool("basic") as tool:
        reply = await tool.call({"command": "exec 100>&1; false | true"})
    assert reply.json() == {"stdout": "", "stderr": "", "exitCode": 0}


def test_scripts_without_a_pipe_pay_nothing() -> None:
    assert not gives_stages("make test")
    assert gives_stages("make test | tail")
