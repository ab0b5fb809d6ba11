"""Print mode shares the cards of the console: the end of a run, an answer; and is plain where it is piped."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from cli.conftest import Nacre

VERBS = [
    ["run", "--", "false"],
    ["call", "--pretty", "workspace", '{"command": "exit 3"}'],
    ["jobs", "list"],
    ["log"],
    ["artifacts", "list"],
    ["check", "ls"],
    ["env"],
    ["schema", "basic"],
    ["config", "show"],
    ["filters", "list"],
    ["savings"],
    ["undo", "list"],
    ["try", "list"],
    ["completions", "bash"],
    ["events", "--help"],
    ["watch", "--help"],
    ["tui", "--help"],
    ["doctor", "--help"],
    ["rpc"],
    ["mcp", "--help"],
]


@pytest.mark.parametrize("arguments", VERBS, ids=lambda words: words[0])
def test_no_verb_without_a_terminal_imports_rich_or_textual(arguments: list[str]) -> None:
    script = (
        "import sys, json; from nacre.cli import main\n"
        "try: main(json.loads(sys.argv[1]))\n"
        "except SystemExit: pass\n"
        "found = sorted({name.split('.')[0] for name in sys.modules} & {'rich', 'textual'})\n"
        "print(f'imported {found}', file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, json.dumps(arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert "imported []" in done.stderr, done.stderr


def test_the_end_of_a_failed_run_is_told_in_the_colour_of_its_card(nacre: Nacre) -> None:
    shown = nacre.at_terminal("run", "--", "echo output; exit 3")
    assert shown.code == 3
    output, end = shown.out.splitlines()
    assert output == "output"
    assert end.startswith("\x1b[31m✗ exit 3\x1b[0m\x1b[2m · ")
    plain = nacre.at_terminal("run", "--", "exit 3", NO_COLOR="1").out
    assert plain.startswith("✗ exit 3 · ")
    assert "\x1b" not in plain
    # A quick success says nothing more than its output.
    assert nacre.at_terminal("run", "--", "echo output").out == "output\n"


def test_an_answer_is_a_card_on_a_terminal_and_json_in_a_pipe(nacre: Nacre) -> None:
    arguments = ("call", "--pretty", "workspace", '{"command": "echo a; exit 3"}')
    shown = nacre.at_terminal(*arguments, NO_COLOR="1").out.splitlines()
    assert shown[:2] == ["▎✗ $ echo a; exit 3", "▎  a"]
    assert "▎  Command exited with code 3" in shown
    assert shown[-1].startswith("▎  exit 3 · ")
    assert json.loads(nacre(*arguments).out)["details"]["exitCode"] == 3


@pytest.mark.parametrize("columns", [30, 80])
def test_every_row_of_a_card_fits_the_terminal(nacre: Nacre, columns: int) -> None:
    arguments = json.dumps({"command": "echo " + "word " * 30})
    shown = nacre.at_terminal("call", "--pretty", "workspace", arguments, columns=columns).out
    rows = [re.sub(r"\x1b\[[\d;]*m", "", row) for row in shown.splitlines()]
    assert len(rows) > 3
    assert max(map(len, rows)) <= columns


def test_output_cannot_control_the_terminal(nacre: Nacre) -> None:
    arguments = json.dumps({"command": "printf '\\033]52;c;c3RvbGVu\\007\\033[31mred\\033[0m [bold]x[/bold]\\n'"})
    shown = nacre.at_terminal("call", "--pretty", "workspace", arguments, NO_COLOR="1").out
    assert "▎  red [bold]x[/bold]" in shown
    assert "\x1b]" not in shown


def test_without_rich_the_rows_are_plain(nacre: Nacre, tmp_path: object) -> None:
    """The base install has no Rich; nothing is missing but the colours."""
    script = (
        "import sys; sys.modules['rich'] = None; from importlib import util\n"
        "import nacre.cli.card_printing as printing; from nacre.feed.card import Card\n"
        "printing.importlib.util.find_spec = lambda name: None\n"
        "printing.print_card(Card(call='c', command='true', outcome='exited', exit_code=0, seconds=1), sys.stdout)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "▎✓ $ true\n▎  exit 0 · 1.0s\n"
