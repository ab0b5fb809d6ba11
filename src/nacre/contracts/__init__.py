"""The contracts: each is the shape of a tool that a model sees. Only companions/ does IO."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from nacre.errors import InvalidRequestError

if TYPE_CHECKING:
    from nacre.contracts.contract import Companion, Contract, SchemaContext, SeriesContract

# Name → module and class, imported at first use.
_CONTRACTS = {
    "basic": ("nacre.contracts.basic", "Basic"),
    "modes": ("nacre.contracts.modes", "Modes"),
    "workspace": ("nacre.contracts.workspace", "Workspace"),
    "anthropic": ("nacre.contracts.anthropic_bash", "Anthropic"),
    "openai": ("nacre.contracts.openai", "OpenAI"),
    "job": ("nacre.contracts.companions.job_tool", "JobTool"),
    "read": ("nacre.contracts.companions.read_tool", "ReadTool"),
    "changes": ("nacre.contracts.companions.changes_tool", "ChangesTool"),
}
# The contracts whose schema is a module of its own, which a server describes before it loads the engine.
_SCHEMAS = {
    "workspace": "nacre.contracts.workspace_schema",
    "job": "nacre.contracts.companions.job_schema",
    "read": "nacre.contracts.companions.read_schema",
    "changes": "nacre.contracts.companions.changes_schema",
}
# The tools beside a shell.
COMPANIONS = ("job", "read", "changes")


def contract_names() -> list[str]:
    return list(_CONTRACTS)


def command_contract_names() -> list[str]:
    """Return the contracts that run commands; companions do not."""
    return [name for name in _CONTRACTS if name not in COMPANIONS]


def contract_named(name: str) -> Contract | SeriesContract | Companion:
    if name not in _CONTRACTS:
        raise InvalidRequestError(f"there is no contract {name!r}; there are {', '.join(_CONTRACTS)}", field="contract")
    module, attribute = _CONTRACTS[name]
    contract: Contract | SeriesContract | Companion = getattr(importlib.import_module(module), attribute)()
    return contract


def name_of(contract: Contract | SeriesContract | Companion) -> str:
    """Return the name of an own contract, as the log has it."""
    named = getattr(getattr(contract, "profile", None), "contract", None)
    return named if isinstance(named, str) else type(contract).__name__


def schema_named(name: str, context: SchemaContext) -> dict[str, Any]:
    """The schema of a contract; the contract itself is imported only where it must be."""
    if name not in _SCHEMAS:
        return contract_named(name).schema(context)
    schema: dict[str, Any] = importlib.import_module(_SCHEMAS[name]).schema(context)
    return schema
