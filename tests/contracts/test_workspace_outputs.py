"""What the workspace tool shows of an output, what it keeps of it, and what it tells while the command runs."""

from __future__ import annotations

import asyncio
import itertools
import re
import shlex
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from workbench import Workbench, details, full, layout, plain, quick, timeless, until

from nacre.contracts.contract import Reply
from nacre.settings import Settings
from nacre.tool import Tool
from nacre.tool_events import Update


def shown(reply: Reply) -> str:
    return reply.text.split("\n\nWall time: ")[0]


def artifact(tool: Tool, reply: Reply) -> str:
    path = Path(tool.engine.artifacts.plain_path(int(reply.details["artifactId"])))
    return path.read_text(encoding="utf-8", errors="surrogateescape")


# D4: the last stage that only selects.


async def test_tail_shows_its_lines_and_all_of_the_producer_is_kept(bench: Workbench) -> None:
    tool = bench.tool()
    reply = await tool.call({"command": "seq 1 100000 | tail -n 3"})
    assert timeless(reply.text) == layout("99998\n99999\n100000", bracket=f"[{full(1)}]")
    assert artifact(tool, reply) == "".join(f"{n}\n" for n in range(1, 100001))


async def test_head_closes_the_pipe_so_an_endless_producer_ends_at_once(bench: Workbench) -> None:
    reply = await bench.call({"command": "yes | head -n 3"})
    assert (timeless(reply.text), reply.is_error, details(reply)) == (layout("y\ny\ny"), False, {"timeoutSeconds": 300})


@pytest.mark.parametrize("stage", ["tail -n 5", "head -n 5", "tail -c 100"])
async def test_a_failing_producer_is_reported_although_the_last_stage_succeeds(stage: str, bench: Workbench) -> None:
    (bench.cwd / "Makefile").write_text("all:\n\t@echo compiling; exit 3\n", encoding="utf-8")
    reply = await bench.call({"command": f"make 2>&1 | {stage}"})
    assert (timeless(reply.text), reply.is_error) == (
        layout(
            "compiling\nmake: *** [Makefile:2: all] Error 3",
            f"the exit code is of the command before `| {stage}`",
            status="Command exited with code 2",
        ),
        True,
    )


async def test_a_failure_in_the_middle_of_the_producer_is_pointed_out(bench: Workbench) -> None:
    reply = await bench.call({"command": "(exit 4) | cat | tail -n 5"})
    assert timeless(reply.text) == layout("(no output)", "a pipe hides a failure: stage 1 exited with 4")


async def test_a_last_stage_that_fails_itself_is_not_covered_by_its_producer(bench: Workbench) -> None:
    (bench.cwd / "tail").write_text("#!/bin/sh\nexit 9\n", encoding="utf-8")
    (bench.cwd / "tail").chmod(0o755)
    reply = await bench.call({"command": "echo x | tail -n 1", "env": {"PATH": f"{bench.cwd}:/usr/bin:/bin"}})
    assert timeless(reply.text) == layout("(no output)", status="Command exited with code 9")
    assert reply.details["exitCode"] == 9


async def test_much_stderr_does_not_hide_that_the_stage_left_something_out(bench: Workbench) -> None:
    tool = bench.tool()
    reply = await tool.call({"command": "{ yes err | head -n 500 >&2; seq 100; } | tail -n 1"})
    assert shown(reply).endswith("err\n100")
    assert artifact(tool, reply) == "".join(f"{n}\n" for n in range(1, 101))


async def test_a_selection_that_is_cut_itself_names_both_artifacts(bench: Workbench) -> None:
    tool = bench.tool()
    reply = await tool.call({"command": "seq 60000 | tail -n 30000"})
    assert reply.details["meta"]["truncation"]["totalLines"] == 30000
    assert artifact(tool, reply) == "".join(f"{n}\n" for n in range(30001, 60001))
    found = re.search(r"all that `\| tail -n 30000` selected from is artifact://(\d+)", reply.text)
    assert found is not None
    whole = Path(tool.engine.artifacts.plain_path(int(found[1])))
    assert whole.read_text(encoding="utf-8") == "".join(f"{n}\n" for n in range(1, 60001))


async def test_secrets_are_out_of_the_copy_that_a_lifted_stage_keeps(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "tok-5566778899-xyz")
    tool = bench.tool()
    reply = await tool.call({"command": "{ echo tok-5566778899-xyz; seq 5; } | tail -n 1"})
    assert shown(reply) == "5"
    assert "tok-5566778899-xyz" not in artifact(tool, reply)


