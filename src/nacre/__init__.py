"""nacre: the shell for AI agents.

script understands a command · policy judges it · planning decides how it runs · backends start it · warden is the far
side that contains it · execution watches it · output and artifacts keep what it writes · jobs outlive the caller ·
engine puts these together · contracts give it the shape a model sees · tool is what an agent's author holds ·
cli and the wires translate. Values and protocols: request, command, process, result, profile, settings, errors.

Importing this package does no work and imports nothing third-party: names are loaded when they are first used.
"""

from __future__ import annotations

from nacre import forks as _forks  # noqa: F401 - before a thread can import anything else of ours

# Not from typing: the warden loads this too, and typing alone would be a tenth of its start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from nacre.api import Session, run, run_sync
    from nacre.backend import Survivor
    from nacre.contracts.contract import Reply
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
    from nacre.tool import Notice, Tool, Update
    from nacre.warden.privacy import become_unreadable

__version__ = "0.1.0"

_HOMES = {
    "nacre.contracts.contract": ["Reply"],
    "nacre.errors": [
        "ArtifactError",
        "BackendError",
        "CommandFailedError",
        "ConfigError",
        "DeniedError",
        "InvalidRequestError",
        "JobError",
        "NacreError",
        "RefusedError",
        "RequestError",
        "StartError",
        "WorkingDirectoryError",
    ],
    "nacre.backend": ["Survivor"],
    "nacre.result": [
        "ArtifactRef",
        "Exited",
        "Lost",
        "Outcome",
        "Output",
        "ShellResult",
        "Signalled",
        "Stopped",
        "TimedOut",
        "Truncation",
    ],
    "nacre.api": ["Session", "run", "run_sync"],
    "nacre.settings": ["Settings"],
    "nacre.tool": ["Notice", "Tool", "Update"],
    "nacre.warden.privacy": ["become_unreadable"],
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ArtifactError",
    "ArtifactRef",
    "BackendError",
    "CommandFailedError",
    "ConfigError",
    "DeniedError",
    "Exited",
    "InvalidRequestError",
    "JobError",
    "Lost",
    "NacreError",
    "Notice",
    "Outcome",
    "Output",
    "RefusedError",
    "Reply",
    "RequestError",
    "Session",
    "Settings",
    "ShellResult",
    "Signalled",
    "StartError",
    "Stopped",
    "Survivor",
    "TimedOut",
    "Tool",
    "Truncation",
    "Update",
    "WorkingDirectoryError",
    "become_unreadable",
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
