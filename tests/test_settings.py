"""A project's settings that are wrong are left aside, and the first result of each session says so, once."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest

import nacre
from nacre.errors import ConfigError, DeniedError

ASIDE = "the project's settings are left aside as a whole: "


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    (path / "nacre.toml").write_text("[policy]\nguard = 'off'\n", encoding="utf-8")
    monkeypatch.chdir(path)
    return path


async def test_the_first_result_of_each_tool_s_session_says_it_and_the_second_does_not() -> None:
    for _ in range(2):
        async with nacre.Tool("workspace") as tool:
            replies = [await tool.call({"command": "echo hi"}) for _ in range(2)]
        assert [ASIDE in reply.text for reply in replies] == [True, False]


async def test_two_tools_of_one_session_say_it_once() -> None:
    async with nacre.Tool("workspace", session="shared") as one, nacre.Tool("workspace", session="shared") as other:
        replies = [await tool.call({"command": "echo hi"}) for tool in (one, other)]
    assert [ASIDE in reply.text for reply in replies] == [True, False]


async def test_a_refused_call_does_not_use_the_notice_up() -> None:
    async with nacre.Tool("workspace") as tool:
        refused = await tool.call({"command": "rm -rf /"})
        reply = await tool.call({"command": "echo hi"})
    assert refused.is_error
    assert ASIDE in reply.text


async def test_a_job_says_it_too() -> None:
    async with nacre.Tool("workspace") as tool:
        reply = await tool.call({"command": "true", "async": True})
        async with nacre.Tool("job") as jobs:
            await jobs.call({"poll": ["bg_1"], "wait": 30})
    assert ASIDE in reply.text


async def test_the_results_of_the_library_say_it_once() -> None:
    results = [await nacre.run("echo hi") for _ in range(2)]
    async with nacre.Session() as session:
        results += [await session.run("echo hi") for _ in range(2)]
    told = [any(notice.startswith(ASIDE) for notice in result.notices) for result in results]
    assert told == [True, False, True, False]


async def test_what_the_project_would_loosen_stays_in_force() -> None:
    with pytest.raises(DeniedError):
        await nacre.run("rm -rf /")


async def test_settings_of_a_program_are_its_own_and_say_nothing() -> None:
    result = await nacre.run("echo hi", settings=nacre.Settings())
    assert result.notices == ()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "rules.toml is a FIFO; put a regular file there, or take it away"),
        (b"[[rule]]\npattern = 1\n", "rules.toml: rule 1 needs pattern, tool and message, and may have flags"),
        (b"\xff", "rules.toml:1: it is not UTF-8 text (byte 0xff); save it as UTF-8"),
        (b"a = " + b"[" * 60_000, "rules.toml: not valid TOML: "),
    ],
    ids=["fifo", "wrong", "bytes", "deep"],
)
async def test_an_interceptor_file_that_cannot_be_used_stops_no_call_and_is_said(
    project: Path, content: bytes | None, problem: str
) -> None:
    text = "[policy]\ninterceptor = true\ninterceptor_file = 'rules.toml'\n"
    (project / "nacre.toml").write_text(text, encoding="utf-8")
    if content is None:
        os.mkfifo(project / "rules.toml")
    else:
        (project / "rules.toml").write_bytes(content)
    async with nacre.Tool("workspace", tools=["read"]) as tool:
        reply = await tool.call({"command": "echo hi"})
    assert (reply.is_error, reply.text.startswith("hi\n")) == (False, True)
    assert f"no interceptor rules (setting policy.interceptor_file): {problem}" in reply.text


async def test_an_interceptor_pattern_beyond_reason_is_left_out_and_said(project: Path) -> None:
    text = "[policy]\ninterceptor = true\ninterceptor_file = 'rules.toml'\n"
    (project / "nacre.toml").write_text(text, encoding="utf-8")
    rule = f"[[rule]]\npattern = '{'(' * 20_000}'\ntool = 'read'\nmessage = 'no'\n"
    (project / "rules.toml").write_text(rule, encoding="utf-8")
    async with nacre.Tool("workspace", tools=["read"]) as tool:
        reply = await tool.call({"command": "echo hi"})
    assert (reply.is_error, reply.text.startswith("hi\n")) == (False, True)
    assert "interceptor rule for 'read' is left out: its pattern '((((" in reply.text
    assert "…' is longer than 1000 characters" in reply.text


async def test_an_interceptor_pattern_of_a_project_cannot_stall_a_call(project: Path) -> None:
    text = "[policy]\ninterceptor = true\ninterceptor_file = 'rules.toml'\n"
    (project / "nacre.toml").write_text(text, encoding="utf-8")
    # The first takes for ever where a search goes back, the second needs it, the third has states without end.
    patterns = ["(a+)+$", "(?=a)a", "(a|b)*a(a|b){60}c"]
    rules = [f"[[rule]]\npattern = '{pattern}'\ntool = 'read'\nmessage = 'no'\n" for pattern in patterns]
    (project / "rules.toml").write_text("".join(rules), encoding="utf-8")
    letters = "".join(random.Random(1).choices("ab", k=50_000))
    async with nacre.Tool("workspace", tools=["read"]) as tool, asyncio.timeout(30):
        reply = await tool.call({"command": f"echo hi # {letters} {'a' * 60}!"})
    assert (reply.is_error, reply.text.startswith("hi\n")) == (False, True)
    assert "its pattern '(?=a)a' uses (?=a…: lookaround, conditions and atomic groups are not supported" in reply.text
    assert "the rules of policy.interceptor_file take too much work on this command and were left aside" in reply.text


async def test_an_interceptor_file_of_more_rules_than_are_read_is_said(project: Path) -> None:
    text = "[policy]\ninterceptor = true\ninterceptor_file = 'rules.toml'\n"
    (project / "nacre.toml").write_text(text, encoding="utf-8")
    (project / "rules.toml").write_text("[[rule]]\npattern='x'\ntool='y'\nmessage='z'\n" * 101, encoding="utf-8")
    async with nacre.Tool("workspace", tools=["read"]) as tool:
        reply = await tool.call({"command": "echo hi"})
    assert "rules.toml: it has 101 rules; at most 100 are read" in reply.text


@pytest.mark.parametrize("kind", ["fifo", "directory", "missing", "deep"])
async def test_a_rule_file_that_cannot_be_read_denies_and_never_hangs(
    project: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = project / "rules.toml"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "deep":
        path.write_text("a = " + "[" * 100_000, encoding="utf-8")
    monkeypatch.setenv("NACRE_RULES_FILE", str(path))
    problem = {
        "fifo": f"{path} is a FIFO; put a regular file there, or take it away",
        "directory": f"{path} is a directory; put a regular file there, or take it away",
        "missing": f"{path} cannot be read: no such file or directory; correct its name or its rights",
        "deep": f"{path}:1: its values are nested too deep",
    }[kind]
    with pytest.raises(ConfigError) as refused:
        await nacre.run("echo hi")
    assert str(refused.value) == f"the rule file (setting policy.rules_file): {problem}"
