"""Cases 31 to 50: output of every kind, and input that is not there. 33 and 34 are in test_output_floods."""

from __future__ import annotations

import asyncio
import shutil
import signal
from pathlib import Path

import pytest
from outside import Program, alive, end, eventually, with_argument

from nacre import Exited, Signalled, Tool, run
from nacre.contracts.contract import Reply
from nacre.jobs.table import JobTable
from nacre.settings import ExecutionSettings, JobSettings, OutputSettings, Settings, TerminalSettings
from nacre.tool_events import Update

KIB = 1024


def workspace(tmp_path: Path, **options: object) -> Tool:
    return Tool("workspace", cwd=tmp_path, **options)  # type: ignore[arg-type]


def shown(reply: Reply) -> str:
    return reply.text.split("\n\nWall time: ")[0]


# 31: sizes.


@pytest.mark.parametrize(
    ("command", "text", "lines"),
    [
        ("true", "", 0),
        ("printf x", "x", 1),
        ("printf 'a\\nb'", "a\nb", 2),
        ("printf '\\n\\n\\n'", "\n\n\n", 3),
        ("printf '\\n'", "\n", 1),
    ],
)
async def test_case_31_small_outputs_are_whole_and_counted(command: str, text: str, lines: int) -> None:
    output = (await run(command)).output
    assert (output.text, output.total_bytes, output.total_lines, output.truncation, output.artifact) == (
        text,
        len(text),
        lines,
        None,
        None,
    )


@pytest.mark.parametrize("over", [0, 1])
async def test_case_31_output_at_its_limit_is_whole_and_one_byte_more_is_cut(over: int, tmp_path: Path) -> None:
    reply = await workspace(tmp_path).call({"command": f"yes 1234567 | head -c {50 * KIB + over}"})
    assert ("meta" in reply.details) == bool(over)
    assert ("artifactId" in reply.details) == bool(over)


# 32: floods.


async def test_case_32_flood_beyond_the_cap_keeps_both_ends_and_says_what_is_gone(tmp_path: Path) -> None:
    small = Settings(output=OutputSettings(artifact_cap_bytes=256 * KIB, artifact_head_bytes=64 * KIB))
    tool = workspace(tmp_path, settings=small)
    reply = await tool.call({"command": "seq 500000"})
    assert shown(reply).startswith("1\n2\n3\n")
    assert shown(reply).endswith("\n499999\n500000")
    size = sum(len(str(n)) + 1 for n in range(1, 500001))
    assert reply.details["meta"]["truncation"]["totalBytes"] == size
    assert "of its middle were over the cap and are gone]" in reply.text
    kept = Path(tool.engine.artifacts.plain_path(1)).stat().st_size
    assert kept <= 256 * KIB + 4 * KIB


# 34: characters on the cuts.


async def test_case_34_character_split_over_reads_and_cuts_stays_whole(tmp_path: Path) -> None:
    split = r"printf '\xe2\x82'; sleep 0.05; printf '\xac\n'"
    assert shown(await workspace(tmp_path).call({"command": split})) == "€"
    flood = await workspace(tmp_path).call({"command": "yes €uro | head -n 40000"})
    assert "\ufffd" not in flood.text
    assert shown(await workspace(tmp_path).call({"command": r"printf 'a\0b\xffc\n'"})) == "ab\ufffdc"


# 35: terminal control.


async def test_case_35_terminal_control_is_stripped_from_the_view_and_kept_in_the_artifact(tmp_path: Path) -> None:
    raw = rb"\033]0;title\007\033]52;c;ZXZpbA==\007\033[1;31mred\033[0m\n10%%\r55%%\r100%%\ndone\n"
    tool = workspace(tmp_path)
    reply = await tool.call({"command": f"printf '{raw.decode()}'; seq 20000"})
    assert shown(reply).startswith("red\n100%\ndone\n1\n2\n")
    kept = Path(tool.engine.artifacts.plain_path(1)).read_bytes()
    assert kept.startswith(b"\x1b]0;title\x07\x1b]52;c;ZXZpbA==\x07\x1b[1;31mred\x1b[0m\n10%\r55%\r100%\ndone\n1\n")


