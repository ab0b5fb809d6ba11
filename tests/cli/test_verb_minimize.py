"""`nacre minimize`: raw output in, shortened text out, a line about the saving on stderr."""

import subprocess
import sys
from pathlib import Path

import pytest

LOG = "".join(f"probe {number} ok\n" for number in range(500)) + "ERROR: quota\n"


def minimize(text: str, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nacre", "minimize", *arguments],
        input=text,
        capture_output=True,
        text=True,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", "NACRE_HOME": str(home / "state")},
        check=False,
    )


def test_a_long_output_is_shortened_and_nothing_is_kept(tmp_path: Path) -> None:
    done = minimize(LOG, tmp_path, "--command", "./x", "--exit", "1")
    assert done.returncode == 0
    assert done.stdout.startswith("probe 0 ok (×498)\n")
    assert "ERROR: quota\n[hidden: 497 repeats of rows that are shown; " in done.stdout
    assert "artifact" not in done.stdout
    assert done.stderr.startswith("generic: 6403 bytes, ")
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("text", ["", "short\n", "no line end"])
def test_a_short_output_comes_out_as_it_is(text: str, tmp_path: Path) -> None:
    done = minimize(text, tmp_path, "--command", "./x")
    assert (done.returncode, done.stdout) == (0, text)
    assert done.stderr.startswith("nothing hidden")


def test_a_filter_of_the_user_that_fails_its_example_is_left_aside(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "nacre" / "filters"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(
        "name = 'mine'\n[[example]]\ncommand = 'mine'\ninput = 'a'\nexpected = 'b'\n", encoding="utf-8"
    )
    done = minimize(LOG, tmp_path, "--command", "./x")
    assert done.returncode == 0
    assert done.stdout.startswith("probe 0 ok (×500)\n")
    assert "a filter is left aside: " in done.stderr
    assert "mine.toml: the example 'mine' gives" in done.stderr
