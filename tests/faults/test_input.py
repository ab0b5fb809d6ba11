"""Bad input, cases 1-12 and 15-20: a clear error that names the field or path, nothing started, no traceback."""

from __future__ import annotations

import asyncio
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from outside import PLAIN_USER, Program, eventually, nacre, with_argument

from nacre import Exited, InvalidRequestError, NacreError, StartError, Tool, WorkingDirectoryError, audit, run

CONTRACTS = ("basic", "modes")


async def refusal(contract: str, arguments: object) -> str:
    """The words with which a tool refuses."""
    async with Tool(contract) as tool:
        reply = await tool.call(arguments)
    assert reply.is_error
    return reply.text


@pytest.mark.usefixtures("nothing_started")
@pytest.mark.parametrize("contract", CONTRACTS)
async def test_case_01_empty_command_is_refused(contract: str) -> None:
    assert "empty command: field 'command'" in await refusal(contract, {"command": ""})
    with pytest.raises(InvalidRequestError, match="empty command") as caught:
        await run("")
    assert caught.value.field == "command"


@pytest.mark.usefixtures("nothing_started")
@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("blank", [" ", "\n\n", "\t \r\n", "\v\f"])
async def test_case_02_blank_command_is_refused_like_an_empty_one(contract: str, blank: str) -> None:
    assert "empty command: field 'command'" in await refusal(contract, {"command": blank})


async def test_case_03_a_comment_alone_runs_and_says_nothing() -> None:
    result = await run("# nothing to do")
    assert (result.outcome, result.text, result.notices) == (Exited(0), "", ())


@pytest.mark.usefixtures("nothing_started")
@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("arguments", [{}, {"command": None}, {"command": 7}, {"command": ["ls"]}, {"command": {}}])
async def test_case_04_missing_or_mistyped_command_names_the_field(contract: str, arguments: object) -> None:
    assert "'command'" in await refusal(contract, arguments)


@pytest.mark.usefixtures("nothing_started")
@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("arguments", [None, 3, "ls", ["ls"]])
async def test_case_04_arguments_that_are_no_object_are_refused(contract: str, arguments: object) -> None:
    assert "must be a JSON object" in await refusal(contract, arguments)


@pytest.mark.usefixtures("nothing_started")
@pytest.mark.parametrize("command", [None, 7, ["ls"], b"ls"])
async def test_case_04_library_names_the_field_too(command: Any) -> None:
    with pytest.raises(InvalidRequestError, match="command must be a string") as caught:
        await run(command)
    assert caught.value.field == "command"


@pytest.mark.usefixtures("nothing_started")
@pytest.mark.parametrize("contract", CONTRACTS)
async def test_case_05_unknown_field_is_refused_by_name(contract: str) -> None:
    assert "unknown field 'comand'" in await refusal(contract, {"command": "true", "comand": "ls"})


@pytest.mark.usefixtures("nothing_started")
@pytest.mark.parametrize("contract", CONTRACTS)
async def test_case_06_nul_byte_in_command_is_refused_before_start(contract: str) -> None:
    words = await refusal(contract, {"command": "echo a\0b"})
    assert "field 'command'" in words
    assert "NUL character at position 6" in words


def test_case_06_nul_byte_from_the_command_line_is_an_answer_not_a_traceback() -> None:
    out = nacre("call", "modes", json.dumps({"command": "echo \0"})).succeed()
    assert "NUL character" in json.loads(out)["text"]


@pytest.mark.usefixtures("nothing_started")
@pytest.mark.parametrize("name", ["A\0B", "A=B", "", "1A", "A-B", "A B", "Ä"])
async def test_case_07_bad_variable_name_is_named(name: str) -> None:
    with pytest.raises(InvalidRequestError, match="env") as caught:
        await run("true", env={name: "hunter2"})
    assert caught.value.field == "env"
    assert repr(name) in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.usefixtures("nothing_started")
async def test_case_07_nul_in_a_value_names_the_key_and_not_the_value() -> None:
    with pytest.raises(InvalidRequestError, match="TOKEN") as caught:
        await run("true", env={"TOKEN": "hunter2\0"})
    assert "hunter2" not in str(caught.value)