# 36: order.


async def test_case_36_streams_through_one_pipe_keep_their_order(tmp_path: Path) -> None:
    reply = await workspace(tmp_path).call({"command": "for i in $(seq 300); do echo o$i; echo e$i >&2; done"})
    assert shown(reply) == "\n".join(f"o{n}\ne{n}" for n in range(1, 301))


# 37 to 39: ends of pipes.


async def test_case_37_closed_streams_are_not_taken_for_the_end(tmp_path: Path) -> None:
    result = await run("echo one; exec >&- 2>&-; sleep 0.3; touch after; exit 7", cwd=tmp_path)
    assert (result.outcome, result.text) == (Exited(7), "one\n")
    assert (tmp_path / "after").exists()


async def test_case_38_grandchild_that_holds_the_pipe_does_not_hold_the_call(sleeper: str) -> None:
    async with asyncio.timeout(30):
        # Until it has become sleep, the child of bash is another bash.
        result = await run(f"sleep {sleeper} & until grep -q ^sleep /proc/$!/cmdline; do :; done; echo started")
    assert (result.outcome, result.text) == (Exited(0), "started\n")
    (survivor,) = result.survivors
    assert result.notices == (f"still running: pid {survivor.pid} (sleep {sleeper})",)
    end(*with_argument(sleeper))


async def test_case_39_late_output_is_kept_up_to_the_drain_limit_then_let_go(tmp_path: Path) -> None:
    command = "(i=0; until [ -e stop ]; do echo $((i+=1)); sleep 0.02; done) & true"
    result = await run(command, cwd=tmp_path)
    lines = result.text.split()
    assert lines == [str(n) for n in range(1, len(lines) + 1)]
    # It wrote on for the whole drain, and lives although nobody shows its output any more.
    assert len(lines) > 20
    assert alive(result.survivors[0].pid)
    (tmp_path / "stop").touch()
    await asyncio.to_thread(eventually, lambda: not alive(result.survivors[0].pid), "its end")


# 40: slow consumers.


async def test_case_40_consumer_that_does_not_read_does_not_slow_the_command_down(tmp_path: Path) -> None:
    stream = workspace(tmp_path).stream({"command": "echo first; seq 300000; touch finished"})
    assert isinstance(await anext(stream), Update)
    async with asyncio.timeout(30):
        while not (tmp_path / "finished").exists():
            await asyncio.sleep(0.005)
    rest = [item async for item in stream]
    assert len(rest) == 2, "what was missed is one update, not a queue of them"
    assert isinstance(rest[0], Update)
    assert rest[0].text.endswith("\n299999\n300000\n")


# 41: readers that leave.


async def test_case_41_early_end_of_a_pipe_s_reader_is_no_failure() -> None:
    result = await run("yes | head -n 1")
    assert (result.outcome, result.text, result.stages, result.notices) == (Exited(0), "y\n", (141, 0), ())


# 42 to 44: disks. The store itself is put on full and read-only disks in tests/artifacts.


async def test_case_42_artifact_directory_that_goes_in_mid_run_costs_the_copy_only(home: Path, tmp_path: Path) -> None:
    tool = workspace(tmp_path)
    stream = tool.stream({"command": "seq 200000; until [ -e go ]; do sleep 0.01; done; seq 200001 200010"})
    seen = ""
    while not seen.endswith("\n200000\n"):
        item = await anext(stream)
        assert isinstance(item, Update)
        seen = item.text
    shutil.rmtree(home / "artifacts")
    (tmp_path / "go").touch()
    *_, reply = [item async for item in stream]
    assert isinstance(reply, Reply)
    assert not reply.is_error
    assert shown(reply).endswith("\n200009\n200010")
    assert reply.details["meta"]["truncation"]["totalLines"] == 200010
    assert "the full output could not be kept: the file was deleted while it was written" in reply.text
    assert "artifact://" not in reply.text


