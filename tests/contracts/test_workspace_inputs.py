"""What the workspace tool makes of its fields: refused before anything starts, or meant as the caller wrote it."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from workbench import Workbench, details, full, layout, timeless

KNOWN = "known fields: command, env, timeout, cwd, pty, async, head, tail, until, raw"
EVENTS = "regex, port, file, quiet"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"command": ""}, "empty command: field 'command' is blank, give a shell command"),
        ({"command": 5}, "field 'command' must be a string, got 5"),
        (
            {"command": "a\0b"},
            "field 'command' holds a NUL character at position 1; no program can be given one",
        ),
        ({"timout": 5}, "unknown field 'timout' (value 5); did you mean 'timeout'?"),
        ({"timeout": "5"}, "field 'timeout' must be a number of seconds, got \"5\""),
        ({"timeout": True}, "field 'timeout' must be a number of seconds, got true"),
        ({"timeout": float("nan")}, "field 'timeout' must be a number of seconds, got NaN"),
        ({"timeout": float("inf")}, "field 'timeout' must be a number of seconds, got Infinity"),
        (
            {"timeout": 10**400},
            "field 'timeout' must be a number of seconds, got a number of about 400 digits",
        ),
        ({"cwd": 3}, "field 'cwd' must be a string without NUL, got 3"),
        ({"cwd": "a\0b"}, "field 'cwd' must be a string without NUL, got \"a\\u0000b\""),
        ({"pty": "yes"}, "field 'pty' must be true or false, got \"yes\""),
        ({"async": 1}, "field 'async' must be true or false, got 1"),
        ({"head": -1}, "field 'head' must be a whole number of at least 0, got -1"),
        ({"tail": 2.5}, "field 'tail' must be a whole number of at least 0, got 2.5"),
        ({"tail": True}, "field 'tail' must be a whole number of at least 0, got true"),
        ({"env": "A=1"}, "field 'env' must map names to texts, got a string"),
        ({"env": {"A": 1}}, "field 'env': the value of variable 'A' must be a string, got a number"),
        ({"env": {"A": "a\0b"}}, "field 'env': environment variable 'A': its value contains a NUL character"),
        (
            {"env": {"A": "a\ud800"}},
            "field 'env': the value of variable 'A' holds a lone surrogate at position 1, which is not text",
        ),
        ({"until": {}}, f"field 'until' takes exactly one of {EVENTS}, got none"),
        ({"until": {"port": 1, "quiet": 1}}, f"field 'until' takes exactly one of {EVENTS}, got port and quiet"),
        ({"until": {"log": "x"}}, f"field 'until.log' is unknown; known are {EVENTS}"),
        ({"until": "ready"}, f"field 'until' must be an object with one of {EVENTS}, got \"ready\""),
        ({"until": {"port": 0}}, "field 'until.port' must be a port number from 1 to 65535, got 0"),
        ({"until": {"quiet": 0}}, "field 'until.quiet' must be a number of seconds above 0, got 0"),
        (
            {"async": True, "until": {"quiet": 1}},
            "fields 'async' and 'until' cannot be combined: async does not wait; leave out async",
        ),
    ],
    ids=repr,
)
async def test_a_wrong_field_is_refused_by_name_before_anything_starts(
    fields: dict[str, Any], message: str, bench: Workbench
) -> None:
    reply = await bench.call({"command": "touch started"} | fields)
    assert reply.json() == {"text": message, "is_error": True, "details": {}}
    assert not (bench.cwd / "started").exists()


async def test_fields_that_are_null_or_empty_are_as_if_they_were_absent(bench: Workbench) -> None:
    nothing = {"env": None, "timeout": None, "cwd": None, "pty": None, "async": None, "until": None}
    reply = await bench.call({"command": "seq 3", "head": 0, "tail": None, **nothing})
    assert timeless(reply.text) == layout("1\n2\n3")
    reply = await bench.call({"command": "pwd", "env": {}, "cwd": "", "tail": 5.0})
    assert timeless(reply.text) == layout(str(bench.cwd))


@pytest.mark.parametrize("command", ["cd ~ && pwd", "cd ~/ && pwd", "cd ~/projects/.. && pwd"])
async def test_a_lifted_tilde_is_the_home_directory(
    command: str, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = bench.cwd / "somebody"
    (home / "projects").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    assert timeless((await bench.call({"command": command})).text) == layout(str(home))


async def test_a_directory_given_by_a_tilde_is_the_home_directory(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(bench.cwd))
    (bench.cwd / "x").mkdir()
    assert timeless((await bench.call({"command": "pwd", "cwd": "~/x"})).text) == layout(f"{bench.cwd}/x")


@pytest.mark.parametrize(
    "command",
    [
        "cd ..; pwd",
        "cd .. || true; pwd",
        " cd .. && pwd",
        "cd '..' 2>/dev/null && pwd",
        'cd "$UP" && pwd',
        "cd $(echo ..) && pwd",
        "cd -P .. && pwd",
        "cd ..\npwd",
    ],
)
async def test_what_is_not_plainly_a_leading_cd_is_left_to_bash(command: str, bench: Workbench) -> None:
    """D3: and reads the same as in a shell."""
    reply = await bench.call({"command": command, "env": {"UP": ".."}})
    assert timeless(reply.text) == layout(str(bench.cwd.parent))


@pytest.mark.parametrize(
    "command", ["cd .. && pwd", "cd ../work/.. && pwd", "cd link/.. && pwd", "cd link && cd .. && pwd"]
)
async def test_a_lifted_cd_reads_dots_as_the_shell_does(command: str, bench: Workbench) -> None:
    (bench.cwd / "link").symlink_to("/usr")
    reply = await bench.call({"command": command})
    expected = bench.cwd if "link" in command else bench.cwd.parent
    assert timeless(reply.text) == layout(str(expected))


async def test_a_cd_before_nothing_is_the_shell_s_syntax_error(bench: Workbench) -> None:
    reply = await bench.call({"command": "cd .. &&"})
    assert (reply.details["exitCode"], "syntax error" in reply.text) == (2, True)


async def test_the_guard_judges_the_command_as_it_was_written(bench: Workbench) -> None:
    """D18: lifting the directory away hides nothing from it. (Harmless if it ran: there is no repository.)"""
    reply = await bench.call({"command": "cd .. && git push --force origin main"})
    assert reply.is_error
    assert "timeoutSeconds" not in reply.details


async def test_an_artifact_can_be_named_in_a_command_and_in_a_variable(bench: Workbench) -> None:
    await bench.call({"command": "seq 20000"})
    in_command = await bench.call({"command": "wc -l < artifact://1; grep -c 7 'artifact://1'"})
    assert timeless(in_command.text) == layout("20000\n6878")
    in_value = await bench.call({"command": 'wc -l < "$FULL"', "env": {"FULL": "artifact://1"}})
    assert timeless(in_value.text) == layout("20000")
    as_cwd = await bench.call({"command": "true", "cwd": "artifact://1"})
    assert as_cwd.text.startswith("Working directory is not a directory: ")


async def test_an_artifact_named_in_a_lifted_pipeline_is_read(bench: Workbench) -> None:
    await bench.call({"command": "seq 20000"})
    reply = await bench.call({"command": "cat artifact://1 | tail -n 1"})
    assert timeless(reply.text) == layout("20000", bracket=f"[{full(2)}]")


async def test_a_url_inside_quoted_text_stays_as_it_is(bench: Workbench) -> None:
    reply = await bench.call({"command": "echo 'see artifact://77 for more'; echo \"artifact://78\""})
    assert timeless(reply.text) == layout("see artifact://77 for more\nartifact://78")


async def test_a_program_can_register_schemes_of_its_own(bench: Workbench) -> None:
    (bench.cwd / "a b").write_text("found\n", encoding="utf-8")
    tool = bench.tool()
    tool.urls.register("memo", lambda rest, *, make_parents: str(bench.cwd / rest.replace("_", " ")))
    assert timeless((await tool.call({"command": "cat memo://a_b"})).text) == layout("found")


async def test_a_variable_of_the_call_wins_but_not_over_nacre_s_own(bench: Workbench) -> None:
    reply = await bench.call({"command": "echo $PATH $EDITOR", "env": {"PATH": "/bin", "EDITOR": "ed"}})
    assert timeless(reply.text) == layout("/bin ed")
    reserved = await bench.call({"command": "true", "env": {"NACRE_INTERNAL_X": "1"}})
    assert (reserved.is_error, "reserved" in reserved.text) == (True, True)


async def test_secrets_of_the_program_are_not_in_the_command_s_environment(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "tok-81726354-abcdef")
    reply = await bench.call({"command": "echo ${SERVICE_TOKEN-absent}; echo tok-81726354-abcdef | tail -n 1"})
    assert reply.text.startswith("absent\n")
    assert "tok-81726354-abcdef" not in reply.text


async def test_the_directory_is_that_of_the_tool_however_the_process_moves(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = bench.tool()
    monkeypatch.chdir(os.sep)
    assert timeless((await tool.call({"command": "pwd"})).text) == layout(str(bench.cwd))


def test_the_description_tells_what_a_model_must_know(bench: Workbench) -> None:
    text = bench.tool().schema()["description"]
    for fact in ("60 s", "kills", "is kept", "until", "`job` tool", "Do not poll", "head or tail", str(bench.cwd)):
        assert fact in text
    assert len(text) < 2500


async def test_details_are_plain_values_that_json_can_carry(bench: Workbench) -> None:
    reply = await bench.call({"command": "sleep 100 & seq 20000"})
    assert json.loads(json.dumps(reply.json())) == reply.json()
    assert sorted(details(reply)) == ["artifactId", "async", "meta", "timeoutSeconds"]
