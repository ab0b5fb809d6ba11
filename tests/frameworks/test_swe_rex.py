"""swe-rex: the runtime gives what the framework's own local runtime gives, and keeps nacre's promises."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import promises
import pytest
from guide import run_example
from swerex.exceptions import (
    BashIncorrectSyntaxError,
    CommandTimeoutError,
    NonZeroExitCodeError,
    SessionDoesNotExistError,
    SessionExistsError,
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


async def test_a_running_command_can_be_interrupted(runtime: NacreRuntime, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    running = asyncio.create_task(run(runtime, f"setsid -f sleep 600; : >{begun}; sleep 600"))
    while not begun.exists():
        assert not running.done()
        await asyncio.sleep(0.01)
    await runtime.run_in_session(BashInterruptAction())
    assert await running == ("", 130)


async def test_commands_for_interactive_programs_are_refused(runtime: NacreRuntime) -> None:
    with pytest.raises(NotImplementedError, match="no terminal"):
        await runtime.run_in_session(BashAction(command="python3", is_interactive_command=True))


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
