"""Why a command has no exit code."""

from __future__ import annotations

import pytest

import nacre
from nacre.adapters.place_ending import NoExitCode, exit_code_of


async def test_an_end_of_the_command_s_own_is_its_exit_code() -> None:
    assert exit_code_of(await nacre.run("exit 3")) == 3
    assert exit_code_of(await nacre.run("kill -9 $$")) == 137


async def test_a_limit_is_no_exit_code_and_named() -> None:
    with pytest.raises(NoExitCode, match=r"timed out after 0\.2 seconds .*cause: limit, clock: timeout") as caught:
        exit_code_of(await nacre.run("sleep 100", timeout=0.2))
    assert (caught.value.cause, caught.value.clock) == ("limit", "timeout")
    with pytest.raises(NoExitCode, match="clock: output_bytes"):
        exit_code_of(await nacre.run("yes", budget=nacre.Budget(output_bytes=4096)))
