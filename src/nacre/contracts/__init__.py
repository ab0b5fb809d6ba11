"""The contracts: each a shape that a model sees around the one engine."""

from __future__ import annotations

from nacre.contracts.basic import Basic
from nacre.contracts.contract import Contract
from nacre.contracts.modes import Modes
from nacre.errors import InvalidRequestError

_CONTRACTS: dict[str, type[Contract]] = {"basic": Basic, "modes": Modes}


def contract_names() -> list[str]:
    return list(_CONTRACTS)


def contract_named(name: str) -> Contract:
    if name not in _CONTRACTS:
        raise InvalidRequestError(
            f"there is no contract {name!r}; there are {', '.join(_CONTRACTS)}", field="contract"
        )
    return _CONTRACTS[name]()