async def test_case_42_output_that_could_not_be_kept_is_marked_in_the_file_of_a_job(home: Path, tmp_path: Path) -> None:
    home.mkdir(parents=True)
    (home / "artifacts").touch()
    tool = workspace(tmp_path, settings=Settings(jobs=JobSettings(auto_background_seconds=0.5)))
    reply = await tool.call({"command": "seq 200000; until [ -e go ]; do sleep 0.01; done; echo end"})
    lost = "1.1MB of the output so far could not be kept: "
    assert f"\n{lost}" in reply.text
    (tmp_path / "go").touch()
    await asyncio.to_thread(eventually, lambda: not JobTable(home).get("bg_1").running, "its end")
    written = (home / "jobs" / "bg_1" / "output").read_text(encoding="utf-8")
    assert written.startswith("1\n2\n")
    assert f"\n[… {lost}" in written
    assert written.endswith("\n200000\nend\n")


async def test_case_42_unwritable_place_is_stated_and_the_command_is_not_concerned(home: Path, tmp_path: Path) -> None:
    home.mkdir(parents=True)
    (home / "artifacts").touch()
    reply = await workspace(tmp_path).call({"command": "seq 20000; exit 3"})
    assert reply.details["exitCode"] == 3
    assert "the full output could not be kept: " in reply.text
    assert shown(reply).endswith("\n20000")


async def test_case_43_file_size_limit_of_the_child_is_told_as_its_signal(tmp_path: Path) -> None:
    result = await run("ulimit -f 8; trap - XFSZ; exec head -c 100000 /dev/zero >big", cwd=tmp_path)
    assert result.outcome == Signalled(signal.SIGXFSZ)
    assert result.exit_code == 153


async def test_case_44_link_in_place_of_the_store_is_not_followed(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    home.mkdir(parents=True)
    (home / "artifacts").symlink_to(elsewhere)
    reply = await workspace(tmp_path).call({"command": "seq 20000"})
    assert "the full output could not be kept: " in reply.text
    assert list(elsewhere.iterdir()) == []


async def test_case_44_artifact_is_readable_by_its_owner_only(home: Path, tmp_path: Path) -> None:
    tool = workspace(tmp_path)
    await tool.call({"command": "seq 20000"})
    path = Path(tool.engine.artifacts.plain_path(1))
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


# 45 to 47: prompts.


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("read -p 'Sure? ' answer", 1),
        ("read answer </dev/tty", 1),
        ("cat", 0),
        ("$EDITOR file", 0),
        ("$PAGER </dev/null", 0),
        ("python3 -c 'input()' 2>/dev/null", 1),
    ],
)
async def test_case_45_prompt_ends_at_once(command: str, code: int) -> None:
    async with asyncio.timeout(30):
        assert (await run(command)).outcome == Exited(code)


async def test_case_45_git_does_not_ask_for_a_password(tmp_path: Path) -> None:
    async with asyncio.timeout(30):
        result = await run("git -c credential.helper= ls-remote http://127.0.0.1:9/none.git", cwd=tmp_path)
    assert not result.ok


async def test_case_46_controlling_terminal_is_not_there_to_be_opened() -> None:
    result = await run("exec 3<>/dev/tty")
    assert "No such device or address" in result.text


async def test_case_47_stdin_that_nobody_gave_is_at_its_end() -> None:
    result = await run("wc -c; readlink /proc/self/fd/0")
    assert result.text == "0\n/dev/null\n"


# 48 and 49: input that is given, which only jobs have.


async def unread_job(tmp_path: Path, *, no_pty: bool) -> Tool:
    """A job that reads nothing until a file exists, and the tool that writes to it."""
    tool = workspace(tmp_path, settings=Settings(pty=TerminalSettings(no_pty=no_pty)))
    await tool.call({"command": "until [ -e go ]; do sleep 0.01; done; exit 4", "async": True, "pty": True})
    return Tool("job")


