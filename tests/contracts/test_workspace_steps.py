"""The workspace tool, refined: the steps of a call from its text to its result. A row numbered 24 shows X24.

The statements are in docs/statements.md. Its surfaces (renderer, `!`, RPC) are in test_workspace_surfaces.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from workbench import INTERCEPTING, Workbench, details, full, layout, plain, timeless

from nacre.planning.terminal_variables import WITHOUT_UI
from nacre.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Step:
    number: int
    words: str
    arguments: Mapping[str, Any]
    text: str
    is_error: bool = False
    details: Mapping[str, Any] = field(default_factory=lambda: {"timeoutSeconds": 300})
    settings: Settings | None = None
    tools: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"X{self.number}-{self.words}"


KEPT = {"timeoutSeconds": 300, "artifactId": "1"}


def selected(command: str, shown: str, **more: Any) -> Step:
    """A last stage that selects lines: what it shows is shown, the rest is in the artifact."""
    return Step(
        number=24,
        words="extracts trailing `| head -n N`, `| head -N`, `| tail -n N`, `| tail -N`",
        arguments={"command": command},
        text=layout(shown, bracket=f"[{full(1)}]"),
        details=KEPT,
        **more,
    )


def cut(
    kept: str, by: str, shown: tuple[int, int], *, lines: int, size: int, output: int, **more: Any
) -> dict[str, Any]:
    first, last = shown
    return {
        "direction": kept,
        "truncatedBy": by,
        "totalLines": lines,
        "totalBytes": size,
        "outputLines": last - first + 1,
        "outputBytes": output,
        "maxBytes": 51200,
        "elidedLines": lines - (last - first + 1),
        "elidedBytes": size - output,
        "shownRange": [first, last],
        "artifactId": "1",
        **more,
    }


STEPS = [
    # 1) Input normalization and parameter merge.
    selected("seq 5 | tail -n 2", "4\n5"),
    selected("seq 5 | tail -2", "4\n5"),
    selected("seq 5 | tail -n2", "4\n5"),
    # D4 recognises what the real tail knows, not only the four forms of X24.
    selected("seq 5 |& tail --lines=2", "4\n5"),
    selected("seq 5 \\\n  | tail -n 2 ;  # the last", "4\n5"),
    *(
        Step(
            number=24,
            words="`| head -n N`, `| head -N`",
            arguments={"command": f"yes | head {flag}"},
            # `head` closes the pipe, so there is no more to keep; its producer's SIGPIPE is no failure.
            text=layout("y\ny"),
        )
        for flag in ("-n 2", "-2", "-n2", "--lines=2")
    ),
    Step(
        number=25,
        words="trims trailing/leading whitespace",
        arguments={"command": " \n\techo hi\n \n"},
        text=layout("hi"),
    ),
    Step(
        number=26,
        words="keeps internal whitespace intact",
        arguments={"command": "echo 'a   b'\n\necho   c"},
        text=layout("a   b\nc"),
    ),
    Step(
        number=30,
        words="explicit `head`/`tail` args override extracted values",
        arguments={"command": "seq 9 | tail -n 5", "tail": 1},
        text=layout("9", bracket=f"[Showing lines 9-9 of 9; 8 lines, 16B left out. {full(1, 1, 8)}]"),
        details=KEPT | {"meta": {"truncation": cut("tail", "lines", (9, 9), lines=9, size=18, output=2)}},
    ),
    Step(
        number=31,
        words="extracted values are fallback only",
        arguments={"command": "seq 9 | tail -n 5", "head": 2},
        text=layout(
            "5\n6",
            "all that `| tail -n 5` selected from is artifact://2",
            bracket=f"[Showing lines 1-2 of 5; 3 lines, 6B left out. {full(1, 3, 5)}]",
        ),
        details=KEPT | {"meta": {"truncation": cut("head", "lines", (1, 2), lines=5, size=10, output=4, nextOffset=3)}},
    ),
    Step(
        number=35,
        words="comments mention stripping `2>&1`, but current implementation does not remove it",
        arguments={"command": "{ echo out; echo err >&2; } 2>&1 | tail -n 1"},
        text=layout("err", bracket=f"[{full(1)}]"),
        details=KEPT,
    ),
    # 2) Optional interception.
    Step(
        number=39,
        words="runs `checkBashInterception()` against the normalized command",
        arguments={"command": "grep x file | tail -n 3"},
        settings=INTERCEPTING,
        tools=("grep",),
        text="Blocked: Use the `grep` tool instead of grep/rg. It respects .gitignore and gives structured output.\n\n"
        "grep x file | tail -n 3",
        is_error=True,
        # D8 adds this field.
        details={"suggestedTool": "grep", "cause": "guard"},
    ),
    Step(
        number=45,
        words="the suggested tool is present in `ctx.toolNames`",
        arguments={"command": "cat file"},
        settings=INTERCEPTING,
        text=layout("content"),
    ),
    # 3) CWD validation and timeout clamping.
    Step(
        number=67,
        words="missing path",
        arguments={"command": "true", "cwd": "../missing"},
        text="Working directory does not exist: {parent}/missing",
        is_error=True,
        details={},
    ),
    Step(
        number=68,
        words="non-directory",
        arguments={"command": "true", "cwd": "{cwd}/file"},
        text="Working directory is not a directory: {cwd}/file",
        is_error=True,
        details={},
    ),
    # 5) PTY vs non-PTY execution selection.
    Step(
        number=89,
        words="print mode and non-UI RPC/tool contexts always use non-PTY",
        arguments={"command": "test -t 1; echo $?", "pty": True},
        text=layout("1", WITHOUT_UI),
    ),
    # Environment hardening.
    *(
        Step(number=number, words=words, arguments={"command": f"echo ${name}"}, text=layout(value))
        for number, words, name, value in (
            (148, "pagers disabled (`PAGER=cat`, `GIT_PAGER=cat`, etc.)", "PAGER", "cat"),
            (148, "pagers disabled (`PAGER=cat`, `GIT_PAGER=cat`, etc.)", "GIT_PAGER", "cat"),
            (149, "editor prompts disabled (`GIT_EDITOR=true`, `EDITOR=true`, ...)", "GIT_EDITOR", "true"),
            (149, "editor prompts disabled (`GIT_EDITOR=true`, `EDITOR=true`, ...)", "EDITOR", "true"),
            (150, "terminal/auth prompts reduced (`GIT_TERMINAL_PROMPT=0`", "GIT_TERMINAL_PROMPT", "0"),
            # A bare name, and a boolean that strict readers of CI accept.
            (150, "`SSH_ASKPASS=/usr/bin/false`", "SSH_ASKPASS", "false"),
            (150, "`CI=1`", "CI", "true"),
            (151, "package-manager/tool automation flags for non-interactive behavior", "PIP_NO_INPUT", "1"),
        )
    ),
    # Output.
    Step(
        number=153,
        words="(`CRLF`/`CR` to `LF`, `sanitizeText`)",
        arguments={"command": r"printf 'a\r\nb\r\n10%%\r50%%\r100%%\n\033[31mred\033[0m\n'"},
        # D5: a progress bar is its last state, not a line for each.
        text=layout("a\nb\n100%\nred", bracket=f"[2 earlier states of redrawn lines left out. {full(1)}]"),
        details=KEPT | {"meta": {"redraws": 2}},
    ),
    Step(
        number=179,
        words="It does not enforce a hard 2000-line cap",
        arguments={"command": "yes '' | head -n 5000"},
        text=layout("(no output)"),
    ),
    # Result shaping.
    Step(
        number=195,
        words="head then tail",
        arguments={"command": "seq 100", "head": 10, "tail": 3},
        text=layout("8\n9\n10", bracket=f"[Showing lines 8-10 of 100; 97 lines, 285B left out. {full(1)}]"),
        details=KEPT
        | {"meta": {"truncation": cut("head", "lines", (8, 10), lines=100, size=292, output=7, nextOffset=11)}},
    ),
    Step(
        number=196,
        words="empty output becomes `(no output)`",
        arguments={"command": "true", "tail": 3},
        text=layout("(no output)"),
    ),
    Step(
        number=200,
        words="non-zero exit -> `ToolError(",
        # D6: a result, not an exception.
        arguments={"command": "echo bad; exit 9"},
        text=layout("bad", status="Command exited with code 9"),
        is_error=True,
        details={"timeoutSeconds": 300, "exitCode": 9},
    ),
    Step(number=201, words="zero exit -> success result", arguments={"command": "exit 0"}, text=layout("(no output)")),
    Step(
        number=211,
        words="`Full: artifact://<id>`",
        arguments={"command": "seq 1 100000 | tail -n 3"},
        text=layout("99998\n99999\n100000", bracket=f"[{full(1)}]"),
        details=KEPT,
    ),
]


@pytest.mark.parametrize("step", STEPS, ids=str)
async def test_step_of_the_workspace_tool(step: Step, bench: Workbench) -> None:
    (bench.cwd / "file").write_text("content\n", encoding="utf-8")
    places = {"{cwd}": str(bench.cwd), "{parent}": str(bench.cwd.parent)}

    def placed(text: Any) -> Any:
        for name, path in places.items():
            text = text.replace(name, path) if isinstance(text, str) else text
        return text

    arguments = {name: placed(value) for name, value in step.arguments.items()}
    reply = await bench.call(arguments, step.settings, tools=step.tools)
    assert (timeless(reply.text), reply.is_error, details(reply)) == (placed(step.text), step.is_error, step.details)


# Steps whose effect is beside the text.


async def test_no_artifact_is_left_of_what_was_shown_whole(bench: Workbench) -> None:
    """An artifact is made when there is something to keep, not before each run."""
    await bench.call({"command": "seq 1000"})
    assert not (bench.home / "artifacts").exists()


async def test_reuse_of_shells_is_not_seen(bench: Workbench) -> None:
    """Without a session (D11) nothing of one call is left for the next."""
    await bench.call({"command": "cd /; LEFT=behind; left() { :; }; export LEFT; set -e; alias l=ls"})
    reply = await bench.call({"command": "pwd; echo ${LEFT-}; type left l 2>/dev/null; false; echo on"})
    assert timeless(reply.text) == layout(f"{bench.cwd}\n\non")


async def test_chunks_are_streamed(bench: Workbench) -> None:
    texts = []
    async with asyncio.timeout(30):
        async for item in bench.tool().stream({"command": "echo 1; until [ -e go ]; do sleep 0.01; done; echo 2"}):
            texts.append(item.text)
            (bench.cwd / "go").touch()
    assert texts[:2] == ["1\n", "1\n2\n"]


async def test_the_tail_buffer_is_cut_at_a_character(bench: Workbench) -> None:
    """`keeps an in-memory UTF-8-safe tail buffer`."""
    reply = await bench.call({"command": "yes äöü€ | head -n 30000"}, plain(keep="tail"))
    shown = reply.text.split("\n\nWall time")[0]
    assert set(shown.split("\n")) == {"äöü€"}


async def test_the_artifact_is_the_full_stream(bench: Workbench) -> None:
    reply = await bench.call({"command": "seq 50000; echo end >&2"})
    path = bench.tool().engine.artifacts.plain_path(int(reply.details["artifactId"]))
    with open(path, encoding="ascii") as file:
        assert file.read() == "".join(f"{n}\n" for n in range(1, 50001)) + "end\n"


async def test_truncation_of_the_middle_tells_both_ranges(bench: Workbench) -> None:
    reply = await bench.call({"command": "seq 20000"})
    truncation = dict(reply.details["meta"]["truncation"])
    first, last = truncation.pop("headRange"), truncation.pop("tailRange")
    assert first[0] == 1
    assert last[1] == 20000
    lines = [str(n) for n in range(1, 20001)]
    shown = first[1] + last[1] - last[0] + 1
    size = sum(len(line) + 1 for line in lines[: first[1]] + lines[last[0] - 1 :])
    assert truncation == {
        "direction": "middle",
        "truncatedBy": "middle",
        "totalLines": 20000,
        "totalBytes": 108894,
        "outputLines": shown,
        "outputBytes": size,
        "maxBytes": 51200,
        "elidedLines": 20000 - shown,
        "elidedBytes": 108894 - size,
        "artifactId": "1",
    }
    left_out = f"{20000 - shown} lines, {(108894 - size) / 1024:.1f}KB"
    assert timeless(reply.text) == layout(
        "\n".join([*lines[: first[1]], f"[… {left_out} omitted …]", *lines[last[0] - 1 :]]),
        bracket=f"[Showing lines 1-{first[1]} and {last[0]}-20000 of 20000 (50.0KB limit); {left_out} left out. "
        f"{full(1, 4318, 14880)}]",
    )


async def test_without_an_artifact_there_is_truncation_but_no_reference(bench: Workbench) -> None:
    bench.home.mkdir(parents=True)
    (bench.home / "artifacts").write_text("in the way", encoding="utf-8")
    reply = await bench.call({"command": "seq 1 20000 | tail -n 2; "})
    assert reply.text.startswith("19999\n20000\n\nWall time")
    assert "the full output could not be kept" in reply.text
    assert "artifact://" not in reply.text
