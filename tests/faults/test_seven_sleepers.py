"""The seven-sleeper tree: however a command's processes detach themselves, none is alive after a timeout."""

from __future__ import annotations

import json
import os
from contextlib import aclosing
from pathlib import Path

import pytest
from outside import PLAIN_USER, Program, eventually, nacre, with_argument

from nacre import TimedOut, Tool, run
from nacre.jobs.table import JobTable

# The last line waits until all are there, so that no test passes because the tree was cut short.
TREE = """
{first}
sleep {s} &
nohup sleep {s} >/dev/null 2>&1 &
setsid sleep {s} &
setsid --fork setsid --fork sleep {s}
env -i /usr/bin/setsid /bin/sleep {s} &
(cd / && exec env -i /usr/bin/setsid --fork /usr/bin/setsid --fork /bin/sleep {s} <&- >&- 2>&-)
until [ "$(grep -lzx {pattern} /proc/[0-9]*/cmdline 2>/dev/null | wc -l)" = 6 ]; do sleep 0.01; done
echo six are up
sleep {s}
"""
STUBBORN = "trap '' TERM"
POLITE = ":"
# Each is long enough on an idle machine; on a busy one the next is tried.
TIMEOUTS = ("1", "4", "15")


def tree(first: str, sleeper: str) -> str:
    # The pattern does not match itself among grep's own arguments.
    return TREE.format(first=first, s=sleeper, pattern=sleeper.replace(".", "[.]"))


LIBRARY_HOST = """
import asyncio, json, subprocess, sys
import nacre

async def main(script, timeout):
    # A program with children of its own, which are none of nacre's business.
    own = subprocess.Popen(["sleep", "50"])
    result = await nacre.run(script, timeout=float(timeout))
    print(json.dumps([type(result.outcome).__name__, result.text, own.poll()]), flush=True)
    own.kill()
    own.wait()

asyncio.run(main(*sys.argv[1:]))
"""


def home_of(user: str, request: pytest.FixtureRequest) -> tuple[int | None, dict[str, str]]:
    if user == "plain user":
        home: Path = request.getfixturevalue("plain_home")
        return PLAIN_USER, {"NACRE_HOME": str(home), "HOME": str(home), "NACRE_GRACE_SECONDS": "0.2"}
    if os.geteuid() != 0:
        pytest.skip("these tests do not run as root here")
    return None, {"NACRE_GRACE_SECONDS": "0.2"}


@pytest.mark.parametrize("user", ["root", "plain user"])
def test_seven_sleepers_are_gone_after_a_timeout_of_the_command_line(
    user: str, sleeper: str, request: pytest.FixtureRequest
) -> None:
    uid, env = home_of(user, request)
    script = tree(STUBBORN, sleeper)
    for timeout in TIMEOUTS:
        code, out, errors = nacre("run", "--timeout", timeout, "--", script, user=uid, env=env, cwd="/").finish()
        assert (code, with_argument(sleeper)) == (124, []), errors
        if "six are up" in out:
            return
    pytest.fail("the tree was never complete")


def test_seven_sleepers_are_gone_after_a_timeout_of_the_command_line_on_a_terminal(
    sleeper: str, request: pytest.FixtureRequest
) -> None:
    uid, env = home_of("plain user", request)
    script = tree(STUBBORN, sleeper)
    for timeout in TIMEOUTS:
        ended = nacre("run", "--pty", "--timeout", timeout, "--", script, user=uid, env=env, cwd="/").finish()
        code, out, errors = ended
        assert (code, with_argument(sleeper)) == (124, []), errors
        if "six are up" in out:
            return
    pytest.fail("the tree was never complete")


