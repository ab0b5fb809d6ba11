"""nacre: the shell for AI agents.

bash parses a command · guard judges it · planning decides how it runs · backends start it · warden is the far side that
contains it · sessions keep a shell · jobs outlive their caller · output and artifacts show and keep what it writes ·
engine joins these · contracts give a tool the shape that a model sees · tool.py and api.py are for programs · cli, mcp,
rpc, acp and adapters translate. Values and protocols: request, command, backend, result, profile, settings, errors.

Importing this package does no work and imports nothing third-party: names are imported at first use.
"""

from __future__ import annotations

from nacre import forks as _forks  # noqa: F401 - its hook must exist before a thread imports other modules

# Not from typing: the warden imports this module, and typing would be a tenth of its start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.api import Session, run, run_sync
    from nacre.backend import Backend, Ending, Listener, PipesOnly, Process, Survivor
    from nacre.call_budget import Budget
    from nacre.command import Command, NewJob
    from nacre.contracts.contract import Contract, Reply, SchemaContext
    from nacre.errors import (
        ArtifactError,
        BackendError,
        CommandFailedError,
        ConfigError,
        DeniedError,
        InvalidRequestError,
        JobError,
        NacreError,
        RefusedError,
        RequestError,
        StartError,
        WorkingDirectoryError,
    )
    from nacre.guard.approval import Approver
    from nacre.guard.rules.rule_file import Rule
    from nacre.guard.verdict import Verdict
    from nacre.kept_command import Background
    from nacre.output.captured import Captured, Selection
    from nacre.planning.urls import Resolver, UnresolvedUrlError
    from nacre.profile import CaptureShape, Profile
    from nacre.remote.remote_backend import RemoteBackend, connect
    from nacre.request import ShellRequest
    from nacre.result import (
        ArtifactRef,
        Exited,
        Lost,
        Outcome,
        Output,
        ShellResult,
        Signalled,
        Stopped,
        TimedOut,
        Truncation,
    )
    from nacre.settings import Settings
    from nacre.terminals import Terminal, open_terminal
    from nacre.tool import Tool
    from nacre.tool_events import Notice, Update
    from nacre.warden.privacy import become_unreadable

__version__ = "0.1.0"

# Module → the public names that it defines.
_HOMES = {
    "nacre.api": "Session run run_sync",
    "nacre.backend": "Backend Ending Listener PipesOnly Process Survivor",
    "nacre.command": "Command NewJob",
    "nacre.contracts.contract": "Contract Reply SchemaContext",
    "nacre.errors": "ArtifactError BackendError CommandFailedError ConfigError DeniedError InvalidRequestError "
    "JobError NacreError RefusedError RequestError StartError WorkingDirectoryError",
    "nacre.guard.approval": "Approver",
    "nacre.guard.rules.rule_file": "Rule",
    "nacre.guard.verdict": "Verdict",
    "nacre.terminals": "Terminal open_terminal",
    "nacre.output.captured": "Captured Selection",
    "nacre.planning.urls": "Resolver UnresolvedUrlError",
    "nacre.kept_command": "Background",
    "nacre.profile": "CaptureShape Profile",
    "nacre.remote.remote_backend": "RemoteBackend connect",
    "nacre.request": "ShellRequest",
    "nacre.result": "ArtifactRef Exited Lost Outcome Output ShellResult Signalled Stopped TimedOut Truncation",
    "nacre.call_budget": "Budget",
    "nacre.settings": "Settings",
    "nacre.tool": "Tool",
    "nacre.tool_events": "Notice Update",
    "nacre.warden.privacy": "become_unreadable",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Approver",
    "ArtifactError",
    "ArtifactRef",
    "Backend",
    "BackendError",
    "Background",
    "Budget",
    "CaptureShape",
    "Captured",
    "Command",
    "CommandFailedError",
    "ConfigError",
    "Contract",
    "DeniedError",
    "Ending",
    "Exited",
    "InvalidRequestError",
    "JobError",
    "Listener",
    "Lost",
    "NacreError",
    "NewJob",
    "Notice",
    "Outcome",
    "Output",
    "PipesOnly",
    "Process",
    "Profile",
    "RefusedError",
    "RemoteBackend",
    "Reply",
    "RequestError",
    "Resolver",
    "Rule",
    "SchemaContext",
    "Selection",
    "Session",
    "Settings",
    "ShellRequest",
    "ShellResult",
    "Signalled",
    "StartError",
    "Stopped",
    "Survivor",
    "Terminal",
    "TimedOut",
    "Tool",
    "Truncation",
    "UnresolvedUrlError",
    "Update",
    "Verdict",
    "WorkingDirectoryError",
    "become_unreadable",
    "connect",
    "open_terminal",
    "run",
    "run_sync",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'nacre' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
