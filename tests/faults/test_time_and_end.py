"""Time and end, cases 51-68: every command ends in time, whole, and with exactly one verdict."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest
from outside import Program, alive, end, eventually, with_argument

from nacre import Exited, Signalled, TimedOut, audit, run, run_sync
from nacre.jobs.table import JobTable
from nacre.settings import ExecutionSettings, Settings
from nacre.warden import children


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_GRACE_SECONDS", "0.2")


@pytest.mark.usefixtures("short_grace")
async def test_case_51_command_that_ignores_term_is_killed_after_the_grace(sleeper: str) -> None:
    result = await run(f"trap '' TERM; echo up; sleep {sleeper}", timeout=2)
    assert (result.outcome, result.text) == (TimedOut(2, "SIGKILL"), "up\n")
    assert with_argument(sleeper) == []


async def test_case_52_clean_end_on_term_is_not_made_to_wait_for_the_grace(
    sleeper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_GRACE_SECONDS", "90")
    script = f"trap 'echo cleaning; kill %1; exit 0' TERM; sleep {sleeper} & wait"
    async with asyncio.timeout(30):
        result = await run(script, timeout=2)
    assert (result.outcome, result.text) == (TimedOut(2, "SIGTERM"), "cleaning\n")


async def test_case_53_stopped_command_is_continued_so_that_it_can_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_GRACE_SECONDS", "90")
    async with asyncio.timeout(30):
        result = await run("trap 'echo termed; exit' TERM; kill -STOP $$; echo continued", timeout=2)
    assert result.outcome == TimedOut(2, "SIGTERM")
    assert "termed" in result.text


@pytest.mark.usefixtures("short_grace")
async def test_case_53_stopped_command_that_ignores_term_is_killed(sleeper: str) -> None:
    script = f"trap '' TERM; sleep {sleeper} & kill -STOP $!; while :; do kill -STOP $$; done"
    result = await run(script, timeout=2)
    assert result.outcome == TimedOut(2, "SIGKILL")
    assert with_argument(sleeper) == []


@pytest.mark.usefixtures("short_grace")
async def test_case_55_bounded_fork_bomb_is_gone_after_its_timeout(sleeper: str) -> None:
    """64 processes at most: each of six generations doubles."""
    script = f"""
        trap '' TERM
        bomb() {{ [ $1 = 0 ] && exec sleep {sleeper}; bomb $(($1 - 1)) & bomb $(($1 - 1)); }}
        bomb 6
    """
    result = await run(script, timeout=1)
    assert isinstance(result.outcome, TimedOut)
    assert with_argument(sleeper) == []
    assert result.notices == ()


@pytest.mark.usefixtures("short_grace")
async def test_case_56_process_that_hops_away_from_the_kill_is_caught(tmp_path: Path) -> None:
    """A chain in which each process starts the next and ends: whoever lists processes always comes late."""
    hop = tmp_path / "hop"
    hop.write_text(
        "#!/bin/bash\ntrap '' TERM\n[ $1 -gt 20000 ] && exit\n"
        f"[ $1 = 1 ] && echo up\necho $1 >{tmp_path}/last\nsetsid {hop} $(($1 + 1)) &\n",
        encoding="ascii",
    )
    hop.chmod(0o700)
    result = await run(f"trap '' TERM; {hop} 1 & {hop} 1 & {hop} 1 & while :; do sleep 1; done", timeout=2)
    assert isinstance(result.outcome, TimedOut)
    assert result.text == "up\n" * 3
    assert result.notices == ()
    assert [pid for pid in children.descendants(os.getpid()) if str(hop) in children.command_line(pid)] == []
    assert int((tmp_path / "last").read_text(encoding="ascii") or 0) < 20000


async def test_case_57_timeout_at_the_moment_of_exit_is_one_verdict(home: Path) -> None:
    outcomes = []
    for number in range(25):
        limit = 0.04 + number / 1000
        result = await run("sleep 0.05; exit 9", timeout=limit)
        assert result.outcome in (Exited(9), TimedOut(limit, "SIGTERM"))
        outcomes.append("exited" if result.outcome == Exited(9) else "timedOut")
    assert [entry["outcome"] for entry in audit.entries(home)] == outcomes
    # However close, an exit that was collected first is no timeout.
    assert (await run("exit 9", timeout=20)).outcome == Exited(9)


@pytest.mark.parametrize("containment", ["required", "off"])
async def test_case_58_all_exit_codes_come_through_unchanged(containment: str) -> None:
    settings = Settings(execution=ExecutionSettings(containment=containment))  # type: ignore[arg-type]
    outcomes = [(await run(f"exit {code}", settings=settings)).outcome for code in range(256)]
    assert outcomes == [Exited(code) for code in range(256)]


DEADLY = sorted(
    set(signal.valid_signals())
    - {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
    - {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
)


async def test_case_58_death_by_each_signal_is_told_by_number_and_name(tmp_path: Path) -> None:
    for number in DEADLY:
        # Not bash itself, which ignores SIGQUIT always.
        result = await run(f"exec sh -c 'kill -{int(number)} $$; sleep 20'", cwd=tmp_path)
        assert result.outcome == Signalled(int(number))
        assert result.exit_code == 128 + number
        if number in signal.Signals.__members__.values():
            assert result.outcome.name == signal.Signals(number).name
    assert list(tmp_path.glob("core*")) == []


async def test_case_59_kill_by_somebody_else_is_137_and_no_timeout_of_ours() -> None:
    result = await run("kill -KILL $$", timeout=20)
    assert (result.outcome, result.exit_code, result.ok) == (Signalled(9), 137, False)
    assert (await run("bash -c 'kill -KILL $$'; exit $?")).outcome == Exited(137)


WAITING = "print('up', flush=True); import signal; signal.pause()"


async def test_case_60_stranger_under_a_recorded_pid_is_not_signalled(home: Path, sleeper: str) -> None:
    """A job's record names pids; after its runner and shell are gone, the numbers may be anybody's."""
    from test_restart import start_job

    # It is up before the job starts, so that the two differ in their start times, which count in hundredths.
    with Program(WAITING) as stranger:
        assert stranger.line() == "up"
        details = await start_job(f"sleep {sleeper}")
        table = JobTable(home)
        record = table.get(details["jobId"]).record
        file = home / "jobs" / details["jobId"] / "record.json"
        text = file.read_text(encoding="ascii")
        end(record["runnerPid"])
        end(details["pid"], *with_argument(sleeper))
        eventually(lambda: table.get(details["jobId"]).state == "lost", "the warden's word on its killed runner")
        # As if the warden had been killed too, and the same numbers were given out again.
        for old in (record["runnerPid"], record["pid"]):
            text = text.replace(f": {old},", f": {stranger.pid},")
        file.write_text(text, encoding="ascii")
        table.stop(details["jobId"])
        # The lock of a job that another process settles in this moment is not free.
        eventually(lambda: table.get(details["jobId"]).state == "lost", "the end of a job without a runner")
        assert alive(stranger.pid)


async def test_case_60_only_descendants_are_signalled() -> None:
    with Program(WAITING) as stranger:
        assert stranger.line() == "up"
        children.signal_process(stranger.pid, signal.SIGKILL, parents={1})
        assert alive(stranger.pid)
        children.signal_process(stranger.pid, signal.SIGKILL, parents={os.getpid()})
        await asyncio.to_thread(eventually, lambda: not alive(stranger.pid), "the kill")


async def test_case_61_after_the_leader_is_reaped_its_tree_is_ended_one_by_one(sleeper: str, tmp_path: Path) -> None:
    """The shell is gone, its child writes on; the call is cancelled while its output is drained."""
    script = f"(while :; do echo x; sleep 0.05; done) & sleep {sleeper} & echo $$ >{tmp_path}/leader; exit 0"
    task = asyncio.create_task(run(script))
    file = tmp_path / "leader"
    leader = await asyncio.to_thread(eventually, lambda: file.exists() and file.read_text(encoding="ascii"), "it")
    await asyncio.to_thread(eventually, lambda: not children.stat_fields(int(leader)), "the leader to be reaped")
    await asyncio.to_thread(eventually, lambda: with_argument(sleeper), "the sleeper")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert with_argument(sleeper) == []


@pytest.mark.slow
async def test_case_62_ten_thousand_orphans_are_all_reaped() -> None:
    """The last line waits until the runner has no child but the shell itself."""
    if shutil.which("perl") is None:
        pytest.skip("perl is missing (Debian: apt-get install perl-base)")
    script = r"""
        perl -e 'for (1..100) { my $p = fork(); if (!$p) { for (1..100) { fork() or exit 0 } exit 0 } waitpid $p, 0 }'
        until [ "$(cat /proc/$PPID/task/$PPID/children)" = "$$ " ]; do sleep 0.01; done
        echo clean
    """
    result = await run(script, timeout=50)
    assert (result.outcome, result.text) == (Exited(0), "clean\n")


async def test_case_63_jump_of_the_wall_clock_moves_no_deadline(monkeypatch: pytest.MonkeyPatch, sleeper: str) -> None:
    """This process's wall clock jumps by an hour at every look; the real one is not ours to set."""
    real = time.time
    looks: list[int] = []

    def jumping() -> float:
        looks.append(1)
        return real() + (3600 if len(looks) % 2 else -3600)

    monkeypatch.setattr(time, "time", jumping)
    result = await run("sleep 0.1; echo done", timeout=30)
    assert (result.outcome, result.text) == (Exited(0), "done\n")
    assert 0 <= result.elapsed < 30
    assert (await run(f"sleep {sleeper}", timeout=0.2)).outcome == TimedOut(0.2, "SIGTERM")
    assert looks


