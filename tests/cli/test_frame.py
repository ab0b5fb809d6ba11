"""Every verb in surroundings that are wrong: an exit code that says so and one clear line, never a traceback."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from cli.conftest import PATIENCE_SECONDS, Nacre

FULL = "nacre: a read or write failed: No space left on device\n"
BROKEN = "nacre: {config}/nacre/nacre.toml:1: not valid TOML: Expected ']' at the end of a table declaration\n"

# What a user types → its exit code where all is well.
VERBS = {
    "doctor": 0,
    "log": 0,
    "jobs list": 0,
    "jobs list --json": 0,
    "artifacts list": 0,
    "artifacts prune": 0,
    "config show": 0,
    "env": 0,
    "schema workspace": 0,
    "check 'rm -rf /'": 0,
    "jobs --help": 0,
}
# These write nothing to stdout while there is nothing to list.
SILENT = {"log", "jobs list", "artifacts list"}

Seen = tuple[int, str]


def run_in(nacre: Nacre, line: str, tmp_path: Path, **variables: str) -> Seen:
    environ = {**os.environ, "HOME": str(tmp_path), "NACRE_HOME": str(tmp_path / "state"), **variables}
    done = subprocess.run(
        ["bash", "-c", line.replace("NACRE", shlex.join(nacre.argv))],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environ,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE_SECONDS,
    )
    return done.returncode, done.stderr.replace(str(tmp_path), "TMP")


@pytest.mark.parametrize("verb", VERBS)
def test_a_full_stdout_is_125_and_one_line(nacre: Nacre, tmp_path: Path, verb: str) -> None:
    # The doctor tries a command out, which is then in the log of this state directory; so each has its own.
    seen = run_in(nacre, f"NACRE {verb} >/dev/full", tmp_path)
    if verb in SILENT:
        assert (seen[0], seen[1].count("\n") <= 1) == (0, True)
    else:
        assert seen == (125, FULL)


@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&- <&-", "2>/dev/full"])
@pytest.mark.parametrize("verb", VERBS)
def test_closed_streams_and_a_full_stderr_cost_no_code(nacre: Nacre, tmp_path: Path, verb: str, streams: str) -> None:
    code, err = run_in(nacre, f"NACRE {verb} {streams}", tmp_path)
    assert (code, err in ("", "no jobs\n", "no artifacts\n")) == (VERBS[verb], True)


@pytest.mark.parametrize("where", ["mkdir gone; cd gone; rmdir ../gone;", "unset HOME;", "unset HOME NACRE_HOME;"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_deleted_directory_and_no_home_are_fine(nacre: Nacre, tmp_path: Path, verb: str, where: str) -> None:
    # Where nothing else is set the state lies in the system's directory for temporary files; not in this test.
    state = {"XDG_STATE_HOME": str(tmp_path / "other")}
    code, err = run_in(nacre, f"{where} NACRE {verb}", tmp_path, **state)
    assert (code, err in ("", "no jobs\n", "no artifacts\n")) == (VERBS[verb], True)


JOBS = (125, "nacre: no job can be listed in TMP/state/jobs: Not a directory; ")
STORE = (125, "nacre: the artifact store TMP/state/artifacts cannot be used: not a directory")
NOT_A_DIRECTORY = {
    "doctor": (1, ""),
    "log": (125, "nacre: the log TMP/state/log.jsonl cannot be read: not a directory; set NACRE_HOME to a directory"),
    "jobs list": JOBS,
    "jobs list --json": JOBS,
    "artifacts list": STORE,
    "artifacts prune": STORE,
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_state_directory_that_is_a_file_is_named(nacre: Nacre, tmp_path: Path, verb: str) -> None:
    (tmp_path / "state").touch()
    code, err = run_in(nacre, f"NACRE {verb}", tmp_path)
    expected, says = NOT_A_DIRECTORY.get(verb, (VERBS[verb], ""))
    assert (code, err[: len(says)], err.count("\n")) == (expected, says, 1 if says else 0)


@pytest.mark.parametrize("verb", ["artifacts prune", "config show", "schema workspace", "run -- true", "doctor"])
def test_a_broken_file_of_the_user_is_named_with_its_line(nacre: Nacre, tmp_path: Path, verb: str) -> None:
    path = tmp_path / "config" / "nacre" / "nacre.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[execution\n", encoding="utf-8")
    seen = run_in(nacre, f"NACRE {verb}", tmp_path, XDG_CONFIG_HOME=str(tmp_path / "config"))
    assert seen == ((1, "") if verb == "doctor" else (125, BROKEN.format(config="TMP/config")))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["mcp"], "waiting for an MCP client on this terminal; `nacre install --help` adds nacre to a client"),
        (["rpc"], "reading requests from this terminal, one JSON object a line (`nacre rpc --help`)"),
        (["call", "basic"], "reading the arguments from this terminal, as one JSON object"),
        (["check"], "reading from this terminal what to judge"),
        (["check", "--jsonl"], "reading from this terminal what to judge"),
        (["minimize", "--command", "make"], "reading the output from this terminal"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_verb_that_reads_a_terminal_says_so(nacre: Nacre, arguments: list[str], says: str) -> None:
    done = nacre.at_terminal(*arguments, typed=b"\x04", asked=b"Ctrl-D", columns=200)
    assert done.code == 0
    assert done.out.startswith(f"nacre: {says}; Ctrl-D ends it\n")
    assert nacre(*arguments).err.count("terminal") == 0
