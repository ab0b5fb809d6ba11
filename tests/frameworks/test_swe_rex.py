"""swe-rex: the runtime gives what the framework's own local runtime gives, and keeps nacre's promises."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pexpect
import promises
import pytest
from guide import run_example
from swerex.exceptions import (
    BashIncorrectSyntaxError,
    CommandTimeoutError,
    NoExitCodeError,
    NonZeroExitCodeError,
    SessionDoesNotExistError,
    SessionExistsError,
    SwerexException,
)
from swerex.runtime.abstract import (
    AbstractRuntime,
    BashAction,
    BashInterruptAction,
    CloseBashSessionRequest,
    Command,
    CreateBashSessionRequest,
    ReadFileRequest,
    UploadRequest,
    WriteFileRequest,
)
from swerex.runtime.local import LocalRuntime

from nacre.adapters.swe_rex import NacreRuntime

# Commands of one session, and the answers.
TABLE = [
    ("echo hi", "hi\n", 0),
    ("false", "", 1),
    ('cd /usr; x=5; f() { echo "f $1"; }', "", 0),
    ("pwd; echo $x; f y", "/usr\n5\nf y\n", 0),
    ("echo a\necho b", "a\nb\n", 0),
    ("cat <<EOF\none\ntwo\nEOF", "one\ntwo\n", 0),
    ("echo out; echo err >&2", "out\nerr\n", 0),
    ("for i in 1 2; do\n  echo $i\ndone", "1\n2\n", 0),
    ("# only a remark", "", 0),
    ("", "", 0),
    ("printf '\\033[31mred\\033[0m\\n'", "red\n", 0),
    ("no_such_program_here 2>/dev/null", "", 127),
]


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[NacreRuntime]:
    runtime = NacreRuntime(cwd=tmp_path)
    await runtime.create_session(CreateBashSessionRequest())
    yield runtime
    await runtime.close()


async def run(runtime: AbstractRuntime, command: str, **options: Any) -> tuple[str, int | None]:
    observation = await runtime.run_in_session(BashAction(command=command, check="silent", **options))
    return observation.output, observation.exit_code


async def own_answers() -> list[tuple[str, int | None]]:
    """What the framework's own runtime says to the table; its terminal adds blank lines around some outputs."""
    runtime = LocalRuntime(logger=logging.getLogger("own"))
    await runtime.create_session(CreateBashSessionRequest(startup_timeout=20))
    try:
        answers = [await run(runtime, command, timeout=20) for command, _, _ in TABLE]
    finally:
        await runtime.close()
    return [(output.strip(), code) for output, code in answers]


async def test_a_session_answers_as_the_table_says(runtime: NacreRuntime) -> None:
    for command, output, code in TABLE:
        assert await run(runtime, command, timeout=20) == (output, code), command


async def test_the_table_is_what_the_frameworks_own_runtime_answers() -> None:
    expected = [(output.strip(), code) for _, output, code in TABLE]
    for _ in range(3):
        # It waits a tenth of a second for its prompt, which is not always enough on a busy machine.
        if (answers := await own_answers()) == expected:
            break
    assert answers == expected


@pytest.mark.parametrize(
    "command",
    [
        Command(command=["echo", "$HOME;", "b c"]),
        Command(command="echo out; echo err >&2; exit 3", shell=True),
        Command(command="echo out; echo err >&2", shell=True, merge_output_streams=True),
        Command(command="pwd", cwd="/usr"),
        Command(command=["cat"]),
    ],
    ids=str,
)
async def test_execute_answers_as_the_frameworks_own_does(command: Command) -> None:
    assert await NacreRuntime().execute(command) == await LocalRuntime().execute(command)


async def test_a_variable_of_execute_is_added(runtime: NacreRuntime) -> None:
    response = await runtime.execute(
        Command(command="echo $GREETING ${PATH:+path}", shell=True, env={"GREETING": "hi"})
    )
    assert response.stdout == "hi path\n"


