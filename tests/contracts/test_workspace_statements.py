"""The workspace tool, statement by statement: what a call answers and does. A row numbered 13 shows W13.

The statements are in docs/statements.md. Where a decision (D1…) differs from a statement, the row shows the decision.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from workbench import INTERCEPTING, Workbench, details, full, gone, layout, plain, quick, timeless, until

from nacre.contracts.workspace import Workspace
from nacre.engine.planner import wait_policy
from nacre.engine.wait import WaitPolicy
from nacre.guard.interceptor import InterceptRule, compile_rules
from nacre.planning.terminal_variables import WITHOUT_UI
from nacre.request import ShellRequest
from nacre.result import Lost, Output, ShellResult
from nacre.settings import ExecutionSettings, JobSettings, Settings
from nacre.warden import children

PTY = WITHOUT_UI
NO_JOBS = Settings(jobs=JobSettings(async_enabled=False))
FOLLOW_UP = 'Its result will be delivered when it ends; to wait for it: job {"poll": ["bg_1"]}'
JOB = {"state": "running", "jobId": "bg_1", "type": "bash"}


@dataclass(frozen=True, kw_only=True)
class Row:
    number: int
    words: str
    """A few words of the statement."""
    arguments: Mapping[str, Any]
    text: str
    """`{cwd}` is the tool's directory."""
    is_error: bool = False
    details: Mapping[str, Any] = field(default_factory=lambda: {"timeoutSeconds": 300})
    settings: Settings | None = None
    tools: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"W{self.number}-{self.words}"


def refused(number: int, words: str, arguments: Mapping[str, Any], text: str, **more: Any) -> Row:
    return Row(number=number, words=words, arguments=arguments, text=text, is_error=True, **({"details": {}} | more))


