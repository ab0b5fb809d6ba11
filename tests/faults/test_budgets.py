"""Budgets of calls, by control groups and by limits of single processes: 43, 55 and 59 with a budget.

Every bomb here is bounded by itself, so that a broken limit costs a test and not the machine.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from outside import PLAIN_USER, Program, eventually, with_argument

from nacre import Budget, Exited, Settings, Stopped, Tool, run
from nacre.engine.execute import NOT_HELD
from nacre.jobs.table import JobTable
from nacre.settings import ExecutionSettings
from nacre.warden.control_group import MEMORY, PROCESSES, ControlGroup

MIB = 1024 * 1024
# Doubles itself ten times at most: 1,024 processes, each of which sleeps in the end.
BOMB = "bomb() { [ $1 = 0 ] && exec sleep SLEEPER; bomb $(($1 - 1)) & bomb $(($1 - 1)); }; bomb 10"
HUNGRY = "exec python3 -c 'held = bytearray(400 << 20); print(len(held))'"
BUSY = "for i in 1 2 3; do (while :; do :; done) & done; wait"

CASES = {
    "cpu_seconds": (BUSY, {"cpu_seconds": 0.3}),
    "memory_bytes": (HUNGRY, {"memory_bytes": 100 * MIB}),
    "processes": (BOMB, {"processes": 30}),
    "file_bytes": ("exec head -c 3000000 /dev/zero >big", {"file_bytes": MIB}),
    "output_bytes": ("yes", {"output_bytes": MIB}),
    "wall_seconds": ("sleep SLEEPER", {"wall_seconds": 0.3}),
}


def has_group() -> bool:
    group = ControlGroup(os.getpid())
    group.make({"memory": MIB, "processes": 10})
    covers = group.covers
    group.remove()
    return {MEMORY, PROCESSES} <= set(covers)


@pytest.mark.parametrize("clock", CASES)
async def test_case_55_a_call_that_uses_up_its_budget_ends_and_names_the_limit(
    clock: str, sleeper: str, tmp_path: Path
) -> None:
    script, budget = CASES[clock]
    result = await run(script.replace("SLEEPER", sleeper), budget=Budget(**budget), timeout=60, cwd=tmp_path)
    assert (result.clock, result.cause, result.ok) == (clock, "limit", False)
    assert with_argument(sleeper) == []


PLAIN = """
import asyncio, json, sys, nacre
async def main():
    result = await nacre.run(sys.argv[1], budget=nacre.Budget(**json.loads(sys.argv[2])), timeout=60)
    print(json.dumps([result.clock, result.cause, result.ok, result.text[-300:]]))
