"""The `basic` contract, statement by statement (B1…, docs/statements.md): `{stdout, stderr, exitCode}` or `{error}`."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from nacre import audit
from nacre.artifacts.store import ArtifactStore
from nacre.contracts.basic import LIMIT_BYTES, SUFFIX, Basic
from nacre.contracts.contract import Reply
from nacre.engine import engine
from nacre.engine.execute import execute
from nacre.request import ShellRequest
from nacre.tool import Tool

# bash keeps these for itself, whatever it was given.
BASH_OWN = {"_", "SHLVL", "PWD", "OLDPWD"}


async def call(command: str, **options: Any) -> dict[str, Any]:
    async with Tool("basic", **options) as tool:
        return (await tool.call({"command": command})).json()


async def call_with_limit(command: str, seconds: float) -> Reply:
    """What the contract answers to a command under a shorter limit than its own thirty seconds."""
    contract = Basic()
    request = ShellRequest(command=command, timeout=seconds)
    here = engine.from_environment()
    planned = here.planner.plan(request, contract.profile, cwd=os.getcwd())
    return contract.present(await execute(here, planned, contract.profile))


def logged(home: Path) -> list[dict[str, Any]]:
    return list(audit.entries(home))


# Tool definition and schemas.


def test_the_schema_is_a_name_a_description_and_one_required_string() -> None:
    assert Tool("basic").schema() == {
        "name": "bash",
        "description": "Execute a bash command and return stdout/stderr",
        "input_schema": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The bash command to execute"}},
            "required": ["command"],
            "additionalProperties": False,
        },
    }


# The examples of docs/statements.md.


async def test_example_simple_command() -> None:
    assert await call("echo 'hello world'") == {"stdout": "hello world\n", "stderr": "", "exitCode": 0}


async def test_example_command_with_error() -> None:
    ls = subprocess.run(["ls", "/nonexistent"], capture_output=True, text=True, check=False)
    assert "/nonexistent" in ls.stderr
    assert await call("ls /nonexistent") == {"stdout": "", "stderr": ls.stderr, "exitCode": ls.returncode}


async def test_example_piped_command(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("a pattern\nnothing\n" * 42, encoding="utf-8")
    answer = await call("cat file.txt | grep pattern | wc -l", cwd=tmp_path)
    assert answer == {"stdout": "42\n", "stderr": "", "exitCode": 0}


# Command execution.


async def test_the_shell_is_bin_bash_with_dash_c() -> None:
    command = "tr '\\0' ' ' </proc/$$/cmdline; readlink /proc/$$/exe; true"
    exe = os.path.realpath("/bin/bash")
    assert await call(command) == {"stdout": f"bash -c {command} {exe}\n", "stderr": "", "exitCode": 0}


async def test_stdout_and_stderr_are_captured_apart() -> None:
    assert await call("echo out; echo err >&2; echo more") == {
        "stdout": "out\nmore\n",
        "stderr": "err\n",
        "exitCode": 0,
    }


async def test_the_call_waits_for_the_command_to_complete(tmp_path: Path) -> None:
    answer = await call("sleep 0.3; echo late; touch done", cwd=tmp_path)
    assert (answer, (tmp_path / "done").exists()) == ({"stdout": "late\n", "stderr": "", "exitCode": 0}, True)


@pytest.mark.parametrize("code", [0, 1, 2, 42, 125, 128, 255])
async def test_any_exit_code_is_a_success_object_with_that_code(code: int) -> None:
    assert await call(f"echo before; exit {code}") == {"stdout": "before\n", "stderr": "", "exitCode": code}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
async def test_death_by_a_signal_is_128_plus_its_number(number: signal.Signals) -> None:
    answer = await call(f"echo before; kill -{int(number)} $$")
    assert answer == {"stdout": "before\n", "stderr": "", "exitCode": 128 + number}


async def test_output_that_is_not_text_is_shown_with_replacement_characters() -> None:
    assert await call(r"printf 'a\xff\0b'") == {"stdout": "a�\0b", "stderr": "", "exitCode": 0}


# Working directory.


async def test_commands_run_in_the_harness_s_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert await call("pwd -P") == {"stdout": f"{tmp_path.resolve()}\n", "stderr": "", "exitCode": 0}


async def test_commands_can_reach_the_whole_file_system(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    assert (await call(f"echo hi >{outside}", cwd=inside))["exitCode"] == 0
    assert outside.read_text(encoding="utf-8") == "hi\n"


# Environment.


@pytest.mark.parametrize("script", ["env -0", "env -0 | cat"], ids=["plain", "in a pipeline"])
async def test_the_environment_is_the_harness_s_own_with_nothing_injected_or_removed(
    monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_0123456789abcdefghijklmnopqrstuvwxyz")
    monkeypatch.setenv("LINES_OF_TEXT", "one\ntwo = 2")
    monkeypatch.delenv("BASH_ENV", raising=False)
    answer = await call(script)
    seen = dict(entry.split("=", 1) for entry in answer["stdout"].split("\0") if entry)
    assert {name: value for name, value in seen.items() if name not in BASH_OWN} == {
        name: value for name, value in os.environ.items() if name not in BASH_OWN
    }


async def test_a_bash_env_of_the_harness_is_kept_in_a_pipeline_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    startup = tmp_path / "it's a startup file"
    startup.write_text("greeting=hello\n", encoding="utf-8")
    monkeypatch.setenv("BASH_ENV", str(startup))
    answer = await call('echo "$greeting" "$BASH_ENV" | cat')
    assert answer == {"stdout": f"hello {startup}\n", "stderr": "", "exitCode": 0}


async def test_a_secret_may_be_printed_because_everything_is_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-0123456789abcdefghij")
    assert (await call("echo $MY_API_KEY"))["stdout"] == "sk-0123456789abcdefghij\n"


async def test_a_setting_turns_the_environment_filter_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-0123456789abcdefghij")
    monkeypatch.setenv("NACRE_ENV_FILTER", "on")
    assert await call("echo [$MY_API_KEY]") == {"stdout": "[]\n", "stderr": "", "exitCode": 0}


# Output handling: not found and not executable (D1).


async def test_a_command_that_is_not_found_is_an_error_with_bash_s_message() -> None:
    assert await call("no-such-command-xyz --flag") == {"error": "bash: line 1: no-such-command-xyz: command not found"}


async def test_a_command_without_permission_to_run_is_an_error_with_bash_s_message(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("echo hi\n", encoding="utf-8")
    assert await call("./script", cwd=tmp_path) == {"error": "bash: line 1: ./script: Permission denied"}


async def test_a_missing_command_in_a_longer_script_is_an_exit_code_and_loses_no_output() -> None:
    assert await call("echo before; no-such-command-xyz") == {
        "stdout": "before\n",
        "stderr": "bash: line 1: no-such-command-xyz: command not found\n",
        "exitCode": 127,
    }


@pytest.mark.parametrize("code", [126, 127])
async def test_a_longer_script_that_exits_with_126_or_127_in_silence_is_a_success_object(code: int) -> None:
    assert await call(f"true; (exit {code})") == {"stdout": "", "stderr": "", "exitCode": code}


async def test_a_simple_command_that_wrote_something_before_127_is_a_success_object() -> None:
    assert await call("bash -c 'echo written; exit 127'") == {"stdout": "written\n", "stderr": "", "exitCode": 127}


# Output limits.


async def test_exactly_one_megabyte_is_not_cut(home: Path) -> None:
    answer = await call(f"head -c {LIMIT_BYTES} /dev/zero | tr '\\0' x")
    assert answer == {"stdout": "x" * LIMIT_BYTES, "stderr": "", "exitCode": 0}
    assert ArtifactStore(home / "artifacts").list() == ()


@pytest.mark.parametrize(("redirect", "stream", "other"), [("", "stdout", "stderr"), (" >&2", "stderr", "stdout")])
async def test_each_stream_beyond_one_megabyte_gets_the_suffix_and_is_kept_whole(
    home: Path, redirect: str, stream: str, other: str
) -> None:
    answer = await call(f"(head -c {LIMIT_BYTES + 1} /dev/zero | tr '\\0' x){redirect}")
    assert answer == {stream: "x" * LIMIT_BYTES + SUFFIX, other: "", "exitCode": 0}
    (entry,) = ArtifactStore(home / "artifacts").list()
    kept = Path(ArtifactStore(home / "artifacts").plain_path(entry.id))
    assert kept.read_bytes() == b"x" * (LIMIT_BYTES + 1)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert logged(home)[0]["artifacts"] == [entry.id]


async def test_the_suffix_says_that_the_stream_is_cut() -> None:
    assert (await call(f"head -c {LIMIT_BYTES + 1} /dev/zero"))["stdout"][-17:] == "\0\0... (truncated)"


@pytest.mark.parametrize(("character", "inside"), [("é", 1), ("€", 1), ("€", 2), ("😀", 1), ("😀", 2), ("😀", 3)])
@pytest.mark.parametrize("rest", ["", " and more than a megabyte"])
async def test_a_character_is_never_cut_in_two(character: str, inside: int, rest: str) -> None:
    before = LIMIT_BYTES - inside
    answer = await call(f"head -c {before} /dev/zero | tr '\\0' x; printf '{character}{rest}'")
    assert answer == {"stdout": "x" * before + SUFFIX, "stderr": "", "exitCode": 0}


async def test_where_the_full_text_is_kept_is_a_notice_and_not_in_the_object(home: Path) -> None:
    async with Tool("basic") as tool:
        reply = await tool.call({"command": f"head -c {LIMIT_BYTES + 1} /dev/zero"})
    path = ArtifactStore(home / "artifacts").plain_path(1)
    assert (sorted(reply.json()), reply.notices) == (
        ["exitCode", "stderr", "stdout"],
        (f"the full stdout is artifact 1: {path}",),
    )


async def test_output_that_cannot_be_kept_is_still_answered_and_the_failure_said(home: Path) -> None:
    home.mkdir()
    (home / "artifacts").write_text("in the way", encoding="utf-8")
    async with Tool("basic") as tool:
        reply = await tool.call({"command": f"head -c {LIMIT_BYTES + 1} /dev/zero"})
    assert reply.json() == {"stdout": "\0" * LIMIT_BYTES + SUFFIX, "stderr": "", "exitCode": 0}
    assert [notice.partition(":")[0] for notice in reply.notices] == ["the full output could not be kept"]


# Timeout.


async def test_a_call_has_thirty_seconds_and_five_of_grace() -> None:
    contract = Basic()
    planned = engine.from_environment().planner.plan(
        contract.decode({"command": "true"}), contract.profile, cwd=os.getcwd()
    )
    assert (planned.command.timeout, planned.command.grace) == (30.0, 5.0)


async def test_a_timeout_kills_everything_and_names_where_the_partial_output_is(home: Path, tmp_path: Path) -> None:
    script = f"echo partial; echo oops >&2; setsid -f sleep 1000; echo $$ >{tmp_path}/pid; sleep 1000"
    reply = await call_with_limit(script, 2)
    store = ArtifactStore(home / "artifacts")
    out, err = (store.plain_path(entry.id) for entry in store.list())
    assert reply.json() == {
        "error": "timeout: the command ran longer than 2 s and was killed with all its processes; "
        f"partial output is kept in {out} and {err}"
    }
    assert [Path(path).read_text(encoding="utf-8") for path in (out, err)] == ["partial\n", "oops\n"]
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text(encoding='utf-8').strip()}").exists()


async def test_a_timeout_without_output_says_so() -> None:
    assert (await call_with_limit("sleep 1000", 0.2)).json() == {
        "error": "timeout: the command ran longer than 0.2 s and was killed with all its processes; it wrote no output"
    }


async def test_a_timeout_whose_output_could_not_be_kept_does_not_claim_that_there_was_none(home: Path) -> None:
    home.mkdir()
    (home / "artifacts").write_text("in the way", encoding="utf-8")
    assert (await call_with_limit("echo four; sleep 1000", 2)).json() == {
        "error": "timeout: the command ran longer than 2 s and was killed with all its processes; "
        "its 5 bytes of output could not be kept"
    }


# Error conditions.


@pytest.mark.parametrize("command", ["", "   ", "\n\t\n"])
async def test_an_empty_command_is_an_error_and_nothing_is_started(home: Path, command: str) -> None:
    assert await call(command) == {"error": "empty command: field 'command' is blank, give a shell command"}
    assert [entry["outcome"] for entry in logged(home)] == ["notStarted"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "field 'command' is missing; it is the shell command to run"),
        ({"command": None}, "field 'command' must be a string, got null"),
        ({"command": 3}, "field 'command' must be a string, got 3"),
        ({"command": ["ls"]}, "field 'command' must be a string, got [\"ls\"]"),
        (["ls"], 'arguments must be a JSON object, got ["ls"]'),
        (None, "arguments must be a JSON object, got null"),
        (
            {"command": "ls", "timeout": 5},
            "unknown field 'timeout' (value 5); known fields: command",
        ),
        (
            {"comand": "ls"},
            "unknown field 'comand' (value \"ls\"); did you mean 'command'?",
        ),
        (
            {"command": "echo \0"},
            "field 'command' holds a NUL character at position 5; no program can be given one",
        ),
    ],
)
async def test_a_malformed_request_is_an_error_naming_the_field_and_its_value(arguments: object, message: str) -> None:
    async with Tool("basic") as tool:
        assert (await tool.call(arguments)).json() == {"error": message}


async def test_a_directory_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert await call("true", cwd=missing) == {"error": f"working directory '{missing}' does not exist"}


async def test_a_shell_that_cannot_be_given_its_environment_is_an_error_and_logged(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("TOO_LARGE", "x" * 200_000)
    message = (
        "cannot start the shell /bin/bash: the environment and arguments are too large for one program; "
        "pass less in env, or use files"
    )
    assert await call("true") == {"error": message}
    (entry,) = logged(home)
    assert (entry["command"], entry["outcome"], entry["error"]) == ("true", "notStarted", message)


# Guard.


async def test_the_guard_is_off_here(tmp_path: Path) -> None:
    answer = await call("git init -q . && touch a && git add -A && git status --short", cwd=tmp_path)
    assert answer == {"stdout": "A  a\n", "stderr": "", "exitCode": 0}


async def test_a_setting_turns_the_guard_on_and_a_denial_is_an_error_object(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NACRE_GUARD", "on")
    answer = await call("git init -q . && git push -f", cwd=tmp_path)
    assert list(answer) == ["error"]
    assert answer["error"].startswith("denied by nacre's guard (rule no_force_push): git push --force is not allowed")
    assert not (tmp_path / ".git").exists()


# What is left running.


async def test_what_a_finished_command_left_running_is_left_running_and_recorded_in_the_log(home: Path) -> None:
    # Until it has become sleep, the child of bash is another bash.
    script = "sleep 1000 >/dev/null 2>&1 & until grep -q ^sleep /proc/$!/cmdline; do :; done; echo $!"
    answer = await call(script)
    pid = int(answer["stdout"])
    try:
        assert answer == {"stdout": f"{pid}\n", "stderr": "", "exitCode": 0}
        os.kill(pid, 0)
        assert logged(home)[0]["survivors"] == [{"pid": pid, "argv": ["sleep", "1000"]}]
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_a_failure_that_a_pipe_hides_is_a_notice_and_not_in_the_object(home: Path) -> None:
    async with Tool("basic") as tool:
        reply = await tool.call({"command": "false | cat"})
    assert reply.json() == {"stdout": "", "stderr": "", "exitCode": 0}
    assert reply.notices == ("a pipe hides a failure: stage 1 exited with 1",)


# Logging.


CONTENT = "content that must not be logged"


async def test_every_call_is_logged_with_its_facts_and_never_with_content(home: Path) -> None:
    script = f"printf '{CONTENT}' | tr a-z A-Z; echo err >&2; exit 3"
    await call(script)
    (entry,) = logged(home)
    assert CONTENT.upper() not in (home / audit.NAME).read_text(encoding="utf-8")
    assert {key: value for key, value in entry.items() if key not in ("call", "time", "durationMs")} == {
        "contract": "basic",
        "command": script,
        "cwd": os.getcwd(),
        "outcome": "exited",
        "exitCode": 3,
        "stdoutBytes": len(CONTENT),
        "stderrBytes": 4,
    }
    assert isinstance(entry["time"], float)
    assert isinstance(entry["durationMs"], float)
