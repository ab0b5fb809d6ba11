"""Counts in messages, with the right plural. Pure."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Spell a number and its noun, whose plural is regular: `1 job`, `2 jobs`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def were(count: int, noun: str, where: str = "") -> str:
    """Spell a number, its noun and the verb: `1 byte was`, `2 bytes at the end were`."""
    return f"{counted(count, noun)}{where} {'was' if count == 1 else 'were'}"