asyncio.run(main())
"""


@pytest.mark.parametrize("clock", ["cpu_seconds", "processes", "file_bytes", "output_bytes"])
def test_case_55_without_a_control_group_the_limits_of_processes_and_a_watch_do_it(
    clock: str, sleeper: str, plain_home: Path
) -> None:
    script, budget = CASES[clock]
    arguments = (script.replace("SLEEPER", sleeper), json.dumps(budget))
    program = Program(PLAIN, *arguments, user=PLAIN_USER, env={"NACRE_HOME": str(plain_home)}, cwd=plain_home)
    assert json.loads(program.succeed())[:3] == [clock, "limit", False]
    assert with_argument(sleeper) == []


def test_case_59_without_a_control_group_a_process_is_refused_the_memory_beyond_its_budget(plain_home: Path) -> None:
    budget = json.dumps({"memory_bytes": 100 * MIB})
    program = Program(PLAIN, HUNGRY, budget, user=PLAIN_USER, env={"NACRE_HOME": str(plain_home)}, cwd=plain_home)
    _, _, ok, text = json.loads(program.succeed())
    assert not ok
    assert "MemoryError" in text


async def test_a_tree_that_stays_in_its_budget_runs_as_without_one() -> None:
    budget = Budget(
        cpu_seconds=30, memory_bytes=1 << 30, processes=200, file_bytes=MIB, output_bytes=MIB, wall_seconds=60
    )
    result = await run("seq 3 | cat; echo no >&2; exit 3", budget=budget)
    assert (result.outcome, result.text, result.clock, result.cause) == (Exited(3), "1\n2\n3\nno\n", None, "command")


async def test_the_budget_of_the_settings_holds_in_a_session_for_each_call_anew(tmp_path: Path) -> None:
    settings = Settings(budget=Budget(cpu_seconds=0.5))
    async with Tool("workspace", cwd=tmp_path, settings=settings) as tool:
        # 0.8 s in all, in two calls: neither has used up its own budget.
        used = "x=1; timeout -s KILL 0.4 bash -c 'while :; do :; done'"
        for _ in range(2):
            assert (await tool.call({"command": used})).details["exitCode"] == 137
        spent = await tool.call({"command": "while :; do :; done"})
        after = await tool.call({"command": "echo $x"})
    assert (spent.details["cause"], spent.details["clock"]) == ("limit", "cpu_seconds")
    assert "[Command stopped: budget used up: 0.5 s of processor time]" in spent.text
    assert after.text.startswith("1\n")


async def test_a_process_of_a_session_that_is_killed_for_its_budget_is_told_as_that(tmp_path: Path) -> None:
    if not has_group():
        pytest.skip("no writable control group with memory here; as root there is one")
    settings = Settings(budget=Budget(memory_bytes=100 * MIB))
    async with Tool("workspace", cwd=tmp_path, settings=settings) as tool:
        reply = await tool.call({"command": HUNGRY.removeprefix("exec ")})
        assert (reply.details["cause"], reply.details["clock"]) == ("limit", "memory_bytes")


async def test_the_budget_of_a_job_ends_it_and_its_record_says_so(home: Path, tmp_path: Path, sleeper: str) -> None:
    settings = Settings(budget=Budget(processes=30, output_bytes=4096))
    async with Tool("workspace", cwd=tmp_path, settings=settings) as tool:
        await tool.call({"command": BOMB.replace("SLEEPER", sleeper), "async": True})
        await tool.call({"command": "yes", "async": True})
        table = JobTable(home)
        await asyncio.to_thread(eventually, lambda: not any(job.running for job in table.list().jobs), "their ends")
        found = {job.id: (job.outcome, job.record["budget"]) for job in table.list().jobs}
        polled = await Tool("job").call({"poll": ["bg_1", "bg_2"]})
    assert found == {"bg_1": ("stopped", "processes"), "bg_2": ("stopped", "output")}
    assert "failed, stopped: its budget of processes is used up" in polled.text
    assert [(job["cause"], job["clock"]) for job in polled.details["jobs"]] == [
        ("limit", "processes"),
        ("limit", "output_bytes"),
    ]
    assert with_argument(sleeper) == []


async def test_a_command_that_moves_to_the_background_takes_its_budget_along(home: Path, tmp_path: Path) -> None:
    settings = Settings(budget=Budget(cpu_seconds=0.5))
    async with Tool("workspace", cwd=tmp_path, settings=settings) as tool:
        await tool.call({"command": "echo up; while :; do :; done", "until": {"regex": "up"}})
        await asyncio.to_thread(eventually, lambda: not JobTable(home).get("bg_1").running, "its end")
    assert JobTable(home).get("bg_1").record["budget"] == "cpu"


async def test_basic_answers_a_spent_budget_with_an_error_object(tmp_path: Path) -> None:
    async with Tool("basic", cwd=tmp_path, settings=Settings(budget=Budget(output_bytes=4096))) as tool:
        reply = await tool.call({"command": "yes"})
    assert reply.json()["error"].startswith("resources: the command was killed with all its processes (budget used up")


async def test_a_budget_of_the_call_only_tightens_that_of_the_settings() -> None:
    settings = Settings(budget=Budget(output_bytes=4096))
    result = await run("yes", settings=settings, budget=Budget(output_bytes=MIB))
    assert result.outcome == Stopped("budget used up: 4.0KB of output")


async def test_without_a_warden_the_answer_says_which_limits_do_not_hold() -> None:
    settings = Settings(execution=ExecutionSettings(containment="off"), budget=Budget(processes=30, output_bytes=4096))
    result = await run("yes", settings=settings)
    assert result.outcome == Stopped("budget used up: 4.0KB of output")
    assert NOT_HELD in result.notices
