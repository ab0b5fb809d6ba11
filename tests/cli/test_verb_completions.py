"""`nacre completions`: every verb and option can be completed, and the man page names them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from nacre import cli
from nacre.cli.command_tree import command_tree
from nacre.cli.completion_scripts import bash, fish, zsh
from nacre.cli.man_page import man_page

TREE = command_tree()


def completed(line: str) -> list[str]:
    """What a real bash offers for the last word of a line."""
    words = line.split(" ")
    script = f"{bash(TREE)}COMP_WORDS=({' '.join(words) or chr(39) * 2}"
    script += f"{' ' + chr(39) * 2 if line.endswith(' ') else ''}); COMP_CWORD={len(words) - 1}; _nacre; "
    script += 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("nacre r", ["run", "rpc"]),
        ("nacre run --t", ["--timeout"]),
        ("nacre jobs l", ["list", "logs"]),
        ("nacre jobs logs --f", ["--follow"]),
        ("nacre schema --for o", ["openai"]),
        ("nacre log --outcome d", ["denied"]),
        ("nacre install co", ["codex"]),
        ("nacre run -- r", []),
    ],
)
def test_bash_offers_verbs_subcommands_options_and_values(line: str, offered: list[str]) -> None:
    assert completed(line) == offered


def test_bash_offers_every_verb_for_an_empty_word() -> None:
    assert completed("nacre ") == list(cli.VERBS)


@pytest.mark.parametrize("render", [bash, zsh, fish, man_page])
def test_every_verb_subcommand_and_option_is_in_it(render: object) -> None:
    assert callable(render)
    text = str(render(TREE)).replace("\\-", "-")
    for entry in TREE:
        assert entry.words[-1] in text
        for option in entry.options:
            long = option.names[-1]
            assert (long.removeprefix("--") if render is fish else long) in text


@pytest.mark.parametrize(("shell", "render"), [("zsh", zsh), ("fish", fish)])
def test_the_script_is_one_that_the_shell_can_read(shell: str, render: object, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert callable(render)
    script = tmp_path / "script"
    script.write_text(render(TREE), encoding="utf-8")
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_man_page_is_roff_without_a_warning() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-K", "utf8", "-w", "mac", "-w", "syntax", "-w", "escape", "-w", "char"],
        input=man_page(TREE).encode(),
        capture_output=True,
        check=True,
    )
    # A long list of choices cannot be broken, which is no fault of the page.
    assert [line for line in done.stderr.splitlines() if b"break line" not in line] == []
    assert "pass standard input on to the command" in done.stdout.decode()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "man"])
def test_it_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completions", shell]) == 0
    assert capsys.readouterr().out == {"bash": bash, "zsh": zsh, "fish": fish, "man": man_page}[shell](TREE)