@pytest.mark.usefixtures("nothing_started")
@pytest.mark.parametrize("env", [{"A": 1}, {"A": None}, {3: "x"}, {"A": b"x"}])
async def test_case_07_mistyped_variable_is_an_error_about_env(env: Any) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        await run("true", env=env)
    assert caught.value.field == "env"


@pytest.mark.usefixtures("nothing_started")
async def test_case_07_lone_surrogate_in_a_value_is_an_error_about_env() -> None:
    with pytest.raises(InvalidRequestError, match="NAME") as caught:
        await run("true", env={"NAME": "hunter2\ud800"})
    assert caught.value.field == "env"
    assert "hunter2" not in str(caught.value)


@pytest.mark.usefixtures("nothing_started")
@pytest.mark.parametrize("contract", CONTRACTS)
async def test_case_08_lone_surrogate_in_command_is_a_clear_error(contract: str) -> None:
    words = await refusal(contract, {"command": "echo \ud800"})
    assert "'command' holds the lone surrogate" in words
    assert words.encode(), "the words themselves must be text"


async def test_case_08_undecodable_bytes_reach_the_command_as_they_were() -> None:
    command = os.fsdecode(b"printf '\xff\xfe' | od -An -tx1")
    assert (await run(command)).text.split() == ["ff", "fe"]


def test_case_08_undecodable_bytes_on_the_command_line_reach_the_command() -> None:
    command = os.fsdecode(b"printf '\xff\xfe' | od -An -tx1")
    assert nacre("run", "--", command).succeed().split() == ["ff", "fe"]


@pytest.mark.parametrize("size", [131_070, 131_071, 131_072, 131_073, 240_000, 2_000_000])
async def test_case_09_command_beyond_one_argument_runs(size: int) -> None:
    ending = "\nprintf '%s %s %s' \"${#x}\" $LINENO $0; exit 7"
    command = "x=" + "a" * (size - len(ending) - 2) + ending
    assert len(command) == size
    result = await run(command)
    assert result.outcome == Exited(7)
    length, line, name = result.text.split()
    assert (int(length), int(line)) == (size - len(ending) - 2, 2)
    assert name == "bash" or size > 131_071


async def test_case_09_long_command_does_not_lend_its_text_as_stdin() -> None:
    result = await run(f": {'a' * 140_000}\ncat; readlink /proc/self/fd/0")
    assert result.text == "/dev/null\n"


