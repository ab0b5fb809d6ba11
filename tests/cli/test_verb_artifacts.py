import argparse
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Nacre
from nacre.artifacts.store import ArtifactStore
from nacre.cli import main
from nacre.cli import verb_artifacts as verb


@pytest.fixture
def store(home: Path) -> ArtifactStore:
    store = ArtifactStore(home / "artifacts")
    for data in (b"one\ntwo\nthree\nfour\n", b"0123456789abcdefghij"):
        writer = store.create("bash", cap_bytes=19, head_bytes=4)
        writer.write(data)
        assert writer.close() is not None
    return store


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("show 1", "one\ntwo\nthree\nfour\n"),
        ("show artifact://1 --offset 4 --limit 3", "two"),
        ("show 1 --lines 2:3", "two\nthree\n"),
        ("show 1 --lines 2", "two\n"),
        ("show 1 --lines 3:", "three\nfour\n"),
        ("show 1 --lines :1", "one\n"),
        ("show 1 --tail 2", "three\nfour\n"),
        ("grep o 1", "1:one\n2:two\n4:four\n"),
        ("grep ^(four|01) 1 2", "1:4:four\n2:1:0123\n"),
    ],
)
def test_ranges_and_matches_go_to_stdout(
    store: ArtifactStore, arguments: str, shown: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["artifacts", *arguments.split()]) == 0
    assert capfdbinary.readouterr().out.decode() == shown


def test_dropped_bytes_are_told_on_stderr_and_never_on_stdout(
    store: ArtifactStore, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["artifacts", "show", "2"]) == 0
    assert capfdbinary.readouterr() == (b"012356789abcdefghij", b"nacre: 1 byte was dropped here\n")


def test_list_as_json_is_an_array_of_facts(store: ArtifactStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["artifacts", "list", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    written = [entry.written_at for entry in store.list()]
    assert first == {
        "id": 1,
        "kind": "bash",
        "command": None,
        "path": os.path.join(store.root, "1.bash.log"),
        "state": "complete",
        "totalBytes": 19,
        "storedBytes": 19,
        "droppedBytes": 0,
        "writtenAt": written[0],
    }
    assert (second["id"], second["totalBytes"], second["droppedBytes"]) == (2, 20, 1)


def test_show_as_json_says_where_to_go_on(store: ArtifactStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["artifacts", "show", "1", "--json", "--offset", "4", "--limit", "3"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["text"], answer["offset"], answer["nextOffset"], answer["skippedBytes"]) == ("two", 4, 7, 0)


def test_show_as_json_gives_lines_and_the_gap(store: ArtifactStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["artifacts", "show", "2", "--json", "--lines", "1:9"]) == 0
    assert json.loads(capsys.readouterr().out)["lines"] == [
        {"line": 1, "text": "0123", "cutBytes": 0},
        {"gapBytes": 1, "reason": "dropped"},
        {"line": 2, "text": "56789abcdefghij", "cutBytes": 0},
    ]


def test_an_unknown_id_is_one_line_that_lists_the_known_ones(
    store: ArtifactStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["artifacts", "show", "9"]) == 125
    assert capsys.readouterr() == ("", "nacre: no artifact 9; available: 1, 2\n")


def test_a_bad_regular_expression_is_named(store: ArtifactStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["artifacts", "grep", "(", "1"]) == 2
    assert "'(' is no regular expression" in capsys.readouterr().err


def test_a_search_without_a_match_exits_with_one(store: ArtifactStore) -> None:
    assert main(["artifacts", "grep", "nowhere", "1"]) == 1


@pytest.mark.parametrize(
    "arguments", ["show x", "show 1 --lines b:a", "show 1 --limit -1", "show 1 --tail 1 --lines 1"]
)
def test_impossible_arguments_are_refused(store: ArtifactStore, arguments: str) -> None:
    assert main(["artifacts", *arguments.split()]) == 2


def test_prune_reports_what_it_removed_and_kept(store: ArtifactStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["artifacts", "prune", "--bytes", "19", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"removed": [1], "freedBytes": 19, "kept": 1, "keptBytes": 19}


def test_an_empty_store_lists_nothing_and_makes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["artifacts", "list"]) == 0
    assert capsys.readouterr() == ("", "no artifacts\n")
    assert not (home / "artifacts").exists()


def test_the_store_may_be_given_by_the_caller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    verb.add_arguments(parser)
    assert verb.main(parser.parse_args(["list", "--json"]), root=tmp_path / "elsewhere") == 0
    assert capsys.readouterr().out == "[]\n"


def test_a_reader_that_has_had_enough_ends_it_quietly(home: Path) -> None:
    writer = ArtifactStore(home / "artifacts").create("bash")
    writer.write(b"line\n" * 200_000)
    assert writer.close() is not None
    command = f"{sys.executable} -m nacre artifacts show 1 | head -n 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=30)
    assert (done.stdout, done.stderr) == (b"line\n", b"")


def test_a_terminal_is_not_given_the_escapes_of_a_command(home: Path) -> None:
    writer = ArtifactStore(home / "artifacts").create("bash")
    writer.write(b"\x1b]52;c;c3RvbGVu\x07\x1b[31mred\x1b[0m\n")
    assert writer.close() is not None
    ours, theirs = pty.openpty()
    try:
        subprocess.run([sys.executable, "-m", "nacre", "artifacts", "show", "1"], stdout=theirs, check=True, timeout=30)
        assert os.read(ours, 1000) == b"red\r\n"
    finally:
        os.close(ours)
        os.close(theirs)


def test_the_command_behind_an_artifact_is_named(nacre: Nacre, home: Path) -> None:
    command = "seq 100000 # numbers"
    assert nacre("run", "--json", "--", command).code == 0
    (entry,) = json.loads(nacre("artifacts", "list", "--json").out)
    shown = json.loads(nacre("artifacts", "show", "1", "--json", "--limit", "2").out)
    assert (entry["command"], shown["command"], shown["text"]) == (command, command, "1\n")
    assert nacre("artifacts", "list").out.endswith(f'{entry["path"]}  "{command}"\n')
    header, row = nacre.at_terminal("artifacts", "list", columns=120, NO_COLOR="1").out.splitlines()
    assert (header.split()[-1], row.endswith(f' complete    "{command}"')) == ("COMMAND", True)
    (head, facts, first, *_) = nacre.at_terminal(
        "artifacts", "show", "1", "--lines", "1:2", NO_COLOR="1"
    ).out.splitlines()
    assert (head, first) == (f"▎✓ $ {command}", "1")
    assert (facts.startswith("▎  exit 0 · "), "artifact 1" in facts) == (True, True)


def test_a_recording_of_a_terminal_has_its_command_too(nacre: Nacre) -> None:
    assert nacre("run", "--pty", "--", "echo hi").code == 0
    (entry,) = json.loads(nacre("artifacts", "list", "--json").out)
    assert (entry["kind"], entry["command"]) == ("recording", "echo hi")