async def test_a_failure_is_raised_where_that_is_asked_for(runtime: NacreRuntime) -> None:
    with pytest.raises(NonZeroExitCodeError, match=r"it went wrong: Command 'exit_with 3' failed with exit code 127"):
        await runtime.run_in_session(BashAction(command="exit_with 3", error_msg="it went wrong"))
    with pytest.raises(NonZeroExitCodeError, match="failed with exit code 3"):
        await runtime.execute(Command(command="exit 3", shell=True, check=True))
    ignored = await runtime.run_in_session(BashAction(command="false", check="ignore"))
    assert ignored.exit_code is None


async def test_nothing_of_a_command_with_a_syntax_error_is_run(runtime: NacreRuntime) -> None:
    with pytest.raises(BashIncorrectSyntaxError) as caught:
        await runtime.run_in_session(BashAction(command="x=1\nif then"))
    assert "syntax error" in caught.value.extra_info["bash_stderr"]
    assert await run(runtime, "echo x is $x") == ("x is\n", 0)


async def test_a_large_output_is_whole(runtime: NacreRuntime) -> None:
    output, _ = await run(runtime, "seq 100000")
    assert output == "".join(f"{number}\n" for number in range(1, 100001))


async def test_sessions_are_apart_and_begin_with_what_they_source(runtime: NacreRuntime, tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text("x=sourced; echo hello", encoding="utf-8")
    answer = await runtime.create_session(
        CreateBashSessionRequest(session="other", startup_source=[str(tmp_path / "start.sh")], startup_timeout=20)
    )
    assert answer.output == "hello\n"
    assert await run(runtime, "echo $x", session="other") == ("sourced\n", 0)
    assert await run(runtime, "echo $x") == ("\n", 0)


async def test_names_of_sessions_are_checked(runtime: NacreRuntime) -> None:
    with pytest.raises(SessionExistsError):
        await runtime.create_session(CreateBashSessionRequest())
    await runtime.close_session(CloseBashSessionRequest())
    with pytest.raises(SessionDoesNotExistError):
        await run(runtime, "true")


async def test_the_state_survives_a_timeout(runtime: NacreRuntime) -> None:
    await run(runtime, "x=5")
    with pytest.raises(CommandTimeoutError, match="began"):
        await run(runtime, promises.TIMED["command"], timeout=2)
    assert await runtime.run_in_session(BashInterruptAction()) is not None
    assert await run(runtime, "echo $x") == ("5\n", 0)
    with pytest.raises(CommandTimeoutError):
        await runtime.execute(Command(command=promises.TIMED["command"], shell=True, timeout=2))


async def test_a_budget_that_is_used_up_is_told_as_a_limit(
    runtime: NacreRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_BUDGET_OUTPUT_BYTES", "4096")
    with pytest.raises(CommandTimeoutError, match=r"budget used up: 4\.0KB of output"):
        await runtime.execute(Command(command="yes", shell=True, timeout=20))


async def test_a_running_command_can_be_interrupted(runtime: NacreRuntime, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    running = asyncio.create_task(run(runtime, f"echo begun; setsid -f sleep 600; : >{begun}; sleep 600"))
    while not begun.exists():
        assert not running.done()
        await asyncio.sleep(0.01)
    await runtime.run_in_session(BashInterruptAction())
    assert await running == ("begun\n", 130)


def interactive(command: str, *expect: str, timeout: float = 20) -> BashAction:
    return BashAction(command=command, expect=list(expect), is_interactive_command=True, timeout=timeout)


def quitting(command: str) -> BashAction:
    return BashAction(command=command, is_interactive_quit=True, timeout=20)


# What is sent to programs on a terminal, the output, and which of the expected expressions was met.
PROMPT = ">>> "
DIALOGUE: list[tuple[BashAction, str, str]] = [
    (BashAction(command="cd /usr; export y=7", timeout=20), "", ""),
    (interactive("python3 -q", PROMPT), "", PROMPT),
    (interactive("print('hello world')", PROMPT), "hello world", PROMPT),
    (interactive("import os, sys; os.getcwd(), os.environ['y']", PROMPT), "('/usr', '7')", PROMPT),
    (interactive("sys.stdin.isatty(), sys.stdout.isatty()", PROMPT), "(True, True)", PROMPT),
    (interactive(f"len('{'y' * 300}')", "not this", PROMPT), "300", PROMPT),
    (quitting("quit()\n"), "", ""),
    (BashAction(command="echo $y", timeout=20), "7", ""),
    (interactive("read -p 'name? ' name; echo hi $name", r"\? "), "name", r"\? "),
    (interactive("Bob"), "hi Bob", ""),
    (interactive("PS1='at ease: ' bash --norc -i", "ease: "), "at", "ease: "),
    (interactive("tty | cut -c1-9", "ease: "), "/dev/pts/\nat", "ease: "),
    (quitting("exit"), "exit", ""),
    (BashAction(command="pwd", timeout=20), "/usr", ""),
]


async def converse(runtime: AbstractRuntime) -> list[tuple[str, str]]:
    """What a runtime says in the dialogue; the end of a program is a prompt in the framework's own, and "" in ours."""
    answers = []
    for action, _, _ in DIALOGUE:
        observation = await runtime.run_in_session(action)
        met = observation.expect_string if observation.expect_string in action.expect else ""
        answers.append((observation.output.strip(), met))
    return answers


async def test_programs_on_a_terminal_answer_as_the_dialogue_says(runtime: NacreRuntime) -> None:
    assert await converse(runtime) == [(output, met) for _, output, met in DIALOGUE]


async def test_the_dialogue_is_what_the_frameworks_own_runtime_answers() -> None:
    expected = [(output, met) for _, output, met in DIALOGUE]
    answers = []
    for _ in range(3):
        # As above: it guesses how long a prompt takes.
        runtime = LocalRuntime(logger=logging.getLogger("own"))
        await runtime.create_session(CreateBashSessionRequest(startup_timeout=20))
        try:
            answers = await converse(runtime)
        except (SwerexException, pexpect.TIMEOUT):
            continue
        finally:
            await runtime.close()
        if answers == expected:
            break
    assert answers == expected


async def test_a_program_that_is_met_has_no_exit_code_yet(runtime: NacreRuntime) -> None:
    # Without a flag it is an ordinary command, whose exit code is looked at.
    asking = {"command": "read -p 'how? ' code; exit $code", "expect": [r"\? "], "timeout": 20}
    met = await runtime.run_in_session(BashAction(**asking, check="silent"))
    assert (met.output, met.exit_code, met.expect_string) == ("how", None, r"\? ")
    with pytest.raises(NonZeroExitCodeError, match="Command '3' failed with exit code 3"):
        await runtime.run_in_session(BashAction(command="3"))
    with pytest.raises(NoExitCodeError, match="runs on"):
        await runtime.run_in_session(BashAction(**asking))
    ended = await runtime.run_in_session(quitting("4"))
    assert ended.exit_code == 4


async def test_a_program_that_does_not_answer_in_time_runs_on_and_can_be_interrupted(runtime: NacreRuntime) -> None:
    await run(runtime, "x=5")
    await runtime.run_in_session(interactive("python3 -q", PROMPT))
    with pytest.raises(CommandTimeoutError, match="'python3 -q' runs on"):
        await runtime.run_in_session(interactive("import time; print('asleep'); time.sleep(600)", PROMPT, timeout=0.1))
    await runtime.run_in_session(interactive("", "asleep"))
    stopped = await runtime.run_in_session(BashInterruptAction(expect=[PROMPT], timeout=20))
    assert stopped.output.endswith("KeyboardInterrupt")
    assert stopped.expect_string == PROMPT
    # Nothing is expected, and it goes on: it is ended, which costs the session nothing.
    await runtime.run_in_session(BashInterruptAction(timeout=0.01))
    assert await run(runtime, "echo $x") == ("5\n", 0)


async def test_who_waits_for_a_program_that_another_ends_is_answered(runtime: NacreRuntime) -> None:
    await runtime.run_in_session(interactive("trap '' INT; echo begun; sleep 600", "begun"))
    waiting = asyncio.create_task(runtime.run_in_session(interactive("", "never", timeout=60)))
    await asyncio.sleep(0)
    await runtime.run_in_session(BashInterruptAction(timeout=0.01))
    assert ((await waiting).exit_code, (await run(runtime, "echo on"))[0]) == (130, "on\n")


async def test_a_program_ends_although_something_writes_on(runtime: NacreRuntime) -> None:
    # Without its terminal it ends by itself.
    ended = await runtime.run_in_session(interactive("trap '' HUP; yes & sleep 0.1; exit 3"))
    assert ended.exit_code == 3


async def test_all_that_a_program_shows_is_told(runtime: NacreRuntime) -> None:
    ended = await runtime.run_in_session(interactive("seq 100000", "never"))
    assert ended.output == "\n".join(map(str, range(1, 100001)))


async def test_more_is_typed_than_a_program_reads_at_once(runtime: NacreRuntime) -> None:
    await runtime.run_in_session(interactive("read -p 'go? '; cat; echo over", r"go\? "))
    lines = "\n".join(f"{number:070}" for number in range(5000))
    ended = await runtime.run_in_session(quitting(f"first\n{lines}\n\x04"))
    assert ended.output.splitlines() == [*lines.splitlines(), "over"]


async def test_a_closed_session_leaves_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_GRACE_SECONDS", "0.1")
    runtime = NacreRuntime(cwd=tmp_path)
    for session in ("one", "two"):
        await runtime.create_session(CreateBashSessionRequest(session=session))
        action = BashAction(
            command="trap '' TERM HUP; setsid -f sleep 600; echo begun; cat",
            session=session,
            expect=["begun"],
            is_interactive_command=True,
            timeout=20,
        )
        await runtime.run_in_session(action)
    await runtime.close_session(CloseBashSessionRequest(session="one"))
    await runtime.close()


async def test_the_promises_hold_on_a_terminal(
    runtime: NacreRuntime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    denied = await runtime.run_in_session(interactive(promises.DENIED["command"]))
    promises.check_denied(denied.output)
    assert denied.exit_code == 126

    async def ask(arguments: dict[str, Any]) -> str:
        return (await runtime.run_in_session(interactive(arguments["command"], "never"))).output

    await promises.check_cancel(ask, tmp_path)
    promises.check_secret(await ask(promises.with_a_secret(tmp_path, monkeypatch)))


async def test_files_are_read_written_and_uploaded(runtime: NacreRuntime, tmp_path: Path) -> None:
    await runtime.write_file(WriteFileRequest(path="a/b.txt", content="ä\n"))
    assert (await runtime.read_file(ReadFileRequest(path=str(tmp_path / "a/b.txt")))).content == "ä\n"
    assert (await runtime.read_file(ReadFileRequest(path="a/b.txt", encoding="latin-1"))).content == "Ã¤\n"
    await runtime.upload(UploadRequest(source_path=str(tmp_path / "a"), target_path=str(tmp_path / "c")))
    await runtime.upload(UploadRequest(source_path=str(tmp_path / "a/b.txt"), target_path="d.txt"))
    assert await run(runtime, "cat c/b.txt d.txt") == ("ä\nä\n", 0)


async def test_notices_go_to_the_logger(runtime: NacreRuntime, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert await run(runtime, "false | true") == ("", 0)
    assert "a pipe hides a failure" in caplog.text


async def test_the_example_of_the_guide() -> None:
    names = await run_example("swe-rex")
    assert names["observation"].output == "42\n"


async def test_secrets_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runtime: NacreRuntime) -> None:
    command = promises.with_a_secret(tmp_path, monkeypatch)["command"]
    promises.check_secret((await run(runtime, command))[0])
    promises.check_secret((await runtime.execute(Command(command=command, shell=True))).stdout)


async def test_the_guard_denies(runtime: NacreRuntime) -> None:
    output, code = await run(runtime, promises.DENIED["command"])
    response = await runtime.execute(Command(command=promises.DENIED["command"], shell=True))
    promises.check_denied(output)
    promises.check_denied(response.stderr)
    assert (code, response.exit_code) == (126, 126)


async def test_a_cancelled_call_leaves_nothing(runtime: NacreRuntime, tmp_path: Path) -> None:
    async def ask(arguments: dict[str, Any]) -> str:
        return (await run(runtime, arguments["command"]))[0]

    await promises.check_cancel(ask, tmp_path)