@pytest.mark.parametrize(
    "command",
    [
        "seq 5 | \\\n tail -n 2",
        "seq 5 | # note\n tail -n 2",
        "seq 5 | tail -n 2 && true",
        "seq 5 | tail -n +4",
        "seq 5 | tail -n $((1+1))",
        "! seq 5 | tail -n 2",
        "(seq 5 | tail -n 2)",
        "seq 5 > f; tail -n 2 f",
        "seq 5 | tail -n 2 | cat",
        "echo 'a | tail -n 1' >/dev/null; seq 4 5",
    ],
)
async def test_what_is_not_plainly_such_a_stage_runs_as_it_was_written(command: str, bench: Workbench) -> None:
    reply = await bench.call({"command": command})
    assert shown(reply) == "4\n5"
    assert "artifactId" not in reply.details


PIECES = st.lists(
    st.tuples(
        st.sampled_from(["out", "err"]),
        st.sampled_from(["a\n", "b b\n", "ü\n", "€", "\n", "last", "x\ny\n", "tab\there\n", "long " * 20 + "\n"]),
    ),
    max_size=7,
)
FLAGS = st.one_of(
    st.integers(0, 6).map(lambda n: f"-n {n}"),
    st.integers(0, 6).map(lambda n: f"-{n}" if n else "-n0"),
    st.integers(0, 12).map(lambda n: f"-c {n}"),
    st.integers(0, 6).map(lambda n: f"--lines={n}"),
    st.just(""),
)


def script(pieces: Sequence[tuple[str, str]]) -> str:
    """A producer that writes these in turn."""
    writes = [f"printf %s {shlex.quote(text)}{' >&2' if where == 'err' else ''}" for where, text in pieces]
    return "; ".join(writes) or ":"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pieces=PIECES,
    stage=st.sampled_from(["head", "tail"]),
    flags=FLAGS,
    joint=st.sampled_from(["|", "|&", "2>&1 |"]),
    code=st.sampled_from([0, 0, 3]),
)
@example(pieces=[("err", "a\n"), ("out", "b\n")], stage="tail", flags="--lines=0", joint="|", code=3)
@example(pieces=[("out", "€")], stage="tail", flags="-c 1", joint="|", code=0)
@example(pieces=[("err", "a\n"), ("out", "b b\n"), ("out", "last")], stage="tail", flags="-n 1", joint="|", code=3)
def test_lifted_and_plain_runs_show_the_same(
    pieces: list[tuple[str, str]], stage: str, flags: str, joint: str, code: int, tmp_path: Path
) -> None:
    if joint == "|" and (stage == "head" or flags.endswith("0")):
        # The real head writes while its producer still does, and a tail of nothing ends before it: only what is
        # written before they read has a fixed place, and is written at all.
        pieces = sorted(pieces, key=lambda piece: piece[0])
    arguments = {"command": f"{{ {script(pieces)}; exit {code}; }} {joint} {stage} {flags}".rstrip()}

    async def both() -> tuple[Reply, Reply, str | None]:
        lifting = Tool("workspace", cwd=tmp_path, settings=Settings())
        lifted = await lifting.call(arguments)
        kept = artifact(lifting, lifted) if "artifactId" in lifted.details else None
        return lifted, await Tool("workspace", cwd=tmp_path, settings=plain(lift_head_tail=False)).call(arguments), kept

    lifted, real, kept = asyncio.run(both())
    assert shown(lifted) == shown(real)
    if stage == "tail":
        everything = "".join(text for where, text in pieces if where == "out" or joint != "|")
        assert lifted.details.get("exitCode", 0) == code
        assert kept in (None, everything)
        if kept is None:
            assert everything.rstrip("\n") in f"{shown(lifted)}\n" or shown(lifted) == "(no output)"
    else:
        assert lifted.details.get("exitCode", 0) in (0, code)


# Live updates.


async def test_updates_are_the_whole_tail_and_come_at_most_every_50_ms(bench: Workbench) -> None:
    times: list[float] = []
    texts: list[str] = []
    async for item in bench.tool().stream({"command": "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.02; done"}):
        times.append(time.monotonic())
        if isinstance(item, Update):
            texts.append(item.text)
    everything = "".join(f"{n}\n" for n in range(1, 10))
    assert texts[-1] == everything
    assert all(everything.startswith(text) for text in texts)
    # Without the last two, the newest output and the reply, which do not wait once the command has ended.
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)][:-2]
    assert min(gaps, default=1.0) > 0.045