ROWS = [
    # Inputs.
    Row(number=13, words="Shell command text to execute", arguments={"command": "echo hi"}, text=layout("hi")),
    Row(
        number=13,
        words="rewritten into cwd only when cwd was omitted",
        arguments={"command": "cd 'a b' && pwd"},
        text=layout("{cwd}/a b"),
    ),
    Row(
        number=13,
        words="only when cwd was omitted",
        arguments={"command": "cd inner && pwd", "cwd": "a b"},
        text=layout("{cwd}/a b/inner"),
    ),
    Row(
        number=16,
        words="passed as environment values, not shell text",
        arguments={"command": 'printf "%s\\n" "$MESSAGE"', "env": {"MESSAGE": "$(touch no) 'quoted'\nsecond"}},
        text=layout("$(touch no) 'quoted'\nsecond"),
    ),
    Row(
        number=16,
        words="Values go through internal-URL expansion",
        arguments={"command": 'printf "%s\\n" "${FILE##*/}"', "env": {"FILE": "local://notes.md"}},
        text=layout("notes.md"),
    ),
    *(
        refused(
            16,
            "Keys must match ^[A-Za-z_][A-Za-z0-9_]*$",
            {"command": "touch started", "env": {name: "x"}},
            f"Invalid bash env name: {name}; letters, digits and underscores, no digit first",
        )
        for name in ("A-B", "1A", "", "A B", "É", "A=B")
    ),
    Row(number=19, words="Default 300", arguments={"command": "true"}, text=layout("(no output)")),
    *(
        Row(
            number=19,
            words="clamped to 1..3600",
            arguments={"command": "true", "timeout": asked},
            text=layout(
                "(no output)", f"Timeout: {effective} s in force, {asked} s were asked for (allowed: 1 to 3600)"
            ),
            details={"timeoutSeconds": effective, "requestedTimeoutSeconds": asked},
        )
        for asked, effective in ((0, 1), (-3, 1), (0.25, 1), (3601, 3600), (86400, 3600))
    ),
    *(
        Row(
            number=19,
            words="Timeout in seconds",
            arguments={"command": "true", "timeout": seconds},
            text=layout("(no output)"),
            details={"timeoutSeconds": seconds},
        )
        for seconds in (1, 2.5, 3600)
    ),
    Row(
        number=22,
        words="resolved against session.cwd",
        arguments={"command": "pwd", "cwd": "a b/../a b/inner"},
        text=layout("{cwd}/a b/inner"),
    ),
    Row(number=22, words="Working directory", arguments={"command": "pwd", "cwd": "/"}, text=layout("/")),
    Row(
        number=25,
        words="PTY is used only when pty: true",
        arguments={"command": "test -t 0 || test -t 1 || echo no terminal", "pty": True},
        # D13: the fallback is a notice.
        text=layout("no terminal", PTY),
    ),
    Row(number=25, words="Default false", arguments={"command": "true", "pty": False}, text=layout("(no output)")),
    Row(
        number=28,
        words="Returns immediately with a job id instead of waiting",
        arguments={"command": "sleep 100", "async": True},
        text=f"Background job bg_1 started: sleep 100\n{FOLLOW_UP}",
        details={"timeoutSeconds": 300, "async": JOB},
    ),
    # Outputs.
    Row(
        number=32,
        words="(no output)when the command produced nothing",
        arguments={"command": "# nothing"},
        text=layout("(no output)"),
    ),
    Row(
        number=32,
        words="exitCode: present when the command completed with a non-zero exit code",
        arguments={"command": "exit 7"},
        text=layout("(no output)", status="Command exited with code 7"),
        is_error=True,
        details={"timeoutSeconds": 300, "exitCode": 7},
    ),
    Row(
        number=32,
        words="details.meta.truncation: present when output was truncated",
        arguments={"command": "seq 20000"},
        settings=plain(keep="tail"),
        text=layout(
            "\n".join(map(str, range(11468, 20001))),
            bracket="[Showing lines 11468-20000 of 20000 (50.0KB limit); 11467 lines, 56.3KB left out. "
            f"{full(1, 1, 11467)}]",
        ),
        details={
            "timeoutSeconds": 300,
            "artifactId": "1",
            "meta": {
                "truncation": {
                    "direction": "tail",
                    "truncatedBy": "bytes",
                    "totalLines": 20000,
                    "totalBytes": 108894,
                    "outputLines": 8533,
                    "outputBytes": 51198,
                    "maxBytes": 51200,
                    "elidedLines": 11467,
                    "elidedBytes": 57696,
                    "shownRange": [11468, 20000],
                    "artifactId": "1",
                }
            },
        },
    ),
    Row(
        number=33,
        words="isErrorwith output plusCommand exited with code",
        arguments={"command": "echo some; exit 2"},
        text=layout("some", status="Command exited with code 2"),
        is_error=True,
        details={"timeoutSeconds": 300, "exitCode": 2},
    ),
    Row(
        number=35,
        words="optional preview tail, timeout notice if any",
        arguments={"command": "echo ready; sleep 100", "timeout": 9999},
        settings=quick(),
        text="ready\n\nTimeout: 3600 s in force, 9999 s were asked for (allowed: 1 to 3600)\n"
        f"Background job bg_1 started: echo ready; sleep 100\n{FOLLOW_UP}",
        details={"timeoutSeconds": 3600, "requestedTimeoutSeconds": 9999, "async": JOB},
    ),
    Row(
        number=46,
        words="Stdout and stderr are merged before the model sees them",
        arguments={"command": "echo 1; echo 2 >&2; echo 3; echo 4 >&2"},
        text=layout("1\n2\n3\n4"),
    ),
    Row(
        number=46,
        words="Definite non-zero exit codes are appended",
        arguments={"command": "kill -TERM $$"},
        text=layout("(no output)", status="Command exited with code 143 (killed by SIGTERM)"),
        is_error=True,
        details={"timeoutSeconds": 300, "exitCode": 143, "signal": "SIGTERM"},
    ),
    # Flow.
    refused(
        50,
        "is requested whileasync.enabledis off",
        {"command": "touch started", "async": True},
        "Async bash execution is disabled (setting jobs.async_enabled); run it without async",
        settings=NO_JOBS,
    ),
    refused(
        51,
        "runs against both the original command and thecd-stripped command",
        {"command": "cd 'a b' && sed -i s/a/b/ file"},
        "Blocked: Use the `edit` tool instead of sed -i. It shows a diff and matches text reliably.\n\n"
        "cd 'a b' && sed -i s/a/b/ file",
        settings=INTERCEPTING,
        tools=("edit",),
        # D8: the suggested tool is a field, too.
        details={"suggestedTool": "edit", "cause": "guard"},
    ),
    refused(
        51,
        "throws before URL expansion or execution",
        {"command": "cat skill://none/SKILL.md"},
        "Blocked: Use the `read` tool instead of cat/head/tail. It gives line numbers and handles large files.\n\n"
        "cat skill://none/SKILL.md",
        settings=INTERCEPTING,
        tools=("read",),
        details={"suggestedTool": "read", "cause": "guard"},
    ),
    Row(
        number=51,
        words="Command replacements are shell-escaped",
        arguments={"command": "cat doc://apostrophe"},
        text=layout("unset"),
    ),
    Row(
        number=51,
        words="cwdreplacements use raw filesystem/string values",
        arguments={"command": "pwd", "cwd": "doc://a b"},
        text=layout("{cwd}/a b"),
    ),
    Row(
        number=53,
        words="Non-PTY client-terminal bridge",
        # No client offers terminals here, so the command runs on this machine; tests/acp_terminals has one that does.
        arguments={"command": "echo here"},
        text=layout("here"),
    ),
    Row(
        number=58,
        words="runs via a persistent nativeShellsession",
        # The tests of this file run without sessions; test_workspace_sessions.py has them (D11).
        arguments={"command": "echo ${LEFT_BEHIND-nothing}"},
        text=layout("nothing"),
    ),
    # Limits.
    Row(
        number=121,
        words="In-memory output tail cap",
        arguments={"command": "head -c 51200 /dev/zero | tr '\\0' '\\n'"},
        text=layout("(no output)"),
        details={"timeoutSeconds": 300, "stages": [0, 0]},
    ),
    # Errors.
    refused(
        128,
        'ToolError("Invalid bash env name: <key>")',
        {"command": "touch started", "env": {"good": "x", "bad-key": "x"}},
        "Invalid bash env name: bad-key; letters, digits and underscores, no digit first",
    ),
    refused(
        129,
        'ToolError("Async bash execution is disabled..."',
        {"command": "touch started", "async": True},
        "Async bash execution is disabled (setting jobs.async_enabled); run it without async",
        settings=NO_JOBS,
    ),
    refused(
        131,
        'ToolError("Working directory does not exist: ...")',
        {"command": "touch started", "cwd": "missing"},
        "Working directory does not exist: {cwd}/missing",
    ),
    refused(
        131,
        'ToolError("Working directory is not a directory: ...")',
        {"command": "touch started", "cwd": "file"},
        "Working directory is not a directory: {cwd}/file",
    ),
    refused(
        131,
        "Working directory does not exist",
        {"command": "cd missing && touch started"},
        "Working directory does not exist: {cwd}/missing",
    ),
    refused(
        135,
        "Blocked: <rule.message>and the original command",
        {"command": "echo x > started"},
        "Blocked: Use the `write` tool instead of echo/printf/cat redirection. It handles encoding and says what it "
        "wrote.\n\necho x > started",
        settings=INTERCEPTING,
        tools=("write",),
        details={"suggestedTool": "write", "cause": "guard"},
    ),
    Row(
        number=139,
        words="unsupported scheme",
        # No error here: a scheme that no program registered is text, as in `curl https://…` (D7).
        arguments={"command": "echo gopher://hole"},
        text=layout("gopher://hole"),
    ),
    refused(
        139,
        "unknown skill",
        {"command": "cat skill://none/SKILL.md"},
        "field 'command' holds skill://none/SKILL.md, which leads nowhere: there is no skill 'none'; there are: none",
    ),
    refused(
        139,
        "path traversal",
        {"command": "cat local://../../etc/passwd"},
        "field 'command' holds local://../../etc/passwd, which leads nowhere: '../../etc/passwd' leads out of its "
        "root: '..' is refused",
    ),
    refused(
        139,
        "router resolution failures",
        {"command": "touch started", "env": {"FILE": "artifact://99"}},
        "field 'env' holds artifact://99, which leads nowhere: no artifact 99; available: none",
    ),
    Row(
        number=144,
        words="text ending inCommand exited with code <n>",
        arguments={"command": "echo last words; exit 255"},
        text=layout("last words", status="Command exited with code 255"),
        is_error=True,
        details={"timeoutSeconds": 300, "exitCode": 255},
    ),
    # Notes.
    Row(
        number=152,
        words="blocks only when the matching rule'stoolname is present",
        arguments={"command": "cat file"},
        settings=INTERCEPTING,
        tools=("grep",),
        text=layout("content"),
    ),
    *(
        refused(
            153,
            "DEFAULT_BASH_INTERCEPTOR_RULES",
            {"command": command},
            f"Blocked: {message}\n\n{command}",
            settings=INTERCEPTING,
            # The tools are called `grep` and `glob` here, where the statement says `search` and `find`.
            tools=("read", "grep", "glob", "edit", "write"),
            details={"suggestedTool": tool, "cause": "guard"},
        )
        for command, tool, message in (
            (
                "tail -n 3 file",
                "read",
                "Use the `read` tool instead of cat/head/tail. It gives line numbers and handles large files.",
            ),
            (
                "rg content",
                "grep",
                "Use the `grep` tool instead of grep/rg. It respects .gitignore and gives structured output.",
            ),
            (
                "find . -name file",
                "glob",
                "Use the `glob` tool instead of find/fd. It is faster and respects .gitignore.",
            ),
            (
                "perl -pi -e s/a/b/ file",
                "edit",
                "Use the `edit` tool instead of perl -i. It shows a diff and matches text reliably.",
            ),
            (
                "awk -i inplace 1 file",
                "edit",
                "Use the `edit` tool instead of awk -i inplace. It shows a diff and matches text reliably.",
            ),
            (
                "printf x >> started",
                "write",
                "Use the `write` tool instead of echo/printf/cat redirection. It handles encoding and says what it "
                "wrote.",
            ),
        )
    ),
    Row(
        number=154,
        words="PTY mode is ignored in non-UI contexts",
        arguments={"command": "tty", "pty": True},
        text=layout("not a tty", PTY, status="Command exited with code 1"),
        is_error=True,
        details={"timeoutSeconds": 300, "exitCode": 1},
    ),
    Row(
        number=155,
        words="Non-PTY runs merge",
        arguments={"command": "echo $PAGER $GIT_EDITOR $GIT_TERMINAL_PROMPT $TERM", "env": {"PAGER": "mine"}},
        text=layout("mine true 0 dumb"),
    ),
    Row(
        number=157,
        words="[raw output: artifact://<id>]footer",
        arguments={"command": "bash -c 'for i in {1..100}; do echo \"  Compiling a v0.1.0\"; done'"},
        text=layout(
            "  Compiling a v0.1.0\n[hidden: 99 rows of build progress; 2079 bytes]\n[raw output: artifact://1]"
        ),
        details={
            "timeoutSeconds": 300,
            "artifactId": "1",
            "minimized": {"filter": "cargo", "rawBytes": 2100, "shownBytes": 68, "artifactId": "1"},
        },
    ),
]


