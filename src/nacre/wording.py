"""How messages spell counts: with the right plural."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number and what it counts: `1 job`, `2 jobs`; a noun with an irregular plural is not for this."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def were(count: int, noun: str, where: str = "") -> str:
    """The same with its verb: `1 byte was`, `2 bytes at the end were`."""
    return f"{counted(count, noun)}{where} {'was' if count == 1 else 'were'}"