async def test_updates_are_readable_text(bench: Workbench) -> None:
    async def last(command: str) -> str:
        items = [item async for item in bench.tool().stream({"command": command})]
        assert isinstance(items[-2], Update)
        return items[-2].text

    assert await last(r"printf '\033[1mbold\033[0m\n10%%\r20%%\r30%%\n\377'") == "bold\n30%\n\ufffd"
    # The tail of this one begins in the middle of a character: that is left out.
    assert set((await last("yes ü€ | head -n 20000")).split("\n")[1:-1]) == {"ü€"}
    assert not (await last("yes €€€€€€ | tr -d '\\n' | head -c 90000")).startswith("\ufffd")


async def test_a_reader_that_does_not_come_back_neither_blocks_the_command_nor_grows(bench: Workbench) -> None:
    stream = bench.tool().stream({"command": "echo first; yes | head -c 64000000; echo end; touch finished"})
    first = await anext(stream)
    assert isinstance(first, Update)
    tracemalloc.start()
    try:
        # The reader does something else until the command is through.
        await until((bench.cwd / "finished").exists, "the command's end")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    rest: list[Any] = [item async for item in stream]
    assert [type(item) for item in rest] == [Update, Reply]
    assert rest[0].text.endswith("y\ny\nend\n")
    assert len(rest[0].text) <= 50 * 1024
    # A quarter of what was written; the lines of the view are made meanwhile, too.
    assert peak < 16_000_000


async def test_the_last_update_of_a_lifted_command_is_its_selection(bench: Workbench) -> None:
    *updates, _ = [item.text async for item in bench.tool().stream({"command": "seq 1000 | tail -n 1"})]
    assert updates == ["1000\n"]


async def test_a_stream_of_a_command_that_becomes_a_job_ends_with_its_start(bench: Workbench) -> None:
    items = [item async for item in bench.tool(quick()).stream({"command": "echo one; sleep 100"})]
    assert items[0] == Update("one\n")
    assert items[-1].details["async"]["jobId"] == "bg_1"


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"command": "seq 100 | head -n 10", "tail": 2}, "9\n10"),
        ({"command": "seq 100 | tail -n 10", "head": 2}, "91\n92"),
        ({"command": "seq 100 | tail -n 10", "tail": 12}, "\n".join(map(str, range(89, 101)))),
        ({"command": "seq 100 | head -n 2", "head": 4}, "1\n2\n3\n4"),
        ({"command": "seq 100 | head -c 9", "head": 1}, "1"),
        ({"command": "seq 100 | head -n 2", "head": 4, "tail": 1}, "4"),
        ({"command": "yes | head -n 3", "tail": 1}, "y"),
        ({"command": "yes | head -n 3", "head": 1}, "y"),
        ({"command": " \t seq 100 | tail -n 3", "head": 1}, "98"),
    ],
)
async def test_explicit_numbers_replace_the_same_stage_and_select_from_the_other(
    bench: Workbench, arguments: dict[str, Any], shown: str
) -> None:
    reply = await bench.call(arguments)
    assert not reply.is_error
    assert reply.text.partition("\n\nWall time")[0] == shown


@pytest.mark.parametrize("extra", [{"async": True}, {"until": {"regex": "^100$"}}, {}])
async def test_a_job_says_that_explicit_numbers_do_not_hold_for_it(bench: Workbench, extra: dict[str, Any]) -> None:
    reply = await bench.call({"command": "seq 100; sleep 100", "head": 3, "tail": 2, **extra}, quick(1.0))
    assert reply.details["async"]["jobId"] == "bg_1"
    told = "`head: 3` and `tail: 2` do not hold for a job: it keeps all output; the job tool's read selects from it"
    assert told in reply.text.splitlines()


async def test_explicit_numbers_hold_for_a_command_that_ends_before_it_becomes_a_job(bench: Workbench) -> None:
    reply = await bench.call({"command": "seq 100", "tail": 1, "until": {"port": 1}})
    assert reply.text.startswith("100\n\nWall time")
    assert "do not hold" not in reply.text


async def test_an_error_that_another_text_was_written_over_is_shown(bench: Workbench) -> None:
    reply = await bench.call({"command": r"printf 'ERROR: disk failed\rok\n'"})
    assert timeless(reply.text) == layout("ERROR: disk failed\nok")


async def test_states_of_a_progress_bar_that_are_not_shown_are_counted_and_kept(bench: Workbench) -> None:
    reply = await bench.call({"command": r"for i in 1 50 99; do printf '%d%%\r' $i; done; echo"})
    assert timeless(reply.text) == layout("99%", bracket=f"[2 earlier states of redrawn lines left out. {full(1)}]")
    assert reply.details["meta"] == {"redraws": 2}
    kept = await Tool("read").call({"id": 1, "grep": "50%"})
    assert kept.text.startswith("1:50%\n")
