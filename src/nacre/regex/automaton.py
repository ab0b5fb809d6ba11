"""Runs an expression over text of any length, a character at a time, remembering what it has worked out.

A state is the set of places in the program that the text so far can have led to. The step from a state on a character
is computed once and kept; what is kept is bounded, so memory is too. While nothing has begun to match the automaton is
idle, and a possible beginning is looked for at the speed of the standard library.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

from nacre.regex.literals import KnownText, literal_prefix, needed
from nacre.regex.syntax import Accept, Assert, Instruction, Split, Take, assemble, flags_of, parse

# About a megabyte of remembered steps; then all are forgotten.
MOST_STEPS = 10_000
# How many places of the program a search may look at to work out steps: at first, and for each so many characters of
# text one more. That is under half a second. Ordinary expressions work out a few hundred steps and remember them; one
# whose states never come again would take a tenth of a millisecond for each character.
FIRST_WORK = 150_000
CHARACTERS_PER_WORK = 16

Before = Literal["start", "word", "other"]
# (text, from, to) → where, or -1.
Finder = Callable[[str, int, int], int]


class RegexWorkError(Exception):
    """The expression takes too much work on this text; the search was ended."""

    def __init__(self, source: str) -> None:
        super().__init__(f"/{shortened(source)}/ takes too much work on this output; use a simpler expression")


class WorkBudget:
    """The work that one search may take; earned by text, spent by steps that are not known yet."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = FIRST_WORK

    def spend(self, characters: int) -> None:
        """Take off what a walk over text of this length costs, also where every step is known."""
        self.left -= characters // CHARACTERS_PER_WORK + 1

    def earn(self, characters: int) -> None:
        """Add what text of this length allows; a budget that is spent stays so."""
        if self.left > 0:
            self.left = min(FIRST_WORK, self.left + characters // CHARACTERS_PER_WORK)


class State(dict[str, "State"]):
    """Where the text so far has led; maps the next character to the state after it."""

    __slots__ = ("before", "idle", "matched", "places", "regex")

    def __init__(self, regex: Regex, places: frozenset[int], before: Before, *, matched: bool) -> None:
        self.regex = regex
        self.places = places
        self.before: Before = before
        self.matched = matched
        self.idle = False

    def __missing__(self, character: str) -> State:
        return self.regex.step(self, character)


class Regex:
    """An expression, ready to be searched for in lines, or, with flags, in a whole text that holds newlines.

    Its methods are the steps of one automaton over its table of states, which they grow together.
    """

    def __init__(self, source: str, flags: str | None = None) -> None:
        """Raise RegexSyntaxError for an expression that cannot be used."""
        self.source = source
        self._lines = flags is None
        if flags is not None:
            flags = flags_of(source, flags)
        self._every_line = flags is None or "m" in flags
        tree = parse(source, flags)
        self._program = assemble(tree)
        self._classes = [_class(one) if isinstance(one, Take) else None for one in self._program]
        self._start = self._closure([0])
        self._looks_back = any(isinstance(one, Assert) and one.anchor != "$" for one in self._program)
        self._states: dict[tuple[frozenset[int], Before, bool], State] = {}
        self._steps = 0
        self._budget = WorkBudget()
        self._skip = self._skipper(literal_prefix(tree))
        self._hint = _finder(needed(tree))

    @property
    def begin(self) -> State:
        """The state at the beginning of a line."""
        return self._state(self._start, "start")

    def scan(self, state: State, text: str, pos: int = 0, *, budget: WorkBudget | None = None) -> tuple[State, int]:
        """Go on over `text`; stop behind the first match and return its end, or -1 when there is none.

        Raises:
            RegexWorkError: the budget of the search is spent; without one, that of a single search.
        """
        self._budget = WorkBudget() if budget is None else budget
        if self._budget.left <= 0:
            raise RegexWorkError(self.source)
        if state.matched:
            return state, pos
        lines = text.find("\n", pos) + 1
        if self._hint is None or not lines or not self._lines:
            return self._walk(state, text, pos, len(text))
        # Whole lines need a look only where they hold what every match holds.
        state, end = self._walk(state, text, pos, lines)
        rest = text.rfind("\n") + 1
        while end < 0 and (hit := self._hint(text, lines, rest)) >= 0:
            start = text.rfind("\n", 0, hit) + 1
            lines = text.find("\n", hit) + 1
            state, end = self._walk(self.begin, text, start, lines)
        return (state, end) if end >= 0 else self._walk(self.begin, text, rest, len(text))

    def _walk(self, state: State, text: str, pos: int, size: int) -> tuple[State, int]:
        while pos < size:
            if state.idle:
                found = self._skip(text, pos, size)
                if found < 0:
                    return self._idle_behind(text[size - 1]), -1
                if found > pos:
                    pos = found
                    state = self._idle_behind(text[pos - 1])
            state = state[text[pos]]
            pos += 1
            if state.matched:
                return state, pos
        return state, -1

    def matches_here(self, state: State) -> bool:
        """Return whether there is a match if the text ends here: `$` is then true."""
        return state.matched or self._resolve(state, None)[1]

    def find(self, text: str, pos: int = 0, *, budget: WorkBudget | None = None) -> int:
        """Return the end of the first match from `pos`, the beginning of a line, on; -1 when there is none.

        Raises:
            RegexWorkError: as `scan`.
        """
        state, end = self.scan(self.begin, text, pos, budget=budget)
        if end < 0 and self.matches_here(state):
            return len(text)
        return end

    def step(self, state: State, character: str) -> State:
        """Work out the state after `character`, and remember it."""
        # Every place costs the same, whether it is resolved, tried or followed.
        self._budget.left -= len(state.places) + 1
        if self._budget.left <= 0:
            raise RegexWorkError(self.source)
        takers, matched = self._resolve(state, character)
        if matched:
            after = self._state(frozenset(), "other", matched=True)
        elif character == "\n" and self._lines:
            after = self.begin
        else:
            reached = [place + 1 for place in takers if self._takes(place, character)]
            places = self._closure([*reached, *self._start])
            after = self._state(places, self._kind(character), matched=self._accepts(places))
        if self._steps >= MOST_STEPS:
            self._forget()
        self._steps += 1
        state[character] = after
        return after

    def _forget(self) -> None:
        for state in self._states.values():
            state.clear()
        self._states.clear()
        self._steps = 0

    def _state(self, places: frozenset[int], before: Before, *, matched: bool = False) -> State:
        if not matched and self._accepts(places):
            matched = True
        key = (places, before, matched)
        if (known := self._states.get(key)) is not None:
            return known
        state = self._states[key] = State(self, places, before, matched=matched)
        state.idle = places == self._start and not matched
        return state

    def _idle_behind(self, character: str) -> State:
        return self._state(self._start, self._kind(character))

    def _kind(self, character: str) -> Before:
        # Where nothing looks back, states need not differ by what came before.
        if not self._looks_back or (character == "\n" and self._every_line):
            return "start"
        return "word" if _is_word(character) else "other"

    def _closure(self, places: Iterable[int]) -> frozenset[int]:
        return frozenset(_reach(self._program, places, lambda _: False))

    def _resolve(self, state: State, following: str | None) -> tuple[set[int], bool]:
        """Return the places that take a character, and whether the expression is matched here."""

        def holds(one: Assert) -> bool:
            if one.anchor == "^":
                return state.before == "start"
            if one.anchor == "$":
                return following is None or (following == "\n" and self._every_line)
            word_follows = following is not None and _is_word(following)
            return ((state.before == "word") != word_follows) == (one.anchor == "b")

        return self._takers(_reach(self._program, state.places, holds))

    def _takers(self, places: set[int]) -> tuple[set[int], bool]:
        return {place for place in places if isinstance(self._program[place], Take)}, self._accepts(places)

    def _takes(self, place: int, character: str) -> bool:
        matcher = self._classes[place]
        return matcher is not None and matcher(character) is not None

    def _accepts(self, places: Iterable[int]) -> bool:
        return any(isinstance(self._program[place], Accept) for place in places)

    def _skipper(self, prefix: str) -> Finder:
        """Return what finds where a match could begin."""
        edge = len(prefix) - 1
        if edge > 0:

            def skip_to_prefix(text: str, pos: int, size: int) -> int:
                found = text.find(prefix, pos, size)
                # At the end of the text there may be a beginning of it.
                return found if found >= 0 else max(pos, size - edge)

            return skip_to_prefix
        takers, matched = self._takers(_reach(self._program, self._start, lambda _: True))
        if matched:
            return lambda text, pos, size: pos
        firsts = [one for place in sorted(takers) if isinstance(one := self._program[place], Take)]
        sources = dict.fromkeys(f"(?i:{one.source})" if one.ignore_case else one.source for one in firsts)
        return _pattern_finder("|".join(sources) or "(?!)")


def _reach(program: Sequence[Instruction], places: Iterable[int], holds: Callable[[Assert], bool]) -> set[int]:
    """Follow the forks, and the anchors that hold, up to what takes a character, accepts, or is held by an anchor."""
    found: set[int] = set()
    seen: set[int] = set()
    todo = list(places)
    while todo:
        place = todo.pop()
        if place in seen:
            continue
        seen.add(place)
        one = program[place]
        if isinstance(one, Split):
            todo.extend(one.targets)
        elif isinstance(one, Assert) and holds(one):
            todo.append(place + 1)
        else:
            found.add(place)
    return found


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _finder(literals: tuple[KnownText, ...]) -> Finder | None:
    """Return what finds any of these texts; None when there is none to look for."""
    if not literals:
        return None
    if len(literals) == 1 and not literals[0].ignore_case:
        wanted = literals[0].text
        return lambda text, pos, size: text.find(wanted, pos, size)
    spelled = (f"(?i:{re.escape(one.text)})" if one.ignore_case else re.escape(one.text) for one in literals)
    return _pattern_finder("|".join(spelled))


def _pattern_finder(pattern: str) -> Finder:
    search = re.compile(pattern).search

    def find(text: str, pos: int, size: int) -> int:
        found = search(text, pos, size)
        return -1 if found is None else found.start()

    return find


def _class(one: Take) -> Callable[[str], re.Match[str] | None]:
    return re.compile(one.source, re.IGNORECASE if one.ignore_case else 0).fullmatch


def shortened(source: str) -> str:
    """Return an expression as a message quotes it."""
    return source if len(source) <= SHOWN_CHARACTERS else f"{source[:SHOWN_CHARACTERS]}…"


SHOWN_CHARACTERS: Final = 100
_KEPT: Final = 16


@functools.lru_cache(maxsize=_KEPT)
def compiled(source: str) -> Regex:
    """Return the expression; what was worked out about a recent one is used again."""
    return Regex(source)
