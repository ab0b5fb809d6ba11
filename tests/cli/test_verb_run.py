"""`nacre run`: the command's output and exit code handed on, nacre's own words on stderr."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import PATIENCE_SECONDS, Finished, Nacre
from nacre.cli import verb_run
from nacre.cli.parser import parsed

KEYS = ["outcome", "exitCode", "signal", "text", "stages", "notices", "artifactId", "wallTimeMs"]


def as_json(nacre: Nacre, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the object without its duration."""
    done = nacre("run", "--json", *arguments)
    answer = json.loads(done.out)
    # These two are there if a limit was reached.
    assert ([key for key in answer if key not in ("cause", "clock")], done.err) == (KEYS, "")
    assert answer.pop("wallTimeMs") >= 0
    return done.code, answer


def alive(pids: list[str]) -> list[str]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


# Passing through.


def test_output_and_exit_code_are_the_command_s_own(nacre: Nacre) -> None:
    assert nacre("run", "--", "echo out; echo err >&2; exit 37") == Finished(37, "out\n", "err\n")


@pytest.mark.parametrize("code", [0, 1, 2, 124, 125, 126, 127, 255])
def test_every_exit_code_is_handed_on(nacre: Nacre, code: int) -> None:
    assert nacre("run", f"exit {code}") == Finished(code, "", "")


def test_death_by_a_signal_is_handed_on_as_a_shell_would(nacre: Nacre) -> None:
    assert nacre("run", "--", "kill -KILL $$") == Finished(128 + signal.SIGKILL, "", "")


def test_output_is_handed_on_byte_for_byte_however_large(nacre: Nacre) -> None:
    done = subprocess.run(
        [*nacre.argv, "run", "--", "seq 300000; printf 'a\\xff\\0b'"], capture_output=True, check=True
    )
    assert done.stdout == b"".join(b"%d\n" % number for number in range(1, 300001)) + b"a\xff\0b"


def test_output_is_handed_on_while_the_command_runs(nacre: Nacre, fifo: Path) -> None:
    with nacre.start("run", "--", f"echo first; read line <{fifo}; echo $line", stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"first\n"
        fifo.write_text("second\n", encoding="utf-8")
        assert running.stdout.read() == b"second\n"
    assert running.returncode == 0


def test_the_command_does_not_read_our_stdin(nacre: Nacre) -> None:
    assert nacre("run", "--", "cat; echo end", stdin=b"not for the command") == Finished(0, "end\n", "")


# Words.


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (["--", "echo", "a  b", "c"], "a  b c\n"),
        (["--", "echo", "-n", "--json", "--", "x"], "--json -- x"),
        (["--", "printf", "[%s]", "$HOME", "*", "it's", ";", ""], "[$HOME][*][it's][;][]"),
        (["echo", "$HOME"], "$HOME\n"),
        (["--", "echo a; echo b"], "a\nb\n"),
    ],
    ids=["words", "options", "quoted", "no dashes", "a script"],
)
def test_several_words_are_a_command_with_its_arguments_and_one_is_a_script(
    nacre: Nacre, words: list[str], out: str
) -> None:
    assert nacre("run", *words) == Finished(0, out, "")


def test_the_log_has_the_words_as_one_command(nacre: Nacre) -> None:
    nacre("run", "--", "echo", "a b")
    assert json.loads(nacre("log", "--json").out)["command"] == "echo 'a b'"


# Standard input.


def test_stdin_is_passed_on_when_asked_for_and_has_an_end(nacre: Nacre) -> None:
    lines = b"".join(b"%d\n" % number for number in range(200_000))
    assert nacre("run", "--stdin", "--", "sort -n | tail -n 1; cat; echo end", stdin=lines).out == "199999\nend\n"
    assert nacre("run", "--stdin", "--", "cat; echo end") == Finished(0, "end\n", "")


