"""For programs that embed nacre: a scripted backend, and the contract that every backend must pass."""

from __future__ import annotations

from nacre.testing.backend_contract import BEHAVIOURS, CHECKS, Behaviour, check_backend
from nacre.testing.scripted import Play, ScriptedBackend

__all__ = ["BEHAVIOURS", "CHECKS", "Behaviour", "Play", "ScriptedBackend", "check_backend"]
