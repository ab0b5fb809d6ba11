"""Programs that need a terminal, each with what a person types at it and sees."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from terminals.tmux import Pane

SUDO_LIKE = """\
exec </dev/tty >/dev/tty
stty -echo; printf '[sudo] password for ada: '
read -r answer
stty echo; echo
[ "$answer" = swordfish ] && echo 'root it is' || echo 'Sorry, try again.'
"""

CURSES = """\
import curses

def main(screen):
    curses.mousemask(0)
    screen.keypad(True)
    place, name = 0, ""
    while name != "KEY_F(2)":
        screen.erase()
        rows, columns = screen.getmaxyx()
        screen.addstr(0, 0, f"size {columns}x{rows}", curses.A_REVERSE)
        for row in range(3):
            screen.addstr(2 + row, 2, ("> " if row == place else "  ") + f"entry {row}")
        screen.addstr(6, 0, f"last key {name}")
        screen.refresh()
        name = screen.getkey()
        place = (place + {"KEY_DOWN": 1, "KEY_UP": -1}.get(name, 0)) % 3

curses.wrapper(main)
print("curses has left")
"""


@dataclass(frozen=True)
class Step:
    """One thing that a person does, and what they see then."""

    shows: str
    types: str = ""
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    name: str
    command: str
    steps: tuple[Step, ...]
    needs: tuple[str, ...] = ()
    never_shows: str = "\0"
    files: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    def prepare(self, directory: Path) -> str:
        """Make its files; return its command."""
        for program in self.needs:
            if shutil.which(program) is None:
                pytest.skip(f"needs {program}")
        for name, text in self.files.items():
            (directory / name).write_text(text)
        return self.command.format(directory=directory, python=shlex.quote(sys.executable))

    def use(self, pane: Pane) -> None:
        """Do what a person does: each step waits for what the one before it shows."""
        for step in self.steps:
            pane.wait_for(step.shows)
            if step.types:
                pane.type(step.types)
            if step.keys:
                pane.send(*step.keys)
            assert self.never_shows not in pane.screen()


PROGRAMS = [
    Program(
        "vim",
        "vim -u NONE -N {directory}/note && cat {directory}/note",
        (
            Step("~", types="ifirst line"),
            Step("first line", keys=("Enter",)),
            Step("first line", types="second"),
            Step("second", keys=("Escape", "Up", "0")),
            Step("second", types="ithe "),
            Step("the first line", keys=("Escape",)),
            Step("the first line", types=":wq"),
            Step(":wq", keys=("Enter",)),
        ),
        needs=("vim",),
    ),
    Program(
        "top",
        "top -d 1",
        (Step("load average", keys=("h",)), Step("Toggle highlights", keys=("q",)), Step("load average")),
        needs=("top",),
    ),
    Program(
        "less",
        "seq 1000 | less",
        (
            Step("1\n2\n3", keys=("G",)),
            Step("1000\n", keys=("g",)),
            Step("1\n2\n3", keys=("Down", "Down")),
            Step("3\n4\n5", types="/^500$"),
            Step("/^500$", keys=("Enter",)),
            Step("500\n501"),
        ),
        needs=("less",),
    ),
    Program(
        "REPL",
        "{python} -q",
        (
            Step(">>>", types="6*7"),
            Step("6*7", keys=("Enter",)),
            Step("42", keys=("Up", "BSpace")),
            Step("6*\n", types="8"),
            Step("6*8", keys=("Enter",)),
            Step("48"),
        ),
    ),
    Program(
        "sudo",
        "bash {directory}/sudo-like",
        (Step("password for ada:", types="swordfish", keys=("Enter",)), Step("root it is")),
        never_shows="swordfish",
        files={"sudo-like": SUDO_LIKE},
    ),
    Program(
        "read-s",
        "read -rsp 'Token: ' token; echo; echo \"it has ${{#token}} characters\"; read -rp 'Done? ' x",
        (Step("Token:", types="correct-horse-battery-st", keys=("Enter",)), Step("it has 24 characters\nDone?")),
        never_shows="correct-horse-battery-st",
    ),
    Program(
        "curses",
        "{python} {directory}/menu.py",
        (
            Step("> entry 0", keys=("Down",)),
            Step("> entry 1", keys=("Down",)),
            Step("> entry 2", keys=("Down",)),
            Step("> entry 0", keys=("Up",)),
            Step("> entry 2"),
        ),
        files={"menu.py": CURSES},
    ),
]
# How each of them is left.
LEAVING = {"top": ("q",), "less": ("q",), "REPL": ("C-d",), "read-s": ("Enter",), "curses": ("F2",)}


@contextmanager
def ssh_server(directory: Path) -> Iterator[str]:
    """A real sshd on loopback with keys of its own; gives the command of a client that does not know its host key."""
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if sshd is None or shutil.which("ssh") is None:
        pytest.skip("needs openssh-server and openssh-client")
    if os.geteuid() == 0 and not os.path.isdir("/run/sshd"):
        pytest.skip("sshd as root needs /run/sshd")
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory / f"{name}_key"]
        subprocess.run(command, check=True, capture_output=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {
        "ListenAddress": f"127.0.0.1:{port}",
        "HostKey": directory / "host_key",
        "AuthorizedKeysFile": directory / "user_key.pub",
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
    }
    configuration = directory / "sshd_config"
    configuration.write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    with subprocess.Popen([sshd, "-D", "-e", "-f", configuration], stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            said = server.stderr.readline()
            assert "Server listening" in said, said
            known = f"-o UserKnownHostsFile={directory}/known_hosts -o GlobalKnownHostsFile=/dev/null"
            key = f"-o IdentitiesOnly=yes -o IdentityFile={directory}/user_key -o StrictHostKeyChecking=ask"
            yield f"ssh -F /dev/null {known} {key} -p {port} 127.0.0.1 'echo through ssh; cat'"
        finally:
            server.terminate()


SSH_STEPS = (
    Step("Are you sure you want to continue connecting", types="yes", keys=("Enter",)),
    Step("through ssh", types="typed far away", keys=("Enter",)),
    Step("typed far away\ntyped far away"),
)