async def let_it_end(home: Path, tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    await asyncio.to_thread(eventually, lambda: not JobTable(home).get("bg_1").running, "its end")
    assert JobTable(home).get("bg_1").record["exitCode"] == 4


async def test_case_48_input_that_a_job_does_not_read_is_an_error_and_its_exit_code_is_right(
    home: Path, tmp_path: Path
) -> None:
    job = await unread_job(tmp_path, no_pty=True)
    answers = [await job.call({"write": "bg_1", "text": "x" * (64 * KIB)}) for _ in range(16)]
    await let_it_end(home, tmp_path)
    assert "bg_1 does not read its stdin" in answers[-1].text
    assert (await job.call({"write": "bg_1", "text": "x"})).text == (
        "bg_1 has ended (exit code 4); nothing reads its stdin any more"
    )


async def test_case_48_lines_that_a_job_does_not_read_from_its_terminal_are_an_error(
    home: Path, tmp_path: Path
) -> None:
    job = await unread_job(tmp_path, no_pty=False)
    lines = ("x" * 1023 + "\n") * 64
    answers = [await job.call({"write": "bg_1", "text": lines}) for _ in range(16)]
    await let_it_end(home, tmp_path)
    assert "bg_1 does not read its terminal" in answers[-1].text
    assert (await job.call({"write": "bg_1", "text": "x"})).text == (
        "bg_1 has ended (exit code 4); nothing reads its terminal any more"
    )


async def test_case_48_a_line_that_a_terminal_cannot_hold_is_refused_before_it_is_typed(
    home: Path, tmp_path: Path
) -> None:
    tool = workspace(tmp_path)
    await tool.call({"command": "read -r line; echo ${#line}", "async": True, "pty": True})
    job = Tool("job")
    refused = await job.call({"write": "bg_1", "text": "x" * 4096 + "\n"})
    begun = await job.call({"write": "bg_1", "text": "x" * 4000})
    grown = await job.call({"write": "bg_1", "text": "x" * 96})
    ended = await job.call({"write": "bg_1", "text": "x" * 95 + "\n"})
    polled = await job.call({"poll": ["bg_1"], "wait": 30})
    assert (refused.is_error, begun.is_error, grown.is_error, ended.is_error) == (True, False, True, False)
    assert "the terminal of bg_1 holds lines of at most 4095 bytes: 0 of 4097 bytes were typed" in refused.text
    assert "\n4095\n" in polled.text


async def test_case_49_unread_input_does_not_hold_the_timeout_up(home: Path, tmp_path: Path) -> None:
    settings = Settings(execution=ExecutionSettings(grace_seconds=0.2))
    tool = workspace(tmp_path, settings=settings)
    await tool.call({"command": "trap '' TERM; sleep 100 & wait", "async": True, "pty": True, "timeout": 1})
    await Tool("job").call({"write": "bg_1", "text": "x" * (64 * KIB)})
    await asyncio.to_thread(eventually, lambda: not JobTable(home).get("bg_1").running, "its end")
    assert JobTable(home).get("bg_1").state == "timed_out"


# 50: the terminal of the program.

ON_A_TERMINAL = """
import os, pty, sys
pid, master = pty.fork()
if not pid:
    import nacre
    result = nacre.run_sync("stty -echo; echo leaked >/dev/tty; tty; echo seen")
    sys.stdout.write(repr(result.text))
    sys.stdout.flush()
    os._exit(0)
seen = b""
while True:
    try:
        data = os.read(master, 65536)
    except OSError:
        break
    if not data:
        break
    seen += data
os.waitpid(pid, 0)
print(seen.decode())
"""


def test_case_50_terminal_of_the_program_is_out_of_reach() -> None:
    seen = Program(ON_A_TERMINAL).succeed()
    assert "not a tty" in seen
    assert "seen" in seen
    assert "leaked" not in seen