def test_a_command_need_not_read_the_input_it_is_given(nacre: Nacre) -> None:
    assert nacre("run", "--stdin", "--", "head -n 1", stdin=b"first\n" + b"x" * 1_000_000).out == "first\n"
    assert nacre("run", "--stdin", "--", "true", stdin=b"x" * 1_000_000) == Finished(0, "", "")


def test_stdin_is_passed_on_without_containment_too(nacre: Nacre) -> None:
    done = nacre("run", "--stdin", "--", "wc", "-c", stdin=b"12345", env={"NACRE_CONTAINMENT": "off"})
    assert (done.code, done.out) == (0, "5\n")


def test_an_input_without_an_end_does_not_hold_the_call(nacre: Nacre) -> None:
    reader, writer = os.pipe()
    with nacre.start("run", "--stdin", "--", "head -c 1", stdin=reader, stdout=subprocess.PIPE) as running:
        os.write(writer, b"a")
        assert running.stdout is not None
        assert (running.stdout.read(), running.wait(PATIENCE_SECONDS)) == (b"a", 0)
    os.close(reader)
    os.close(writer)


# Questions.

RULES = """\
[[rule]]
name = "deploys"
decision = "ask"
words = ["echo", "deploy"]
reason = "a deployment"
match = ["echo deploy"]
not_match = ["echo other"]
"""


@pytest.fixture
def asks(tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "rules.toml"
    path.write_text(RULES, encoding="utf-8")
    return {"NACRE_RULES_FILE": str(path)}


@pytest.mark.parametrize("typed", [b"y\n", b"YES\n"])
def test_a_rule_that_asks_asks_the_person_at_the_terminal(nacre: Nacre, asks: dict[str, str], typed: bytes) -> None:
    done = nacre.at_terminal("run", "--", "echo deploy", typed=typed, **asks)
    assert done.code == 0
    assert "a deployment\nnacre: run 'echo deploy' all the same? [y/N, 60 s at most] " in done.out
    assert done.out.endswith("\ndeploy\n")


@pytest.mark.parametrize("typed", [b"n\n", b"\n", b"yet\n"])
def test_any_other_answer_is_a_no(nacre: Nacre, asks: dict[str, str], typed: bytes) -> None:
    done = nacre.at_terminal("run", "--", "echo deploy", typed=typed, **asks)
    assert (done.code, "(it was not approved)" in done.out) == (126, True)


def test_no_answer_in_time_is_a_no_that_says_so(nacre: Nacre, asks: dict[str, str]) -> None:
    done = nacre.at_terminal("run", "--timeout", "0.5", "--", "echo deploy", **asks)
    assert (done.code, "no answer came within 0.5 s; nothing was run" in done.out) == (126, True)


def test_without_a_terminal_it_is_a_denial_that_says_so(nacre: Nacre, asks: dict[str, str]) -> None:
    done = nacre("run", "--", "echo deploy", env=asks)
    assert (done.code, done.out, "no person can be asked here" in done.err) == (126, "", True)


def test_notices_go_to_stderr(nacre: Nacre) -> None:
    assert nacre("run", "--", "false | cat; :; false | echo shown") == Finished(
        0, "shown\n", "nacre: a pipe hides a failure: stage 1 exited with 1\n"
    )


def test_a_secret_of_ours_is_neither_given_to_the_command_nor_shown(nacre: Nacre) -> None:
    secret = "a-secret-value-0123456789"
    done = nacre("run", "--", f"echo [$MY_API_KEY]; echo {secret}", env={"MY_API_KEY": secret})
    assert (done.code, done.out.split("\n")[0], secret in done.out) == (0, "[]", False)


# Options.


def test_the_command_runs_where_it_is_told_to(nacre: Nacre, tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    assert nacre("run", "--cwd", "below", "--", "pwd -P", cwd=tmp_path).out == f"{below.resolve()}\n"
    assert nacre("run", "--", "pwd -P", cwd=tmp_path).out == f"{tmp_path.resolve()}\n"


def test_variables_may_be_given_often_and_may_hold_anything(nacre: Nacre) -> None:
    done = nacre("run", "--env", "A=1 = one", "--env", "B=", "--env", "A_TOKEN=mine", "--", 'echo "$A|$B|${#A_TOKEN}"')
    assert done == Finished(0, "1 = one||4\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--env", "NAME", "--", "true"], "nacre: --env 'NAME' must look like NAME=VALUE\n"),
        (
            ["--env", "1A=x", "--", "true"],
            "nacre: field 'env': environment variable '1A': a name is letters, digits and underscores and does not "
            "begin with a digit\n",
        ),
        (["--timeout", "0", "--", "true"], "nacre: timeout must be a number of seconds above 0, got 0\n"),
        (["--timeout", "nan", "--", "true"], "nacre: timeout must be a number of seconds above 0, got NaN\n"),
        (["--timeout", "inf", "--", "true"], "nacre: timeout must be finite; give a large number of seconds\n"),
        (["--", "  "], "nacre: empty command: field 'command' is blank, give a shell command\n"),
        (["--cwd", "/nonexistent", "--", "true"], "nacre: working directory '/nonexistent' does not exist\n"),
        (["--cwd", "/etc/passwd", "--", "true"], "nacre: working directory '/etc/passwd' is not a directory\n"),
    ],
)
def test_a_wrong_option_is_one_line_and_125(nacre: Nacre, arguments: list[str], message: str) -> None:
    assert nacre("run", *arguments) == Finished(125, "", message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nacre run: error: the following arguments are required: command\n"),
        (["--bogus", "true"], "nacre run: error: unrecognized arguments: --bogus\n"),
        (["--timeout", "soon", "true"], "nacre run: error: argument --timeout: must be a number, got 'soon'\n"),
    ],
)
def test_bad_usage_shows_the_usage_and_is_125_so_that_it_is_not_the_command_s_code(
    nacre: Nacre, arguments: list[str], message: str
) -> None:
    done = nacre("run", *arguments)
    usage, _, complaint = done.err.partition("nacre run: error:")
    assert (done.code, done.out, f"nacre run: error:{complaint}") == (125, "", message)
    assert usage.startswith("usage: nacre run ")


