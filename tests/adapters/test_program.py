"""A program and its arguments through the engine: nothing is expanded, everything is promised."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from nacre import DeniedError, Exited, InvalidRequestError, ShellResult, Signalled, TimedOut
from nacre.adapters.program import program_profile, run_program

PROFILE = program_profile("test", limit_bytes=1000)


async def run(*argv: str, **options: object) -> ShellResult:
    return await run_program(argv, PROFILE, **({"cwd": "/"} | options))  # type: ignore[arg-type]


async def test_arguments_are_taken_as_they_are() -> None:
    words = ["a b", "$HOME", ";", "'", '"', "*", "", "-n", "ä\n", "`id`", "\\"]
    assert (await run("printf", "%s|", *words)).text == "".join(f"{word}|" for word in words)


async def test_streams_are_apart_unless_they_are_wanted_together() -> None:
    script = "echo out; echo err >&2"
    apart = await run("sh", "-c", script)
    assert apart.stderr is not None
    assert (apart.text, apart.stderr.text) == ("out\n", "err\n")
    together = await run_program(
        ["sh", "-c", script], program_profile("test", limit_bytes=1000, streams="merged"), cwd="/"
    )
    assert (together.text, together.stderr) == ("out\nerr\n", None)


async def test_only_programs_are_run_never_builtins_or_functions() -> None:
    # `type -P` would find nothing of that name.
    assert (await run("declare", "-p")).outcome == Exited(127)
    assert (await run("if")).outcome == Exited(127)


@pytest.mark.parametrize("input", [b"\x00\xff\n", b"", b"x" * 200_000], ids=["binary", "empty", "large"])
async def test_input_is_read_as_it_is(input: bytes, tmp_path: Path) -> None:
    result = await run("dd", f"of={tmp_path}/copy", "status=none", "bs=64k", input=input)
    assert result.outcome == Exited(0)
    assert (tmp_path / "copy").read_bytes() == input


async def test_without_input_there_is_nothing_to_read() -> None:
    assert (await run("cat")).text == ""


async def test_of_too_much_output_the_newest_is_shown_and_the_rest_counted() -> None:
    result = await run("seq", "1000")
    assert result.text.endswith("\n999\n1000\n")
    assert len(result.text) == 1000
    assert result.output.truncation is not None
    assert result.output.truncation.omitted_bytes == result.output.total_bytes - 1000


async def test_output_of_just_the_limit_is_whole() -> None:
    result = await run("printf", "%01000d", "7")
    assert (len(result.text), result.output.truncation) == (1000, None)


async def test_the_status_is_the_programs_own() -> None:
    assert (await run("sh", "-c", "kill -TERM $$")).outcome == Signalled(signal.SIGTERM)
    assert (await run("sh", "-c", "exit 70")).outcome == Exited(70)


async def test_a_timeout_leaves_nothing() -> None:
    result = await run("sh", "-c", "setsid -f sleep 600; sleep 600", timeout=0.5)
    assert isinstance(result.outcome, TimedOut)


async def test_the_guard_judges_what_would_be_run() -> None:
    with pytest.raises(DeniedError, match="rule no_force_push"):
        await run("sh", "-c", "git push -f")


async def test_variables_are_added_for_the_program() -> None:
    result = await run("sh", "-c", "echo $GREETING $HOME", env={"GREETING": "hi"})
    assert result.text == f"hi {os.environ['HOME']}\n"


async def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="empty list"):
        await run()
    with pytest.raises(InvalidRequestError, match="NUL"):
        await run("echo", "a\0b")
    with pytest.raises(InvalidRequestError, match="timeout must be a number"):
        await run("true", timeout=-1)