@pytest.fixture
def cwd(bench: Workbench) -> Path:
    (bench.cwd / "a b" / "inner").mkdir(parents=True)
    (bench.cwd / "inner").mkdir()
    (bench.cwd / "file").write_text("content\n", encoding="utf-8")
    (bench.cwd / "it's").write_text("unset\n", encoding="utf-8")
    return bench.cwd


@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_statement_of_the_workspace_tool(row: Row, bench: Workbench, cwd: Path) -> None:
    def doc(rest: str, *, make_parents: bool) -> str:
        return str(cwd / ("it's" if rest == "apostrophe" else rest))

    reply = await bench.call(row.arguments, row.settings, tools=row.tools, schemes={"doc": doc})
    assert (timeless(reply.text), reply.is_error, details(reply)) == (
        row.text.replace("{cwd}", str(cwd)),
        row.is_error,
        row.details,
    )
    assert not (cwd / "started").exists()


# Statements that take more than one call, or whose side effects are the point.


async def test_async_is_present_only_when_async_is_enabled(bench: Workbench) -> None:
    def fields(settings: Settings) -> list[str]:
        return sorted(bench.tool(settings).schema()["input_schema"]["properties"])

    common = ["command", "cwd", "env", "head", "pty", "raw", "tail", "timeout", "try"]
    assert fields(Settings()) == sorted([*common, "async", "until"])
    # What keeps a command as a job goes with it.
    assert fields(NO_JOBS) == common


