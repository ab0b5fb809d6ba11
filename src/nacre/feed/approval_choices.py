"""What a person can answer to an approval, by key, in every viewer (D35). Pure."""

from __future__ import annotations

from typing import Literal

Scope = Literal["once", "session", "always", "deny"]

CHOICES: tuple[tuple[str, Scope, str], ...] = (
    ("1", "once", "once"),
    ("2", "session", "this session"),
    ("3", "always", "always, as a rule"),
    ("4", "deny", "deny"),
)
