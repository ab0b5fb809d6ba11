"""Which of a person's commands are nothing without a terminal: editors, pagers, monitors, REPLs, passwords.

Pure. Every other `!` command runs with pipes, as the mode table says (docs/statements.md, X247): its output streams
into the transcript, and an agent reads lines and not a screen.
"""

from __future__ import annotations

import os
import re

from nacre.bash.budget import TimeBudget
from nacre.bash.reader import read
from nacre.bash.tree import SimpleCommand, UnreadableError

_SCREENS = re.compile(
    r"n?vim?|view|vimdiff|nano|pico|micro|emacs|joe|hx|helix|kak|less|more|most|man|info|top|[abh]top|iotop|watch|mc"
    r"|ranger|nnn|lf|vifm|tig|lazygit|lazydocker|k9s|ncdu|fzf|dialog|whiptail|tmux|screen|gdb|lldb"
    r"|ssh|mosh|telnet|s?ftp|sudo|su|doas|passwd|visudo|psql|mysql"
)
# They read commands from the terminal only without a script.
_REPLS = re.compile(r"(?:i?python|pypy|lua|bash|zsh)[\d.]*|sh|dash|fish|node|irb|ghci|julia|R|bc|sqlite3|redis-cli")
_RUNS_ANOTHER = frozenset(("env", "command", "exec", "nice", "time", "builtin"))
# Options and variables between such a word and its program.
_BEFORE = re.compile(r"-|\w+=")
# What makes a program of these lists print and end.
_ENDS = frozenset(("-b", "-c", "-e", "-m", "--version", "-V", "--help", "-h", "--batch", "--command", "--execute"))


def wants_terminal(command: str) -> bool:
    """True if a program of the command draws a screen, or reads what a person types."""
    try:
        program = read(command, TimeBudget())
    except UnreadableError:
        return False
    if program.damage or program.background:
        return False
    return any(_draws(step) for step in program.steps if isinstance(step, SimpleCommand))


def _draws(simple: SimpleCommand) -> bool:
    words = [word.fixed for word in simple.words]
    while words and words[0] in _RUNS_ANOTHER:
        del words[0]
        while words and _BEFORE.match(words[0] or "") is not None:
            del words[0]
    if not words or words[0] is None or simple.pipe_out or _redirects(simple, ">"):
        return False
    name, rest = os.path.basename(words[0]), words[1:]
    if any(word in _ENDS for word in rest) and name not in ("ssh", "sudo"):
        return False
    if _SCREENS.fullmatch(name) is not None:
        return True
    operands = [word for word in rest if word is None or not word.startswith("-")]
    reads_script = simple.pipe_in or _redirects(simple, "<") or (operands and "-i" not in rest)
    return _REPLS.fullmatch(name) is not None and not reads_script


def _redirects(simple: SimpleCommand, sign: str) -> bool:
    own = {">": ("", "1"), "<": ("", "0")}[sign]
    return any(one.operator.startswith((sign, "&")) and one.descriptor in own for one in simple.redirects)
