"""The `modes` contract, requirement by requirement (REQ-BASH-001…) and sketch by sketch (N1…) of docs/statements.md."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre import audit
from nacre.contracts.contract import Reply
from nacre.contracts.modes import LIMIT_BYTES, SNIP_BYTES, Modes, view
from nacre.engine import engine
from nacre.engine.background import start_in_background
from nacre.engine.execute import execute
from nacre.jobs.table import JobTable
from nacre.kept_command import Background
from nacre.output.captured import Captured
from nacre.output.window import Window
from nacre.request import ShellRequest
from nacre.result import ArtifactRef, Exited, Lost, Output, ShellResult, Stopped, TimedOut
from nacre.tool import Tool
from nacre.warden import record

# What N26 allows for metadata beyond the limit.
METADATA_BYTES = 200
SNIP = "\n\n[snip]\n\n"
PATIENCE_SECONDS = 30.0


async def call(command: str, mode: str | None = None, **options: Any) -> Reply:
    arguments = {"command": command} if mode is None else {"command": command, "mode": mode}
    async with Tool("modes", **options) as tool:
        return await tool.call(arguments)


async def call_with_limit(command: str, seconds: float) -> Reply:
    """What the contract answers to a command under a shorter limit than its own."""
    contract = Modes()
    request = ShellRequest(command=command, timeout=seconds)
    here = engine.from_environment()
    planned = here.planner.plan(request, contract.profile, cwd=os.getcwd())
    return contract.present(await execute(here, planned, contract.profile))


async def start(command: str, **options: Any) -> tuple[int, Path, Reply]:
    """The pid, the output file and the reply of a background call."""
    reply = await call(command, "background", **options)
    match = re.match(r"<pid>(\d+)</pid>\n<output_file>(.+)</output_file>\n", reply.text)
    assert match is not None, reply.text
    return int(match[1]), Path(match[2]), reply


async def ended(output_file: Path) -> dict[str, Any]:
    """The facts of a job once its runner has let go of it."""

    def wait() -> dict[str, Any]:
        import fcntl

        with open(output_file.parent / record.LOCK, "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
        return JobTable(output_file.parents[2]).get(output_file.parent.name).facts()

    async with asyncio.timeout(PATIENCE_SECONDS):
        return await asyncio.to_thread(wait)


def result_of(outcome: Any, **fields: Any) -> ShellResult:
    fields.setdefault("output", Output(text="partial\n", total_bytes=8, total_lines=1))
    return ShellResult(command="make", outcome=outcome, cwd="/", started_at=0.0, elapsed=1.5, **fields)


# REQ-BASH-006: the schema.


def test_the_schema_has_command_and_mode_and_the_directory_in_its_description(tmp_path: Path) -> None:
    """REQ-BASH-006: command (required), mode (optional enum), current working directory in the description."""
    assert Tool("modes", cwd=tmp_path).schema() == {
        "name": "bash",
        "description": f"""\
Executes shell commands via bash -c, returning combined stdout/stderr.
Bash state changes (working dir, variables, aliases) don't persist between calls.

With mode="background", returns immediately with output redirected to a file.
Use background for servers/demos that need to stay running.

Use mode="slow" for potentially slow commands: builds, downloads,
installs, tests, or any other substantive operation.

IMPORTANT: Keep commands concise. The command input must be less than 60k tokens.
For complex scripts, write them to a file first and then execute the file.

