"""Floods and strange bytes: each comes back, counted exactly, in bounded memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from outside import Program

from nacre import Exited, Tool, run

MIB = 1024 * 1024
MEMORY_GROWTH = 32 * MIB

# A program that measures how much its memory grew by one call.
MEASURING_HOST = """
import asyncio, json, resource, sys
import nacre

async def main(script, timeout):
    await nacre.run("echo warm")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await nacre.run(script, timeout=float(timeout))
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    output = result.output
    print(json.dumps({
        "growth": growth,
        "outcome": type(result.outcome).__name__,
        "bytes": output.total_bytes,
        "lines": output.total_lines,
        "omitted": output.truncation.omitted_bytes,
        "kept": output.artifact.bytes,
        "dropped": output.artifact.dropped_bytes,
        "path": output.artifact.path,
    }))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
def test_yes_until_its_timeout_is_counted_exactly_in_bounded_memory() -> None:
    facts = json.loads(Program(MEASURING_HOST, "yes", "4").succeed())
    assert facts["outcome"] == "TimedOut"
    assert facts["growth"] < MEMORY_GROWTH
    assert facts["bytes"] > 64 * MIB, "less than a flood proves nothing"
    assert facts["lines"] in (facts["bytes"] // 2, facts["bytes"] // 2 + 1)
    assert facts["kept"] + facts["dropped"] == facts["bytes"]
    assert facts["kept"] <= 64 * MIB
    assert Path(facts["path"]).stat().st_size <= 64 * MIB + 64 * 1024


@pytest.mark.slow
def test_case_33_single_line_of_200_mb_is_counted_exactly_in_bounded_memory() -> None:
    size = 200_000_000
    facts = json.loads(Program(MEASURING_HOST, f"head -c {size} /dev/zero | tr '\\0' x", "50").succeed())
    assert (facts["outcome"], facts["bytes"], facts["lines"]) == ("Exited", size, 1)
    assert facts["growth"] < MEMORY_GROWTH
    assert facts["kept"] + facts["dropped"] == size
    assert facts["omitted"] > size - MIB


@pytest.mark.slow
@pytest.mark.parametrize("contract", ["basic", "modes"])
async def test_case_33_single_line_of_200_mb_comes_back_through_a_contract(contract: str) -> None:
    async with Tool(contract) as tool:
        reply = await tool.call({"command": "head -c 200000000 /dev/zero | tr '\\0' x"})
    assert not reply.is_error
    assert 4096 < len(reply.text) < 2 * MIB


async def test_case_34_random_bytes_are_counted_exactly(tmp_path: Path) -> None:
    result = await run(f"head -c 102400 /dev/urandom | tee {tmp_path}/raw")
    raw = (tmp_path / "raw").read_bytes()
    assert result.outcome == Exited(0)
    assert (result.output.total_bytes, len(raw)) == (102_400, 102_400)
    assert result.output.total_lines in (raw.count(b"\n"), raw.count(b"\n") + 1)
    assert result.text.encode(), "whatever it wrote, the text is text"


@pytest.mark.parametrize("contract", ["basic", "modes"])
async def test_case_34_random_bytes_come_back_as_text_through_a_contract(contract: str) -> None:
    async with Tool(contract) as tool:
        reply = await tool.call({"command": "head -c 102400 /dev/urandom"})
    assert not reply.is_error
    assert json.loads(json.dumps(reply.json())) == reply.json()


async def test_case_34_bytes_that_are_no_text_are_kept_whole_in_the_artifact(tmp_path: Path) -> None:
    result = await run(f"head -c 3000000 /dev/urandom | tee {tmp_path}/raw")
    assert result.output.total_bytes == 3_000_000
    assert result.output.artifact is not None
    assert result.output.artifact.dropped_bytes == 0
    assert Path(result.output.artifact.path).read_bytes() == (tmp_path / "raw").read_bytes()
