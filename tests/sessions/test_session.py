"""A session keeps its state whatever becomes of its shells."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import nacre
from nacre.request import ShellRequest
from nacre.sessions.bash_process import Leftovers
from nacre.sessions.session import LABEL_CHARACTERS, TurnQueue
from nacre.settings import ShellSettings
from nacre.warden import children

PLAIN = ShellSettings(snapshot=False)
SETTINGS = nacre.Settings(shell=PLAIN)


# The same on this machine and on another place.
anywhere = pytest.mark.usefixtures("anywhere")


def session(tmp_path: Path) -> nacre.Session:
    return nacre.Session(cwd=tmp_path, settings=SETTINGS)


def is_alive(pid: int) -> bool:
    return not children.is_zombie(pid)


async def gone(pid: int) -> None:
    async with asyncio.timeout(30):
        while is_alive(pid):
            await asyncio.sleep(0.01)


async def kill_waiting(shell: nacre.Session, pid: int) -> None:
    """Kill a shell that waits, and wait until its session knows: a command before that is told to have died with it."""
    assert shell._inner is not None
    live = shell._inner._shell
    # A shell that still writes its state does not wait.
    await live.settle()
    os.kill(pid, signal.SIGKILL)
    assert live.bash is not None
    async with asyncio.timeout(30):
        while live.bash.is_alive():
            await asyncio.sleep(0.01)


@anywhere
async def test_state_stays_from_one_command_to_the_next(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    async with session(tmp_path) as shell:
        await shell.run("cd sub; x=1; f() { echo f $x; }; set -u; shopt -s extglob; alias a=b; umask 027")
        assert shell.cwd == str(tmp_path / "sub")
        result = await shell.run("f; pwd; echo $-; shopt -p extglob; alias a; umask")
        assert result.text == f"f 1\n{tmp_path}/sub\nhuBc\nshopt -s extglob\nalias a='b'\n0027\n"
        assert result.cwd == str(tmp_path / "sub")
        assert result.notices == ()


@anywhere
async def test_the_shell_is_the_same_process(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        assert len({(await shell.run("echo $$")).text for _ in range(5)}) == 1


async def test_a_timeout_costs_the_shell_but_not_the_state(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=kept; cd /usr")
        late = await shell.run("x=lost; cd /; sleep 100 & echo $!; wait", timeout=2)
        assert late.outcome == nacre.TimedOut(2, "SIGTERM")
        await gone(int(late.text))
        after = await shell.run("echo $x; pwd")
        assert after.text == "kept\n/usr\n"
        assert after.notices == (
            "new shell: the timeout ended the last one; directory, variables and functions as before",
        )
        assert (await shell.run("true")).notices == ()


async def test_a_timeout_leaves_what_earlier_commands_left_running(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        started = await shell.run("sleep 100 & echo $!")
        pid = int(started.text)
        assert [one.pid for one in started.survivors] == [pid]
        await shell.run("sleep 100", timeout=0.2)
        assert is_alive(pid)
        os.kill(pid, signal.SIGKILL)
        await gone(pid)


@anywhere
async def test_a_cancelled_command_costs_the_shell_but_not_the_state(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=kept")
        running = asyncio.create_task(shell.run("touch here; exec sleep 100"))
        async with asyncio.timeout(30):
            while not (tmp_path / "here").exists():
                await asyncio.sleep(0.005)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        after = await shell.run("echo $x")
        assert after.text == "kept\n"
        assert "ended with its cancelled command" in after.notices[0]


@anywhere
async def test_a_killed_shell_is_replaced_with_its_state(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=kept")
        killed = await shell.run("kill -9 $$")
        assert killed.outcome == nacre.Signalled(9)
        after = await shell.run("echo $x")
        assert (after.text, len(after.notices)) == ("kept\n", 1)


@anywhere
async def test_a_shell_that_is_killed_while_it_waits_is_replaced(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=kept")
        pid = int((await shell.run("echo $$")).text)
        await kill_waiting(shell, pid)
        after = await shell.run("echo $x")
        assert (after.text, after.outcome) == ("kept\n", nacre.Exited(0))
        assert after.notices[0].startswith("new shell: the last one was killed")


@anywhere
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("x=new; cd /; exit 7", 7),
        ("x=new; cd /; exit", 0),
        ("set -e; x=new; cd /; false; echo no", 1),
        ("set -u; x=new; cd /; echo $nope", 127),
        ("x=new; cd /; echo ${nope:?missing}; echo no", 127),
        ("f() { x=new; cd /; exit 4; }; f", 4),
    ],
)
async def test_the_end_of_the_shell_keeps_directory_and_variables(command: str, code: int, tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=old; y=kept; cd /usr")
        assert (await shell.run(command)).outcome == nacre.Exited(code)
        assert shell.cwd == "/"
        after = await shell.run("set +eu; echo $x $y; pwd")
        assert after.text == "new kept\n/\n"
        (notice,) = after.notices
        assert notice.startswith("new shell: the last one ended")
        assert notice.endswith("directory, variables and functions kept")


@anywhere
@pytest.mark.parametrize("command", ["x=new; exec sh -c 'exit 3'", "trap -p; x=new; exit 3"])
async def test_a_state_that_was_not_written_down_is_not_said_to_be_kept(command: str, tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=old; cd /usr")
        assert (await shell.run(command)).outcome == nacre.Exited(3)
        after = await shell.run("echo $x; pwd")
        assert after.text == "old\n/usr\n"
        (notice,) = after.notices
        assert notice.endswith("directory, variables and functions as before its last command")


@anywhere
async def test_an_exit_takes_nothing_of_one_call_along(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("export A=before; cd /usr")
        await shell.run("x=1; exit 1", env={"A": "once", "B": "once"}, cwd=tmp_path)
        assert (await shell.run("echo $A ${B-unset} $x; pwd")).text == "before unset 1\n/usr\n"


@anywhere
async def test_variables_of_one_call_are_for_this_call(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("export A=before; B=plain")
        result = await shell.run(
            "echo $A $B $C; sh -c 'echo $A $B $C'; A=changed; C=changed", env={"A": "it's", "C": "c"}
        )
        assert result.text == "it's plain c\nit's c\n"
        assert (await shell.run("echo $A ${C-unset}; sh -c 'echo $A ${C-unset}'")).text == "before unset\n" * 2


@anywhere
async def test_a_directory_of_one_call_is_for_this_call(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    async with session(tmp_path) as shell:
        await shell.run("cd /usr; cd /")
        result = await shell.run("pwd; cd /etc", cwd=tmp_path / "a")
        assert (result.text, result.cwd) == (f"{tmp_path}/a\n", str(tmp_path / "a"))
        assert (await shell.run("pwd; echo $OLDPWD")).text == "/\n/usr\n"
        with pytest.raises(nacre.WorkingDirectoryError, match="does not exist"):
            await shell.run("pwd", cwd="/nonexistent")
        assert (await shell.run("pwd")).text == "/\n"


@anywhere
async def test_a_directory_that_is_gone_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    async with session(tmp_path) as shell:
        await shell.run("cd a; x=1")
        await shell.run("rmdir $PWD; kill -9 $$")
        after = await shell.run("pwd; echo $x")
        assert after.text == f"{tmp_path}\n1\n"
        assert f"the session's directory {tmp_path}/a does not exist; it begins in {tmp_path}" in after.notices[0]


@anywhere
async def test_commands_wait_for_each_other(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        results = await asyncio.gather(*(shell.run(f"x=${{x}}{n}; sleep 0.01; echo $x") for n in range(6)))
        assert [result.text for result in results] == ["0\n", "01\n", "012\n", "0123\n", "01234\n", "012345\n"]


async def test_waiting_too_long_names_the_command_that_runs(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        long = asyncio.create_task(shell.run("touch here; while [ ! -e go ]; do sleep 0.01; done"))
        async with asyncio.timeout(30):
            while not (tmp_path / "here").exists():
                await asyncio.sleep(0.005)
        with pytest.raises(nacre.NacreError, match=r"timed out after 0\.1 s waiting .* 'touch here; while"):
            await shell.run("echo no", timeout=0.1)
        (tmp_path / "go").touch()
        assert (await long).ok
        assert (await shell.run("echo yes")).text == "yes\n"


@anywhere
def test_a_session_may_be_used_from_one_loop_after_another(tmp_path: Path) -> None:
    shell = session(tmp_path)
    asyncio.run(shell.run("x=1"))
    assert asyncio.run(shell.run("echo $x; sleep 0.1; echo late")).text == "1\nlate\n"
    assert asyncio.run(shell.run("echo $x")).notices == ()
    asyncio.run(shell.aclose())


@anywhere
async def test_a_script_that_writes_to_every_descriptor_forges_no_report(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=kept")
        in_shell = await shell.run("for fd in {3..255}; do echo spoof >&$fd; done 2>/dev/null; false")
        assert in_shell.exit_code == 1
        below = await shell.run(
            f"{sys.executable} -c 'import os\nfor fd in range(3, 256):\n"
            ' try: os.write(fd, b"spoof")\n except OSError: 0\''
        )
        assert (below.outcome, below.text) == (nacre.Exited(0), "")
        assert (await shell.run("echo $x")).text == "kept\n"


@anywhere
async def test_a_child_has_no_descriptor_of_ours(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        # The fourth is the listing's own.
        assert (await shell.run("ls /proc/self/fd")).text == "0\n1\n2\n3\n"


@anywhere
async def test_a_standard_input_that_was_replaced_is_put_back(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("exec <<<text")
        assert (await shell.run("cat")).text == ""


@anywhere
async def test_stage_codes_are_told(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        result = await shell.run("false | true; IFS=; false | cat | true")
        assert (result.stages, result.exit_code) == ((1, 0, 0), 0)
        assert "a pipe hides a failure" in result.notices[0]
        assert (await shell.run("echo a | cat <<E\nunterminated")).stages == ()


@pytest.mark.parametrize(
    ("script", "stages"),
    [
        ("cat <<<word >log | false | true", (0, 1, 0)),
        ("for i in 1; do { false | true; }; done", (1, 0)),
        ("for i in 1 2; do { cd /; }; done | (exit 3) | true", (0, 3, 0)),
        ("while read -r l; do { cd /; }; done <<<x | false | cat", (0, 1, 0)),
        ("trap 'cat /dev/null | cat' EXIT; false | true", (1, 0)),
        ("cat ${pat:?missing} | wc -l", (127, 0)),
    ],
)
async def test_stage_codes_are_told_of_any_whole_script(script: str, stages: tuple[int, ...], tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        assert (await shell.run(script)).stages == stages


@anywhere
async def test_the_run_time_guard_watches_and_leaves_no_trace(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("find() { echo mine; }; mkdir .git")
        result = await shell.run('where=.gi; rm -rf "$PWD/${where}"*; echo went on')
        assert result.text.endswith("went on\n")
        assert f"rm was refused by nacre: {tmp_path}/.git is critical; the script went on" in result.notices
        assert (tmp_path / ".git").exists()
        assert (await shell.run("type -t rm command; find")).text == "file\nbuiltin\nmine\n"


@anywhere
async def test_the_run_time_guard_is_gone_after_an_exit_too(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("find() { echo mine; }; export -f find; mkdir .git")
        result = await shell.run('where=.gi; rm -rf "$PWD/${where}"*; f() { :; }; x=5; exit 4')
        assert f"rm was refused by nacre: {tmp_path}/.git is critical; the script went on" in result.notices
        assert (await shell.run("declare -F; echo $x; find; bash -c find")).text == (
            "declare -f f\ndeclare -fx find\n5\nmine\nmine\n"
        )


async def test_the_run_time_guard_adds_no_variable_and_writes_into_no_descriptor_of_a_script(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    show = 'w=.gi; declare -p >vars; rm -rf "$PWD/$w"*; declare -p >>vars; grep -a [_]_nacre vars'
    opened = 'for f in {100..255} {1000..1023}; do eval "exec $f>f$f"; done'
    taken = f'{opened}; w=.gi; rm -rf "$PWD/$w"*; grep -a refused f[1-9]*'
    refusal = f"rm: refused by nacre: {tmp_path}/.git is critical\n"
    async with session(tmp_path) as shell:
        for script in (show, taken):
            assert (await shell.run(script)).text == refusal
            assert (await nacre.run(script, cwd=tmp_path, settings=SETTINGS)).text.endswith(refusal)


async def test_secrets_are_neither_seen_nor_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_TOKEN", "hunter2hunter2hunter2")
    async with session(tmp_path) as shell:
        assert (await shell.run("echo ${MY_API_TOKEN-unset}; echo hunter2hunter2hunter2")).text.startswith("unset\n")
        assert "hunter2" not in (await shell.run("echo hunter2hunter2hunter2")).text


async def test_another_environment_is_another_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=1")
        monkeypatch.setenv("FRESH", "2")
        result = await shell.run("echo [$x] $FRESH")
        assert result.text == "[] 2\n"
        assert "environment has changed" in result.notices[0]


@anywhere
async def test_large_output_in_a_session_loses_nothing(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        result = await shell.run("seq 300000")
        assert result.output.total_lines == 300000
        assert (await shell.run("head -c 60000 /dev/zero | tr '\\0' x")).output.total_bytes == 60000
        assert (await shell.run("echo after")).text == "after\n"


async def test_the_output_is_passed_on_as_it_comes_and_another_script_runs_than_the_one_judged(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        # From the second on, what ends at once takes a shorter way.
        for script in ("echo one", "echo one", "echo one; sleep 0.05; echo two"):
            pieces: list[bytes] = []
            request = ShellRequest(command="true", script=script)
            result = await shell.run_request(request, passthrough=lambda _, data, to=pieces: to.append(bytes(data)))
            assert result.text == b"".join(pieces).decode()
            assert result.text.startswith("one\n")
            assert result.command == "true"
        with pytest.raises(nacre.DeniedError):
            await shell.run_request(ShellRequest(command="git push --force", script="true"))


@anywhere
async def test_a_state_that_is_too_large_keeps_directory_and_exports(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("cd /usr; export E=1; printf -v big '%5000000s' x; y=2")
        said = await shell.run("kill -9 $$")
        assert "too large to be kept" in said.notices[0]
        after = await shell.run("echo ${#big} $E $y; pwd")
        assert after.text == "0 1\n/usr\n"
        assert after.notices == (
            "new shell: the last one was killed; "
            "directory, umask and exported variables as before, the rest was too large to keep",
        )


@anywhere
async def test_a_shell_is_renewed_before_its_loop_ends(tmp_path: Path) -> None:
    from nacre.sessions.shell_loop import MOST_TURNS

    async with session(tmp_path) as shell:
        first = (await shell.run("x=kept; echo $$")).text
        assert shell._engine is not None
        inner = shell._engine.known_session(shell._key)
        assert inner is not None
        assert inner._shell.bash is not None
        inner._shell.bash.turns = MOST_TURNS  # as if it had been asked that often
        after = await shell.run("echo $x; echo $$")
        assert after.text.startswith("kept\n")
        assert after.text != f"kept\n{first}"
        assert after.notices == ()


@anywhere
async def test_the_end_of_a_session_is_the_end_of_its_shell(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        pid = int((await shell.run("echo $$")).text)
    await gone(pid)


def test_a_killed_host_leaves_nothing(tmp_path: Path) -> None:
    script = f"""