async def test_wall_time_is_that_of_the_command_in_milliseconds(bench: Workbench) -> None:
    reply = await bench.call({"command": "sleep 0.3"})
    said = re.search(r"Wall time: (\d+\.\d\d) seconds", reply.text)
    assert said is not None
    assert reply.details["wallTimeMs"] >= 300
    assert float(said[1]) == pytest.approx(reply.details["wallTimeMs"] / 1000, abs=0.006)


async def test_no_terminal_id_where_no_client_terminal_is(bench: Workbench) -> None:
    items = [item async for item in bench.tool().stream({"command": "echo here"})]
    assert "terminalId" not in items[-1].details
    assert [item.text for item in items[:-1]] == ["here\n"]


@pytest.mark.parametrize(("code", "state"), [(0, "completed"), (3, "failed")])
async def test_completion_carries_the_final_text_and_state(bench: Workbench, code: int, state: str) -> None:
    """`details.async.state: "completed" | "failed"`. A non-zero exit is recorded as a failed background job."""
    tool = bench.tool()
    command = f"until [ -e go ]; do sleep 0.01; done; echo done; exit {code}"
    reply = await tool.call({"command": command, "async": True})
    (bench.cwd / "go").touch()
    async with asyncio.timeout(30):
        notice = await anext(aiter(tool.notices()))
    assert notice.job_id == reply.details["async"]["jobId"] == "bg_1"
    assert notice.details["async"] == {"state": state, "jobId": "bg_1", "type": "bash"}
    headline, output = notice.text.split("\n")
    assert headline.startswith(f"Background job bg_1 [bash] {state}, exit code {code}, ")
    assert output == "done"


