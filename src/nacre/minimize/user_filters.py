"""The families that are in force: those that nacre ships, and those of the user, which come first.

A user's family overrides the one of the same name. Its examples are verified at load; one that fails is left aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.errors import ConfigError
from nacre.minimize.evidence import Detector, detectors_from_matchers
from nacre.minimize.families import Example, Family, built_in, family_of
from nacre.minimize.minimiser import shorten


class UserFilters(NamedTuple):
    """The families in force, and what is wrong with the files of the user that are left aside."""

    families: tuple[Family, ...]
    problems: tuple[str, ...]


def filters_of(folder: Path, only: Sequence[str] = (), without: Sequence[str] = ()) -> UserFilters:
    """The families of a folder of TOML files and the built-in ones, as far as they are switched on.

    A file that is wrong is left aside; the others of its folder are in force.
    """
    own: list[Family] = []
    problems: list[str] = []
    for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
        try:
            own.append(_load(path))
        except ConfigError as problem:
            problems.append(f"a filter is left aside: {problem}")
    names = {family.name for family in own}
    families = (*own, *(family for family in built_in() if family.name not in names))
    in_force = tuple(
        family
        for family in families
        if family.kind == "content" or ((not only or family.name in only) and family.name not in without)
    )
    return UserFilters(in_force, tuple(problems))


def matchers_of(files: Sequence[str]) -> tuple[Detector, ...]:
    """The detectors of the user's files of problem matchers."""
    found: list[Detector] = []
    for name in files:
        try:
            text = Path(name).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as exc:
            raise ConfigError(f"minimizer.matcher_files: {name}: {exc}", source=name) from exc
        found += detectors_from_matchers(text, name)
    return tuple(found)


def failed_examples(family: Family, families: Sequence[Family]) -> list[str]:
    """What is wrong with the examples of a family, one text an example; empty if all hold."""
    return [text for example in family.examples if (text := _fault(example, families))]


def _load(path: Path) -> Family:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{path}: {exc}", source=str(path)) from exc
    family = family_of(text, str(path))
    if not family.examples:
        raise ConfigError(f"{path}: a filter needs at least one [[example]]", source=str(path))
    if faults := failed_examples(family, (family, *built_in())):
        raise ConfigError(f"{path}: {faults[0]}", source=str(path))
    return family


def _fault(example: Example, families: Sequence[Family]) -> str:
    found = shorten(example.command, example.exit, example.input, families)
    got = example.input if found is None else found.text
    if got.strip("\n") == example.expected.strip("\n"):
        return ""
    return f"the example {example.command!r} gives\n{got}\nand not the expected\n{example.expected}"
