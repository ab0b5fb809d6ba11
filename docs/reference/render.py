"""Renders the reference pages from the code, so that they cannot say anything else: `python docs/reference/render.py`.

A test compares the pages with what this renders. Help is laid out here and not by argparse, whose layout depends on
the width of the terminal and on the version of Python.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from nacre import setting_values
from nacre.cli import VERBS
from nacre.cli.command_tree import command_tree
from nacre.cli.man_page import man_page
from nacre.cli.parser import parser_of
from nacre.environment.noninteractive import noninteractive_defaults
from nacre.environment.quiet_tools import quiet_variables
from nacre.setting_table import About

HERE = Path(__file__).parent

COMMAND_LINE = """\
# Command line

<!-- Rendered from the code by `python docs/reference/render.py`. -->

stdout carries the result, stderr everything else; `--json` gives data instead of text. `nacre run` exits with the
command's own code (128+n for a signal), 124 on timeout, 126 when the guard denied the command, 125 for a failure of
nacre's own. The other verbs exit with 0, 2 for wrong usage, 125 for a failure, and as their help says.
"""

SETTINGS = """\
# Settings

<!-- Rendered from the code by `python docs/reference/render.py`. -->

Later sources win: defaults, `~/.config/nacre/nacre.toml` (under `$XDG_CONFIG_HOME`), `nacre.toml` in the working
directory, environment variables. `nacre config show` prints the values in force and where each came from. An unknown
setting or a wrong value in your own file or a variable is an error that names the file, the line, the setting, its
value and what would be accepted; until it is corrected, calls are refused with it.

A project's `nacre.toml` may have been written by the agent that nacre watches. It cannot set what could loosen a
protection, or reach what other projects keep in the state directory: see the last column. And it never stops a call: a
file that tries, or that is wrong, unreadable, no regular file or on a file system that does not answer within a second,
is left aside as a whole. The first result of each session, each `nacre call` and `nacre doctor` say so.

The patterns of `policy.interceptor_file` take linear time: lookaround, back references and atomic groups are not
supported, and a rule that has them is left out with a warning.

State (jobs, artifacts, the audit log) lives in `$NACRE_HOME`, else in `$XDG_STATE_HOME/nacre`, else in
`~/.local/state/nacre`.
"""


def render_command_line() -> str:
    parts = [COMMAND_LINE]
    for verb in VERBS:
        parts += _describe(parser_of(verb), level=2)
    return "\n".join(parts)


def _describe(parser: argparse.ArgumentParser, *, level: int) -> Iterator[str]:
    yield f"{'#' * level} {parser.prog}\n"
    if parser.description:
        yield f"{parser.description}\n"
    actions = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    rows = [action for action in actions if not isinstance(action, argparse._SubParsersAction)]
    if rows:
        lines = ["| argument | meaning |", "|---|---|"]
        lines += [f"| `{_cell(_spelling(action))}` | {_cell(action.help or '')} |" for action in rows]
        yield "\n".join(lines) + "\n"
    if parser.epilog:
        yield f"```text\n{parser.epilog.strip()}\n```\n"
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from _describe(sub, level=level + 1)


def _spelling(action: argparse.Action) -> str:
    choices = "|".join(map(str, action.choices)) if action.choices is not None else ""
    if not action.option_strings:
        name = choices or str(action.metavar or action.dest)
        return f"[{name}]" if action.nargs == "?" else f"{name} …" if action.nargs in ("+", "*") else name
    names = ", ".join(action.option_strings)
    if action.nargs == 0:
        return names
    return f"{names} {action.metavar or choices or action.dest.upper()}"


def _project_may(about: About) -> str:
    if about.tightens:
        return "at most yours"
    if about.stricter is not None:
        return "only stricter"
    most = about.project_most
    return "no" if about.loosens else "yes" if most is None else f"at most {most:.15g}"


def render_settings() -> str:
    parts = [SETTINGS]
    for section in setting_values.sections():
        lines = [
            f"## {section}\n",
            "| setting, variable | default | accepted | meaning | project file |",
            "|---|---|---|---|---|",
        ]
        for key, setting in setting_values.all_settings().items():
            if not key.startswith(f"{section}."):
                continue
            default = setting_values.plain_value(key, setting.default)
            cells = [
                f"`{key}`<br>`{setting.variable}`",
                "unset" if default is None else f"`{json.dumps(default)}`",
                setting_values.accepted(key),
                setting.about.doc,
                _project_may(setting.about),
            ]
            lines.append(f"| {' | '.join(map(_cell, cells))} |")
        parts.append("\n".join(lines) + "\n")
    lines = ["## Variables that nacre sets for a command\n", "| variable | value |", "|---|---|"]
    lines += [f"| `{name}` | `{json.dumps(value)}` |" for name, value in sorted(noninteractive_defaults().items())]
    parts.append(
        "\n".join(lines) + "\n\nThey keep programs from prompting, paging and drawing progress bars, in every contract "
        "with a filtered\nenvironment (all but `basic`). A variable of the call wins; `environment.unset_defaults` "
        "leaves a variable as it\nis in your environment. `PWD` is the working directory. `nacre env` shows all that "
        "a command sees.\n"
    )
    lines = ["## Variables that ask tools for less output\n", "| variable | value |", "|---|---|"]
    lines += [f"| `{name}` | `{json.dumps(value)}` |" for name, value in sorted(quiet_variables().items())]
    parts.append(
        "\n".join(lines) + "\n\nSet in the `workspace`, `anthropic` and `openai` contracts while `output.quiet_tools` "
        "is on, never in `basic` and\n`modes`. None overrides a variable of your environment, of `shell.env` or of the "
        "call; `environment.unset_defaults`\nleaves one out. The [guide](../guides/minimiser.md) says which were tried "
        "with the real tool.\n"
    )
    return "\n".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def render_man_page() -> str:
    return man_page(command_tree())


PAGES = {
    "command-line.md": render_command_line,
    "settings.md": render_settings,
    "../nacre.1": render_man_page,
}


def main() -> int:
    for name, render in PAGES.items():
        (HERE / name).write_text(render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
