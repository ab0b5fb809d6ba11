"""The verbs, options and arguments of the command line as values, read from the parsers of the verbs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from nacre.cli import VERBS
from nacre.cli.parser import parser_of


class Option(NamedTuple):
    """An option, or an argument that has no option name."""

    names: tuple[str, ...]
    """Empty for an argument."""
    value: str | None
    """The name of its value; None for a switch."""
    choices: tuple[str, ...]
    help: str


class Entry(NamedTuple):
    """A verb or a subcommand."""

    words: tuple[str, ...]
    """As typed: `jobs`, `list`."""
    summary: str
    epilog: str
    options: tuple[Option, ...]
    arguments: tuple[Option, ...]
    subcommands: tuple[tuple[str, str], ...]
    """Name and summary of each."""


def command_tree() -> list[Entry]:
    """Return every verb, each followed by its subcommands."""
    return [entry for verb in VERBS for entry in _entries(parser_of(verb), (verb,))]


def _entries(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> Iterator[Entry]:
    # argparse has no public list of what was added to a parser.
    actions = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    below = [action for action in actions if isinstance(action, argparse._SubParsersAction)]
    rows = [_option(action) for action in actions if action not in below]
    parsers = {name: found for action in below for name, found in action.choices.items()}
    yield Entry(
        words=words,
        summary=parser.description or "",
        epilog=parser.epilog or "",
        options=tuple(row for row in rows if row.names),
        arguments=tuple(row for row in rows if not row.names),
        subcommands=tuple((name, found.description or "") for name, found in parsers.items()),
    )
    for name, found in parsers.items():
        yield from _entries(found, (*words, name))


def _option(action: argparse.Action) -> Option:
    choices = tuple(map(str, action.choices)) if action.choices is not None else ()
    name = str(action.metavar or action.dest)
    named = name.upper() if action.option_strings and not action.metavar else name
    value = None if action.nargs == 0 else "|".join(choices) or named
    return Option(tuple(action.option_strings), value, choices, action.help or "")
