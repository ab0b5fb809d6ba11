"""A pattern cannot stall the program: a search whose steps are never the same twice is ended, and said to be."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

import nacre
from nacre.output.regex_watch import RegexWatch
from nacre.regex.automaton import RegexWorkError, compiled
from nacre.regex.syntax import RegexSyntaxError

# Each state of the automaton is one of 2**60.
HARD = "(a|b)*a(a|b){60}c"
TOO_MUCH = f"/{HARD}/ takes too much work on this output; use a simpler expression"


def hard_text(size: int = 400_000) -> str:
    return "".join(random.Random(1).choices("ab", k=size))


def test_search_that_takes_too_much_work_is_ended_and_stays_so() -> None:
    watch = RegexWatch(HARD)
    with pytest.raises(RegexWorkError, match="takes too much work"):
        watch.feed(hard_text().encode())
    with pytest.raises(RegexWorkError):
        watch.feed(b"c")


def test_expression_is_searched_anew_after_a_search_that_took_too_much() -> None:
    with pytest.raises(RegexWorkError):
        compiled(HARD).find(hard_text())
    assert compiled(HARD).find("a" * 61 + "c") == 62


@pytest.mark.parametrize(
    "source",
    [
        r"worker-\d+\].*request (\d+) took \d{3} ms",
        r"(?i)(fail(ed|ure)?|exception|fatal).{0,80}(code|status) \d+",
        r"\b\d{1,3}(\.\d{1,3}){3}\b",
        r"^.{200,}$",
        r"[\w.+-]+@[\w-]+\.[\w.]+",
    ],
)
def test_expressions_of_real_logs_never_take_too_much(source: str) -> None:
    lines = (
        f"2024-01-02 INFO [worker-{n}] request {n * 7919} done at http://h{n}.example/{n:x}\n" for n in range(20_000)
    )
    assert RegexWatch(source).feed("".join(lines).encode()) is False


@pytest.mark.parametrize(
    "source",
    [
        "(((a{0,99}){0,99}){0,99}){0,99}",
        "a{99999999}",
        "(" * 400 + "a" + ")" * 400,
        "x" * 1_000_000,
        "(?:){0,4000000000}",
    ],
)
def test_expression_that_is_too_large_is_refused_before_it_is_built(source: str) -> None:
    with pytest.raises(RegexSyntaxError):
        compiled(source)


async def test_refusal_of_a_huge_expression_quotes_only_its_beginning() -> None:
    async with nacre.Tool("workspace") as tool:
        reply = await tool.call({"command": "true", "until": {"regex": "x" * 1_000_000}})
    assert reply.is_error
    assert "is longer than 1000 characters" in reply.text
    assert len(reply.text) < 1000


async def beaten(work: asyncio.Task[nacre.Reply]) -> tuple[nacre.Reply, int]:
    """The reply, and how often the loop came round meanwhile."""
    beats = 0
    async with asyncio.timeout(60):
        while not work.done():
            await asyncio.sleep(0.01)
            beats += 1
    return work.result(), beats


async def test_until_with_a_hard_expression_says_so_and_keeps_the_command_as_a_job(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(hard_text())
    command = "cat text; until [ -e go ]; do sleep 0.01; done"
    async with nacre.Tool("workspace", cwd=tmp_path) as tool, nacre.Tool("job") as job:
        call = tool.call({"command": command, "until": {"regex": HARD}, "tail": 1})
        reply, beats = await beaten(asyncio.create_task(call))
        (tmp_path / "go").touch()
        await job.call({"poll": [reply.details["async"]["jobId"]]})
    assert TOO_MUCH in reply.text
    # A search on the loop would have let it come round once.
    assert beats > 3


async def test_grep_with_a_hard_expression_is_refused_in_read_and_in_job(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(hard_text())
    async with (
        nacre.Tool("workspace", cwd=tmp_path) as tool,
        nacre.Tool("read") as read,
        nacre.Tool("job") as job,
    ):
        shown = await tool.call({"command": "cat text"})
        started = await tool.call({"command": "cat text", "async": True})
        job_id = started.details["async"]["jobId"]
        await job.call({"poll": [job_id]})
        replies = [
            await read.call({"id": shown.details["artifactId"], "grep": HARD}),
            await job.call({"read": job_id, "grep": HARD}),
            await job.call({"poll": [job_id], "until": {"regex": HARD}}),
        ]
    for reply in replies:
        assert reply.is_error
        assert TOO_MUCH in reply.text