THIEF = """
import os, signal, sys
import nacre
from nacre.settings import ExecutionSettings, Settings
stolen = []

def steal(*_):
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        stolen.append(pid)

signal.signal(signal.SIGCHLD, signal.SIG_IGN if sys.argv[2] == "ignoring" else steal)
settings = Settings(execution=ExecutionSettings(containment=sys.argv[1]))
for code in (0, 3, 0, 7):
    result = nacre.run_sync(f"exit {code}", settings=settings)
    print(result.exit_code, result.ok, type(result.outcome).__name__, flush=True)
result = nacre.run_sync("sleep 0.1; exit 5", settings=settings)
print(result.exit_code, result.ok, type(result.outcome).__name__, flush=True)
"""


@pytest.mark.parametrize("how", ["stealing", "ignoring"])
def test_case_64_host_that_collects_every_child_changes_no_status(how: str) -> None:
    out = Program(THIEF, "required", how).succeed()
    assert out.splitlines() == [f"{code} {code == 0} Exited" for code in (0, 3, 0, 7, 5)]


@pytest.mark.parametrize("how", ["stealing", "ignoring"])
def test_case_64_without_a_warden_a_stolen_status_is_unknown_and_never_success(how: str) -> None:
    lines = Program(THIEF, "off", how).succeed().splitlines()
    assert len(lines) == 5
    for line, code in zip(lines, (0, 3, 0, 7, 5), strict=True):
        assert line in (f"{code} {code == 0} Exited", "None False Lost")


