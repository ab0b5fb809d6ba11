"""Which of a person's commands are given a terminal."""

from __future__ import annotations

import pytest

from nacre.tui.interactive_commands import wants_terminal


@pytest.mark.parametrize(
    "command",
    [
        "vim x",
        "cd web && /usr/bin/vim x",
        "EDITOR=vi env LANG=C nano x",
        "less < notes",
        "git log | less",
        "python",
        "python3.12 -q",
        "python -i script.py",
        "sudo -b make install",
        "ssh host",
        "man 2 read",
        "top",
        "exec bash",
        "sqlite3",
    ],
)
def test_a_program_that_draws_or_asks_has_one(command: str) -> None:
    assert wants_terminal(command)


@pytest.mark.parametrize(
    "command",
    [
        "make",
        "echo vim",
        "python script.py",
        "python -c 'print(1)'",
        "python -m pytest",
        "echo 1 | python",
        "python < script.py",
        "top -b -n 1 | head",
        "less x | cat",
        "man ls > file",
        "vim --version",
        "$EDITOR x",
        "vim x &",
        "bash script.sh",
        "echo 'unfinished",
        "",
    ],
)
def test_every_other_command_has_pipes(command: str) -> None:
    assert not wants_terminal(command)
