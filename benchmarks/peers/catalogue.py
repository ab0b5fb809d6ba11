"""Every tool that is measured, and the environment that each needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]
# Outside of what is checked in; `make peers` fills it.
HOME = Path(os.environ.get("BENCH_PEERS", ROOT / ".peers"))

Kind = Literal["floor", "one-shot", "session", "server"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonEnvironment:
    """A virtual environment with what pip installs."""

    requirements: tuple[str, ...]
    python: tuple[int, int] = (3, 11)
    """The oldest Python that the peer accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEnvironment:
    """A folder with what npm installs."""

    dependencies: Mapping[str, str]
    overrides: Mapping[str, str]


# Ranges, so that a peer is measured at its best; exact where a newer one cannot be installed or does not fit its parts.
ENVIRONMENTS: dict[str, PythonEnvironment | NodeEnvironment] = {
    "pexpect": PythonEnvironment(requirements=("pexpect>=4.9",)),
    "swe-rex": PythonEnvironment(requirements=("swe-rex>=1.4",)),
    "inspect": PythonEnvironment(requirements=("inspect-ai>=0.3.285",)),
    "langchain": PythonEnvironment(
        requirements=("langchain-community>=0.4", "langchain-experimental>=0.4", "pexpect>=4.9")
    ),
    "deepagents": PythonEnvironment(requirements=("deepagents>=0.7",)),
    "pydantic-ai-harness": PythonEnvironment(requirements=("pydantic-ai-harness>=0.62",)),
    "mcp-shell-server": PythonEnvironment(requirements=("mcp-shell-server>=1.1",)),
    # Left to itself pip may take parts of different versions, which do not import.
    "openhands": PythonEnvironment(requirements=("openhands-tools==1.58.0", "openhands-sdk==1.58.0"), python=(3, 12)),
    # Exact: some registries have later versions without the part for Linux. It runs on bun, which npm has too.
    "pi-natives": NodeEnvironment(dependencies={"@oh-my-pi/pi-natives": "18.2.3", "bun": "^1.3.14"}, overrides={}),
    "mcp-server-commands": NodeEnvironment(dependencies={"mcp-server-commands": "^0.5.0"}, overrides={}),
    # The override: one of its many parts asks for a version that some registries do not have yet.
    "desktop-commander": NodeEnvironment(
        dependencies={"@wonderwhy-er/desktop-commander": "^0.2.52"},
        overrides={"typedarray.prototype.slice": "^1.0.5"},
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of the tables."""

    name: str
    kind: Kind
    adapter: str
    """MODULE:CLASS under adapters/, or FILE.mjs:VARIANT for what runs on bun."""
    environment: str | None = None
    """None for what nacre's own environment holds."""
    only: frozenset[str] | None = None
    """The workloads that make sense for it, where not all do."""
    in_caller: bool = False
    """Whether its shell is a part of the calling process, so that a builtin starts nothing."""
    one_at_a_time: bool = False
    """Whether its commands share a shell, as those of a session do."""
    ours: bool = False


_SPAWNING = frozenset({"true", "true_paced", "bin_true", "bin_true_paced"})
_READING = frozenset({"lines", "lines_paced", "large"})

ENTRIES = (
    Entry(name="floor: os.posix_spawn", kind="floor", adapter="floors:PosixSpawn", only=_SPAWNING),
    Entry(name="floor: posix_spawn + readv", kind="floor", adapter="floors:PosixSpawnRead", only=_READING),
    Entry(name="floor: subprocess.run", kind="floor", adapter="floors:SubprocessRun"),
    Entry(name="floor: asyncio subprocess", kind="floor", adapter="floors:AsyncioExec"),
    Entry(name="nacre, in-process", kind="one-shot", adapter="nacre_library:InProcess", ours=True),
    Entry(name="nacre, warden", kind="one-shot", adapter="nacre_library:Contained", ours=True),
    Entry(name="nacre, warden + spares", kind="one-shot", adapter="nacre_library:Spares", ours=True),
    Entry(name="swe-rex execute", kind="one-shot", adapter="swe_rex:Execute", environment="swe-rex"),
    Entry(name="inspect_ai local", kind="one-shot", adapter="inspect_local:Exec", environment="inspect"),
    Entry(name="langchain ShellTool", kind="one-shot", adapter="langchain_shell:ShellTool", environment="langchain"),
    Entry(name="deepagents", kind="one-shot", adapter="deepagents_shell:LocalShell", environment="deepagents"),
    Entry(
        name="pydantic-ai-harness",
        kind="one-shot",
        adapter="pydantic_shell:RunCommand",
        environment="pydantic-ai-harness",
    ),
    Entry(
        name="pi-natives", kind="one-shot", adapter="pi_natives.mjs:one-shot", environment="pi-natives", in_caller=True
    ),
    Entry(name="nacre session", kind="session", adapter="nacre_library:Kept", ours=True),
    Entry(name="nacre workspace tool", kind="session", adapter="nacre_library:WorkspaceTool", ours=True),
    Entry(name="swe-rex session", kind="session", adapter="swe_rex:Session", environment="swe-rex"),
    Entry(name="langchain persistent", kind="session", adapter="langchain_shell:Persistent", environment="langchain"),
    Entry(name="pexpect replwrap", kind="session", adapter="pexpect_repl:ReplWrap", environment="pexpect"),
    Entry(name="openhands tmux", kind="session", adapter="openhands_terminal:Tmux", environment="openhands"),
    Entry(name="openhands pty", kind="session", adapter="openhands_terminal:Pty", environment="openhands"),
    Entry(
        name="pi-natives session",
        kind="session",
        adapter="pi_natives.mjs:session",
        environment="pi-natives",
        in_caller=True,
    ),
    Entry(name="nacre mcp, session", kind="server", adapter="mcp_servers:Nacre", ours=True, one_at_a_time=True),
    Entry(name="nacre mcp, stateless", kind="server", adapter="mcp_servers:NacreStateless", ours=True),
    Entry(name="mcp-shell-server", kind="server", adapter="mcp_servers:McpShellServer", environment="mcp-shell-server"),
    Entry(
        name="mcp-server-commands",
        kind="server",
        adapter="mcp_servers:McpServerCommands",
        environment="mcp-server-commands",
    ),
    Entry(
        name="desktop-commander",
        kind="server",
        adapter="mcp_servers:DesktopCommander",
        environment="desktop-commander",
    ),
)


def is_wanted(entry: Entry, workload: str) -> bool:
    """Whether the workload says anything about the tool."""
    if entry.only is not None:
        return workload in entry.only
    return not (workload.startswith("at_once") and (entry.kind == "session" or entry.one_at_a_time))
