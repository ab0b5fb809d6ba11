"""Families of commands as data: which commands they are, what of their output is noise, and which stages run.

A family is one TOML file with its own examples; `user_filters` verifies those of the user at load, the tests all.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from nacre.errors import ConfigError
from nacre.minimize.evidence import joined_patterns
from nacre.minimize.listings import LISTINGS
from nacre.minimize.row_stages import STAGES
from nacre.minimize.rows import Row, visible

_KEYS = frozenset(("name", "kind", "commands", "recognised", "stages", "noise", "example"))
STAGE_NAMES = frozenset(STAGES) | frozenset(LISTINGS)

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
    kind: Literal["tool", "log", "listing", "content"]
    examples: tuple[Example, ...]


def family_of(text: str, origin: str) -> Family:
    """A family from its TOML text; a ConfigError names what is wrong with it."""
    try:
        found = tomllib.loads(text)
        unknown = found.keys() - _KEYS
        if unknown:
            raise ValueError(f"unknown key {min(unknown)!r}; the keys are {', '.join(sorted(_KEYS))}")
        return _family_of(found)
    except KeyError as exc:
        raise ConfigError(f"{origin}: {exc.args[0]!r} is missing", source=origin) from exc
    except (ValueError, TypeError, AttributeError, re.error) as exc:
        raise ConfigError(f"{origin}: {exc}", source=origin) from exc


def _family_of(found: Mapping[str, Any]) -> Family:
    stages = tuple(found.get("stages", ("blanks", "runs")))
    unknown = sorted(set(stages) - STAGE_NAMES)
    if unknown:
        raise ValueError(f"unknown stage {unknown[0]!r}; the stages are {', '.join(sorted(STAGE_NAMES))}")
    kind = found.get("kind", "tool")
    if kind not in ("tool", "log", "listing", "content"):
        raise ValueError(f"unknown kind {kind!r}; the kinds are tool, log, listing and content")
    return Family(
        name=found["name"],
        commands=tuple(tuple(one.split()) for one in found.get("commands", ())),
        recognised=tuple(map(re.compile, found.get("recognised", ()))),
        noise=tuple(map(_noise_of, found.get("noise", ()))),
        stages=stages,
        kind=kind,
        examples=tuple(
            Example(one["input"], one["expected"], one["command"], one.get("exit", 0))
            for one in found.get("example", ())
        ),
    )


def _noise_of(found: Mapping[str, Any]) -> Noise:
    return Noise(
        kind=found["kind"],
        patterns=joined_patterns(found["rows"]),
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
    return tuple(family_of(folder.joinpath(name).read_text(encoding="utf-8"), name) for name in names)


def hide_noise(rows: list[Row], family: Family, *, failed: bool) -> None:
    """Hide the rows that a family calls noise."""
    for noise in family.noise:
        if noise.exit == "any" or (noise.exit == "nonzero") is failed:
            _hide_one_noise(rows, noise)


def _hide_one_noise(rows: list[Row], noise: Noise) -> None:
    inside = noise.after is None
    for row in visible(rows):
        if noise.after is not None and noise.before is not None and inside and noise.before.search(row.raw):
            inside = False
        if inside and any(pattern.search(row.raw) for pattern in noise.patterns):
            (row.hide_known if noise.overrides else row.hide)(noise.kind)
        if noise.after is not None and not inside and noise.after.search(row.raw):
            inside = True
