"""The run-time guard in a real bash.

Every target here lies in the test's own directory, HOME points there too, and rm on PATH is a recorder: were the guard
broken, nothing of value could be reached.
"""

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from nacre.guard.runtime_guard import runtime_guard

BASH = shutil.which("bash") or "bash"


class Outcome(NamedTuple):
    code: int
    out: str
    refused: bool
    removed: list[str]


class Stage(NamedTuple):
    root: Path

    def run(self, command: str, *, before: str = "") -> Outcome:
        guard = runtime_guard(command)
        assert guard is not None
        record = self.root / "record"
        record.write_text("", encoding="utf-8")
        done = subprocess.run(
            [BASH, "-c", before + guard + command],
            cwd=self.root / "home" / "work",
            env={
                "HOME": str(self.root / "home"),
                "PATH": f"{self.root / 'bin'}:/usr/bin:/bin",
                "BAD": str(self.root / "home"),
                "GOOD": "build",
                "GIT": ".git",
                "LATER": str(self.root / "home" / "later"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        removed = record.read_text(encoding="utf-8").splitlines()
        return Outcome(done.returncode, done.stdout.strip(), "refused by nacre" in done.stderr, removed)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    for folder in ("home/work/build", "home/work/.git", "bin"):
        (tmp_path / folder).mkdir(parents=True)
    recorder = (
        f'#!/bin/sh\nprintf "%s " "$@" >> "{tmp_path}/record"; echo >> "{tmp_path}/record"\nexit "${{CODE:-0}}"\n'
    )
    for name, text in (("rm", recorder), ("sudo", '#!/bin/sh\nexec "$@"\n')):
        (tmp_path / "bin" / name).write_text(text, encoding="utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "home" / "link").symlink_to(tmp_path / "home")
    return Stage(tmp_path)


@pytest.mark.parametrize(
    "command", ["ls", "rm -rf build", "rm -f $x", "echo rm -rf $x", "git rm -r $x", "rm -rf build dist", "rm -rf (", ""]
)
def test_no_prologue_without_a_recursive_rm_of_an_open_target(command: str) -> None:
    assert runtime_guard(command) is None


@pytest.mark.parametrize(
    "call",
    [
        'rm -rf "$BAD"',
        'rm -r "$GIT"',
        'rm -R -- "$BAD"',
        'rm --recursive "$BAD/"',
        'rm "$BAD" -rf',
        'rm -rf "$GOOD" "$BAD"',
        'rm -rf "$BAD/work"',
        'rm -rf "$BAD/work/build/../.."',
        'rm -rf "$BAD/link/"',
        'rm -rf "$BAD/work/../work/$GIT"',
        '\\rm -rf "$BAD"',
        '"rm" -rf "$BAD"',
        'command rm -rf "$BAD"',
        'command -p rm -rf "$BAD"',
        'x=rm; $x -rf "$BAD"',
        'sudo rm -rf "$BAD"',
        'env A=1 rm -rf "$BAD"',
        'nice -n 5 rm -rf "$BAD"',
        'timeout 5 rm -rf "$BAD"',
        'nohup rm -rf "$BAD"',
        'sudo env nice rm -rf "$BAD"',
        'printf "%s" "$BAD" | xargs rm -rf',
        'printf "%s" "$BAD" | xargs -n 1 rm -rf',
        'find "$BAD" -maxdepth 0 -exec rm -rf {} +',
        'find "$BAD" -maxdepth 0 -exec rm -rf {} \\;',
        "bash -c 'rm -rf \"$BAD\"'",
        '(rm -rf "$BAD")',
        'f() { rm -rf "$1"; }; f "$BAD"',
        "eval 'rm -rf \"$BAD\"'",
        "trap 'rm -rf \"$BAD\"' EXIT",
        'cd "$BAD"; rm -rf "$BAD/work"',
        'for d in "$BAD"; do rm -rf "$d"; done',
        'set -eu; set -o pipefail; set -f; IFS=/,; rm -rf "$BAD" || true',
        'shopt -s nullglob nocasematch extglob; rm -rf "$BAD"',
    ],
)
def test_a_critical_target_is_refused_and_rm_is_not_called(stage: Stage, call: str) -> None:
    outcome = stage.run(call)
    assert (outcome.refused, outcome.removed) == (True, [])


def test_a_refused_rm_returns_one_and_the_script_goes_on(stage: Stage) -> None:
    assert stage.run('rm -rf "$BAD"; echo "code $?"') == Outcome(0, "code 1", True, [])


@pytest.mark.parametrize(
    ("call", "removed"),
    [
        ('rm -rf "$GOOD"', "-rf build "),
        ('rm -fr -- "$GOOD" x', "-fr -- build x "),
        ('rm -rf "$BAD/work/build/"', "-rf {home}/work/build/ "),
        ('rm -rf "$BAD/link"', "-rf {home}/link "),
        ('rm -rf "$UNSET"', "-rf  "),
        ("rm -rf build/*", "-rf build/* "),
        ('mkdir "$LATER"; cd "$LATER"; rm -rf "$LATER"', "-rf {home}/later "),
        ('set -euf; set -o pipefail; IFS=,; rm -rf "$GOOD"', "-rf build "),
        ('sudo rm -rf "$GOOD"', "-rf build "),
        ('echo "$GOOD" | xargs rm -rf', "-rf build "),
        ('find "$GOOD" -exec rm -rf {} +', "-rf build "),
        ('command rm -rf "$GOOD"', "-rf build "),
    ],
)
def test_other_targets_reach_rm_unchanged(stage: Stage, call: str, removed: str) -> None:
    outcome = stage.run(call)
    assert (outcome.refused, outcome.removed) == (False, [removed.format(home=stage.root / "home")])


def test_the_exit_code_of_rm_is_kept(stage: Stage) -> None:
    assert stage.run('CODE=7 rm -rf "$GOOD"').code == 7


def test_an_alias_of_rm_does_not_break_the_prologue(stage: Stage) -> None:
    outcome = stage.run('rm -rf "$BAD"', before="shopt -s expand_aliases\nalias rm='rm -i' command='command'\n")
    assert outcome.refused


def test_command_and_xargs_keep_their_other_uses(stage: Stage) -> None:
    command = 'command -v ls >/dev/null && echo found; echo a | xargs echo rm; rm -rf "$GOOD"; echo b | xargs rm -rf'
    assert stage.run(command) == Outcome(0, "found\nrm a", False, ["-rf build ", "-rf b "])


def test_system_paths_are_critical_without_any_rm() -> None:
    guard = runtime_guard("rm -rf $x")
    assert guard is not None
    paths = "/ // /. /etc /usr/ /tmp /home /home/x /root /var/lib . .. .git a/.git"
    script = f'for p in {paths} /home/x/y /opt/a /var/lib/a /tmp/a; do __nacre_critical "$p" || echo "$p"; done'
    # No PATH at all: nothing but bash itself can run here.
    done = subprocess.run(
        [BASH, "-c", guard + script],
        env={"PATH": "/nonexistent", "HOME": "/home/x"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["/home/x/y", "/opt/a", "/var/lib/a", "/tmp/a"]