<pwd>{tmp_path}</pwd>""",
        "input_schema": {
            "type": "object",
            "required": ["command"],
            "properties": {
                "command": {"type": "string", "description": "Shell command to execute via bash -c"},
                "mode": {
                    "type": "string",
                    "enum": ["default", "slow", "background"],
                    "description": "Execution mode: default (30s timeout), slow (15min timeout), background (detached)",
                },
            },
            "additionalProperties": False,
        },
    }


def test_a_directory_with_braces_in_its_name_is_described_as_it_is(tmp_path: Path) -> None:
    odd = tmp_path / "{working_directory} {0}"
    assert Tool("modes", cwd=odd).schema()["description"].endswith(f"<pwd>{odd}</pwd>")


def test_the_process_s_own_directory_is_described_when_none_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Tool("modes").schema()["description"].endswith(f"<pwd>{tmp_path}</pwd>")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"command": "ls", "mode": "fast"}, "field 'mode' is \"fast\"; it must be one of default, slow, background"),
        (
            {"command": "ls", "mode": ["slow"]},
            "field 'mode' is [\"slow\"]; it must be one of default, slow, background",
        ),
        (
            {"command": "ls", "slow_ok": True},
            "unknown field 'slow_ok' (value true); known fields: command, mode",
        ),
        ({"mode": "slow"}, "field 'command' is missing; it is the shell command to run"),
        ({"command": " "}, "empty command: field 'command' is blank, give a shell command"),
    ],
)
async def test_unknown_fields_and_modes_are_refused_with_a_clear_message(
    arguments: dict[str, Any], message: str, home: Path
) -> None:
    """REQ-BASH-006: invalid combinations cannot be said, and what cannot be understood is not run."""
    async with Tool("modes") as tool:
        assert await tool.call(arguments) == Reply(text=message, is_error=True, details={})
    (entry,) = audit.entries(home)
    assert (entry["outcome"], entry["error"]) == ("notStarted", message)


# REQ-BASH-001: execution and truncation.


async def test_stdout_and_stderr_come_combined_in_true_order() -> None:
    """REQ-BASH-001: combined stdout/stderr output."""
    reply = await call("for i in 1 2 3; do echo out $i; echo err $i >&2; done")
    assert (reply.text, reply.is_error) == ("out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n", False)


async def test_the_command_runs_via_bash_in_the_tool_s_directory(tmp_path: Path) -> None:
    """REQ-BASH-001: `bash -c` in the conversation's working directory."""
    reply = await call("echo ${BASH_VERSION:+bash} $0; pwd -P", cwd=tmp_path)
    assert reply.text == f"bash bash\n{tmp_path.resolve()}\n"


async def test_state_does_not_persist_between_calls(tmp_path: Path) -> None:
    """The description's second sentence."""
    async with Tool("modes", cwd=tmp_path) as tool:
        await tool.call({"command": "cd /; kept=yes; alias kept=true"})
        reply = await tool.call({"command": "pwd -P; echo [$kept]; alias"})
    assert reply.text == f"{tmp_path.resolve()}\n[]\n"


@pytest.mark.parametrize("size", [0, 1, 2 * SNIP_BYTES, 2 * SNIP_BYTES + 1, LIMIT_BYTES])
async def test_up_to_the_limit_nothing_is_cut(size: int) -> None:
    """REQ-BASH-001, D2: between 8 KiB and 128 KiB all is shown."""
    reply = await call(f"head -c {size} /dev/zero | tr '\\0' x")
    assert reply.text == "x" * size


async def test_over_the_limit_the_middle_is_snipped_and_kept_in_a_file_that_the_first_line_names(home: Path) -> None:
    """REQ-BASH-001: over 128 KB the first and last 4 KB, and an indication."""
    reply = await call(f"head -c {LIMIT_BYTES} /dev/zero | tr '\\0' a; printf Z")
    match = re.match(r"\[output truncated in middle: got 128\.0KB, max is 128\.0KB; full output: (/.+)\]\n", reply.text)
    assert match is not None, reply.text[:300]
    assert reply.text[match.end() :] == "a" * SNIP_BYTES + SNIP + "a" * (SNIP_BYTES - 1) + "Z"
    kept = Path(match[1])
    assert kept.is_relative_to(home)
    assert kept.read_bytes() == b"a" * LIMIT_BYTES + b"Z"
    assert reply.details["artifactId"] == "1"


async def test_snipped_output_of_a_failure_keeps_the_failure_in_the_first_line() -> None:
    """REQ-BASH-001 and REQ-BASH-007 together."""
    reply = await call("seq 100000; exit 3")
    first, second, *_ = reply.text.split("\n")
    assert first == "[command failed: exit code 3]"
    assert second.startswith("[output truncated in middle: got ")
    assert reply.text.endswith("99999\n100000\n")


def captured(data: bytes) -> Captured:
    shape = Modes.profile.capture
    window = Window(shape.head_bytes, shape.tail_bytes, whole_bytes=shape.whole_bytes)
    window.feed(data)
    return Captured(
        whole=window.whole,
        head=window.head,
        tail=window.tail,
        total_bytes=window.total_bytes,
        total_lines=window.total_lines,
        artifact=None if window.whole is not None else ArtifactRef(7, "/a/path/to/7.output.log", len(data)),
    )


