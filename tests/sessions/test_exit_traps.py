"""An exit costs the shell of a session and not its state, also where the script has traps of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import nacre
from nacre.sessions.exit_traps import trap_use
from nacre.settings import ShellSettings

SETTINGS = nacre.Settings(shell=ShellSettings(snapshot=False))


def session(tmp_path: Path) -> nacre.Session:
    return nacre.Session(cwd=tmp_path, settings=SETTINGS)


async def in_bash(script: str, tmp_path: Path) -> tuple[str, int | None]:
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-c",
        script,
        cwd=tmp_path,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    return out.decode(), process.returncode


# Each sets x to 2 and goes to the directory `there` before it exits.
EXITS = (
    "trap 'echo bye $?' EXIT; cd there; x=2; exit 3",
    'trap "echo $x \\$?" EXIT; cd there; x=2; exit 3',
    "trap -- 'echo \"it'\\''s $x\"' 0; cd there; x=2; exit",
    "trap 'echo a' EXIT INT TERM; trap - INT; cd there; x=2; exit 4",
    "trap 'echo a' EXIT; trap - EXIT; cd there; x=2; exit 5",
    "trap 'echo a' EXIT; trap EXIT; cd there; x=2; exit 5",
    "trap '' EXIT; cd there; x=2; exit 6",
    "trap 'exit 77' EXIT; cd there; x=2; exit 6",
    "c() { echo c $?; }; trap c EXIT; cd there; x=2; (exit 9); exit",
    "set -e; trap 'echo $?; echo more' EXIT; cd there; x=2; (exit 7); echo never",
    "set -e; trap 'echo $?; false; echo no' EXIT; cd there; x=2; (exit 7); echo never",
    "set -u; trap 'echo out; echo err >&2' EXIT; cd there; x=2; exit 8",
    "if true; then trap 'echo a' EXIT; fi; cd there; x=2; exit 1",
    "trap 'echo err' ERR; trap 'echo a' EXIT; cd there; x=2; false; exit 1",
    "echo it is a trap; cd there; x=2; exit 1",
    "cat <<E\ntrap 'echo a' EXIT\nE\ncd there; x=2; exit 1",
    "trap 'echo i' INT; cd there; x=2; exit 1",
    "(trap 'echo sub; x=3' EXIT; exit 3); cd there; x=2; exit 1",
    "{ trap 'echo piped' EXIT; exit 2; } | cat; cd there; x=2; exit 1",
    "y=$(trap 'echo sub' EXIT; exit 3); echo $y; cd there; x=2; exit 1",
    "trap 'echo a\n' \\\n EXIT\ncd there; x=2; exit 3",
)


@pytest.mark.parametrize("script", EXITS)
async def test_the_state_survives_an_exit_in_a_script_with_traps(script: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    expected = await in_bash(f"x=1; {script}", tmp_path)
    for left in ("x=1", "sleep 60 & p=$! x=1"):
        async with session(tmp_path) as shell:
            await shell.run(left)
            ended = await shell.run(script)
            assert (ended.text, ended.exit_code) == expected
            after = await shell.run('echo "$x ${PWD##*/}"; trap -p EXIT')
            assert after.text == "2 there\n"
            assert "functions kept" in after.notices[0]
            await shell.run("${p:+kill} $p")


async def test_a_trap_at_the_end_of_a_script_runs_once_and_is_gone(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        for left in ("x=1", "sleep 60 & p=$! x=1"):
            await shell.run(left)
            for script in (
                "trap 'echo $? $x; x=3' EXIT; x=2; (exit 4)",
                'y=2; trap "echo \\$? $y; x=3" EXIT; (exit 4)',
            ):
                ended = await shell.run(script)
                assert (ended.text, ended.exit_code) == ("4 2\n", 4)
                assert (await shell.run("echo $x; trap -p")).text == "3\n"
        await shell.run("kill $p")


async def test_a_function_with_a_trap_that_is_not_called_costs_no_state(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        await shell.run("f() { trap -p; }; g() { f; }; alias t='trap -p'; x=1")
        await shell.run("x=2; exit 3")
        assert (await shell.run("echo $x")).text == "2\n"
        assert (await shell.run("x=3; g; exit 3")).text == ""


@pytest.mark.parametrize("script", ["trap", "trap -p", "x=$(trap)", "trap -p EXIT >f; cat f", "eval 'trap -p'"])
async def test_a_script_that_lists_its_traps_sees_its_own_alone(script: str, tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        assert (await shell.run(f"{script}; y=1; exit 2")).text == ""
        assert trap_use(script, None).lists_traps


async def test_the_stage_codes_of_the_last_pipeline_are_told_after_an_exit(tmp_path: Path) -> None:
    async with session(tmp_path) as shell:
        for script, code, stages in (
            ("false | true; exit", 0, (1, 0)),
            ("false | true; exit 3", 3, (1, 0)),
            ("trap 'echo a | cat' EXIT; true | false | true; exit 4", 4, (0, 1, 0)),
        ):
            ended = await shell.run(script)
            assert (ended.exit_code, ended.stages) == (code, stages)


@pytest.mark.parametrize(
    "script",
    [
        "f() { trap 'a' EXIT; }",
        "(trap a EXIT)",
        "cat <<E\ntrap a EXIT\nE",
        "echo trap a EXIT",
        "trap a INT",
        'trap "$x" EXIT',
        'trap "a $(date)" EXIT',
        "trap a $x",
        "trap a EXIT | cat",
        "{ trap a EXIT; } &",
        "'trap a EXIT",
    ],
)
def test_only_commands_of_the_shell_itself_are_rewritten(script: str) -> None:
    assert trap_use(script, None).exit_traps == ()


def test_each_command_that_sets_the_exit_trap_is_found() -> None:
    use = trap_use("trap a EXIT; trap 'it'\\''s' 0 INT; trap - exit", None)
    assert [(trap.action, trap.value, trap.others) for trap in use.exit_traps] == [
        ("a", "a", ""),
        ("'it'\\''s'", "it's", "INT"),
        (None, None, ""),
    ]


@pytest.mark.parametrize(
    "script",
    [
        "trap",
        "builtin trap -p INT",
        "echo `trap`",
        "cat <<E\n$(trap)\nE",
        "f() { trap; }; f",
        "eval 'eval trap'",
        "trap $x",
    ],
)
def test_a_command_that_lists_traps_is_found_at_any_depth(script: str) -> None:
    assert trap_use(script, None).lists_traps


@pytest.mark.parametrize(
    "script", ["echo trap -p", "cat <<E\ntrap\nE", "trap 'trap -p' INT", "trap - INT; bash -c trap"]
)
def test_a_word_of_the_same_name_lists_nothing(script: str) -> None:
    assert not trap_use(script, None).lists_traps


@pytest.mark.parametrize(
    "script", ["set -x", "set -ev", "set -o xtrace", "shopt -so verbose", "trap a DEBUG", "eval 'set -x'"]
)
def test_a_script_that_shows_its_commands_is_known(script: str) -> None:
    assert trap_use(script, None).shows_commands
    assert not trap_use("set -e; curl --verbose x; git reset", None).shows_commands
