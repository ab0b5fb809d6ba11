"""The seven-sleeper tree: however a command's processes detach themselves, none is alive after a timeout."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from outside import PLAIN_USER, Program, nacre, with_argument

from nacre import TimedOut, run

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
