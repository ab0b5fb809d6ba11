"""What nacre has in a session's shell is out of the way of scripts, and no text of theirs is run as ours."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

import nacre
from nacre.settings import ShellSettings

SETTINGS = nacre.Settings(shell=ShellSettings(snapshot=False))

# Found in the tree by chance, or put there.
DIRECTORIES = (
    "docs\ntrap -- $(touch PWNED) x",
    "docs\ntrap -- 'touch PWNED' EXIT",
    "a\n\x01$(touch PWNED)`touch PWNED`",
    "';touch PWNED;'",
    '"$(touch PWNED)"',
    "nacre\ndeclare -- x=$(touch PWNED)",
    "-x",
)


def session(tmp_path: Path) -> nacre.Session:
    return nacre.Session(cwd=tmp_path, settings=SETTINGS)


@pytest.mark.parametrize("name", DIRECTORIES)
async def test_the_name_of_a_directory_is_never_run(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    there = '[ "$PWD" = "$x" ] && echo there'
    async with session(tmp_path) as shell:
        await shell.run('for d in */; do cd "./$d"; x=$PWD; done')
        assert shell.cwd == str(tmp_path / name)
        assert (await shell.run(there)).text == "there\n"
        await shell.run("kill -9 $$")
        assert (await shell.run(there)).text == "there\n"
        assert (await shell.run("pwd", cwd=tmp_path)).text == f"{tmp_path}\n"
        assert (await shell.run("exit 3")).exit_code == 3
        assert (await shell.run(there)).text == "there\n"
    assert list(tmp_path.rglob("PWNED")) == []


HERE_DOCUMENT = """\
f() { cat <<E
g () \n{ \n    touch PWNED
}
touch PWNED
E
}; g() { :; }; function a=b { touch PWNED; }; function x{y,z} { touch PWNED; }; readonly -f g
function if { touch PWNED; }"""


@pytest.mark.parametrize(
    "script",
    [
        r"""x=$'\ndeclare -- y=$(touch PWNED)\n'; declare -A t=(["a)"]="b" [$'\ndeclare -- z=`touch PWNED`\n']=1)""",
        r"""alias 'a{b,c}=touch PWNED' "q='; touch PWNED; '"; alias -- '-x=$(touch PWNED)'""",
        HERE_DOCUMENT,
        r"""trap $'echo \'\ntouch PWNED' USR1; trap '' INT""",
        r"""set -- $'\n touch PWNED' '$(touch PWNED)' "'" '' '~'""",
        'export F="() { touch PWNED; }; touch PWNED"',
        "declare() { touch PWNED; }; alias() { touch PWNED; }; trap() { touch PWNED; }; set() { touch PWNED; }",
        "printf() { touch PWNED; }; pwd() { touch PWNED; }; eval() { touch PWNED; }; read() { touch PWNED; }",
        "shopt -s expand_aliases; alias builtin='touch PWNED;' declare='touch PWNED;' printf='touch PWNED;'",
    ],
)
async def test_nothing_that_a_script_defines_is_run_as_ours(script: str, tmp_path: Path) -> None:
    probe = '\\builtin declare -p; \\builtin declare -f; \\builtin alias; \\builtin trap -p; \\builtin echo "$@"'
    async with session(tmp_path) as shell:
        assert (await shell.run(script)).ok
        before = _comparable((await shell.run(probe)).text)
        await shell.run("\\builtin kill -9 $$")
        after = await shell.run(probe)
        assert "killed" in after.notices[0]
        assert _comparable(after.text) == before
    assert not (tmp_path / "PWNED").exists()


def _comparable(text: str) -> list[str]:
    own = ("BASH", "PPID", "RANDOM", "SRANDOM", "SECONDS", "EPOCH", "_=", "PIPESTATUS", "OLDPWD")
    return [line for line in text.splitlines() if not line.split(" ", 2)[-1].startswith(own)]


async def test_nothing_of_ours_is_shown(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("shown() { declare -p; declare -f; declare -F; trap -p; alias; set; export -p; }; cd .")
        for script in (
            "shown",
            "trap -p; shown",
            "\\builtin trap -p; declare -p BASH_VERSINFO",
            "set -x; shown; { set +x; } 2>/dev/null",
            "x=1; shown 2>&1 | cat",
        ):
            shown = await shell.run(f"{{ {script}\n}} 2>&1 | grep -a -e BASH_VERSINFO -e nacre")
            assert "BASH_VERSINFO" in shown.text
            lines = [line for line in shown.text.splitlines() if "NACRE_HOME" not in line]
            assert "nacre" not in "\n".join(lines).replace(str(tmp_path), "")


async def test_a_trace_shows_the_script_alone(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        traced = await shell.run("set -x; echo a")
        assert [line.lstrip("+") for line in traced.text.splitlines()] == [" echo a", "a"]
        again = await shell.run("echo b; cd .")
        assert [line.lstrip("+") for line in again.text.splitlines()] == [" echo b", "b", " cd ."]
        ended = await shell.run("exit 3")
        assert [line.lstrip("+") for line in ended.text.splitlines()] == [" exit 3"]


@pytest.mark.parametrize("number", [3, 9, 10, 11, 19, 63, 100, 110, 111, 113, 114, 120, 121, 122, 123, 255])
async def test_a_script_may_use_any_descriptor(number: int, tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        assert (await shell.run(f"exec {number}>log; echo one >&{number}")).text == ""
        assert (await shell.run("true | tail -n 1")).text == ""
        later = await shell.run(f"echo two >&{number}; false | true")
        assert (later.text, later.stages) == ("", (1, 0))
        assert (await shell.run(f"exec {number}>&-; cat log")).text == "one\ntwo\n"


async def test_a_script_finds_no_descriptor_of_ours(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        for _ in range(2):
            assert (await shell.run("x=1; ls /proc/self/fd")).text == "0\n1\n2\n3\n"


async def test_the_status_of_the_last_command_is_there(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        for code in (0, 1, 2, 7, 126, 255):
            await shell.run(f"(exit {code})")
            assert (await shell.run('echo "$?"')).text == f"{code}\n"
            await shell.run(f"x=1; (exit {code})")
            assert (await shell.run("x=$?; echo $x")).text == f"{code}\n"
        await shell.run("exit 5")
        assert (await shell.run("echo $?")).text == "5\n"
        await shell.run("set -e; ! true")
        assert (await shell.run("echo $?; x=2")).text == "1\n"


@pytest.mark.parametrize(
    "script",
    [
        "ulimit -n 10",
        "ulimit -n 3",
        'for fd in {3..255}; do eval "exec $fd>&-"; done',
        "enable -n builtin",
        "enable -n printf; enable -n eval; enable -n read",
        "enable -n printf",
        "enable -n declare",
        "enable -n umask shopt set alias",
        "builtin() { :; }",
        "readonly __nacre=mine",
        "declare -A __nacre=([0]=z)",
        "declare -n __nacre=x",
        "shopt -s expand_aliases; alias builtin='echo AL'",
        "set -r",
        "readonly PATH; PWD=/nowhere",
        "set -o posix; POSIXLY_CORRECT=1",
        "IFS=0123456789",
    ],
)
async def test_a_crippled_shell_says_nothing_of_ours_and_no_untruth(script: str, tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=1")
        async with asyncio.timeout(30):
            crippled = await shell.run(f"{script}; x=2; (exit 3)", timeout=20)
            assert (crippled.text, crippled.exit_code) == ("", 3)
            after = await shell.run("echo hi", timeout=20)
            assert after.text == "hi\n"
            await shell.run("kill -9 $$", timeout=20)
            later = await shell.run('echo "$x"', timeout=20)
        said = "; ".join((*after.notices, *later.notices))
        if later.text == "1\n":
            assert "before its last command" in said
        else:
            assert later.text == "2\n"


@pytest.mark.parametrize(
    "script", ["ulimit -n 3", "ulimit -n 10", "enable -n builtin", "enable -n printf", "builtin() { :; }"]
)
async def test_a_crippled_shell_that_leaves_a_process_ends_at_once_with_its_status(script: str, tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=1")
        left = await shell.run(f"sleep 1000 & echo $!; {script}; x=2; (exit 3)", timeout=40)
        pid = int(left.text)
        os.kill(pid, signal.SIGKILL)
        assert ([one.pid for one in left.survivors], left.outcome) == ([pid], nacre.Exited(3))
        assert (await shell.run('echo "$x"')).text == "2\n"


async def test_the_status_of_a_shell_that_cannot_go_on_is_the_script_s(tmp_path: Path) -> None:
    """Such a shell ends right after its report, with a status of its own; either may be heard first."""

    async def code() -> int | None:
        async with session(tmp_path) as shell:
            await shell.run("x=1")
            return (await shell.run("builtin() { :; }; (exit 3)", timeout=20)).exit_code

    for _ in range(20):
        assert await asyncio.gather(*(code() for _ in range(4))) == [3, 3, 3, 3]


async def test_the_time_limit_of_read_does_not_end_an_idle_shell(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("TMOUT=1; readonly TMOUT; x=1")
        # There is nothing to wait for: the shell would end by itself after a second.
        await asyncio.sleep(1.5)
        after = await shell.run('echo "$x $$ $TMOUT"; kill -9 $$')
        assert after.text.startswith("1 ")
        assert after.notices == ()


@pytest.mark.parametrize(
    "option", ["set -r", "set -x", "set -v", "set -n", "set -o posix", "set -u", "set -f", "set -C"]
)
async def test_the_line_for_stage_codes_is_not_seen_under_any_option(option: str, tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run(option)
        for script in ("y=1; false | true", f"{option}; y=1; false | true"):
            piped = await shell.run(script)
            assert piped.exit_code == 0
            assert "nacre" not in piped.text
            assert "restricted" not in piped.text
            assert piped.stages in ((1, 0), ())


async def test_a_trace_in_a_file_of_its_own_has_the_script_alone(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        began = await shell.run("exec 9>trace; BASH_XTRACEFD=9; set -x; echo a; (exit 4)")
        assert (began.text, began.exit_code) == ("a\n", 4)
        again = await shell.run('echo "$?"; x=5; false')
        assert (again.text, again.exit_code) == ("4\n", 1)
        await shell.run("echo b; { set +x; } 9>&-")
        shown = await shell.run("unset BASH_XTRACEFD; cat trace; (exit 3)")
        lines = [line.lstrip("+").strip() for line in shown.text.splitlines()]
        assert lines == ["echo a", "exit 4", "echo 4", "x=5", "false", "echo b"]
        assert shown.exit_code == 3
        assert (await shell.run('echo "$x ${BASH_XTRACEFD-unset}"')).text == "5 unset\n"


async def test_a_trace_in_a_file_of_its_own_costs_neither_stage_codes_nor_the_state_at_an_exit(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("exec 9>trace; BASH_XTRACEFD=9; set -x; echo a")
        piped = await shell.run("x=2; false | true")
        assert (piped.text, piped.stages) == ("", (1, 0))
        await shell.run("x=3; cd /; exit 3")
        after = await shell.run('{ set +x; } 2>/dev/null; echo "$x $PWD"')
        assert "functions kept" in after.notices[0]
        assert after.text == "3 /\n"
    lines = [line.lstrip("+").strip() for line in (tmp_path / "trace").read_text(encoding="utf-8").splitlines()]
    # The stages of a pipe run at once.
    assert sorted(lines[2:4]) == ["false", "true"]
    assert [*lines[:2], *lines[4:]] == ["echo a", "x=2", "x=3", "cd /", "exit 3"]


@pytest.mark.parametrize("closed", ["1001", "1002", "1003", "{1000..1023}", "{3..1023}"])
async def test_a_shell_whose_descriptors_were_closed_is_replaced(closed: str, tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("x=1")
        ended = await shell.run(f'for fd in {closed}; do eval "exec $fd>&-"; done; x=2; echo out; (exit 3)', timeout=20)
        assert ended.exit_code == 3
        assert ended.text.startswith("out\n")
        # Bash itself says that it cannot restore a descriptor.
        assert ended.text.count("\n") <= 2
        after = await shell.run('echo "$x"', timeout=20)
        assert after.text == "1\n"
        assert "before its last command" in after.notices[0]


async def test_a_shell_that_ends_right_after_its_answer_costs_no_call_and_tells_no_untruth(tmp_path: Path) -> None:
    async def attempt() -> None:
        async with session(tmp_path) as shell:
            await shell.run("x=1")
            assert (await shell.run("enable -n read; x=2; (exit 3)", timeout=20)).exit_code == 3
            after = await shell.run('echo "$x"; y=1', timeout=20)
            assert after.text == "2\n" or "before its last command" in after.notices[0]

    for _ in range(4):
        await asyncio.gather(*(attempt() for _ in range(5)))
