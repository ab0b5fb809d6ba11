"""Plain text that a match is known to hold: it can be looked for at the speed of the standard library."""

from __future__ import annotations

from dataclasses import dataclass

from nacre.regex.syntax import Assert, Choice, Node, Repeat, Sequence, Take

# More alternatives than this are not faster than the automaton.
MOST_ALTERNATIVES = 8


@dataclass(frozen=True, slots=True)
class KnownText:
    """Text that a match holds."""

    text: str
    ignore_case: bool


def literal_prefix(node: Node) -> str:
    """Return text with which every match begins, anchors aside."""
    match node:
        case Take(_, False):
            return _plain(node) or ""
        case Sequence(parts):
            prefix = ""
            for part in parts:
                found = literal_prefix(part)
                prefix += found
                if not isinstance(part, Assert) and not (isinstance(part, Take) and found):
                    break
            return prefix
        case Repeat(body, least, _) if least:
            return literal_prefix(body)
    return ""


def needed(node: Node) -> tuple[KnownText, ...]:
    """Return texts of which every match holds at least one; () when nothing is known."""
    match node:
        case Take():
            text = _plain(node)
            return () if text is None else (KnownText(text, node.ignore_case),)
        case Sequence(parts):
            return max([*_runs(parts), *(needed(part) for part in parts)], key=_worth, default=())
        case Choice(branches):
            found = [needed(branch) for branch in branches]
            together = tuple(one for alternatives in found for one in alternatives)
            return together if all(found) and len(together) <= MOST_ALTERNATIVES else ()
        case Repeat(body, least, _) if least:
            return needed(body)
    return ()


def _runs(parts: tuple[Node, ...]) -> list[tuple[KnownText, ...]]:
    """Return the stretches of plain characters, anchors in between aside."""
    runs: list[tuple[KnownText, ...]] = []
    run = ""
    ignore_case = False
    for part in parts:
        if isinstance(part, Assert):
            continue
        text = _plain(part) if isinstance(part, Take) else None
        if isinstance(part, Take) and text is not None and (part.ignore_case == ignore_case or not run):
            run, ignore_case = run + text, part.ignore_case
            runs.append((KnownText(run, ignore_case),))
        else:
            run = text or ""
            ignore_case = isinstance(part, Take) and part.ignore_case
    return runs


def _worth(alternatives: tuple[KnownText, ...]) -> int:
    """Return the length of the shortest: the longer it is, the fewer lines hold one by chance."""
    return min((len(one.text) for one in alternatives), default=0)


def _plain(one: Take) -> str | None:
    """Return the one character that is taken, where it is spelled as such."""
    source = one.source
    if len(source) == 1 and source != ".":
        return source
    return source[1] if len(source) == 2 and source[0] == "\\" and not source[1].isalnum() else None
