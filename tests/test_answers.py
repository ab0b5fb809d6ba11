"""Whatever a model sends is answered, not raised, in every contract, and the answer names the field in JSON's words."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

import nacre
from nacre.errors import kind_of, shown

DEEP: list[Any] = []
for _ in range(200):
    DEEP = [DEEP]

VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    float("nan"),
    float("inf"),
    1e308,
    2**64,
    10**5000,
    "",
    " ",
    "a\0b",
    "\ud800",
    "\udc80",
    "x" * 1_000_000,
    "(",
    "..",
    "~nobody/x",
    "artifact://99",
    [],
    ["x"],
    [None],
    DEEP,
    {},
    {"a": {"b": {"c": None}}},
    {1: 2},
    {None: None},
    {"x" * 100_000: "x" * 100_000},
    {f"V{number}": "v" * 100 for number in range(3000)},
    {"A": None},
    {"A": "\ud800"},
    {"A": "a\0b"},
    {"": "x"},
    {"regex": "("},
    {"regex": "\ud800"},
    {"regex": "(" * 5000},
    {"regex": "((a{1000}){1000}){1000}"},
    {"port": 10**5000},
    {"port": True},
    {"file": "\ud800"},
    {"file": "x" * 100_000},
    {"quiet": float("nan")},
    {"quiet": 1, "port": 1},
    b"bytes",
    {1, 2},
    object(),
]

CALLS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "basic": ({"command": "true"}, ["command", "other"]),
    "modes": ({"command": "true"}, ["command", "mode", "other"]),
    "workspace": (
        {"command": "true"},
        ["command", "env", "timeout", "cwd", "pty", "async", "head", "tail", "until", "other"],
    ),
    "anthropic": ({"command": "true"}, ["command", "restart", "other"]),
    "openai": ({"commands": ["true"]}, ["commands", "timeout_ms", "max_output_length", "action", "other"]),
    "job": ({}, ["list", "poll", "cancel", "read", "write", "other"]),
    "read": ({}, ["uri", "id", "other"]),
}
# Fields that go with another one.
MORE: list[tuple[str, dict[str, Any], str]] = [
    *(("job", {"read": "bg_1"}, field) for field in ("offset", "limit", "tail", "grep")),
    *(("job", {"poll": ["bg_1"], "wait": 0}, field) for field in ("until", "wait")),
    ("job", {"write": "bg_1"}, "text"),
    ("job", {"list": True}, "all"),
    *(("read", {"id": "1"}, field) for field in ("offset", "limit", "tail", "grep")),
]
PYTHONS = ("None", "True", "False", "NoneType", "<class", "<object", "Traceback", "Error:")
PYTHON_KINDS = re.compile(r"\b(?:got|type|an?) (?:str|int|dict|float|bool)\b")
MOST_CHARACTERS = 8_000


def is_fine(reply: Any, value: object) -> str | None:
    """What is wrong with an answer; None when nothing is."""
    json.dumps(reply.json()).encode("utf-8")
    try:
        reply.text.encode("utf-8")
    except UnicodeEncodeError:
        return "it cannot be written"
    if reply.refusal is None:
        return None
    if len(reply.text) > MOST_CHARACTERS:
        return f"it has {len(reply.text)} characters"
    words = [word for word in PYTHONS if word in reply.text] + PYTHON_KINDS.findall(reply.text)
    return f"it says {words}: {reply.text}" if words else None


async def trouble(tool: nacre.Tool, arguments: Any, value: object, label: str) -> list[str]:
    try:
        async with asyncio.timeout(30):
            problem = is_fine(await tool.call(arguments), value)
    except Exception as error:  # noqa: BLE001
        problem = f"raised {error!r}"
    return [f"{label} = {shown(value)}: {problem}"] if problem else []


@pytest.mark.parametrize("contract", CALLS)
async def test_no_argument_of_any_kind_makes_a_call_raise(contract: str, tmp_path: Path) -> None:
    base, fields = CALLS[contract]
    found: list[str] = []
    async with nacre.Tool(contract, cwd=tmp_path) as tool:
        await tool.call({"command": "echo one; true", **({"async": True} if contract == "workspace" else {})})
        for value in VALUES:
            found += await trouble(tool, value, value, "arguments")
            for field in fields:
                found += await trouble(tool, {**base, field: value}, value, field)
            for other, given, field in MORE:
                if other == contract:
                    found += await trouble(tool, {**given, field: value}, value, field)
    assert found == []


async def test_no_argument_of_any_kind_makes_a_call_about_a_running_job_raise(tmp_path: Path) -> None:
    found: list[str] = []
    async with nacre.Tool("workspace", cwd=tmp_path) as tool, nacre.Tool("job", cwd=tmp_path) as job:
        started = await tool.call({"command": "seq 1000; sleep 1000", "async": True})
        name = started.details["async"]["jobId"]
        for value in VALUES:
            for field in ("offset", "limit", "tail", "grep"):
                found += await trouble(job, {"read": name, field: value}, value, field)
            found += await trouble(job, {"poll": [name], "wait": 0.01, "until": value}, value, "until")
            found += await trouble(job, {"write": name, "text": value}, value, "text")
        await job.call({"cancel": [name]})
    assert found == []


@pytest.mark.parametrize("contract", ["basic", "modes", "workspace", "anthropic", "openai"])
async def test_a_directory_that_was_deleted_is_named_in_an_answer(contract: str, tmp_path: Path) -> None:
    directory = tmp_path / "gone"
    directory.mkdir()
    command = {"commands": ["echo hi"]} if contract == "openai" else {"command": "echo hi"}
    async with nacre.Tool(contract, cwd=directory) as tool, asyncio.timeout(30):
        directory.rmdir()
        reply = await tool.call(command)
    assert str(directory) in reply.text
    assert reply.is_error


async def test_a_program_whose_own_directory_is_gone_gets_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "gone"
    directory.mkdir()
    monkeypatch.chdir(directory)
    directory.rmdir()
    for cwd in (None, "sub"):
        async with nacre.Tool("workspace", cwd=cwd, session=False) as tool, asyncio.timeout(30):
            text = (await tool.call({"command": "echo hi"})).text
            assert text == f"Working directory does not exist: {directory / (cwd or '')}"
            assert (await tool.call({"command": "echo hi", "cwd": "/"})).text.startswith("hi\n")


WORDS: list[tuple[object, str]] = [
    (None, "null"),
    (True, "true"),
    ("é\n", '"é\\n"'),
    ("\ud800", '"\\ud800"'),
    (1.5, "1.5"),
    (float("nan"), "NaN"),
    (float("-inf"), "-Infinity"),
    (10**5000, "a number of about 5000 digits"),
    ({"a": [None, False]}, '{"a": [null, false]}'),
    ([1, 2, 3, 4, 5], "[1, 2, 3, 4, …]"),
    ([[[[1]]]], "[[[[…]]]]"),
    (b"x", "a Python bytes"),
    ("x" * 100, '"' + "x" * 78 + "…"),
]


def test_a_value_is_shown_in_the_words_of_json() -> None:
    assert [shown(value) for value, _ in WORDS] == [words for _, words in WORDS]


def test_a_kind_is_named_in_the_words_of_json() -> None:
    values = [None, True, "x", 1, 1.5, {}, []]
    kinds = ["null", "true", "a string", "a number", "a number", "an object", "a list"]
    assert [kind_of(value) for value in values] == kinds