async def test_case_65_calls_from_other_threads_work_beside_the_main_one() -> None:
    found: dict[int, str] = {}

    def call(number: int) -> None:
        found[number] = run_sync(f"sleep 0.05; echo {number}").text

    threads = [threading.Thread(target=call, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    assert (await run("echo main")).text == "main\n"
    assert run_sync("echo inside a loop").text == "inside a loop\n"
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert found == {number: f"{number}\n" for number in range(8)}


CLOSED_LOOP = """
import asyncio, sys, warnings
import nacre
warnings.simplefilter("ignore")
loop = asyncio.new_event_loop()
task = loop.create_task(nacre.run(sys.argv[1]))

async def until_up():
    import os
    while not os.path.exists(sys.argv[2]):
        await asyncio.sleep(0.005)

loop.run_until_complete(until_up())
loop.close()
print(nacre.run_sync("echo another loop").text, end="", flush=True)
"""


def test_case_65_loop_closed_in_mid_run_leaves_the_next_call_whole_and_nothing_behind(
    sleeper: str, tmp_path: Path
) -> None:
    program = Program(CLOSED_LOOP, f"touch {tmp_path}/up; sleep {sleeper}", str(tmp_path / "up"))
    code, out, _ = program.finish()
    assert (code, out) == (0, "another loop\n")
    eventually(lambda: not with_argument(sleeper), "the end of the orphaned command")


@pytest.mark.usefixtures("short_grace")
@pytest.mark.parametrize("first", ["", "trap '' TERM;"], ids=["polite", "stubborn"])
async def test_case_66_cancelled_call_returns_after_the_kill(first: str, sleeper: str, tmp_path: Path) -> None:
    script = f"{first} setsid sleep {sleeper} & touch {tmp_path}/up; yes {sleeper}"
    task = asyncio.create_task(run(script))
    await asyncio.to_thread(eventually, (tmp_path / "up").exists, "the command")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert with_argument(sleeper) == []


async def test_case_66_limit_of_the_caller_ends_the_command_before_it_is_raised(sleeper: str) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await run(f"sleep {sleeper}")
    assert with_argument(sleeper) == []


INTERRUPTED = """
import asyncio, os, sys
import nacre

async def leave():
    while not os.path.exists(sys.argv[2]):
        await asyncio.sleep(0.005)
    match sys.argv[3]:
        case "SystemExit":
            sys.exit(9)
        case "os._exit":
            os._exit(9)
        case "exception":
            raise ValueError("in another task of the host")

async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(leave())
        group.create_task(nacre.run(sys.argv[1]))

asyncio.run(main())
"""


@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGHUP", "SystemExit", "os._exit", "exception"])
def test_case_67_host_that_leaves_takes_its_command_along(how: str, sleeper: str, tmp_path: Path) -> None:
    # Both are found by their argument, so nothing may end before they have it.
    script = (
        f"setsid sleep {sleeper} & a=$!; sleep {sleeper} & b=$!; "
        "until grep -q ^sleep /proc/$a/cmdline && grep -q ^sleep /proc/$b/cmdline; do :; done; "
        f"touch {tmp_path}/up; wait"
    )
    program = Program(INTERRUPTED, script, str(tmp_path / "up"), how)
    if how.startswith("SIG"):
        eventually((tmp_path / "up").exists, "the command")
        program.process.send_signal(signal.Signals[how])
    code, _, _ = program.finish()
    assert code != 0
    eventually(lambda: not with_argument(sleeper), "the end of the command")


THREAD_THAT_ENDS = """
import sys, threading
import nacre
box = []
thread = threading.Thread(target=lambda: nacre.run_sync("true"))
thread.start()
thread.join()
# The warden was started by a thread that is gone.
print(nacre.run_sync("sleep 0.1; echo still here").text, end="", flush=True)
"""


def test_case_67_end_of_the_thread_that_started_the_warden_ends_nothing() -> None:
    assert Program(THREAD_THAT_ENDS).succeed() == "still here\n"


FORKING_HOST = """
import asyncio, os, signal, sys
import nacre

async def main():
    task = asyncio.create_task(nacre.run("read line <" + sys.argv[1] + "; echo $line; exit 4"))
    await asyncio.sleep(0)
    result = await nacre.run("echo beside")
    children = []
    for how in ("leave", "exit", "call"):
        pid = os.fork()
        if pid == 0:
            if how == "leave":
                os._exit(0)
            if how == "call":
                import threading
                box = []
                thread = threading.Thread(target=lambda: box.append(nacre.run_sync("echo child; exit 6")))
                thread.start()
                thread.join()
                os._exit(0 if (box[0].text, box[0].exit_code) == ("child\\n", 6) else 1)
            import gc
            gc.collect()
            sys.exit(0)
        _, status = os.waitpid(pid, 0)
        children.append(status)
    with open(sys.argv[1], "w") as file:
        file.write("went\\n")
    result = await task
    print(children, result.text.strip(), result.outcome, (await nacre.run("echo after")).text.strip(), flush=True)

try:
    asyncio.run(main())
except SystemExit:
    os._exit(0)
"""


@pytest.mark.usefixtures("short_grace")
def test_case_68_fork_of_the_host_neither_ends_nor_collects_its_command(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    out = Program(FORKING_HOST, str(tmp_path / "go")).succeed()
    assert out == "[0, 0, 0] went Exited(code=4) after\n"


async def test_case_68_command_ends_with_its_host_although_a_fork_of_the_host_lives_on(
    sleeper: str, tmp_path: Path
) -> None:
    code = f"""
import asyncio, os, signal, sys
import nacre

async def main():
    task = asyncio.create_task(nacre.run("touch {tmp_path}/up; sleep {sleeper}"))
    while not os.path.exists("{tmp_path}/up"):
        await asyncio.sleep(0.005)
    pid = os.fork()
    if pid == 0:
        signal.pause()
    print(pid, flush=True)
    await task

asyncio.run(main())
"""
    host = Program(code)
    fork = int(host.line())
    host.process.kill()
    await asyncio.to_thread(eventually, lambda: not with_argument(sleeper), "the end of the command")
    assert alive(fork)
    end(fork)
    host.kill()


# Promptness: the shell has ended, something it started holds its output.


async def survivors_of(script: str, sleeper: str, cwd: Path) -> tuple[str, set[int]]:
    async with asyncio.timeout(50):
        result = await run(script, cwd=cwd)
    assert result.outcome == Exited(0)
    left = set(with_argument(sleeper))
    assert left <= {survivor.pid for survivor in result.survivors}
    pids = {survivor.pid for survivor in result.survivors}
    assert not pids or "still running: pid" in " ".join(result.notices)
    return result.text, pids


async def test_background_sleep_returns_with_the_output_and_names_the_survivor(sleeper: str, tmp_path: Path) -> None:
    script = f"sleep {sleeper} & until grep -q ^sleep /proc/$!/cmdline; do :; done; echo done"
    text, pids = await survivors_of(script, sleeper, tmp_path)
    assert (text, len(pids)) == ("done\n", 1)
    end(*pids)


async def test_background_pipeline_returns_with_the_output(sleeper: str, tmp_path: Path) -> None:
    text, pids = await survivors_of(f"(sleep {sleeper} | cat) & echo done", sleeper, tmp_path)
    assert text == "done\n"
    assert pids
    end(*pids)


async def test_output_through_a_process_substitution_is_whole(sleeper: str, tmp_path: Path) -> None:
    for _ in range(10):
        # tee may be seen as a survivor in its last moment.
        text, _ = await survivors_of("exec > >(tee x); echo hi", sleeper, tmp_path)
        assert text == "hi\n"
    assert (tmp_path / "x").read_text(encoding="ascii") == "hi\n"
