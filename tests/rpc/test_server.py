"""`nacre rpc` as its clients see it: a process, lines in, lines out."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from faults.outside import Meeting, Program, alive, eventually, full_pipe
from nacre.jobs.table import JobTable
from nacre.json_lines import running_calls
from nacre.rpc import server
from rpc.conftest import Client, Message, Start


def timeless(answer: Message) -> Message:
    """Without what differs from run to run."""
    text = json.dumps(answer)
    text = re.sub(r"Wall time: \d+\.\d\d seconds", "Wall time: T seconds", text)
    return dict(json.loads(re.sub(r'"wallTimeMs": \d+', '"wallTimeMs": "T"', text)))


def bash(id: object, command: str, **fields: Any) -> Message:
    return {"id": id, "type": "bash", "command": command, **fields}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


def pids_in(path: Path, count: int = 1) -> list[int]:
    """The pids that a command has written to a file, once all are there."""

    def written() -> list[int]:
        words = path.read_text(encoding="utf-8").split() if path.exists() else []
        return [int(word) for word in words] if len(words) >= count else []

    return eventually(written, f"{count} pids in {path.name}")


# Answers.


def test_bash_answers_like_the_tool(client: Client) -> None:
    assert timeless(client.call(bash("a", "echo out; echo err >&2; exit 3"))) == {
        "id": "a",
        "type": "response",
        "command": "bash",
        "success": True,
        "data": {
            "text": "out\nerr\n\nWall time: T seconds\n\nCommand exited with code 3",
            "is_error": True,
            "details": {"timeoutSeconds": 300, "wallTimeMs": "T", "exitCode": 3},
        },
    }


def test_live_output_comes_as_updates_before_the_answer(client: Client, work: Path) -> None:
    client.send(bash(1, "echo first; until [ -e go ]; do sleep 0.01; done; echo second"))
    assert client.event(lambda event: True) == {"id": 1, "type": "update", "text": "first\n"}
    (work / "go").touch()
    assert client.answer(1)["data"]["text"].startswith("first\nsecond\n")
    client.end_input()
    assert client.rest() == []
    assert {event["id"] for event in client.events} == {1}


def test_the_companions_read_what_was_kept(client: Client) -> None:
    shown = client.call(bash(1, "seq 1 100000"))["data"]
    artifact = shown["details"]["artifactId"]
    read = client.call({"id": 2, "type": "read", "uri": f"artifact://{artifact}", "tail": 2})
    assert (read["command"], read["success"]) == ("read", True)
    assert read["data"]["text"].startswith("99999\n100000\n")
    assert client.call({"id": 3, "type": "job", "list": True})["data"]["text"] == "No jobs."


def test_check_judges_as_a_call_would_and_runs_nothing(client: Client, work: Path) -> None:
    answer = client.call({"id": 1, "type": "check", "command": "touch made; rm -rf /"})
    assert (answer["success"], answer["data"]["decision"], answer["data"]["rule"]) == (True, "deny", "no_dangerous_rm")
    assert client.call({"id": 2, "type": "check", "command": "touch made"})["data"] == {
        "decision": "allow",
        "rule": None,
        "message": "",
        "span": None,
    }
    assert list(work.iterdir()) == []


# Sessions.


def test_calls_of_one_session_share_one_shell_in_turn(client: Client) -> None:
    client.send(bash(1, "cd /tmp; x=1; sleep 0.2"), bash(2, 'echo "$PWD $x"; x=2'), bash(3, "echo $x", by="person"))
    client.send(bash(4, "echo [$x]", session="other"), bash(5, "echo [$x]", session=False))
    texts = [client.answer(number)["data"]["text"].split("\n")[0] for number in range(1, 6)]
    assert texts == ["(no output)", "/tmp 1", "2", "[]", "[]"]


def test_each_server_is_a_session_of_its_own_unless_the_client_names_one(start: Start, jobs: JobTable) -> None:
    one, other = start(), start()
    for client in (one, other):
        for session in ({}, {"session": "default"}):
            for by in ({}, {"by": "person"}):
                client.call(bash(1, "sleep 1000", **{"async": True}, **session, **by))
    of_one, of_other = [[jobs.get(f"bg_{first + n}").record["session"] for n in range(4)] for first in (1, 5)]
    assert of_one[0] == of_one[1] != of_other[0] == of_other[1]
    assert of_one[2:] == of_other[2:] == ["named default"] * 2


@pytest.mark.parametrize("shared", [True, False], ids=["sessions of their own", "no session"])
def test_many_calls_run_side_by_side(client: Client, tmp_path: Path, shared: bool) -> None:
    # None ends before all have come: one after another, they would wait for ever.
    count = 24
    with Meeting(tmp_path) as meeting:
        client.send(
            *(
                bash(number, f"{meeting.command}; echo {number}", session=f"s{number}" if shared else False)
                for number in range(count)
            )
        )
        eventually(lambda: meeting.has(count), "all are there")
        meeting.let_go(count)
        texts = [client.answer(number)["data"]["text"].split("\n")[0] for number in range(count)]
    assert texts == [str(number) for number in range(count)]


def test_an_aborted_turn_leaves_the_next_its_state(client: Client, work: Path) -> None:
    client.call(bash(1, "x=kept"))
    client.send(bash(2, "touch begun; sleep 1000"), bash(3, "echo $x"))
    eventually((work / "begun").exists, "the second command")
    client.send({"id": 4, "type": "abort_bash", "target": 2})
    assert client.answer(2)["data"]["details"] == {"aborted": True}
    assert client.answer(3)["data"]["text"].startswith("kept\n")


# A person's command.


def test_a_person_s_command_is_guarded_but_not_intercepted(start: Start, work: Path) -> None:
    (work / "file").write_text("content\n", encoding="utf-8")
    client = start("--tools", "read,grep", env={"NACRE_INTERCEPTOR": "true"})
    refused = client.call(bash(1, "cat file"))["data"]
    assert (refused["is_error"], refused["details"]) == (True, {"suggestedTool": "read", "cause": "guard"})
    assert client.call(bash(2, "cat file", by="person"))["data"]["text"].startswith("content\n")
    denied = client.call(bash(3, "git push --force", by="person"))
    assert (denied["success"], denied["data"]["is_error"]) == (True, True)
    assert denied["data"]["text"].startswith("denied by nacre's guard (rule no_force_push): ")
    wrong = client.call(bash(4, "true", by=["person"]))
    assert (wrong["success"], wrong["error"]) == (False, "field 'by' must be 'model' or 'person', got [\"person\"]")


# Aborting.


def test_abort_overtakes_a_running_command_and_leaves_nothing_of_it(client: Client, work: Path) -> None:
    client.send(bash(1, "echo begun; setsid -f sleep 1000; sleep 1000 & echo $$ $! >pids; wait"))
    pids = pids_in(work / "pids", 2)
    client.event(lambda event: event["text"] == "begun\n")
    assert client.call({"id": 2, "type": "abort_bash"}) == {
        "id": 2,
        "type": "response",
        "command": "abort_bash",
        "success": True,
        "data": {"aborted": [1]},
    }
    assert client.answer(1) == {
        "id": 1,
        "type": "response",
        "command": "bash",
        "success": True,
        "data": {"text": "begun\n\n[Command aborted]", "is_error": True, "details": {"aborted": True}},
    }
    assert [pid for pid in pids if alive(pid)] == []
    assert client.call(bash(3, "echo still here"))["data"]["text"].startswith("still here\n")


def test_an_impatient_abort_is_answered_when_all_is_gone_too(client: Client, work: Path) -> None:
    client.send(bash(1, "trap 'sleep 0.3; echo $$ >ended; exit' TERM; echo $$ >pids; while :; do sleep 0.01; done"))
    pids_in(work / "pids")
    client.send(*({"id": number, "type": "abort_bash"} for number in range(2, 5)))
    assert client.answer(1)["data"]["details"] == {"aborted": True}
    assert (work / "ended").exists()
    assert [client.answer(number)["success"] for number in range(2, 5)] == [True, True, True]


def test_abort_of_one_leaves_the_others(client: Client, work: Path) -> None:
    client.send(bash("one", "until [ -e go ]; do sleep 0.01; done"), bash("two", "sleep 1000", session="other"))
    client.send({"id": 3, "type": "abort_bash", "target": "two"}, {"id": 4, "type": "abort_bash", "target": "none"})
    assert client.answer(3)["data"] == {"aborted": ["two"]}
    assert client.answer(4)["data"] == {"aborted": []}
    assert client.answer("two")["data"] == {"text": "Command aborted", "is_error": True, "details": {"aborted": True}}
    (work / "go").touch()
    assert client.answer("one")["data"]["is_error"] is False


# Jobs.


def test_a_job_s_end_is_told_once(client: Client, jobs: JobTable, work: Path) -> None:
    started = client.call(bash(1, "until [ -e go ]; do sleep 0.01; done; echo done; exit 3", **{"async": True}))
    assert started["data"]["details"]["async"] == {"state": "running", "jobId": "bg_1", "type": "bash"}
    (work / "go").touch()
    notice = client.event(lambda event: event["type"] == "notice")
    assert (notice["jobId"], notice["details"]["async"]) == (
        "bg_1",
        {"state": "failed", "jobId": "bg_1", "type": "bash"},
    )
    assert "done" in notice["text"]
    client.end_input()
    client.rest()
    assert [event["type"] for event in client.events].count("notice") == 1


def test_a_poll_waits_without_holding_up_others(client: Client, jobs: JobTable, work: Path) -> None:
    client.call(bash(1, "until [ -e go ]; do sleep 0.01; done", **{"async": True}))
    client.send({"id": 2, "type": "job", "poll": ["bg_1"], "wait": 600})
    assert client.call(bash(3, "touch go"))["data"]["is_error"] is False
    polled = client.answer(2)["data"]
    assert [job["status"] for job in polled["details"]["jobs"]] == ["completed"]


# What is wrong.


BAD_LINES = {
    "half": b"{",
    "NUL": b"\0\0\0",
    "not UTF-8": b"\xff\xfe",
    "nested": b"[" * 100_000,
    "a text": b'"bash"',
    "id is an object": b'{"id": {}, "type": "bash", "command": "touch made"}',
    "id is NaN": b'{"id": NaN, "type": "bash", "command": "touch made"}',
    "17 MiB": b"x" * (17 * 1024 * 1024),
}


def test_bad_lines_are_answered_and_survived(client: Client, work: Path) -> None:
    for what, line in BAD_LINES.items():
        client.send_bytes(line + b"\n\n \r\n")
        answer = client.answer(None)
        assert {name: value for name, value in answer.items() if name != "error"} == {
            "id": None,
            "type": "response",
            "success": False,
        }, what
        assert 10 < len(answer["error"]) < 300, what
        assert client.call(bash(1, "echo after"))["data"]["text"].startswith("after\n"), what
    assert list(work.iterdir()) == []


WRONG_REQUESTS: list[tuple[Message, str]] = [
    ({"type": "fly"}, 'unknown type "fly"'),
    ({"type": "bash", "comand": "touch made"}, "unknown field 'comand'"),
    ({"type": "bash", "command": "touch made", "extra": 1}, "unknown field 'extra'"),
    ({"type": "bash", "command": ["touch", "made"]}, "field 'command' must be a string"),
    ({"type": "bash", "command": "touch made\0"}, "field 'command' holds a NUL"),
    ({"type": "bash", "command": "touch made", "timeout": "1"}, "field 'timeout' must be a number"),
    ({"type": "bash", "command": "touch made", "env": {"1A": "x"}}, "Invalid bash env name: 1A"),
    ({"type": "bash", "command": "\ud800"}, "lone surrogate"),
    ({"type": "bash"}, "field 'command' is missing"),
    ({"type": "bash", "command": "touch made", "session": ""}, "field 'session' must be a name"),
    ({"type": "bash", "command": "touch made", "session": True}, "field 'session' must be a name"),
    ({"type": "abort_bash", "command": "x"}, "unknown field 'command'"),
    ({"type": "check", "command": 1}, "field 'command' must be a string"),
    ({"type": "check", "command": "ls", "cwd": "/"}, "unknown field 'cwd'"),
    ({"type": "job"}, "give exactly one of list, poll"),
    ({"type": "job", "list": 1}, "field 'list' must be true"),
    ({"type": "read", "uri": "../../etc/passwd"}, "field 'uri' must name an artifact"),
]


def test_wrong_requests_are_refused_by_name(client: Client, work: Path) -> None:
    for message, named in WRONG_REQUESTS:
        answer = client.call({"id": "x", **message})
        assert (answer["success"], answer["id"]) == (False, "x"), message
        assert named in answer["error"], message
        if "data" in answer:
            assert answer["data"] == {"text": answer["error"], "is_error": True, "details": {}}
    assert list(work.iterdir()) == []


def test_a_setting_that_is_wrong_is_said_at_the_start(start: Start) -> None:
    client = start(env={"NACRE_MAX_JOBS": "many"}, stderr=subprocess.PIPE)
    out, err = client.process.communicate(timeout=30)
    assert (client.process.returncode, out) == (125, b"")
    assert b"NACRE_MAX_JOBS" in err


# Readers.


def test_a_slow_reader_slows_nothing_down_and_misses_only_updates(client: Client, work: Path) -> None:
    # Each block in one write: the first updates are full ones, also on a busy machine.
    (work / "block").write_text("x" * 60000 + "\n", encoding="utf-8")
    flood = "for n in {1..20}; do cat block; sleep 0.05; done; touch ended"
    client.send(bash(1, flood), bash(2, "until [ -e ended ]; do sleep 0.01; done; touch also", session="other"))
    eventually((work / "also").exists, "the second command")
    assert client.call(bash(3, "echo now"))["data"]["text"].startswith("now\n")
    assert client.answer(1)["data"]["is_error"] is False
    # What was in the pipe before nobody read it, and the newest one.
    assert sum(event["id"] == 1 for event in client.events) <= 4


def test_output_that_nobody_can_read_any_more_ends_the_server(client: Client, work: Path) -> None:
    client.send(bash(1, "echo $$ >pids; until [ -e go ]; do sleep 0.01; done; echo out; sleep 1000"))
    pids = pids_in(work / "pids")
    assert client.process.stdout is not None
    client.process.stdout.close()
    (work / "go").touch()
    assert client.wait() == 0
    assert [pid for pid in pids if alive(pid)] == []


def test_client_that_closes_its_reading_end_ends_a_command_that_writes_nothing(client: Client, work: Path) -> None:
    client.send(bash(1, "echo $$ >pids; sleep 1000"))
    pids = pids_in(work / "pids")
    assert client.process.stdout is not None
    client.process.stdout.close()
    assert client.wait() == 0
    assert [pid for pid in pids if alive(pid)] == []


# The end.


def test_the_end_of_input_ends_the_foreground_and_keeps_jobs(client: Client, jobs: JobTable, work: Path) -> None:
    client.call(bash(1, "sleep 1000", **{"async": True}))
    client.send(bash(2, "echo $$ >pids; setsid -f sleep 1000; sleep 1000"))
    client.send({"id": 3, "type": "job", "poll": ["bg_1"], "wait": 600})
    pids = pids_in(work / "pids")
    client.end_input()
    assert client.answer(2)["data"]["text"] == "Command aborted"
    assert client.answer(3)["error"] == "aborted: the server was ended"
    assert (client.rest(), client.wait()) == ([], 0)
    assert [pid for pid in pids if alive(pid)] == []
    assert jobs.get("bg_1").running


async def test_what_was_asked_for_last_is_still_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # In this process, where the time for it can be as long as a busy machine needs.
    monkeypatch.setattr(running_calls, "LAST_SECONDS", 40.0)
    monkeypatch.chdir(tmp_path)
    incoming, to_server = os.pipe()
    from_server, outgoing = os.pipe()
    check, jobs = {"id": 2, "type": "check", "command": "ls"}, {"id": 3, "type": "job", "list": True}
    # Not even the last newline is needed.
    os.write(to_server, "\n".join(json.dumps(request) for request in (bash(1, "echo quick"), check, jobs)).encode())
    os.close(to_server)
    try:
        await server.serve(incoming, outgoing)
        lines = os.read(from_server, 1 << 16).decode().splitlines()
    finally:
        for fd in (incoming, outgoing, from_server):
            os.close(fd)
    messages = [json.loads(line) for line in lines]
    answers = {message["id"]: message["data"] for message in messages if message["type"] == "response"}
    assert answers[1]["text"].startswith("quick\n")
    assert (answers[2]["decision"], answers[3]["text"]) == ("allow", "No jobs.")


def test_a_stderr_that_is_not_read_wedges_no_server(start: Start) -> None:
    with full_pipe() as (_, stderr):
        client = start(stderr=stderr)
        # More than the pipe holds, which the client does not read: that is said on stderr before the end.
        client.send(*[{"id": n, "type": "x" * 60_000} for n in range(40)])
        client.end_input()
        assert client.wait() == 0


def test_requests_may_come_from_a_file(start: Start, tmp_path: Path) -> None:
    requests, answers = tmp_path / "in", tmp_path / "out"
    requests.write_bytes(
        b"".join(json.dumps({"id": n, "type": "job", "list": True}).encode() + b"\n" for n in range(9))
    )
    with requests.open("rb") as stdin, answers.open("wb") as stdout:
        assert start(stdin=stdin, stdout=stdout).wait() == 0
    # Requests are answered side by side, so in any order.
    assert sorted(json.loads(line)["id"] for line in answers.read_bytes().splitlines()) == list(range(9))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_foreground_and_keeps_jobs(
    client: Client, jobs: JobTable, work: Path, number: signal.Signals
) -> None:
    client.call(bash(1, "sleep 1000", **{"async": True}))
    client.send(bash(2, "echo $$ >pids; setsid -f sleep 1000; sleep 1000"))
    pids = pids_in(work / "pids")
    client.process.send_signal(number)
    assert client.answer(2)["data"]["text"] == "Command aborted"
    assert (client.rest(), client.wait()) == ([], 128 + number)
    assert [pid for pid in pids if alive(pid)] == []
    assert jobs.get("bg_1").running


def test_a_server_that_is_ending_takes_no_more_requests(client: Client, work: Path) -> None:
    client.send(bash(1, "trap 'until [ -e go ]; do sleep 0.01; done; exit' TERM; echo $$ >pids; sleep 1000"))
    pids_in(work / "pids")
    client.process.send_signal(signal.SIGTERM)
    client.send(bash(2, "touch made"))
    (work / "go").touch()
    assert client.answer(1)["data"]["details"] == {"aborted": True}
    assert [answer["id"] for answer in client.rest()] in ([], [2])
    assert (client.wait(), (work / "made").exists()) == (128 + signal.SIGTERM, False)


def test_a_killed_server_leaves_no_foreground_and_keeps_jobs(client: Client, jobs: JobTable, work: Path) -> None:
    client.call(bash(1, "sleep 1000", **{"async": True}))
    client.send(bash(2, "setsid -f bash -c 'echo $$ >>pids; sleep 1000'; echo $$ >>pids; sleep 1000"))
    pids = pids_in(work / "pids", 2)
    client.process.kill()
    client.wait()
    # Nobody holds its stdout, not even the job.
    assert client.rest() == []
    eventually(lambda: not any(alive(pid) for pid in pids), f"the end of {pids}")
    assert jobs.get("bg_1").running


CLIENT = """
import json, subprocess, sys
server = subprocess.Popen([sys.executable, "-m", "nacre", "rpc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for number, message in enumerate(json.loads(sys.argv[1])):
    server.stdin.write(json.dumps({"id": number, "type": "bash", **message}).encode() + b"\\n")
    server.stdin.flush()
server.stdout.readline()
print(server.pid, flush=True)
server.wait()
"""


def test_a_killed_client_leaves_no_server_and_no_foreground_and_keeps_jobs(
    jobs: JobTable, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.mkdir()
    monkeypatch.chdir(work)
    messages = [
        {"command": "sleep 1000", "async": True},
        {"command": "setsid -f sleep 1000; echo $$ >pids; sleep 1000"},
    ]
    with Program(CLIENT, json.dumps(messages)) as program:
        server = int(program.line())
        pids = pids_in(work / "pids")
        program.process.kill()
        eventually(lambda: not any(alive(pid) for pid in (server, *pids)), "the end of the server and its command")
    assert jobs.get("bg_1").running


def test_a_job_that_ended_without_its_server_is_told_by_the_next(start: Start, jobs: JobTable, work: Path) -> None:
    first = start()
    first.call(bash(1, "until [ -e go ]; do sleep 0.01; done; echo later", **{"async": True}))
    first.process.kill()
    first.wait()
    (work / "go").touch()
    eventually(lambda: not jobs.get("bg_1").running, "the end of the job")
    notice = start().event(lambda event: event["type"] == "notice")
    assert (notice["jobId"], "later" in notice["text"]) == ("bg_1", True)


# What a command can reach.


def test_a_command_has_no_way_to_the_wire(client: Client, jobs: JobTable) -> None:
    assert client.process.stdin is not None
    assert client.process.stdout is not None
    ours = {os.fstat(stream.fileno()).st_ino for stream in (client.process.stdin, client.process.stdout)}
    look = "cat; for p in self $$ $PPID; do readlink /proc/$p/fd/*; done; echo; echo fake >/dev/stdout"
    text = client.call(bash(1, look))["data"]["text"]
    assert "pipe:" in text
    found = {int(inode) for inode in re.findall(r"pipe:\[(\d+)\]", text)}
    assert found & ours == set()
    client.end_input()
    # Whatever it printed, there is nothing but protocol: every line was parsed.
    assert client.rest() == []
