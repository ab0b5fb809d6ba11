"""The contracts: each is the shape of a tool that a model sees. Only companions/ does IO."""

from __future__ import annotations

import importlib

from nacre.contracts.contract import Companion, Contract, SeriesContract
from nacre.errors import InvalidRequestError

# Name → module and class, imported at first use.
_CONTRACTS = {
    "basic": ("nacre.contracts.basic", "Basic"),
    "modes": ("nacre.contracts.modes", "Modes"),
    "workspace": ("nacre.contracts.workspace", "Workspace"),
    "anthropic": ("nacre.contracts.anthropic_bash", "Anthropic"),
    "openai": ("nacre.contracts.openai", "OpenAI"),
    "job": ("nacre.contracts.companions.job_tool", "JobTool"),
    "read": ("nacre.contracts.companions.read_tool", "ReadTool"),
}


def contract_names() -> list[str]:
    return list(_CONTRACTS)


def contract_named(name: str) -> Contract | SeriesContract | Companion:
    if name not in _CONTRACTS:
        raise InvalidRequestError(f"there is no contract {name!r}; there are {', '.join(_CONTRACTS)}", field="contract")
    module, attribute = _CONTRACTS[name]
    contract: Contract | SeriesContract | Companion = getattr(importlib.import_module(module), attribute)()
    return contract
