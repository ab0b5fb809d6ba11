"""The programs that can use nacre over MCP: their configuration files and the entry for a server. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Scope = Literal["user", "project"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program with a list of MCP servers."""

    title: str
    key: str
    """The key of the servers in its file."""
    project: str
    """Its file in a project."""
    afterwards: str
    """How its user makes it read the file."""
    names_transport: bool = True
    """Whether an entry names its transport, stdio."""


CLIENTS = {
    "claude": Client(
        title="Claude Code",
        key="mcpServers",
        project=".mcp.json",
        afterwards="start a new session; /mcp shows whether it is connected",
    ),
    "cursor": Client(
        title="Cursor",
        key="mcpServers",
        project=".cursor/mcp.json",
        afterwards="restart Cursor, then switch it on under MCP in its settings",
    ),
    "vscode": Client(
        title="VS Code",
        key="servers",
        project=".vscode/mcp.json",
        afterwards="run the command MCP: List Servers and start it",
    ),
    "zed": Client(
        title="Zed",
        key="context_servers",
        project=".zed/settings.json",
        afterwards="its settings are read at once; the agent panel shows whether it runs",
        names_transport=False,
    ),
}


def file_of(name: str, scope: Scope, *, home: Path, cwd: Path, environ: Mapping[str, str], platform: str) -> Path:
    """Return the file of a client; `platform` is `sys.platform`."""
    if scope == "project":
        return cwd / CLIENTS[name].project
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    match name:
        case "claude":
            return Path(environ.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json"
        case "cursor":
            return home / ".cursor" / "mcp.json"
        case "vscode":
            applications = home / "Library" / "Application Support" if platform == "darwin" else config
            return applications / "Code" / "User" / "mcp.json"
        case _:
            # On macOS, Zed uses ~/.config and ignores the variable.
            return (home / ".config" if platform == "darwin" else config) / "zed" / "settings.json"


def entry_of(name: str, argv: Sequence[str]) -> dict[str, Any]:
    """Return the entry of a server that is started with `argv`, in the form of the client."""
    entry = {"command": argv[0], "args": list(argv[1:])}
    return {"type": "stdio", **entry} if CLIENTS[name].names_transport else entry