def test_a_very_long_limit_is_a_limit_like_any_other(nacre: Nacre) -> None:
    assert nacre("run", "--timeout", "1e10", "--", "sleep 0.2; echo hi") == Finished(0, "hi\n", "")


# nacre's own exit codes.


def test_a_timeout_is_124_keeps_the_output_and_says_so(nacre: Nacre) -> None:
    assert nacre("run", "--timeout", "0.5", "--", "echo early; sleep 1000") == Finished(
        124, "early\n", "nacre: timed out after 0.5 s; everything was ended\n"
    )


def test_the_limit_of_a_call_that_names_none_is_a_setting(nacre: Nacre) -> None:
    assert nacre("run", "--", "sleep 1000", env={"NACRE_TIMEOUT_SECONDS": "0.3"}) == Finished(
        124, "", "nacre: timed out after 0.3 s; everything was ended\n"
    )


def test_a_denied_command_is_126_and_does_not_run(nacre: Nacre, tmp_path: Path) -> None:
    done = nacre("run", "--", "touch ran; rm -rf /", cwd=tmp_path)
    assert (done.code, done.out, (tmp_path / "ran").exists()) == (126, "", False)
    assert done.err.startswith(
        "nacre: denied by nacre's guard (rule no_dangerous_rm): this rm could delete critical data"
    )


def test_a_failure_of_ours_is_125(nacre: Nacre) -> None:
    done = nacre("run", "--", "true", env={"NACRE_CONTAINMENT": "sometimes"})
    accepted = '"auto", "required", "off"'
    assert done == Finished(125, "", f'nacre: NACRE_CONTAINMENT is "sometimes"; accepted: {accepted}\n')


