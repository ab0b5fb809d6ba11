"""A page that is opened late shows what was run before, from the log, and nothing that the log does not have."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import nacre
from nacre.audit import NAME, append_line, entries
from nacre.output.redaction.redactor import Redactor
from nacre.web.past_calls import MOST_PAST, TAIL_BYTES, cards_of, past_calls
from web.serving import PATIENCE_SECONDS, page_server

PLAIN = Redactor({})


def entry(call: str, **facts: Any) -> dict[str, Any]:
    return {"time": 1000.0, "call": call, "command": "make", "cwd": "/p", "outcome": "exited", "exitCode": 0} | facts


def test_cards_have_what_the_log_has() -> None:
    (card,) = cards_of([entry("a", exitCode=3, durationMs=2500, stdoutBytes=7, stderrBytes=None, by="person")], PLAIN)
    assert (card.command, card.cwd, card.status, card.exit_code, card.by) == ("make", "/p", "failed", 3, "person")
    assert (card.started, card.ended, card.seconds) == (997.5, 1000.0, 2.5)
    assert (card.tail.text, card.tail.missing_bytes) == ("", 7)


def test_a_job_is_one_call_once_it_has_ended() -> None:
    start = entry("a", outcome="background", jobId="bg_1")
    assert cards_of([start], PLAIN) == []
    found = cards_of([start, entry("b"), entry("a", event="end", jobId="bg_1", startedAt=900.0)], PLAIN)
    assert [(card.call, card.job_id, card.started) for card in found] == [("b", None, 1000.0), ("a", "bg_1", 900.0)]


def test_entries_that_are_no_calls_are_passed_over() -> None:
    assert cards_of([{}, {"call": "a"}, entry("b", command=None), entry("c", time="now")], PLAIN) == []


def test_values_that_are_hidden_now_are_hidden_in_the_past() -> None:
    hiding = Redactor({"PASSWORD": "hunter2-hunter2"})
    (card,) = cards_of([entry("a", command="curl -u me:hunter2-hunter2 x", error="no hunter2-hunter2")], hiding)
    assert "hunter2" not in card.command + str(card.error)
    assert card.command.startswith("curl -u me:")


def test_a_long_log_is_read_from_its_end_and_over_its_turn(home: Path) -> None:
    for number in range(MOST_PAST):
        append_line(home, entry(f"old-{number}"))
    os.rename(home / NAME, home / f"{NAME}.1")
    append_line(home, entry("new"))
    found = [card.call for card in past_calls(str(home), PLAIN)]
    assert found == [*(f"old-{number}" for number in range(1, MOST_PAST)), "new"]
    append_line(home, entry("long", command="x" * TAIL_BYTES))
    append_line(home, entry("last"))
    # The line that is longer than what is read is no part of it.
    assert [card.call for card in past_calls(str(home), PLAIN)] == ["last"]


def test_without_a_log_there_is_no_past(home: Path) -> None:
    assert past_calls(str(home), PLAIN) == []
    (home / NAME).mkdir(parents=True)
    assert past_calls(str(home), PLAIN) == []


async def test_the_page_shows_them_with_what_was_kept(home: Path) -> None:
    async with nacre.Tool("workspace") as tool:
        await tool.call({"command": "seq 40000; exit 3"})
        await tool.call({"command": "echo little"})
        await tool.call({"command": "echo of the job", "async": True})
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not any(one.get("event") == "end" for one in entries(home)):
                await asyncio.sleep(0.01)
        async with page_server() as page, page.follow() as events:
            big = (await events.until("card", command="seq 40000; exit 3")).data
            assert (big["state"], big["origin"], big["output"], big["unkept"]) == ("exit 3", "from the log", True, 0)
            shown = (await page.get(f"api/output/call/{big['call']}?offset=-1")).json()
            assert shown["text"].endswith("\n40000\n")
            little = (await events.until("card", command="echo little")).data
            assert (little["lines"], little["output"], little["unkept"]) == ([], False, len("little\n"))
            job = (await events.until("card", command="echo of the job")).data
            shown = (await page.get(f"api/output/call/{job['call']}")).json()
            assert (job["job"], shown["text"]) == ("bg_1", "of the job\n")
            # What comes now comes as ever.
            await tool.call({"command": "echo now"})
            now = (await events.until("card", command="echo now", state="exit 0")).data
            assert (now["lines"], now["unkept"]) == (["now"], 0)
            assert now["origin"].startswith("library · ")
