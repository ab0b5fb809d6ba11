"""Families of commands as data: which commands they are, what of their output is noise, and which stages run.

A family is one TOML file. Its examples are verified when it is loaded; a family whose examples fail is refused.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from nacre.minimize.rows import Row, visible

Exit = Literal["any", "zero", "nonzero"]


@dataclass(frozen=True, slots=True)
class Noise:
    """Rows of one kind that say nothing that a reader needs."""

    kind: str
    patterns: tuple[re.Pattern[str], ...]
    exit: Exit = "any"
    after: re.Pattern[str] | None = None
    """Only between a row like this …"""
    before: re.Pattern[str] | None = None
    """… and a row like that."""
    overrides: bool = False
    """Whether the rows are noise although a detector recognises them: the pattern knows them better."""


@dataclass(frozen=True, slots=True)
class Example:
    input: str
    expected: str
    command: str
    exit: int


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    commands: tuple[tuple[str, ...], ...]
    """Words that a command of the family begins with."""
    recognised: tuple[re.Pattern[str], ...]
    """Rows by which its output is recognised behind a wrapper."""
    noise: tuple[Noise, ...]
    stages: tuple[str, ...]
    kind: Literal["tool", "log", "content"]
    examples: tuple[Example, ...]


def family_of(text: str) -> Family:
    """A family from its TOML text; raises ValueError that names what is wrong."""
    found = tomllib.loads(text)
    return Family(
        name=found["name"],
        commands=tuple(tuple(one.split()) for one in found.get("commands", ())),
        recognised=tuple(map(re.compile, found.get("recognised", ()))),
        noise=tuple(map(_noise_of, found.get("noise", ()))),
        stages=tuple(found.get("stages", ("blanks", "runs"))),
        kind=found.get("kind", "tool"),
        examples=tuple(
            Example(one["input"], one["expected"], one.get("command", ""), one.get("exit", 0))
            for one in found.get("example", ())
        ),
    )


def _noise_of(found: Mapping[str, Any]) -> Noise:
    return Noise(
        kind=found["kind"],
        patterns=tuple(map(re.compile, found["rows"])),
        exit=found.get("exit", "any"),
        after=re.compile(found["after"]) if "after" in found else None,
        before=re.compile(found["before"]) if "before" in found else None,
        overrides=found.get("overrides", False),
    )


@functools.cache
def built_in() -> tuple[Family, ...]:
    """The families that nacre ships, in the order of their names."""
    folder = resources.files("nacre.minimize").joinpath("filters")
    names = sorted(one.name for one in folder.iterdir() if one.name.endswith(".toml"))
    return tuple(family_of(folder.joinpath(name).read_text(encoding="utf-8")) for name in names)


def hide_noise(rows: list[Row], family: Family, *, failed: bool) -> None:
    """Hide the rows that a family calls noise."""
    for noise in family.noise:
        if noise.exit != "any" and (noise.exit == "nonzero") is not failed:
            continue
        inside = noise.after is None
        for row in visible(rows):
            if noise.before is not None and noise.after is not None and inside and noise.before.search(row.raw):
                inside = False
            if inside and any(pattern.search(row.raw) for pattern in noise.patterns):
                if not noise.overrides:
                    row.hide(noise.kind)
                elif not row.stays:
                    row.hidden = noise.kind
            if not inside and noise.after is not None and noise.after.search(row.raw):
                inside = True
