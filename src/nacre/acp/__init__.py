"""The Agent Client Protocol, in both directions: commands in the terminals of an editor, and terminals for an editor.

`ClientTerminals` is for an agent, as `nacre.Tool("workspace", terminal=…)`, and `run_agent` serves one.
`TerminalProvider` is for a client. Needs the extra `acp`.
"""

from __future__ import annotations

try:
    import acp as _acp  # noqa: F401 - only to report the missing extra
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "nacre.acp needs the extra acp: pip install 'nacre-shell[acp]'", name=error.name
    ) from error

from nacre.acp.agent import run_agent
from nacre.acp.client import ClientTerminals
from nacre.acp.provider import TerminalProvider

__all__ = ["ClientTerminals", "TerminalProvider", "run_agent"]