@pytest.mark.parametrize("user", ["root", "plain user"])
def test_seven_sleepers_are_gone_after_a_timeout_inside_another_program(
    user: str, sleeper: str, request: pytest.FixtureRequest
) -> None:
    uid, env = home_of(user, request)
    script = tree(STUBBORN, sleeper)
    for timeout in TIMEOUTS:
        outcome, text, own = json.loads(Program(LIBRARY_HOST, script, timeout, user=uid, env=env, cwd="/").succeed())
        assert (outcome, own, with_argument(sleeper)) == ("TimedOut", None, [])
        if "six are up" in text:
            return
    pytest.fail("the tree was never complete")


async def test_seven_sleepers_that_heed_the_polite_end_need_no_kill(sleeper: str) -> None:
    script = tree(POLITE, sleeper)
    for timeout in TIMEOUTS:
        result = await run(script, timeout=float(timeout))
        assert result.outcome == TimedOut(float(timeout), "SIGTERM")
        assert with_argument(sleeper) == []
        if "six are up" in result.text:
            return
    pytest.fail("the tree was never complete")


async def test_what_is_started_while_the_tree_ends_is_asked_to_end_too(sleeper: str) -> None:
    script = f"trap 'setsid sleep {sleeper} & exit' TERM; echo up; sleep {sleeper} & wait"
    result = await run(script, timeout=1)
    assert (result.text, result.outcome) == ("up\n", TimedOut(1.0, "SIGTERM"))
    assert with_argument(sleeper) == []


async def test_the_cleaning_up_of_a_process_that_was_asked_to_end_is_left_alone(sleeper: str, tmp_path: Path) -> None:
    done = tmp_path / "done"
    script = f"trap 'sleep 0.1 && touch {done}; exit' TERM; sleep {sleeper} & wait"
    result = await run(script, timeout=1)
    assert (done.exists(), result.outcome) == (True, TimedOut(1.0, "SIGTERM"))


async def test_seven_sleepers_in_a_terminal_are_gone_after_a_timeout(sleeper: str, home: Path) -> None:
    tool = Tool("workspace", cwd="/", ui=True)
    for timeout in TIMEOUTS:
        reply = await tool.call({"command": tree(STUBBORN, sleeper), "pty": True, "timeout": int(timeout)})
        assert f"timed out after {timeout} second" in reply.text
        assert with_argument(sleeper) == []
        if "six are up" in reply.text:
            return
    pytest.fail("the tree was never complete")


async def test_seven_sleepers_in_a_terminal_are_gone_after_a_cancel(sleeper: str, home: Path) -> None:
    tool = Tool("workspace", cwd="/", ui=True)
    updates = tool.stream({"command": tree(STUBBORN, sleeper), "pty": True})
    async with aclosing(updates):
        async for update in updates:
            if "six are up" in update.text:
                break
    assert with_argument(sleeper) == []
    assert JobTable(home).list().jobs == ()


async def test_seven_sleepers_in_a_terminal_are_gone_after_their_job_is_cancelled(sleeper: str, home: Path) -> None:
    reply = await Tool("workspace", cwd="/").call({"command": tree(STUBBORN, sleeper), "pty": True, "async": True})
    job, job_id = Tool("job"), reply.details["async"]["jobId"]
    await job.call({"poll": [job_id], "until": {"regex": "six are up"}, "wait": 30})
    await job.call({"cancel": [job_id]})
    await job.call({"poll": [job_id], "wait": 30})
    assert with_argument(sleeper) == []


TERMINAL_HOST = """
import asyncio, sys
import nacre

async def main(script):
    async for update in nacre.Tool("workspace", cwd="/", ui=True).stream({"command": script, "pty": True}):
        print(update.text.strip().replace(chr(10), " "), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def test_seven_sleepers_in_a_terminal_die_with_the_program_that_waits(sleeper: str, home: Path) -> None:
    host = Program(TERMINAL_HOST, tree(STUBBORN, sleeper), env={"NACRE_GRACE_SECONDS": "0.2"})
    while "six are up" not in host.line():
        continue
    host.process.kill()
    host.finish()
    eventually(lambda: with_argument(sleeper) == [], "the end of the sleepers")
