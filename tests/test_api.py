"""nacre as a library: `run`, `run_sync`, `Tool`, and the result that they give."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import os
import signal
import threading
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nacre
from nacre import (
    CommandFailedError,
    ConfigError,
    DeniedError,
    Exited,
    InvalidRequestError,
    NacreError,
    Output,
    Reply,
    Settings,
    ShellResult,
    Signalled,
    Survivor,
    TimedOut,
    Tool,
    Update,
    WorkingDirectoryError,
)
from nacre.engine.live import LiveTail
from nacre.settings import ExecutionSettings

PATIENCE_SECONDS = 30.0


# run.


async def test_run_gives_the_whole_result(tmp_path: Path) -> None:
    result = await nacre.run("echo out; echo err >&2; false | exit 3", cwd=tmp_path)
    assert result.started_at > 0
    assert result.elapsed > 0
    assert replace(result, started_at=0.0, elapsed=0.0) == ShellResult(
        command="echo out; echo err >&2; false | exit 3",
        outcome=Exited(3),
        output=Output(text="out\nerr\n", total_bytes=8, total_lines=2),
        cwd=str(tmp_path),
        started_at=0.0,
        elapsed=0.0,
        stages=(1, 3),
        timeout=300.0,
    )


@pytest.mark.parametrize(
    ("command", "ok", "exit_code", "outcome"),
    [
        ("true", True, 0, Exited(0)),
        ("exit 7", False, 7, Exited(7)),
        ("kill -TERM $$", False, 143, Signalled(signal.SIGTERM)),
        ("sleep 1000", False, None, TimedOut(2, "SIGTERM")),
        ("trap '' TERM; while :; do sleep 1000; done", False, None, TimedOut(2, "SIGKILL")),
    ],
)
async def test_every_ending_is_a_value(
    monkeypatch: pytest.MonkeyPatch, command: str, ok: bool, exit_code: int | None, outcome: object
) -> None:
    monkeypatch.setenv("NACRE_GRACE_SECONDS", "0.3")
    result = await nacre.run(command, timeout=2)
    assert (result.ok, result.exit_code, result.outcome) == (ok, exit_code, outcome)


async def test_check_gives_a_success_back_and_raises_anything_else_with_the_result() -> None:
    good = await nacre.run("echo hi")
    assert good.check() is good
    bad = await nacre.run("exit 3")
    with pytest.raises(CommandFailedError, match=r"'exit 3' ended with Exited\(code=3\)") as caught:
        bad.check()
    assert caught.value.result is bad


async def test_the_repr_of_a_result_is_short() -> None:
    result = replace(await nacre.run("seq 1000"), elapsed=0.25)
    assert repr(result) == "<ShellResult Exited(code=0) 3893 bytes in 0.250s>"


async def test_a_large_output_names_its_artifact_and_counts_what_is_not_shown(home: Path) -> None:
    result = await nacre.run("seq -f %07.0f 100000")
    artifact, truncation = result.artifact, result.output.truncation
    assert artifact is not None
    assert truncation is not None
    assert (result.output.total_bytes, result.output.total_lines) == (800_000, 100_000)
    assert (truncation.kept, truncation.omitted_bytes, truncation.omitted_lines) == ("both", 748_800, 93_600)
    assert Path(artifact.path).is_relative_to(home)
    assert Path(artifact.path).read_text(encoding="utf-8") == "".join(f"{n:07}\n" for n in range(1, 100_001))
    assert artifact.bytes == 800_000


async def test_no_character_of_a_large_output_is_cut_in_two() -> None:
    result = await nacre.run("printf x; printf '😀%.0s' $(seq 20000)")
    head, _, tail = result.text.partition("\n[… ")
    assert set(head[1:]) == set(tail.partition("\n")[2]) == {"😀"}


async def test_survivors_are_named() -> None:
    result = await nacre.run("sleep 1000 & until grep -q ^sleep /proc/$!/cmdline; do :; done; echo $!")
    pid = int(result.text)
    try:
        assert result.survivors == (Survivor(pid, ("sleep", "1000")),)
        assert result.notices == (f"still running: pid {pid} (sleep 1000)",)
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_variables_of_the_call_are_added_and_secrets_of_the_program_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_SECRET_KEY", "0123456789abcdef")
    result = await nacre.run("echo $ADDED [$MY_SECRET_KEY]", env={"ADDED": "yes"})
    assert result.text == "yes []\n"


async def test_prompts_pagers_and_editors_are_disabled() -> None:
    result = await nacre.run('git --version >/dev/null; echo "$GIT_TERMINAL_PROMPT" "$PAGER"; read x || echo eof')
    assert result.text == "0 cat\neof\n"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"command": ""}, InvalidRequestError, "empty command"),
        ({"command": 5}, InvalidRequestError, "command must be a string, got 5"),
        ({"command": "true", "timeout": 0}, InvalidRequestError, "timeout must be a number of seconds above 0, got 0"),
        ({"command": "true", "timeout": True}, InvalidRequestError, "timeout must be a number"),
        ({"command": "true", "timeout": "5"}, InvalidRequestError, "timeout must be a number"),
        ({"command": "true", "timeout": float("inf")}, InvalidRequestError, "timeout must be finite"),
        ({"command": "true", "cwd": "/nonexistent"}, WorkingDirectoryError, "'/nonexistent' does not exist"),
        ({"command": "true", "env": {"a b": "c"}}, InvalidRequestError, "environment variable 'a b'"),
        (
            {"command": "git push --force"},
            DeniedError,
            r"^denied by nacre's guard \(rule no_force_push\): git push --force is not allowed",
        ),
    ],
)
async def test_what_cannot_be_started_raises_before_anything_is(
    options: dict[str, Any], error: type[NacreError], message: str
) -> None:
    with pytest.raises(error, match=message):
        await nacre.run(**options)


async def test_a_cancelled_run_has_ended_everything_when_it_raises(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    running = asyncio.create_task(nacre.run(f"setsid -f sleep 1000; echo $$ >{fifo}; sleep 1000"))
    pid = (await asyncio.to_thread(fifo.read_text, encoding="utf-8")).strip()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not Path(f"/proc/{pid}").exists()


async def test_many_runs_at_once_do_not_mix(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    started = tmp_path / "started"
    started.mkdir()
    script = "touch {started}/{n}; read line <{fifo}; echo {n} {n}"
    # Held open to the end: a command that opens the fifo after the others have read theirs still finds its line.
    writer = os.open(fifo, os.O_RDWR)
    try:
        runs = [
            asyncio.create_task(nacre.run(script.format(started=started, fifo=fifo, n=number))) for number in range(20)
        ]
        async with asyncio.timeout(PATIENCE_SECONDS):
            # None ends before all have started.
            while len(list(started.iterdir())) < 20:
                await asyncio.sleep(0.005)
            os.write(writer, b"go\n" * 20)
            results = await asyncio.gather(*runs)
    finally:
        os.close(writer)
    assert [result.text for result in results] == [f"{number} {number}\n" for number in range(20)]


async def test_a_host_that_never_lets_its_loop_rest_starves_no_start(tmp_path: Path) -> None:
    runs = [asyncio.create_task(nacre.run(f"touch {tmp_path}/up-{number}")) for number in range(20)]
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not all(run.done() for run in runs):
            await asyncio.sleep(0)
    assert len(list(tmp_path.glob("up-*"))) == 20


async def test_settings_given_by_the_program_are_used() -> None:
    settings = Settings(execution=ExecutionSettings(timeout_seconds=0.3))
    assert (await nacre.run("sleep 1000", settings=settings)).outcome == TimedOut(0.3, "SIGTERM")


async def test_without_containment_every_result_says_what_is_not_promised() -> None:
    result = await nacre.run("echo hi", settings=Settings(execution=ExecutionSettings(containment="off")))
    assert (result.text, result.notices) == (
        "hi\n",
        ("containment is off (switched off by setting): a daemon started by the command may outlive a timeout",),
    )


# run_sync.


def test_run_sync_needs_no_event_loop() -> None:
    assert nacre.run_sync("echo hi; exit 3").exit_code == 3


async def test_run_sync_works_inside_a_running_event_loop() -> None:
    assert nacre.run_sync("echo hi").text == "hi\n"


async def test_run_sync_inside_a_running_event_loop_raises_what_run_raises() -> None:
    with pytest.raises(WorkingDirectoryError):
        nacre.run_sync("true", cwd="/nonexistent")


async def test_an_interrupt_of_run_sync_inside_a_running_event_loop_ends_the_command(
    request: pytest.FixtureRequest,
) -> None:
    class Interrupt(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    request.addfinalizer(lambda: signal.signal(signal.SIGUSR1, before))
    with pytest.raises(Interrupt):
        nacre.run_sync(f"setsid sleep 600 & kill -USR1 {os.getpid()}; sleep 600")


def test_run_sync_works_from_several_threads_at_once() -> None:
    results: dict[int, str] = {}

    def work(number: int) -> None:
        results[number] = nacre.run_sync(f"echo {number}").text

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: f"{number}\n" for number in range(8)}


def test_one_program_may_use_several_event_loops_one_after_another() -> None:
    assert [asyncio.run(nacre.run(f"echo {number}")).text for number in range(3)] == ["0\n", "1\n", "2\n"]


# Tool.


def test_an_unknown_contract_names_those_that_exist() -> None:
    with pytest.raises(InvalidRequestError, match=r"there is no contract 'basik'; there are basic, modes"):
        Tool("basik")


async def test_call_answers_and_its_json_is_what_the_wire_gets() -> None:
    async with Tool("modes") as tool:
        reply = await tool.call({"command": "echo hi"})
    wall_time = reply.details["wallTimeMs"]
    assert reply == Reply(text="hi\n", is_error=False, details={"exitCode": 0, "wallTimeMs": wall_time})
    assert reply.json() == {
        "text": "hi\n",
        "is_error": False,
        "details": {"exitCode": 0, "wallTimeMs": wall_time},
    }


async def test_a_tool_may_be_used_without_a_with_block_and_after_it() -> None:
    tool = Tool("basic")
    first = await tool.call({"command": "echo 1"})
    await tool.aclose()
    second = await tool.call({"command": "echo 2"})
    assert [first.json()["stdout"], second.json()["stdout"]] == ["1\n", "2\n"]


async def test_the_tool_s_directory_is_resolved_when_it_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)
    tool = Tool("basic", cwd="below")
    monkeypatch.chdir("/")
    assert (await tool.call({"command": "pwd -P"})).json()["stdout"] == f"{(tmp_path / 'below').resolve()}\n"


async def test_whatever_the_model_sent_is_answered_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_MAX_JOBS", "many")
    async with Tool("basic") as tool:
        replies = [await tool.call(arguments) for arguments in (None, [], "ls", {"command": None}, {"command": "ls"})]
    assert [list(reply.json()) for reply in replies] == [["error"]] * 5


async def test_a_wrong_setting_raises_from_run_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_MAX_JOBS", "many")
    with pytest.raises(ConfigError, match='NACRE_MAX_JOBS is "many"'):
        await nacre.run("true")


# stream.


async def collect(tool: Tool, arguments: object) -> list[Update | Reply]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return [item async for item in tool.stream(arguments)]


async def test_stream_yields_updates_then_the_reply(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    items: list[Update | Reply] = []
    async with Tool("basic") as tool, asyncio.timeout(PATIENCE_SECONDS):
        async for item in tool.stream({"command": f"echo one; read line <{fifo}; echo $line"}):
            items.append(item)
            if item == Update("one\n"):
                # The command is known to be running: it waits for this line.
                await asyncio.to_thread(fifo.write_text, "two\n", encoding="utf-8")
    assert items[:2] == [Update("one\n"), Update("one\ntwo\n")]
    assert [item.json() for item in items[2:] if isinstance(item, Reply)] == [
        {"stdout": "one\ntwo\n", "stderr": "", "exitCode": 0}
    ]
    assert len(items) == 3


async def test_a_command_without_output_streams_its_reply_alone() -> None:
    async with Tool("basic") as tool:
        (reply,) = await collect(tool, {"command": "exit 3"})
    assert isinstance(reply, Reply)
    assert reply.json() == {"stdout": "", "stderr": "", "exitCode": 3}


async def test_a_refusal_streams_as_a_reply() -> None:
    async with Tool("basic") as tool:
        assert [item.json() for item in await collect(tool, {"command": ""}) if isinstance(item, Reply)] == [
            {"error": "empty command: field 'command' is blank, give a shell command"}
        ]


@pytest.mark.parametrize("command", ["echo last", "seq 200000 | tail -n 1; echo last", "sleep 0.2; echo last"])
async def test_the_last_output_is_never_dropped_from_the_updates(command: str) -> None:
    async with Tool("basic") as tool:
        *updates, reply = await collect(tool, {"command": command})
    assert isinstance(reply, Reply)
    last = updates[-1]
    assert isinstance(last, Update)
    assert last.text.endswith("last\n")


async def test_a_flood_is_coalesced_into_a_bounded_tail() -> None:
    async with Tool("modes") as tool:
        *updates, reply = await collect(tool, {"command": "seq 500000"})
    assert isinstance(reply, Reply)
    texts = [update.text for update in updates if isinstance(update, Update)]
    assert max(len(text.encode()) for text in texts) <= 50 * 1024
    assert texts[-1].endswith("\n499999\n500000\n")
    # Half a million lines came in some hundred reads; a reader that is told twenty times a second sees few updates.
    assert len(texts) < 100


async def test_a_slow_reader_misses_nothing_of_the_newest_output() -> None:
    live = LiveTail()
    for piece in (b"one\n", b"two\n", b"three\n"):
        live.feed(bytearray(piece), len(piece))
    live.end()
    assert [await live.next(), await live.next(), await live.next()] == ["one\ntwo\nthree\n", None, None]


async def test_leaving_the_loop_early_stops_the_command() -> None:
    stream = Tool("basic").stream({"command": "echo $$; setsid -f sleep 1000; sleep 1000"})
    async with asyncio.timeout(PATIENCE_SECONDS), aclosing(stream):
        async for item in stream:
            assert isinstance(item, Update)
            pid = item.text.strip()
            break
    assert not Path(f"/proc/{pid}").exists()


def test_leaving_the_loop_without_closing_it_stops_the_command_too() -> None:
    async def main() -> str:
        async for item in Tool("basic").stream({"command": "echo $$; sleep 1000"}):
            return item.text.strip()
        raise AssertionError("nothing was streamed")

    assert not Path(f"/proc/{asyncio.run(main())}").exists()


async def test_a_cancelled_stream_stops_the_command(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    async def consume() -> None:
        async for _ in Tool("basic").stream({"command": f"echo $$ >{fifo}; sleep 1000"}):
            raise AssertionError("it writes nothing")

    consuming = asyncio.create_task(consume())
    pid = (await asyncio.to_thread(fifo.read_text, encoding="utf-8")).strip()
    consuming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await consuming
    assert not Path(f"/proc/{pid}").exists()


# Documentation strings.


@pytest.mark.parametrize("module", ["nacre.tool", "nacre.api"])
def test_the_examples_in_docstrings_are_true(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert failed == 0
    assert tried > 0


async def test_a_program_that_dies_of_a_signal_is_told_so_however_often_it_runs(tmp_path: Path) -> None:
    """P6: the same death has the same status on the first call and on later ones."""
    (tmp_path / "die.sh").write_text("kill -SEGV $$\n", encoding="utf-8")
    outcomes = [(await nacre.run("sh die.sh", cwd=tmp_path)).outcome for _ in range(4)]
    assert outcomes == [nacre.Signalled(11)] * 4
