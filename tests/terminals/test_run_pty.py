"""`nacre run --pty` at a real terminal: programs work as they do without nacre, and the terminal is left as it was."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from nacre.jobs.table import JobTable
from nacre.warden import children
from terminals.programs import LEAVING, PROGRAMS, SSH_STEPS, Program, ssh_server
from terminals.tmux import NACRE, PATIENCE_SECONDS, Pane, Tmux

# Real programs in real terminals: on one Python, beside the other parts.
pytestmark = pytest.mark.parts

# Then the terminal shows the exit code, and whether lines are edited and echoed again.
AFTER = "; echo LEFT $?; echo $(stty -a | grep -owE -e '-?(icanon|echo|isig|opost)').; cat"


def start(tmux: Tmux, command: str, options: str = "") -> Pane:
    return tmux.start(f"{NACRE} run --pty {options} -- {shlex.quote(command)}{AFTER}")


def left(pane: Pane, code: int) -> str:
    """The screen after the end; the terminal is as it was."""
    screen = pane.wait_for(lambda screen: f"LEFT {code}\n" in screen and "." in screen.partition("LEFT")[2])
    modes = sorted(screen.partition("LEFT")[2].split("\n")[1].strip(".").split())
    assert modes == ["echo", "icanon", "isig", "opost"]
    facts = ("alternate_on", "cursor_flag", "mouse_any_flag", "keypad_cursor_flag", "keypad_flag")
    assert [pane.fact(name) for name in facts] == ["0", "1", "0", "0", "0"]
    return screen


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_a_program_works_as_without_nacre(tmux: Tmux, program: Program, tmp_path: Path) -> None:
    pane = start(tmux, program.prepare(tmp_path))
    program.use(pane)
    pane.send(*LEAVING.get(program.name, ()))
    screen = left(pane, 0)
    if program.name == "vim":
        assert "the first line\nsecond" in screen


def test_the_question_of_ssh_about_a_host_key_is_answered(tmux: Tmux, tmp_path: Path) -> None:
    with ssh_server(tmp_path) as client:
        pane = start(tmux, client)
        Program("ssh", client, SSH_STEPS).use(pane)
        pane.send("C-d")
        left(pane, 0)


@pytest.mark.parametrize(
    ("command", "options", "code"),
    [("exit 7", "", 7), ("kill -9 $$", "", 137), ("echo up; sleep 100", "--timeout 1", 124), ("rm -rf /", "", 126)],
)
def test_the_exit_code_is_that_of_run(tmux: Tmux, command: str, options: str, code: int) -> None:
    left(start(tmux, command, options), code)


def test_a_new_size_reaches_the_program(tmux: Tmux, tmp_path: Path) -> None:
    menu = next(one for one in PROGRAMS if one.name == "curses")
    pane = start(tmux, menu.prepare(tmp_path))
    pane.wait_for("size 80x24")
    pane.resize(100, 30)
    pane.wait_for("size 100x30")
    pane.send("F2")
    left(pane, 0)


DRAWS = "printf '\\033[?1049h\\033[?25l\\033[?1003h\\033[?1h\\033=DRAWN'; trap '' INT TERM; sleep 1000"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_command_and_leaves_the_terminal_clean(
    tmux: Tmux, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_GRACE_SECONDS", "0.2")
    pane = start(tmux, DRAWS)
    pane.wait_for("DRAWN")
    shell = int(pane.fact("pane_pid"))
    (runs,) = [pid for pid in children.descendants(shell) if "nacre" in children.command_line(pid)]
    os.kill(runs, number)
    left(pane, 128 + number)


def test_the_stop_key_ends_a_command_that_listens_to_no_other(tmux: Tmux, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_GRACE_SECONDS", "0.2")
    pane = start(tmux, DRAWS)
    pane.wait_for("DRAWN")
    pane.send("C-c", "C-]", "C-]", "C-]")
    left(pane, 130)


def test_what_a_command_left_running_is_named(tmux: Tmux) -> None:
    pane = start(tmux, "trap '' HUP; sleep 1.5 & echo up")
    assert "sleep 1.5" in left(pane, 0)


@pytest.mark.slow
def test_a_flood_is_shown_and_a_key_is_answered(tmux: Tmux) -> None:
    pane = start(tmux, "yes")
    pane.wait_for("y\ny\ny\ny")
    shell = int(pane.fact("pane_pid"))
    (runs,) = [pid for pid in children.descendants(shell) if "nacre" in children.command_line(pid)]
    sizes = []
    for _ in range(12):
        time.sleep(0.2)
        sizes.append(_resident(runs))
    pane.send("C-c")
    left(pane, 130)
    # Nothing grows with the output: it runs into the artifact, whose cap is a setting.
    assert max(sizes[4:]) - sizes[4] < 8_000_000


def _resident(pid: int) -> int:
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_a_hidden_answer_is_in_no_file(tmux: Tmux, home: Path) -> None:
    secret = "tiny-swordfish-24-letters"[:24]
    pane = start(tmux, "read -rsp 'Secret: ' s; echo; echo ${#s} letters; read -rp 'More? ' x")
    pane.wait_for("Secret:")
    pane.type(secret)
    pane.send("Enter")
    pane.wait_for("24 letters")
    assert _with(secret, home) == []
    pane.send("Enter")
    left(pane, 0)
    assert _with(secret, home) == []
    assert _with("24 letters", home) != []


def _with(text: str, home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


# Where there is no person: stdin, stdout or both are something else.


def _run(*arguments: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    command = [*shlex.split(NACRE), "run", "--pty", *arguments]
    return subprocess.run(
        command, input=stdin, capture_output=True, timeout=PATIENCE_SECONDS, check=False, env={**os.environ, **env}
    )


def test_without_a_terminal_of_its_own_the_output_goes_to_stdout(home: Path) -> None:
    done = _run("--", "test -t 0 && test -t 1 && test -t 2 && stty size; echo $TERM $PAGER")
    assert (done.returncode, done.stdout) == (0, b"40 120\r\nxterm-256color cat\r\n")
    assert JobTable(home).list().jobs == ()


def test_standard_input_is_typed_with_its_end() -> None:
    done = _run("--stdin", "--", "sort", stdin=b"b\na\n")
    # What is typed at a terminal is seen there.
    assert (done.returncode, done.stdout) == (0, b"b\r\na\r\na\r\nb\r\n")


def test_a_prompt_that_no_one_sees_is_told_and_the_limit_ends_it() -> None:
    done = _run("--timeout", "2", "--", "read -p 'Sure? ' x")
    assert (done.returncode, done.stdout) == (124, b"Sure? ")
    assert b"it waits for input: Sure?; answer it with `nacre watch bg_1` and t" in done.stderr


def test_the_object_at_the_end_has_the_text_without_escapes() -> None:
    done = _run("--json", "--", "printf '\\033[31mred\\033[0m\\r\\n'; exit 3")
    assert done.returncode == 3
    assert b'"text": "red\\n"' in done.stdout


def test_terminals_that_are_switched_off_are_pipes_with_a_notice() -> None:
    done = _run("--", "test -t 1 || echo pipes", NACRE_NO_PTY="1")
    assert (done.returncode, done.stdout) == (0, b"pipes\n")
    assert b"pty is switched off (NACRE_NO_PTY): the command ran with pipes" in done.stderr