async def test_progress_of_a_job_is_read_while_it_runs(bench: Workbench) -> None:
    """W39 pushes updates; the job tool reads them here, because a tool's answer has no channel back."""
    await bench.call({"command": "echo so far; sleep 100", "async": True})
    reply = await bench.job({"poll": ["bg_1"], "until": {"regex": "far"}, "wait": 30})
    assert reply.details["jobs"][0]["status"] == "running"
    assert "so far" in reply.text


async def test_a_timeout_is_an_error_result_with_the_output(bench: Workbench) -> None:
    """D6: a timeout is a result marked as an error, not an exception. Below the threshold it makes no job."""
    reply = await bench.call({"command": "echo partial; sleep 100", "timeout": 1}, quick(60.0))
    assert (timeless(reply.text), reply.is_error, details(reply)) == (
        layout("partial", status="[Command timed out after 1 second]"),
        True,
        {"timeoutSeconds": 1, "timedOut": True, "cause": "limit", "clock": "timeout"},
    )
    assert bench.jobs.list().jobs == ()


@pytest.mark.parametrize(
    ("timeout", "threshold", "window"),
    [(300, 60.0, 60.0), (300, 400.0, 299.0), (2.5, 60.0, 1.5), (1, 60.0, None), (1.5, 0.0, None)],
)
async def test_the_window_is_the_threshold_capped_below_the_timeout(
    timeout: float, threshold: float, window: float | None
) -> None:
    """`min(thresholdMs, timeoutMs - 1000)`; where that leaves nothing the command is waited for and killed in time."""
    settings = quick(threshold, background_before_timeout=True)
    expected = None if window is None else WaitPolicy(window)
    assert wait_policy(ShellRequest(command="x", timeout=timeout), settings) == expected


@pytest.mark.parametrize(
    ("timeout", "threshold", "window"),
    [(300, 60.0, 60.0), (60.5, 60.0, 60.0), (60, 60.0, None), (10, 60.0, None), (300, 0.0, None)],
)
async def test_a_timeout_of_at_most_the_threshold_is_waited_for(
    timeout: float, threshold: float, window: float | None
) -> None:
    expected = None if window is None else WaitPolicy(window)
    assert wait_policy(ShellRequest(command="x", timeout=timeout), quick(threshold)) == expected


async def test_before_its_timeout_a_command_becomes_a_job_where_that_is_asked_for(bench: Workbench) -> None:
    settings = quick(60.0, background_before_timeout=True)
    reply = await bench.call({"command": "echo $$; sleep 100", "timeout": 1.2}, settings)
    assert (reply.is_error, reply.details["async"]["state"]) == (False, "running")
    assert (await bench.ended("bg_1")).state == "timed_out"


async def test_updates_are_the_tail_only(bench: Workbench) -> None:
    items = [item async for item in bench.tool().stream({"command": "seq 100000"})]
    texts = [item.text for item in items[:-1]]
    assert texts[-1].endswith("\n99999\n100000\n")
    assert max(map(len, texts)) <= 50 * 1024


async def test_no_subprocess_is_created_for_an_intercepted_command(bench: Workbench) -> None:
    reply = await bench.call({"command": "cat file"}, INTERCEPTING, tools=["read"])
    assert (reply.is_error, children.descendants(os.getpid())) == (True, [])