@pytest.mark.parametrize(
    "env",
    [{"BIG": "x" * 131_072}, {f"BIG_{number}": "x" * 100_000 for number in range(40)}],
    ids=["one value", "all together"],
)
async def test_case_10_environment_over_the_limit_is_a_start_error_with_advice(
    env: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(StartError, match="environment and arguments are too large"):
        await run(f"touch {tmp_path}/started", env=env)
    assert not (tmp_path / "started").exists()
    assert (await run("echo next")).text == "next\n"


async def test_case_11_crlf_runs_as_given() -> None:
    result = await run("echo one\r\necho two\r\n")
    assert (result.outcome, result.text) == (Exited(0), "one\r\ntwo\r\n")


@pytest.mark.parametrize("command", ["echo 'open", 'echo "open', "echo $(date", "if true; then", "( echo", "`date"])
async def test_case_12_syntax_error_is_bashs_own(command: str) -> None:
    result = await run(command)
    assert result.outcome in (Exited(2), Exited(1))
    assert result.text.startswith("bash: ")


async def test_case_12_unclosed_heredoc_is_read_to_the_end() -> None:
    result = await run("cat <<END\ntext")
    assert result.outcome == Exited(0)
    assert "text" in result.text
    assert "here-document" in result.text


@pytest.mark.parametrize(
    "command",
    ["ls\u00a0-a", "l\u200bs", "\uff4c\uff53", "\u202els\u202c", "\u2066echo\u2069", "\ufeffls"],
)
async def test_case_15_look_alikes_are_ordinary_letters(command: str) -> None:
    result = await run(command)
    assert result.outcome == Exited(127)
    assert "command not found" in result.text


def test_case_15_direction_controls_are_shown_escaped_in_the_log() -> None:
    nacre("run", "--", "echo '\u202etxt.exe' >/dev/null").succeed()
    shown = nacre("log").succeed()
    assert "\\u202e" in shown
    assert "\u202e" not in shown


@pytest.mark.usefixtures("nothing_started")
@pytest.mark.parametrize("timeout", [0, -1, -0.5, math.nan, math.inf, -math.inf, "5", True, [], 10**400])
async def test_case_16_impossible_timeout_is_refused(timeout: Any) -> None:
    with pytest.raises(InvalidRequestError, match="timeout") as caught:
        await run("true", timeout=timeout)
    assert caught.value.field == "timeout"


@pytest.mark.parametrize("timeout", ["0", "-1", "nan", "inf", "soon"])
def test_case_16_impossible_timeout_on_the_command_line_is_one_clear_line(timeout: str, tmp_path: Path) -> None:
    code, out, errors = nacre("run", f"--timeout={timeout}", "--", f"touch {tmp_path}/started").finish()
    assert code in (2, 125)
    assert out == ""
    assert "timeout" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("timeout", [1e7, 1e12, 1e300, 2**62])
async def test_case_16_huge_timeout_is_kept(timeout: float, tmp_path: Path) -> None:
    """Long enough that the runner waits for the limit itself: poll() counts no more than 24 days."""
    os.mkfifo(tmp_path / "go")
    task = asyncio.create_task(run(f"echo $$ >{tmp_path}/pid; read line <{tmp_path}/go; echo $line", timeout=timeout))
    await asyncio.to_thread(eventually, lambda: (tmp_path / "pid").exists(), "the command")
    # Announced after 50 ms, after which only the limit is waited for.
    await asyncio.wait([task], timeout=0.2)
    await asyncio.to_thread((tmp_path / "go").write_text, "went\n", encoding="ascii")
    result = await task
    assert (result.outcome, result.text) == (Exited(0), "went\n")


def _unusable(kind: str, tmp_path: Path) -> Path:
    path = tmp_path / "there"
    match kind:
        case "missing":
            pass
        case "file":
            path.write_text("", encoding="ascii")
        case "loop":
            path.symlink_to(path)
        case "fifo":
            os.mkfifo(path)
        case "long":
            path = tmp_path / ("n" * 300)
    return path


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("missing", "does not exist"),
        ("file", "is not a directory"),
        ("loop", "is a loop of symbolic links"),
        ("fifo", "is not a directory"),
        ("long", "has too long a name"),
    ],
)
async def test_case_17_unusable_directory_is_named(kind: str, reason: str, tmp_path: Path) -> None:
    path = _unusable(kind, tmp_path)
    with pytest.raises(WorkingDirectoryError, match=reason) as caught:
        await run(f"touch {tmp_path}/started", cwd=path)
    assert caught.value.path == str(path)
    assert not (tmp_path / "started").exists()
    async with Tool("basic", cwd=str(path)) as tool:
        assert str(path) in (await tool.call({"command": f"touch {tmp_path}/started"})).json()["error"]
    assert not (tmp_path / "started").exists()


async def test_case_17_directory_with_a_nul_is_an_error_about_cwd(tmp_path: Path) -> None:
    with pytest.raises(NacreError, match="working directory"):
        await run(f"touch {tmp_path}/started", cwd="/tmp/a\0b")
    assert not (tmp_path / "started").exists()


def test_case_17_closed_directory_is_named(plain_home: Path, tmp_path: Path) -> None:
    closed = plain_home / "closed"
    closed.mkdir(mode=0o700)
    env = {"NACRE_HOME": str(plain_home / "state")}
    program = nacre("run", "--cwd", str(closed), "--", "pwd", user=PLAIN_USER, env=env, cwd="/")
    code, out, errors = program.finish()
    assert (code, out) == (125, "")
    assert f"working directory '{closed}' cannot be entered: permission denied" in errors
    assert "Traceback" not in errors


