"""A person's commands: a session of their own, questions instead of refusals, logged as a person's (D36, D25)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from nacre import config
from nacre.contracts.contract import Reply
from nacre.guard.verdict import Verdict
from nacre.jobs import job_terminal
from nacre.jobs.table import JobTable
from nacre.result import ShellResult
from nacre.tool_events import Update
from nacre.tui.person import PersonSession


async def ran(session: PersonSession, command: str) -> Reply:
    last = None
    async for update in session.run(command):
        last = update
    assert isinstance(last, Reply)
    return last


async def test_a_cd_moves_the_session_and_variables_stay(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    session = PersonSession(cwd=tmp_path)
    await ran(session, "cd web; greeting=hello")
    assert session.cwd == str(tmp_path / "web")
    assert (await ran(session, 'echo "$greeting"')).text == "hello\n"
    await session.aclose()


async def test_a_denial_becomes_a_question_and_yes_runs_the_command(tmp_path: Path) -> None:
    asked: list[tuple[str, Verdict]] = []

    async def yes(command: str, verdict: Verdict) -> bool:
        asked.append((command, verdict))
        return True

    (tmp_path / ".git").mkdir()
    session = PersonSession(cwd=tmp_path, approver=yes)
    reply = await ran(session, "echo before; rm -rf .git")
    assert isinstance(reply.details["result"], ShellResult)
    assert not (tmp_path / ".git").exists()
    [(command, verdict)] = asked
    assert command[slice(*verdict.span)] == "rm -rf .git"  # type: ignore[misc]
    assert not verdict.message.startswith("denied")
    await session.aclose()


async def test_no_is_a_denial_and_nothing_runs(tmp_path: Path) -> None:
    async def no(command: str, verdict: Verdict) -> bool:
        return False

    (tmp_path / ".git").mkdir()
    session = PersonSession(cwd=tmp_path, approver=no)
    reply = await ran(session, "rm -rf .git")
    assert reply.refusal is not None
    assert reply.text.count("denied by nacre's guard") == 1
    assert reply.text.endswith("(it was not approved)")
    assert (tmp_path / ".git").exists()
    await session.aclose()


async def test_without_a_person_to_ask_a_denial_stays_one(tmp_path: Path) -> None:
    session = PersonSession(cwd=tmp_path)
    reply = await ran(session, "rm -rf .git")
    assert reply.refusal is not None
    await session.aclose()


async def test_secrets_are_taken_out_and_the_log_says_that_a_person_ran_it(
    tmp_path: Path, home: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "s3cr3t-value-of-the-token")
    session = PersonSession(cwd=tmp_path)
    reply = await ran(session, "echo [$DEPLOY_TOKEN]; echo s3cr3t-value-of-the-to''ken")
    assert "s3cr3t-value-of-the-token" not in reply.text
    assert reply.text.startswith("[]\n")
    entries = [json.loads(line) for line in (home / "log.jsonl").read_text().splitlines()]
    assert entries[-1]["contract"] == "person"
    await session.aclose()


async def test_a_command_with_a_terminal_is_answered_there_and_has_a_copy_of_the_state(tmp_path: Path) -> None:
    session = PersonSession(cwd=tmp_path)
    await ran(session, "greeting=hello")
    told: list[str] = []
    last = None
    async for update in session.run('read -rp "Name: " name; [ -t 0 ] && echo "$greeting $name"', pty=True):
        if isinstance(update, Update) and update.job_id is not None and not told:
            told.append(update.job_id)
            job_terminal.write(JobTable(config.state_dir(os.environ)).get(update.job_id), b"Ada\r")
        last = update
    assert isinstance(last, Reply)
    assert told == ["bg_1"]
    result = last.details["result"]
    assert (result.exit_code, "hello Ada" in last.text) == (0, True)
    await session.aclose()