async def test_parent_directories_of_local_paths_are_made(bench: Workbench) -> None:
    reply = await bench.call({"command": "echo kept > local://plans/today.md; cat local://plans/today.md"})
    assert timeless(reply.text) == layout("kept")
    assert (bench.home / "local" / "default" / "plans" / "today.md").read_text(encoding="utf-8") == "kept\n"


async def test_explicit_and_moved_jobs_are_both_registered(bench: Workbench) -> None:
    await bench.call({"command": "sleep 100", "async": True})
    await bench.call({"command": "sleep 101"}, quick())
    assert [(job.id, job.record["command"], job.state) for job in bench.jobs.list().jobs] == [
        ("bg_1", "sleep 100", "running"),
        ("bg_2", "sleep 101", "running"),
    ]


async def test_start_messages_direct_to_the_job_tool(bench: Workbench) -> None:
    reply = await bench.call({"command": "sleep 100", "async": True})
    arguments = re.search(r"to wait for it: job (\{.*\})", reply.text)
    assert arguments is not None
    polled = await bench.job(json.loads(arguments[1]) | {"wait": 0})
    assert (polled.is_error, polled.details["reason"]) == (False, "wait")


async def test_without_a_warden_there_are_no_jobs(bench: Workbench) -> None:
    """`Async job manager unavailable` is our fallback without a warden (D19)."""
    off = Settings(execution=ExecutionSettings(containment="off"))
    reply = await bench.call({"command": "touch started", "async": True}, off)
    assert (reply.is_error, "background jobs" in reply.text) == (True, True)
    assert not (bench.cwd / "started").exists()
    # What was not asked to be a job is waited for instead.
    waited = await bench.call({"command": "sleep 0.5; echo end"}, Settings(execution=off.execution, jobs=quick().jobs))
    assert waited.text.startswith("end\n")


def test_an_invalid_interceptor_regex_is_skipped_but_said_aloud() -> None:
    found = compile_rules([InterceptRule("(", "read", "no"), InterceptRule("^cat", "read", "yes")])
    assert (len(found.rules), len(found.warnings)) == (1, 1)


def test_a_missing_exit_status_is_said() -> None:
    reply = Workspace().present(
        ShellResult(
            command="x",
            outcome=Lost("its runner was killed"),
            output=Output(text="some\n", total_bytes=5, total_lines=1),
            cwd="/",
            started_at=0.0,
            elapsed=0.5,
            timeout=300.0,
        )
    )
    assert (timeless(reply.text), reply.is_error, details(reply)) == (
        layout("some", status="Command failed: missing exit status (its runner was killed)"),
        True,
        {"timeoutSeconds": 300, "cause": "infra"},
    )


async def test_user_abort_raises_and_ends_the_command(bench: Workbench) -> None:
    call = asyncio.create_task(bench.tool().call({"command": "echo $$ > pid; sleep 100"}))
    file = bench.cwd / "pid"
    pid = await until(lambda: file.exists() and file.read_text(encoding="ascii").strip(), "the command")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await gone(int(pid))


async def test_an_artifact_that_cannot_be_made_is_a_notice_not_an_error(bench: Workbench) -> None:
    """P12: a lost artifact is a notice."""
    bench.home.mkdir(parents=True)
    (bench.home / "artifacts").write_text("in the way", encoding="utf-8")
    reply = await bench.call({"command": "seq 20000"})
    assert not reply.is_error
    assert "the full output could not be kept: " in reply.text
    assert "artifactId" not in reply.details["meta"]["truncation"]


async def test_strict_and_not_exclusive(bench: Workbench) -> None:
    """Unknown fields are refused. Calls without a session run side by side; those of one session do not (D11)."""
    reply = await bench.call({"command": "true", "shell": "zsh"})
    assert reply.text == (
        "unknown field 'shell' (value \"zsh\"); "
        "known fields: command, env, timeout, cwd, pty, async, head, tail, until, raw, try"
    )
    one, two = bench.tool(), bench.tool()
    # Each waits for the file of the other: one after the other they would never end.
    wait = "until [ -e {other} ]; do sleep 0.01; done; echo {own}"
    async with asyncio.timeout(30):
        replies = await asyncio.gather(
            one.call({"command": "touch a; " + wait.format(other="b", own="a")}),
            two.call({"command": "touch b; " + wait.format(other="a", own="b")}),
        )
    assert [timeless(reply.text) for reply in replies] == [layout("a"), layout("b")]
