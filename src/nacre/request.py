"""What a caller asks for, checked once: the same value whatever contract it came through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Mode = Literal["foreground", "background"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellRequest:
    command: str
    """The script, as the caller wrote it."""
    timeout: float | None = None
    """Seconds; None leaves it to the contract."""
    mode: Mode = "foreground"
    cwd: str | None = None
    """None is the tool's own directory."""
    env: Mapping[str, str] | None = None
    """Variables for this call, on top of all others."""
