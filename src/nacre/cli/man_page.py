"""The man page, made from the tree of the command line. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nacre.cli.command_tree import Entry, Option

_HEAD = r""".TH NACRE 1 "" "nacre" "User Commands"
.nh
.ad l
.SH NAME
nacre \- the shell for AI agents
.SH SYNOPSIS
.B nacre
.I VERB
\&...
.SH DESCRIPTION
Runs shell commands for programs that give a language model a shell, and for people.
A call always comes back, loses no output and leaves nothing behind.
.PP
Standard output carries the result, standard error everything else.
With
.B \-\-json
the result is data.
.SH VERBS
"""
_TAIL = r""".SH EXIT STATUS
.B nacre run
exits with the code of the command, 128+n for signal n, 124 on timeout, 126 when the guard denied the command and 125
for a failure of nacre's own.
The other verbs exit with 0, with 2 for wrong usage, with 125 for a failure, and as their help says.
.SH ENVIRONMENT
.TP
.B NACRE_HOME
Where jobs, kept outputs and the log live; else
.I $XDG_STATE_HOME/nacre
or
.IR ~/.local/state/nacre .
.TP
.B NO_COLOR
No colours on a terminal.
.PP
Each setting has a variable too:
.BR "nacre config show" .
.SH FILES
.TP
.I ~/.config/nacre/nacre.toml
The user's settings.
.TP
.I nacre.toml
The settings of a project.
"""


def man_page(tree: Sequence[Entry]) -> str:
    """Return the page in roff."""
    return _HEAD + "".join(map(_section, tree)) + _TAIL


def _section(entry: Entry) -> str:
    usage = " ".join(argument.value or "" for argument in entry.arguments)
    lines = [f".SS nacre {' '.join(entry.words)} {_escaped(usage)}".rstrip(), _text(entry.summary)]
    for option in (*entry.arguments, *entry.options):
        lines += [".TP", _heading(option), _text(option.help)]
    if entry.epilog:
        lines += [".PP", ".nf", *map(_text, entry.epilog.strip().splitlines()), ".fi"]
    return "\n".join(lines) + "\n"


def _heading(option: Option) -> str:
    if not option.names:
        return f".I {_escaped(option.value or '')}"
    names = ", ".join(f"\\fB{_escaped(name)}\\fR" for name in option.names)
    return names if option.value is None else f"{names} \\fI{_escaped(option.value)}\\fR"


def _text(line: str) -> str:
    escaped = _escaped(line)
    # A line that begins with one of these would be a request.
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


def _escaped(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")
