"""`nacre install`: prints the entry for nacre in the configuration of an editor or agent, or writes it there."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from nacre import config
from nacre.cli import json_file
from nacre.cli.clients import CLIENTS, entry_of, file_of
from nacre.cli.frame import complain
from nacre.errors import ConfigError

EPILOG = """\
Without --write it prints the entry and changes nothing; the file it belongs into is named on stderr. With --write it
adds the entry to that file: everything else in it stays, the file as it was is kept beside it as FILE.before-nacre,
and the file is replaced in one step. A file that is not plain JSON (with comments, say) is not touched: then add the
printed entry by hand.

           user (all your projects)                                     project (this directory, for everybody)
  claude   ~/.claude.json                                               .mcp.json
  cursor   ~/.cursor/mcp.json                                           .cursor/mcp.json
  vscode   ~/.config/Code/User/mcp.json                                 .vscode/mcp.json
           (macOS: ~/Library/Application Support/Code/User/mcp.json)
  zed      ~/.config/zed/settings.json                                  .zed/settings.json

A user's entry names this nacre by its path, because programs that are started from a desktop have another PATH; a
project's entry says `nacre`, because it is for other machines too.

examples:
  nacre install claude                            look at it first
  nacre install cursor --write
  nacre install vscode --scope project --write
"""

NAME = "nacre"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", choices=list(CLIENTS), help="the program that shall use nacre")
    parser.add_argument(
        "--scope", choices=("user", "project"), default="user", help="for all your projects (user), or for this one"
    )
    parser.add_argument("--write", action="store_true", help="add it to the file instead of printing it")
    parser.add_argument("--replace", action="store_true", help="with --write: replace another entry of the same name")


def main(namespace: argparse.Namespace) -> int:
    client = CLIENTS[namespace.client]
    path = file_of(
        namespace.client,
        namespace.scope,
        home=Path.home(),
        cwd=Path(config.working_directory()),
        environ=os.environ,
        platform=sys.platform,
    )
    entry = entry_of(namespace.client, [*_program(namespace.scope), "mcp"])
    if not namespace.write:
        print(json.dumps({client.key: {NAME: entry}}, indent=2))
        complain(f"for {client.title} this belongs into {path}; --write adds it there")
        return 0
    print(add(path, client.key, entry, replace=namespace.replace))
    complain(client.afterwards)
    return 0


def add(path: Path, key: str, entry: dict[str, Any], *, replace: bool) -> str:
    """Add the entry to the file; return a description of the change.

    Raises:
        ConfigError: the file cannot be changed without loss.
    """
    content = json_file.read(path)
    servers = content.values.get(key, {})
    if not isinstance(servers, dict):
        raise ConfigError(f"{content.path}: {key!r} is not an object, so nothing was changed", source=str(path))
    if servers.get(NAME) == entry:
        return f"{content.path} has this entry already; nothing was changed"
    if NAME in servers and not replace:
        raise ConfigError(
            f"{content.path} has another entry {NAME!r}: {json.dumps(servers[NAME])}; nothing was changed, "
            "--replace replaces it",
            source=str(path),
        )
    values = content.values | {key: servers | {NAME: entry}}
    backup = json_file.write(content, values)
    kept = f"; what it was is kept as {backup.name}" if backup is not None else ""
    return f"added {NAME!r} to {content.path}{kept}"


def _program(scope: str) -> list[str]:
    """Return the words with which the client starts nacre."""
    if scope == "project":
        return [NAME]
    beside = Path(sys.executable).with_name(NAME)
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(NAME)
    return [os.path.abspath(found)] if found else [sys.executable, "-m", NAME]