def test_a_log_that_cannot_be_written_fails_no_command(nacre: Nacre) -> None:
    done = nacre("run", "--", "echo hi", env={"NACRE_HOME": "/dev/null/nowhere"})
    assert done == Finished(0, "hi\n", "nacre: the audit log could not be written: Not a directory\n")


def test_a_directory_that_was_deleted_under_us_is_named(nacre: Nacre, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    inside = f"cd {gone}; rmdir {gone}; exec {' '.join(nacre.argv)} run -- 'echo hi'"
    done = subprocess.run(["bash", "-c", inside], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (
        125,
        "",
        f"nacre: working directory '{gone}' does not exist\n",
    )


# --json.


def test_json_is_one_object_with_the_facts(nacre: Nacre) -> None:
    code, answer = as_json(nacre, "--", "echo out; echo err >&2; false | exit 3")
    assert (code, answer) == (
        3,
        {
            "outcome": "exited",
            "exitCode": 3,
            "signal": None,
            "text": "out\nerr\n",
            "stages": [1, 3],
            "notices": [],
            "artifactId": None,
        },
    )


def test_json_of_a_hidden_failure_has_the_stages_and_the_notice(nacre: Nacre) -> None:
    code, answer = as_json(nacre, "--", "false | tail")
    assert (code, answer) == (
        0,
        {
            "outcome": "exited",
            "exitCode": 0,
            "signal": None,
            "text": "",
            "stages": [1, 0],
            "notices": ["a pipe hides a failure: stage 1 exited with 1"],
            "artifactId": None,
        },
    )


def test_json_of_a_signal_and_of_a_timeout_are_different_outcomes(nacre: Nacre) -> None:
    nothing = {"text": "", "stages": [], "notices": [], "artifactId": None}
    assert as_json(nacre, "--", "kill -SEGV $$") == (
        139,
        {"outcome": "signalled", "exitCode": 139, "signal": "SIGSEGV", **nothing},
    )
    assert as_json(nacre, "--timeout", "0.3", "--", "sleep 1000") == (
        124,
        {"outcome": "timedOut", "exitCode": None, "signal": None, "cause": "limit", "clock": "timeout", **nothing},
    )


def test_json_of_a_large_output_shows_both_ends_around_an_exact_count_and_names_the_artifact(nacre: Nacre) -> None:
    # Lines of eight bytes, so that the 20 KiB and 30 KiB that are shown are whole lines.
    code, answer = as_json(nacre, "--", "seq -f %07.0f 100000")
    head = "".join(f"{number:07}\n" for number in range(1, 2561))
    tail = "".join(f"{number:07}\n" for number in range(96161, 100001))
    assert (code, answer["artifactId"]) == (0, "1")
    assert answer["text"] == f"{head}[… 93600 lines, 731.2KB omitted: artifact 1 …]\n{tail}"


@pytest.mark.parametrize(
    ("words", "code", "outcome", "says"),
    [
        (["--", "rm -rf /"], 126, "denied", "rm"),
        (["--cwd", "/nonexistent", "--", "true"], 125, "notStarted", "working directory '/nonexistent' does not exist"),
        (["--timeout", "0", "--", "true"], 125, "notStarted", "timeout must be a number of seconds above 0, got 0"),
        (["--env", "A", "--", "true"], 125, "notStarted", "--env 'A' must look like NAME=VALUE"),
        (["--", " "], 125, "notStarted", "empty command: field 'command' is blank, give a shell command"),
    ],
)
def test_json_is_printed_for_what_was_not_started_too(
    nacre: Nacre, words: list[str], code: int, outcome: str, says: str
) -> None:
    seen, answer = as_json(nacre, *words)
    (notice,) = answer.pop("notices")
    assert says in notice
    nothing = {"exitCode": None, "signal": None, "text": "", "stages": [], "artifactId": None}
    assert (seen, answer) == (code, {"outcome": outcome, **nothing})


# Ending early.


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_command_s_whole_tree_and_then_us(nacre: Nacre, fifo: Path, number: signal.Signals) -> None:
    script = f"setsid -f sleep 1000; sleep 1000 & echo $$ $! >{fifo}; wait"
    with nacre.start("run", "--", script, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        pids = fifo.read_text(encoding="utf-8").split()
        running.send_signal(number)
        out, err = running.communicate(timeout=PATIENCE_SECONDS)
    assert (running.returncode, out, err) == (128 + number, b"", b"")
    assert alive(pids) == []


def test_a_signal_ends_us_although_nobody_reads_our_output(nacre: Nacre, fifo: Path) -> None:
    script = f"echo $$ >{fifo}; yes"
    with nacre.start("run", "--", script, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        pids = fifo.read_text(encoding="utf-8").split()
        assert running.stdout is not None
        # A full pipe shows that the writer has come to a stop, or is about to.
        _until_full(running.stdout.fileno())
        running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE_SECONDS) == 128 + signal.SIGTERM
        assert running.stderr is not None
        assert running.stderr.read() == b""
    assert alive(pids) == []


def _until_full(reader: int) -> None:
    import array
    import fcntl
    import termios
    import time

    size = fcntl.fcntl(reader, fcntl.F_GETPIPE_SZ)
    end = time.monotonic() + PATIENCE_SECONDS
    waiting = array.array("i", [0])
    while waiting[0] < size:
        assert time.monotonic() < end, "the pipe was not filled"
        fcntl.ioctl(reader, termios.FIONREAD, waiting)


def test_a_reader_that_has_had_enough_ends_us_and_the_command(nacre: Nacre, fifo: Path) -> None:
    script = f"echo $$ >{fifo}; yes"
    with nacre.start("run", "--", script, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        pids = fifo.read_text(encoding="utf-8").split()
        assert running.stdout is not None
        assert running.stdout.read(2) == b"y\n"
        running.stdout.close()
        assert running.wait(PATIENCE_SECONDS) == 128 + signal.SIGPIPE
        assert running.stderr is not None
        assert running.stderr.read() == b""
    assert alive(pids) == []


def test_a_closed_stdout_is_not_confused_with_a_file_of_ours(nacre: Nacre) -> None:
    inside = f"exec {' '.join(nacre.argv)} run -- 'echo out; echo err >&2; exit 3' >&-"
    done = subprocess.run(["bash", "-c", inside], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "err\n")


def test_what_a_finished_command_left_running_is_named(nacre: Nacre) -> None:
    done = nacre("run", "--", "sleep 1000 & until grep -q ^sleep /proc/$!/cmdline; do :; done; echo $!")
    pid = int(done.out)
    try:
        assert done == Finished(0, f"{pid}\n", f"nacre: still running: pid {pid} (sleep 1000)\n")
        os.kill(pid, 0)
    finally:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("words", "where", "code", "says"),
    [
        ("run -- 'echo hi'", ">/dev/full", 125, "nacre: stdout: cannot be written: No space left on device\n"),
        ("run --json -- 'echo hi'", ">/dev/full", 125, "nacre: a read or write failed: No space left on device\n"),
        ("run -- 'echo hi >&2'", "2>/dev/full", 125, ""),
        ("run -- 'echo hi; echo no >&2'", ">/dev/full 2>/dev/full", 125, ""),
        ("run --cwd /nonexistent -- true", "2>/dev/full", 125, ""),
        ("run --timeout 0 -- true", "2>/dev/full", 125, ""),
        ("run -- 'rm -rf /'", "2>/dev/full", 126, ""),
        ("run --timeout 0.2 -- 'sleep 1000'", "2>/dev/full", 124, ""),
        ("run -- 'exit 3'", ">&- 2>&- <&-", 3, ""),
        ("nosuch", "2>/dev/full", 2, ""),
        ("schema modes", ">/dev/full", 125, "nacre: a read or write failed: No space left on device\n"),
    ],
)
def test_streams_that_cannot_be_written_cost_no_code_and_no_traceback(
    nacre: Nacre, words: str, where: str, code: int, says: str
) -> None:
    line = f"{' '.join(nacre.argv)} {words} {where}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (code, says)


def test_a_broken_file_of_the_user_is_125_and_names_file_and_line(nacre: Nacre, tmp_path: Path) -> None:
    path = tmp_path / "config" / "nacre" / "nacre.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[execution\n", encoding="utf-8")
    says = f"nacre: {path}:1: not valid TOML: Expected ']' at the end of a table declaration\n"
    assert nacre("run", "--", "true") == Finished(125, "", says)


def test_a_relative_directory_below_a_deleted_one_is_125_and_named(nacre: Nacre, tmp_path: Path) -> None:
    line = f"mkdir gone && cd gone && rmdir ../gone && {' '.join(nacre.argv)} run --cwd sub -- true"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60)
    says = f"nacre: working directory '{tmp_path}/gone/sub' does not exist\n"
    assert (done.returncode, done.stdout, done.stderr) == (125, "", says)


# Starting.


def _loaded(*words: str) -> set[str]:
    # A setting that is set is read by modules of its own.
    environ = {name: text for name, text in os.environ.items() if name == "NACRE_HOME" or name[:6] != "NACRE_"}
    argv = [sys.executable, "-X", "importtime", *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env=environ)
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def test_a_command_imports_no_module_that_it_does_not_use() -> None:
    loaded = _loaded("-m", "nacre", "run", "true")
    assert "nacre.engine.engine" in loaded
    # A module of ours takes a tenth of a millisecond, and more with each dataclass. `nacre run true` may take twice as
    # long as an import of asyncio: add one only where every command needs it.
    assert len({name for name in loaded if name.split(".")[0] == "nacre"}) <= 92
    # One of the standard library takes up to five. `runpy` and `importlib` are for `python -m`.
    beyond = {name.split(".")[0] for name in loaded - _loaded("-c", "import asyncio")} - {"nacre", "imported package"}
    known = "_bisect _ctypes _json bisect copy ctypes dataclasses fnmatch importlib json org runpy __future__"
    assert beyond <= set(known.split())


@pytest.mark.parametrize("words", [["true"], ["--", "a | b"], [""], ["--", " -x"]], ids=str)
def test_a_command_without_options_is_read_as_argparse_reads_it(words: list[str]) -> None:
    namespace = verb_run.plain(words)
    assert namespace is not None
    assert vars(namespace) == vars(parsed("run", words))


@pytest.mark.parametrize("words", [[], ["--"], ["-h"], ["--json", "true"], ["a", "b"], ["--", "-x"], ["-"]], ids=str)
def test_other_words_are_left_to_argparse(words: list[str]) -> None:
    assert verb_run.plain(words) is None


def test_a_budget_ends_the_command_and_the_object_names_the_limit(nacre: Nacre) -> None:
    done = nacre("run", "--json", "--budget", "output=4K,cpu=60", "--", "yes")
    found = json.loads(done.out)
    assert (done.code, found["outcome"], found["cause"], found["clock"]) == (124, "stopped", "limit", "output_bytes")
    late = nacre("run", "--budget", "wall=0.2", "--", "sleep 60")
    assert (late.code, "timed out after 0.2 s" in late.err) == (124, True)


def test_a_wrong_budget_is_refused_with_its_limit_and_value(nacre: Nacre, tmp_path: Path) -> None:
    done = nacre("run", "--budget", "cpu=10,memory=1Q", "--", "touch ran", cwd=tmp_path)
    assert done.code == 125
    assert 'budget.memory is "1Q"; accepted: a size above 0, e.g. 500M or 2G' in done.err
    assert not (tmp_path / "ran").exists()