async def test_case_17_directory_deleted_between_calls(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.mkdir()
    async with Tool("modes", cwd=str(path)) as tool:
        assert (await tool.call({"command": "pwd"})).text == f"{path}\n"
        path.rmdir()
        assert f"working directory '{path}' does not exist" in (await tool.call({"command": "pwd"})).text
        path.mkdir()
        assert (await tool.call({"command": "pwd"})).text == f"{path}\n"


@pytest.mark.parametrize("verb", [["run", "--", "pwd"], ["call", "modes", '{"command": "pwd"}']])
def test_case_17_own_directory_deleted_is_an_error_not_a_traceback(verb: list[str], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os, sys; os.rmdir({str(gone)!r}); from nacre.cli import main; sys.exit(main(sys.argv[1:]))"
    code, out, errors = Program(code, *verb, cwd=gone, env={"PWD": str(gone)}).finish()
    assert "Traceback" not in errors
    assert str(gone) in out + errors
    assert "director" in out + errors


def test_a_deleted_directory_is_never_replaced_by_what_pwd_says(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os, sys; os.rmdir({str(gone)!r}); from nacre.cli import main; sys.exit(main(sys.argv[1:]))"
    status, out, errors = Program(code, "run", "--", "pwd", cwd=gone, env={"PWD": "/"}).finish()
    assert (status, out) == (125, "")
    assert f"working directory '{gone}' does not exist" in errors


@pytest.mark.parametrize(
    "use",
    [
        "nacre.run_sync('pwd')",
        "nacre.run_sync('pwd', cwd='sub')",
        "asyncio.run(nacre.Tool('workspace').call({'command': 'pwd'})).refusal",
        "asyncio.run(nacre.Tool('modes', cwd='.').call({'command': 'pwd'})).refusal",
        "asyncio.run(nacre.Session(cwd='.').run('pwd'))",
    ],
)
def test_a_program_in_a_deleted_directory_is_told_so(use: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"""
import asyncio, os, nacre
os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})
try:
    print(repr({use}))
except nacre.WorkingDirectoryError as error:
    print(repr(error))
"""
    status, out, errors = Program(code, cwd=tmp_path, env={"PWD": str(tmp_path)}).finish()
    assert (status, errors) == (0, "")
    assert out.startswith("WorkingDirectoryError(")
    assert str(gone) in out
    assert "does not exist" in out


@pytest.mark.parametrize("count", [2, 100])
async def test_case_19_calls_at_once_keep_their_outputs_apart(count: int) -> None:
    scripts = [f"for i in 1 2 3; do echo out-{n}; echo err-{n} >&2; done; exit {n}" for n in range(count)]
    results = await asyncio.gather(*(run(script) for script in scripts))
    assert [result.outcome for result in results] == [Exited(n) for n in range(count)]
    assert [result.text for result in results] == [f"out-{n}\nerr-{n}\n" * 3 for n in range(count)]


async def cancelled(task: asyncio.Task[Any]) -> bool:
    try:
        await task
    except asyncio.CancelledError:
        return True
    return False


@pytest.mark.usefixtures("nothing_started")
async def test_case_20_cancel_before_the_start_starts_nothing(tmp_path: Path) -> None:
    task = asyncio.create_task(run(f"touch {tmp_path}/started"))
    task.cancel()
    assert await cancelled(task)
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("turns", [1, 2, 3])
async def test_case_20_cancel_during_the_start_leaves_nothing(turns: int, sleeper: str, home: Path) -> None:
    task = asyncio.create_task(run(f"sleep {sleeper}"))
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    assert await cancelled(task)
    assert with_argument(sleeper) == []
    assert [entry["outcome"] for entry in audit.entries(home)] == ["stopped"]


async def test_case_20_cancel_after_the_end_changes_nothing(home: Path) -> None:
    task = asyncio.create_task(run("echo done"))
    result = await task
    assert not task.cancel()
    assert (task.result(), result.text) == (result, "done\n")
    assert [entry["outcome"] for entry in audit.entries(home)] == ["exited"]


async def test_case_20_cancelled_twice_the_kill_is_still_finished_first(
    sleeper: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_GRACE_SECONDS", "0.3")
    script = f"trap 'touch {tmp_path}/termed' TERM; echo up >{tmp_path}/up; while :; do sleep {sleeper}; done"
    task = asyncio.create_task(run(script))
    await asyncio.to_thread(eventually, (tmp_path / "up").exists, "the command")
    task.cancel()
    await asyncio.to_thread(eventually, (tmp_path / "termed").exists, "the first step of the ladder")
    task.cancel()
    assert await cancelled(task)
    assert with_argument(sleeper) == []
    assert [entry["outcome"] for entry in audit.entries(home)] == ["stopped"]