SEEDS = st.one_of(
    st.binary(min_size=1, max_size=64),
    st.text(min_size=1, max_size=24).map(lambda text: text.encode("utf-8", "replace")),
    st.sampled_from([b"\xff", "é".encode(), "€".encode(), "😀".encode(), b"line\n"]),
)
SIZES = st.one_of(
    st.integers(0, 3 * SNIP_BYTES),
    st.integers(LIMIT_BYTES // 3 - 8, LIMIT_BYTES // 3 + 8),
    st.integers(LIMIT_BYTES - 8, LIMIT_BYTES + 8),
    st.integers(LIMIT_BYTES, 2 * LIMIT_BYTES),
)


@settings(max_examples=150)
@given(seed=SEEDS, size=SIZES)
def test_output_never_exceeds_the_limit_and_every_byte_is_shown_or_counted(seed: bytes, size: int) -> None:
    """N26, over bytes instead of text."""
    data = (seed * (size // len(seed) + 1))[:size]
    output = view(captured(data))
    reply = Modes().present(result_of(Exited(1), output=output))
    assert len(reply.text.encode()) <= LIMIT_BYTES + METADATA_BYTES
    text = data.decode("utf-8", "replace")
    if output.truncation is None:
        assert output.text == text
    else:
        head, _, tail = output.text.partition(SNIP)
        assert text.startswith(head)
        assert text.endswith(tail)
        assert max(len(head.encode()), len(tail.encode())) <= SNIP_BYTES
        # What straddles the cut is left out whole: a character, or two signs for what is none.
        assert min(len(head.encode()), len(tail.encode())) > SNIP_BYTES - 6
        assert 0 < output.truncation.omitted_bytes < len(data)


def test_characters_on_the_cuts_are_left_out_whole() -> None:
    """REQ-BASH-001: cut on character borders."""
    output = view(captured(b"x" + "é".encode() * LIMIT_BYTES + b"x"))
    assert output.text == "x" + "é" * (SNIP_BYTES // 2 - 1) + SNIP + "é" * (SNIP_BYTES // 2 - 1) + "x"


# REQ-BASH-002: timeouts.


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        ({}, 30.0),
        ({"mode": "default"}, 30.0),
        ({"mode": "slow"}, 15 * 60.0),
        ({"mode": "background"}, 24 * 3600.0),
    ],
    ids=["omitted", "default", "slow", "background"],
)
async def test_each_mode_has_its_limit_and_fifteen_seconds_of_grace(arguments: dict[str, str], seconds: float) -> None:
    """REQ-BASH-002, REQ-BASH-004, REQ-BASH-006: 30 s also when the mode is omitted, 15 min, 24 h; grace 15 s."""
    contract = Modes()
    planned = engine.from_environment().planner.plan(
        contract.decode({"command": "true", **arguments}), contract.profile, cwd=os.getcwd()
    )
    assert (planned.command.timeout, planned.command.grace) == (seconds, 15.0)


async def test_slow_mode_runs_in_the_foreground() -> None:
    """REQ-BASH-002: slow blocks until complete."""
    assert (await call("sleep 0.2; echo done", "slow")).text == "done\n"


async def test_a_timeout_is_said_first_then_the_partial_output(tmp_path: Path) -> None:
    """REQ-BASH-002: terminate the process group, return partial output with timeout indication."""
    script = f"echo partial; setsid -f sleep 1000; sleep 1000 & echo $$ $! >{tmp_path}/pids; wait"
    reply = await call_with_limit(script, 2)
    assert (reply.text, reply.is_error) == ("[command timed out after 2s]\npartial\n", True)
    assert (reply.details["timedOut"], reply.details["exitCode"]) == (True, None)
    pids = (tmp_path / "pids").read_text(encoding="utf-8").split()
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


@pytest.mark.parametrize(("seconds", "words"), [(30.0, "30s"), (900.0, "900s")])
def test_a_limit_is_spelled_in_whole_seconds(seconds: float, words: str) -> None:
    """REQ-BASH-002: `[command timed out after {:?}]` of a whole number of seconds."""
    reply = Modes().present(result_of(TimedOut(seconds, "SIGTERM")))
    assert reply.text == f"[command timed out after {words}]\npartial\n"


# REQ-BASH-003: background.


async def test_a_background_call_returns_at_once_with_pid_file_and_reminder(home: Path) -> None:
    """REQ-BASH-003: detached; process ID and output file path."""
    pid, output_file, reply = await start("echo hello; sleep 1000")
    try:
        assert reply == Reply(
            text=f"<pid>{pid}</pid>\n<output_file>{output_file}</output_file>\n"
            f"<reminder>To stop: kill -9 -{pid}</reminder>",
            is_error=False,
            details={"pid": pid, "outputFile": str(output_file), "jobId": "bg_1"},
        )
        assert output_file.is_absolute()
        assert output_file.is_relative_to(home)
        assert os.getpgid(pid) == os.getsid(pid) == pid
    finally:
        os.killpg(pid, signal.SIGKILL)
        await ended(output_file)


@pytest.mark.parametrize(
    ("script", "ending", "facts"),
    [
        ("echo out; echo err >&2", "out\nerr\n\n\n[background process completed]\n", ("exited", 0, None)),
        ("echo out; exit 3", "out\n\n\n[background process failed: exit code 3]\n", ("exited", 3, None)),
        ("kill -TERM $$", "\n\n[background process failed: killed by SIGTERM (143)]\n", ("signalled", None, "SIGTERM")),
        ("printf 'no newline'", "no newline\n\n[background process completed]\n", ("exited", 0, None)),
    ],
    ids=["success", "exit code", "signal", "no newline"],
)
async def test_completion_is_appended_to_the_output_file_which_lives_on(
    script: str, ending: str, facts: tuple[str, int | None, str | None]
) -> None:
    """REQ-BASH-003: WHEN background process completes, append completion status to output file."""
    _, output_file, _ = await start(script)
    job = await ended(output_file)
    assert output_file.read_text(encoding="utf-8") == ending
    assert (job["state"], job["exitCode"], job["signal"]) == facts


async def test_the_command_of_the_reminder_ends_the_group_and_is_recorded_once() -> None:
    """REQ-BASH-003: `kill -9 -<pgid>`, run as a tool call by the agent itself."""
    pid, output_file, reply = await start("echo started; sleep 1000 & sleep 1000; wait")
    stop = re.search(r"<reminder>To stop: (.+)</reminder>", reply.text)
    assert stop is not None
    assert (await call(stop[1])).text == ""
    job = await ended(output_file)
    assert (job["state"], job["signal"], job["exitCode"]) == ("signalled", "SIGKILL", None)
    JobTable(output_file.parents[2]).list()
    text = output_file.read_text(encoding="utf-8")
    assert text.endswith("\n\n[background process failed: killed by SIGKILL (137)]\n")
    assert text.count("[background process ") == 1
    assert not Path(f"/proc/{pid}").exists()


async def test_a_background_job_outlives_the_tool_that_started_it(tmp_path: Path) -> None:
    """REQ-BASH-003: detached from the agent's lifecycle; the file outlives the call (N10)."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    _, output_file, _ = await start(f"read line <{fifo}; echo got $line")
    await asyncio.to_thread(fifo.write_text, "a line\n", encoding="utf-8")
    await ended(output_file)
    assert output_file.read_text(encoding="utf-8") == "got a line\n\n\n[background process completed]\n"


async def test_the_limit_of_a_background_job_is_enforced_and_recorded() -> None:
    """REQ-BASH-002, REQ-BASH-003: the 24 h limit, here with a shorter one."""
    contract = Modes()
    request = ShellRequest(command="echo early; sleep 1000", timeout=2, mode="background")
    started = await start_in_background(engine.from_environment(), request, contract.profile, cwd=os.getcwd())
    job = await ended(Path(started.output_file))
    assert (job["state"], job["exitCode"]) == ("timedOut", None)
    assert Path(started.output_file).read_text(encoding="utf-8") == (
        "early\n\n\n[background process failed: timed out after 2s]\n"
    )


async def test_jobs_beyond_the_limit_are_refused_with_the_list_of_live_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_MAX_JOBS", "1")
    pid, output_file, _ = await start("sleep 1000")
    try:
        assert await call("true", "background") == Reply(
            text="[could not run: 1 job runs already (setting jobs.max_jobs): bg_1; stop one]",
            is_error=True,
            details={"cause": "limit", "clock": "jobs"},
        )
    finally:
        os.killpg(pid, signal.SIGKILL)
        await ended(output_file)
    _, output_file, _ = await start("true")
    await ended(output_file)


async def test_a_background_call_in_a_missing_directory_starts_nothing(home: Path, tmp_path: Path) -> None:
    """REQ-BASH-007: a system error is told and no job is left behind."""
    missing = tmp_path / "missing"
    reply = await call("true", "background", cwd=missing)
    assert (reply.text, reply.is_error) == (f"working directory '{missing}' does not exist", True)
    assert JobTable(home).list().jobs == ()


def test_a_notice_about_a_background_call_is_a_last_line() -> None:
    started = Background(job_id="bg_1", pid=42, output_file="/o", notices=("the audit log could not be written",))
    assert Modes().present(started).text == (
        "<pid>42</pid>\n<output_file>/o</output_file>\n<reminder>To stop: kill -9 -42</reminder>\n"
        "[the audit log could not be written]"
    )


# REQ-BASH-004: isolation.


async def test_a_command_leads_a_session_and_a_process_group_of_its_own() -> None:
    """REQ-BASH-004: create a new process group."""
    reply = await call("cut -d ' ' -f 1,5,6 /proc/$$/stat")
    pid, group, session = map(int, reply.text.split())
    assert pid == group == session
    assert session != os.getsid(0)


async def test_secrets_are_taken_out_of_the_environment_and_the_rest_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """REQ-BASH-004: isolate environment variables containing secrets."""
    secrets = ["GITHUB_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY"]
    for name in secrets:
        monkeypatch.setenv(name, f"the secret value of {name}")
    monkeypatch.setenv("EDITOR_THEME", "dark")
    reply = await call("env -0; cat /proc/self/environ")
    names = {entry.partition("=")[0] for entry in reply.text.split("\0")}
    assert names & {*secrets, "EDITOR_THEME"} == {"EDITOR_THEME"}


async def test_a_cancelled_call_leaves_nothing_of_the_command_alive(tmp_path: Path, home: Path) -> None:
    """REQ-BASH-004: on cancellation the entire group, and what left it, is ended before the call returns."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    script = f"setsid -f sleep 1000; sleep 1000 & echo $$ $! >{fifo}; wait"
    running = asyncio.create_task(call(script))
    pids = (await asyncio.to_thread(fifo.read_text, encoding="utf-8")).split()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
    assert [entry["outcome"] for entry in audit.entries(home)] == ["stopped"]


async def test_what_ignores_the_polite_end_is_killed_after_the_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """REQ-BASH-004: the grace period, here shortened by its variable."""
    monkeypatch.setenv("NACRE_GRACE_SECONDS", "0.2")
    reply = await call_with_limit("trap '' TERM; echo stubborn; while :; do sleep 1000; done", 2)
    assert reply.text == "[command timed out after 2s]\nstubborn\n"


# REQ-BASH-005: no terminal.


async def test_there_is_no_terminal_and_input_is_at_its_end() -> None:
    """REQ-BASH-005: without a TTY attached; a prompt meets end of file instead of hanging."""
    reply = await call(
        "for fd in 0 1 2; do [ -t $fd ] && echo $fd is a terminal; done\n"
        "read answer || echo end of input\n"
        "exec 3<>/dev/tty\n"
    )
    assert reply.text == (
        "[command failed: exit code 1]\nend of input\nbash: line 3: /dev/tty: No such device or address\n"
    )


# REQ-BASH-007: errors.


async def test_a_failure_begins_with_its_exit_code_and_keeps_the_output() -> None:
    """REQ-BASH-007: include exit code in response AND include command output for debugging."""
    reply = await call("echo why; exit 42")
    assert (reply.text, reply.is_error) == ("[command failed: exit code 42]\nwhy\n", True)
    assert reply.details["exitCode"] == 42


async def test_death_by_a_signal_is_named() -> None:
    """REQ-BASH-007: not an exit code, but the signal and what a shell would report."""
    reply = await call("echo before; kill -KILL $$")
    assert (reply.text, reply.is_error) == ("[command failed: killed by SIGKILL (137)]\nbefore\n", True)
    assert (reply.details["exitCode"], reply.details["signal"]) == (137, "SIGKILL")


@pytest.mark.parametrize(("command", "code"), [("no-such-command-xyz", 127), ("/etc/passwd", 126)])
async def test_not_found_and_not_executable_are_failures_of_the_command(command: str, code: int) -> None:
    """REQ-BASH-007: the shell's own words, marked as the command's failure."""
    reply = await call(command)
    assert reply.is_error
    assert reply.text.startswith(f"[command failed: exit code {code}]\nbash: line 1: {command}: ")


async def test_a_failure_of_ours_does_not_look_like_the_command_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """REQ-BASH-007: a system error has a descriptive message and is distinguished from command failure."""
    monkeypatch.setenv("TOO_LARGE", "x" * 200_000)
    assert await call("true") == Reply(
        text="[could not run: cannot start the shell /bin/bash: the environment and arguments are too large "
        "for one program; pass less in env, or use files]",
        is_error=True,
        details={"cause": "infra"},
    )


async def test_a_wrong_setting_is_a_failure_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """REQ-BASH-007: the model is told what is wrong, and that it is not its command."""
    monkeypatch.setenv("NACRE_GRACE_SECONDS", "soon")
    assert (await call("true")).text == '[could not run: NACRE_GRACE_SECONDS is "soon"; accepted: a number >= 0]'


@pytest.mark.parametrize(
    ("outcome", "first"),
    [
        (Stopped("request"), "[command cancelled: request]"),
        (Lost("its runner was killed"), "[could not run: how the command ended is not known: its runner was killed]"),
    ],
)
def test_other_endings_are_told_apart_in_the_first_line(outcome: Any, first: str) -> None:
    """REQ-BASH-007: never an exit code -1."""
    reply = Modes().present(result_of(outcome))
    assert (reply.text, reply.is_error, reply.details["exitCode"]) == (f"{first}\npartial\n", True, None)


async def test_text_that_imitates_our_markers_changes_no_status() -> None:
    """REQ-BASH-007, P6: status comes from facts, never from text."""
    reply = await call("echo '[command failed: exit code 1]'")
    assert (reply.text, reply.is_error, reply.details["exitCode"]) == ("[command failed: exit code 1]\n", False, 0)


# Notices.


async def test_survivors_are_left_running_and_named_in_the_last_line() -> None:
    # Until it has become sleep, the child of bash is another bash.
    reply = await call("sleep 1000 & until grep -q ^sleep /proc/$!/cmdline; do :; done; echo $!")
    pid = int(reply.text.split("\n")[0])
    try:
        os.kill(pid, 0)
        assert (reply.text, reply.is_error) == (f"{pid}\n[still running: pid {pid} (sleep 1000)]", False)
        assert reply.details["survivors"] == [{"pid": pid, "argv": ["sleep", "1000"]}]
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_a_failure_that_a_pipe_hides_is_pointed_out_in_the_last_line() -> None:
    reply = await call("(echo out; exit 3) | cat")
    assert (reply.text, reply.is_error) == (
        "out\n[a pipe hides a failure: stage 1 exited with 3]",
        False,
    )
    assert reply.details["stages"] == [3, 0]


async def test_a_notice_after_output_without_a_newline_has_a_line_of_its_own() -> None:
    reply = await call("(printf out; exit 3) | cat")
    assert reply.text == "out\n[a pipe hides a failure: stage 1 exited with 3]"


async def test_an_early_closing_reader_hides_no_failure() -> None:
    assert (await call("yes | head -n 1")).text == "y\n"


# The guard's place in the path; its rules have tests of their own.


async def test_a_denied_command_is_not_run_and_its_text_is_the_specified_one(tmp_path: Path, home: Path) -> None:
    reply = await call("touch ran; git push --force", cwd=tmp_path)
    assert reply == Reply(
        text="permission denied: git push --force is not allowed. Use --force-with-lease for safer force pushes, "
        "or push without force",
        is_error=True,
        details={"cause": "guard"},
    )
    assert not (tmp_path / "ran").exists()
    (entry,) = audit.entries(home)
    assert (entry["outcome"], entry["rule"], entry["command"]) == (
        "denied",
        "no_force_push",
        "touch ran; git push --force",
    )
