"""The programs that can use nacre over MCP: their configuration files and the entry for a server. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Scope = Literal["user", "project"]
Shape = Literal["stdio", "plain", "list"]
"""The form of an entry: `stdio` names the transport, `plain` does not, `list` has command and arguments in one list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program with a list of MCP servers."""

    title: str
    user: str
    """Its file for all projects. `~` is the home directory; a name in braces is a directory of `_directories`."""
    project: str | None
    """Its file in a project; None if it has none."""
    afterwards: str
    """How its user makes it read the file."""
    key: str = "mcpServers"
    """The key of the servers in its file."""
    shape: Shape = "plain"

    @property
    def is_toml(self) -> bool:
        return self.user.endswith(".toml")


CLIENTS = {
    "claude": Client(
        title="Claude Code",
        user="{claude}/.claude.json",
        project=".mcp.json",
        shape="stdio",
        afterwards="start a new session; /mcp shows whether it is connected",
    ),
    "claude-desktop": Client(
        title="Claude Desktop",
        user="{applications}/Claude/claude_desktop_config.json",
        project=None,
        afterwards="quit Claude Desktop and start it again",
    ),
    "cline": Client(
        title="Cline",
        user="~/.cline/data/settings/cline_mcp_settings.json",
        project=None,
        afterwards="Cline 4 or newer reads it at once; MCP Servers in Cline shows whether it is connected",
    ),
    "codex": Client(
        title="Codex",
        user="{codex}/config.toml",
        project=".codex/config.toml",
        key="mcp_servers",
        afterwards="start a new session; /mcp shows whether it is connected",
    ),
    "cursor": Client(
        title="Cursor",
        user="~/.cursor/mcp.json",
        project=".cursor/mcp.json",
        shape="stdio",
        afterwards="restart Cursor, then switch it on under MCP in its settings",
    ),
    "devin": Client(
        title="Devin Desktop",
        user="{config}/devin/mcp_config.json",
        project=".devin/mcp_config.json",
        afterwards="the MCP section of its agent panel shows whether it is connected",
    ),
    "gemini": Client(
        title="Gemini CLI",
        user="~/.gemini/settings.json",
        project=".gemini/settings.json",
        afterwards="start a new session; /mcp shows whether it is connected",
    ),
    "opencode": Client(
        title="opencode",
        user="{config}/opencode/opencode.json",
        project="opencode.json",
        key="mcp",
        shape="list",
        afterwards="start opencode again",
    ),
    "vscode": Client(
        title="VS Code",
        user="{applications}/Code/User/mcp.json",
        project=".vscode/mcp.json",
        key="servers",
        shape="stdio",
        afterwards="run the command MCP: List Servers and start it",
    ),
    "windsurf": Client(
        title="Windsurf",
        user="~/.codeium/windsurf/mcp_config.json",
        project=None,
        afterwards="refresh the MCP servers in Cascade's toolbar; since its new name, Devin Desktop, it is `devin`",
    ),
    "zed": Client(
        title="Zed",
        user="{zed}/zed/settings.json",
        project=".zed/settings.json",
        key="context_servers",
        afterwards="its settings are read at once; the agent panel shows whether it runs",
    ),
}


def file_of(
    name: str, scope: Scope, *, home: Path, cwd: Path, environ: Mapping[str, str], platform: str
) -> Path | None:
    """Return the file of a client, None where it has none; `platform` is `sys.platform`."""
    client = CLIENTS[name]
    if scope == "project":
        return None if client.project is None else cwd / client.project
    first, _, rest = client.user.partition("/")
    return _directories(home, environ, platform)[first] / rest


def _directories(home: Path, environ: Mapping[str, str], platform: str) -> dict[str, Path]:
    mac = platform == "darwin"
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    return {
        "~": home,
        "{config}": config,
        "{applications}": home / "Library" / "Application Support" if mac else config,
        # On macOS, Zed uses ~/.config and ignores the variable.
        "{zed}": home / ".config" if mac else config,
        "{claude}": Path(environ.get("CLAUDE_CONFIG_DIR") or home),
        "{codex}": Path(environ.get("CODEX_HOME") or home / ".codex"),
    }


def entry_of(name: str, argv: Sequence[str]) -> dict[str, Any]:
    """Return the entry of a server that is started with `argv`, in the form of the client."""
    match CLIENTS[name].shape:
        case "stdio":
            return {"type": "stdio", "command": argv[0], "args": list(argv[1:])}
        case "plain":
            return {"command": argv[0], "args": list(argv[1:])}
        case "list":
            return {"type": "local", "command": list(argv)}


def place_of(client: Client, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys that lead to the servers in a file with these values.

    opencode 2 keeps its servers one level deeper, and still reads the older place.
    """
    found = values.get(client.key)
    if client.shape == "list" and isinstance(found, dict) and isinstance(found.get("servers"), dict):
        return (client.key, "servers")
    return (client.key,)
