"""`nacre call`: one tool call as a model would make it; whatever was asked, the answer is on stdout."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from cli.conftest import PATIENCE_SECONDS, Finished, Nacre


def test_basic_prints_the_bare_object(nacre: Nacre) -> None:
    assert nacre("call", "basic", '{"command": "echo hi; exit 3"}') == Finished(
        0, '{"stdout": "hi\\n", "stderr": "", "exitCode": 3}\n', ""
    )


def test_modes_prints_text_is_error_and_details(nacre: Nacre) -> None:
    done = nacre("call", "modes", '{"command": "echo hi; exit 3"}')
    answer = json.loads(done.out)
    assert (done.code, done.err, list(answer)) == (0, "", ["text", "is_error", "details"])
    assert (answer["text"], answer["is_error"]) == ("[command failed: exit code 3]\nhi\n", True)
    assert sorted(answer["details"]) == ["exitCode", "wallTimeMs"]


@pytest.mark.parametrize("arguments", [["-"], []], ids=["dash", "nothing"])
def test_arguments_may_come_on_stdin(nacre: Nacre, arguments: list[str]) -> None:
    done = nacre("call", "basic", *arguments, stdin='{"command": "echo é"}'.encode())
    assert (done.code, json.loads(done.out)) == (0, {"stdout": "é\n", "stderr": "", "exitCode": 0})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{,}", "Expecting property name enclosed in double quotes at line 1, column 2"),
        (b"{'command': 'ls'}", "Expecting property name enclosed in double quotes"),
        (b"\xff\xfe\xfd", "it is not UTF-8"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b"1" * 5000, "a number has too many digits"),
    ],
    ids=["comma", "python", "bytes", "deep", "long"],
)
def test_what_is_not_json_is_an_answer_on_stdout(nacre: Nacre, text: bytes, reason: str) -> None:
    done = nacre("call", "basic", "-", stdin=text)
    assert (done.code, done.err) == (0, "")
    answer = json.loads(done.out)
    assert list(answer) == ["error"]
    assert answer["error"].startswith(f"the arguments are not JSON: {reason}")
    assert answer["error"].endswith("; give one JSON object")


@pytest.mark.parametrize("text", [b"", b" \n"])
def test_no_arguments_at_all_are_said_to_be_missing(nacre: Nacre, text: bytes) -> None:
    done = nacre("call", "basic", stdin=text)
    assert json.loads(done.out) == {"error": "there are no arguments; give one JSON object"}


@pytest.mark.parametrize("contract", ["modes", "workspace", "anthropic", "openai", "job", "read"])
def test_what_is_not_json_is_answered_in_the_shape_of_each_contract(nacre: Nacre, contract: str) -> None:
    done = nacre("call", contract, "{bad")
    answer = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    if contract == "openai":
        assert "the arguments are not JSON" in json.dumps(answer["output"])
    else:
        assert (list(answer), answer["is_error"]) == (["text", "is_error", "details"], True)
        assert "the arguments are not JSON" in answer["text"]


@pytest.mark.parametrize(
    ("contract", "answer"),
    [
        ("basic", {"error": "field 'command' must be a string, got 7"}),
        ("modes", {"text": "field 'command' must be a string, got 7", "is_error": True, "details": {}}),
    ],
)
def test_a_refused_request_is_an_answer_and_exit_code_0(nacre: Nacre, contract: str, answer: dict[str, object]) -> None:
    done = nacre("call", contract, '{"command": 7}')
    assert (done.code, json.loads(done.out), done.err) == (0, answer, "")


def test_arguments_that_are_no_object_are_refused_in_an_answer(nacre: Nacre) -> None:
    done = nacre("call", "basic", '"ls"')
    assert json.loads(done.out) == {"error": 'arguments must be a JSON object, got "ls"'}


def test_lone_surrogates_are_answered_not_raised(nacre: Nacre) -> None:
    done = nacre("call", "basic", r'{"command": "echo \ud800"}')
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {
        "error": "field 'command' holds the lone surrogate '\\ud800' at position 5, which is not text"
    }


def test_an_unknown_contract_names_those_that_exist(nacre: Nacre) -> None:
    done = nacre("call", "simple", "{}")
    assert (done.code, done.out) == (2, "")
    assert "argument contract: invalid choice: 'simple' (choose from 'basic', 'modes'" in done.err


def test_notices_that_the_object_has_no_place_for_go_to_stderr(nacre: Nacre, home: Path) -> None:
    done = nacre("call", "basic", '{"command": "head -c 2000000 /dev/zero; false | true"}')
    full, hidden = done.err.splitlines()
    assert full.startswith(f"nacre: the full stdout is artifact 1: {home}/artifacts/")
    assert hidden == "nacre: a pipe hides a failure: stage 1 exited with 1"
    assert sorted(json.loads(done.out)) == ["exitCode", "stderr", "stdout"]


def test_a_background_job_outlives_the_call_and_holds_none_of_its_descriptors(nacre: Nacre) -> None:
    # The end of this pipe is seen only if nobody else holds it.
    done = nacre("call", "modes", '{"command": "sleep 1000", "mode": "background"}')
    details = json.loads(done.out)["details"]
    try:
        assert (done.code, done.err) == (0, "")
        os.kill(details["pid"], 0)
    finally:
        os.killpg(details["pid"], signal.SIGKILL)
    assert nacre("jobs", "wait", details["jobId"]).code == 128 + signal.SIGKILL


def test_a_wrong_setting_of_the_user_is_an_answer_that_names_it(nacre: Nacre, tmp_path: Path) -> None:
    path = tmp_path / "config" / "nacre" / "nacre.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[execution]\ngrace = 3\n", encoding="utf-8")
    done = nacre("call", "basic", '{"command": "true"}')
    assert (done.code, done.err, json.loads(done.out)) == (
        0,
        "",
        {
            "error": f"{path}:2: unknown setting execution.grace, whose value is 3; "
            "did you mean execution.grace_seconds?"
        },
    )


@pytest.mark.parametrize("contract", ["basic", "modes", "workspace", "anthropic", "openai"])
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[policy]\nguard = 'off'\n", ':2: policy.guard is "off", and loosens a protection'),
        ("[execution]\ngrace = 3\n", ":2: unknown setting execution.grace"),
        ("[execution\n", ":1: not valid TOML: "),
    ],
    ids=["loosening", "unknown", "broken"],
)
def test_a_project_s_settings_never_stop_a_call_and_each_call_says_that_they_are_left_aside(
    nacre: Nacre, tmp_path: Path, contract: str, text: str, problem: str
) -> None:
    (tmp_path / "nacre.toml").write_text(text, encoding="utf-8")
    arguments = {"commands": ["echo hi"]} if contract == "openai" else {"command": "echo hi"}
    done = nacre("call", contract, json.dumps(arguments), cwd=tmp_path)
    answer = json.loads(done.out)
    notice = f"the project's settings are left aside as a whole: {tmp_path}/nacre.toml{problem}"
    assert done.code == 0
    if contract == "basic":
        assert answer == {"stdout": "hi\n", "stderr": "", "exitCode": 0}
        assert done.err.startswith(f"nacre: {notice}")
        logged = json.loads(nacre("log", "--json", cwd=tmp_path).out.splitlines()[-1])
        assert logged["notices"][0].startswith(notice)
    elif contract == "openai":
        assert answer["output"][0]["outcome"] == {"type": "exit", "exit_code": 0}
        assert notice in answer["output"][0]["stderr"] + done.err
    else:
        assert (answer["is_error"], answer["text"].startswith("hi\n")) == (False, True)
        assert notice in answer["text"]


def test_a_guard_that_a_project_switched_off_still_denies(nacre: Nacre, tmp_path: Path) -> None:
    (tmp_path / "nacre.toml").write_text("[policy]\nguard = 'off'\n", encoding="utf-8")
    done = nacre("call", "modes", '{"command": "rm -rf /"}', cwd=tmp_path)
    assert (done.code, json.loads(done.out)["is_error"]) == (0, True)
    assert "permission denied" in json.loads(done.out)["text"]


def test_a_reader_that_went_away_causes_no_traceback(nacre: Nacre) -> None:
    inside = f'{" ".join(nacre.argv)} call basic \'{{"command": "seq 100000"}}\' | true; echo ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", inside], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_a_signal_ends_the_command_and_prints_no_answer(nacre: Nacre, fifo: Path) -> None:
    request = json.dumps({"command": f"setsid -f sleep 1000; echo $$ >{fifo}; sleep 1000"})
    with nacre.start("call", "modes", request, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        pid = fifo.read_text(encoding="utf-8").strip()
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=PATIENCE_SECONDS)
    assert (running.returncode, out, err, Path(f"/proc/{pid}").exists()) == (143, b"", b"", False)
