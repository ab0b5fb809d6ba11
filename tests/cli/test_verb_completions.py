"""`nacre completions`: every verb and option can be completed, and the man page names them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from nacre import cli
from nacre.cli.command_tree import command_tree
from nacre.cli.completion_scripts import bash, fish, zsh
from nacre.cli.man_page import man_page
from terminals.tmux import Tmux

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


LINES = [
    ("nacre r", ["run", "rpc"]),
    ("nacre run --t", ["--timeout"]),
    ("nacre jobs l", ["list", "logs"]),
    ("nacre jobs logs --f", ["--follow"]),
    ("nacre schema --for o", ["openai"]),
    ("nacre log --outcome d", ["denied"]),
    ("nacre install co", ["codex"]),
]


@pytest.mark.parametrize(("line", "offered"), [*LINES, ("nacre run -- r", [])])
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


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed (Debian: apt-get install fish)")
def test_fish_offers_the_same(tmp_path: Path) -> None:
    """A real fish that finds the script where `nacre completions --help` says to put it."""
    folder = tmp_path / "fish" / "completions"
    folder.mkdir(parents=True)
    (folder / "nacre.fish").write_text(fish(TREE), encoding="utf-8")
    # fish completes programs that it can find.
    program = tmp_path / "nacre"
    program.symlink_to("/bin/true")
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    lines = [*LINES, ("nacre ", list(cli.VERBS)), ("nacre-shell r", ["run", "rpc"])]
    script = "".join(f"complete -C '{line}' | string replace -r '\\t.*' ''; echo =\n" for line, _ in lines)
    done = subprocess.run(
        ["fish", "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    found = [sorted(text.split()) for text in done.stdout.split("=\n")[:-1]]
    assert found == [sorted(offered) for _, offered in lines]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed (Debian: apt-get install zsh)")
@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed (Debian: apt-get install tmux)")
def test_zsh_offers_the_same_and_completes_the_command_after_two_dashes(tmp_path: Path) -> None:
    """A real zsh at a terminal, which finds the script in its $fpath."""
    folder = tmp_path / "functions"
    folder.mkdir()
    (folder / "_nacre").write_text(zsh(TREE), encoding="utf-8")
    with Tmux(tmp_path) as tmux:
        pane = tmux.start("zsh -f", columns=140, rows=45)
        pane.type(f"PROMPT='> ' fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; PROMPT='>> '")
        pane.send("Enter")
        pane.wait_for("\n>>")
        after = ("nacre run -- mkfif", ["mkfifo"])
        for line, offered in [*LINES, ("nacre ", list(cli.VERBS)), ("nacre-shell r", ["run", "rpc"]), after]:
            pane.send("C-u", "C-l")
            pane.wait_for(lambda shown: shown.strip() == ">>")
            pane.type(line)
            # Without a completion that it could make at once, the key lists what there is.
            pane.send("C-d")
            shown = pane.wait_for(lambda shown: len(shown.strip().splitlines()) > 1)
            listed = [row.split()[0] for row in shown.strip().splitlines()[1:]]
            assert sorted(listed) == sorted(offered)


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
