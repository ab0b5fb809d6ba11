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
from nacre.cli import json_file, toml_file
from nacre.cli.clients import CLIENTS, Client, entry_of, file_of, place_of
from nacre.cli.frame import complain
from nacre.cli.toml_file import table_text
from nacre.errors import ConfigError

EPILOG = """\
Without --write it prints the entry and changes nothing; the file it belongs into is named on stderr. With --write it
adds the entry to that file: everything else in it stays, the file as it was is kept beside it as FILE.before-nacre,
and the file is replaced in one step. A JSON file with comments is not touched: then add the printed entry by hand.

                   user (all your projects)                             project (this directory, for everyone)
  claude           ~/.claude.json                                       .mcp.json
  claude-desktop   ~/.config/Claude/claude_desktop_config.json          -
  cline            ~/.cline/data/settings/cline_mcp_settings.json       -
  codex            ~/.codex/config.toml                                 .codex/config.toml
  cursor           ~/.cursor/mcp.json                                   .cursor/mcp.json
  devin            ~/.config/devin/mcp_config.json                      .devin/mcp_config.json
  gemini           ~/.gemini/settings.json                              .gemini/settings.json
  opencode         ~/.config/opencode/opencode.json                     opencode.json
  vscode           ~/.config/Code/User/mcp.json                         .vscode/mcp.json
  windsurf         ~/.codeium/windsurf/mcp_config.json                  -
  zed              ~/.config/zed/settings.json                          .zed/settings.json

On macOS, Claude Desktop and VS Code keep theirs below ~/Library/Application Support. CODEX_HOME, CLAUDE_CONFIG_DIR and
XDG_CONFIG_HOME are followed. Windsurf is called Devin Desktop since June 2026.

A user's entry names this nacre by its path, because programs that are started from a desktop have another PATH; a
project's entry says `nacre`, because it is for other machines too.

examples:
  nacre install claude                            look at it first
  nacre install codex --write
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
    if path is None:
        raise ConfigError(f"{client.title} has no file for a project; leave --scope out", source=namespace.client)
    entry = entry_of(namespace.client, [*_program(namespace.scope), "mcp"])
    if not namespace.write:
        whole = {client.key: {NAME: entry}}
        print(table_text(client.key, NAME, entry) if client.is_toml else json.dumps(whole, indent=2) + "\n", end="")
        complain(f"for {client.title} this belongs into {path}; --write adds it there")
        return 0
    print(add(path, client, entry, replace=namespace.replace))
    complain(client.afterwards)
    return 0


def add(path: Path, client: Client, entry: dict[str, Any], *, replace: bool) -> str:
    """Add the entry to the file; return a description of the change.

    Raises:
        ConfigError: the file cannot be changed without loss.
    """
    if client.is_toml:
        file, values = toml_file.read(path)
        servers = _servers(values, (client.key,), file.path)
        if (known := _known(servers, entry, file.path, replace=False)) is not None:
            return known
        return _added(file.path, toml_file.append_table(file, client.key, NAME, entry))
    content = json_file.read(path)
    keys = place_of(client, content.values)
    servers = _servers(content.values, keys, content.path)
    if (known := _known(servers, entry, content.path, replace=replace)) is not None:
        return known
    changed: dict[str, Any] = servers | {NAME: entry}
    for depth in range(len(keys) - 1, -1, -1):
        above = _servers(content.values, keys[:depth], content.path)
        changed = above | {keys[depth]: changed}
    return _added(content.path, json_file.write(content, changed))


def _servers(values: dict[str, Any], keys: tuple[str, ...], path: Path) -> dict[str, Any]:
    for key in keys:
        values = values.get(key, {})
        if not isinstance(values, dict):
            raise ConfigError(f"{path}: {key!r} is not an object, so nothing was changed", source=str(path))
    return values


def _known(servers: dict[str, Any], entry: dict[str, Any], path: Path, *, replace: bool) -> str | None:
    """Return what to say if the entry is there already; refuse another one of the same name."""
    if servers.get(NAME) == entry:
        return f"{path} has this entry already; nothing was changed"
    if NAME in servers and not replace:
        how = "change it by hand" if path.suffix == ".toml" else "--replace replaces it"
        raise ConfigError(
            f"{path} has another entry {NAME!r}: {json.dumps(servers[NAME], default=str)}; nothing was changed, {how}",
            source=str(path),
        )
    return None


def _added(path: Path, backup: Path | None) -> str:
    kept = f"; what it was is kept as {backup.name}" if backup is not None else ""
    return f"added {NAME!r} to {path}{kept}"


def _program(scope: str) -> list[str]:
    """Return the words with which the client starts nacre."""
    if scope == "project":
        return [NAME]
    beside = Path(sys.executable).with_name(NAME)
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(NAME)
    return [os.path.abspath(found)] if found else [sys.executable, "-m", NAME]