import asyncio, sys, nacre
async def main():
    async with nacre.Session(cwd={str(tmp_path)!r}) as shell:
        print((await shell.run("echo $$")).text, end="", flush=True)
        await shell.run("setsid sleep 1000 & echo $! >pid; touch here; sleep 1000")
asyncio.run(main())
"""
    host = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    pid = int(host.stdout.readline())
    end = time.monotonic() + 40
    while not (tmp_path / "here").exists() and time.monotonic() < end:
        time.sleep(0.01)
    below = int((tmp_path / "pid").read_text())
    host.kill()
    host.wait()
    host.stdout.close()
    for one in (pid, below):
        while is_alive(one) and time.monotonic() < end:
            time.sleep(0.01)
        assert not is_alive(one)


async def test_many_turns_open_nothing(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("true")
        before = set(os.listdir("/proc/self/fd"))
        for _ in range(500):
            await shell.run("true")
        assert set(os.listdir("/proc/self/fd")) == before


async def test_what_ends_while_the_shell_is_looked_at_has_written_to_its_own_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = Leftovers.none

    def late_look(self: Leftovers, last: str) -> bool:
        if (tmp_path / "pid").exists():
            (tmp_path / "go").touch()
            pid = int((tmp_path / "pid").read_text(encoding="ascii"))
            while is_alive(pid):
                time.sleep(0.001)
        return look(self, last)

    monkeypatch.setattr(Leftovers, "none", late_look)
    async with session(tmp_path) as shell:
        await shell.run("true")
        late = await shell.run("(until [ -e go ]; do sleep .01; done; echo late) & echo $! >pid")
        assert (late.text, late.survivors) == ("late\n", ())
        assert (await shell.run("echo next")).text == "next\n"


async def test_what_ends_by_itself_does_not_cost_the_shell(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        # On a busy machine they may take longer than they are given; then the shell is replaced.
        for _ in range(20):
            pid = (await shell.run("echo $$")).text
            teed = await shell.run("echo through > >(tee log)")
            assert (teed.text, teed.survivors) == ("through\n", ())
            assert (await shell.run("true & echo bg")).text == "bg\n"
            after = await shell.run("echo $$")
            if after.text == pid:
                assert after.notices == ()
                return
        pytest.fail("the shell was replaced each time")


@anywhere
async def test_a_session_that_is_closed_lets_its_command_end(tmp_path: Path) -> None:
    shell = session(tmp_path)
    running = asyncio.create_task(shell.run("touch here; while [ ! -e go ]; do sleep 0.01; done; echo ended $$"))
    async with asyncio.timeout(30):
        while not (tmp_path / "here").exists():
            await asyncio.sleep(0.005)
    await shell.aclose()
    (tmp_path / "go").touch()
    word, pid = (await running).text.split()
    assert word == "ended"
    await gone(int(pid))


@anywhere
async def test_a_session_that_is_forgotten_takes_its_shell_along(tmp_path: Path) -> None:
    shell = session(tmp_path)
    pid = int((await shell.run("echo $$")).text)
    del shell
    gc.collect()
    await gone(pid)


async def test_a_turn_is_passed_on_in_order() -> None:
    queue, order = TurnQueue(), []

    async def command(number: int) -> None:
        await queue.take(lambda: f"command {number}", None)
        order.append(number)
        await asyncio.sleep(0)
        queue.pass_on()

    await asyncio.gather(*(command(number) for number in range(5)))
    assert order == [0, 1, 2, 3, 4]
    assert not queue.busy


async def test_a_command_that_waits_too_long_hears_which_one_runs() -> None:
    queue = TurnQueue()
    await queue.take(lambda: "x" * 500, None)
    with pytest.raises(nacre.errors.SessionBusyError, match=f"'{'x' * LABEL_CHARACTERS}'"):
        await queue.take(lambda: "late", 0.01)
    queue.pass_on()
    assert not queue.busy


async def test_a_cancelled_command_leaves_the_queue() -> None:
    queue = TurnQueue()
    await queue.take(lambda: "first", None)
    waiting = asyncio.create_task(queue.take(lambda: "second", None))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    queue.pass_on()
    assert not queue.busy


async def test_a_command_that_is_cancelled_in_the_moment_of_its_turn_passes_it_on() -> None:
    queue = TurnQueue()
    await queue.take(lambda: "first", None)
    second = asyncio.create_task(queue.take(lambda: "second", None))
    third = asyncio.create_task(queue.take(lambda: "third", None))
    await asyncio.sleep(0)
    queue.pass_on()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    await third
    assert queue.running_command() == "third"


@anywhere
def test_commands_of_several_threads_have_their_turns_in_one_session(tmp_path: Path) -> None:
    """Frameworks make parallel tool calls on threads, each with an event loop of its own."""
    shell = session(tmp_path)

    async def commands() -> None:
        for _ in range(5):
            assert (await shell.run("x=$((x + 1))", timeout=30)).ok

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(asyncio.run, commands()) for _ in range(4)]:
            done.result()

    async def last() -> str:
        async with shell:
            return (await shell.run("echo $x")).text

    assert asyncio.run(last()) == "20\n"
