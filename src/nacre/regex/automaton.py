"""Runs an expression over text of any length, a character at a time, remembering what it has worked out.

A state is the set of places in the program that the text so far can have led to. The step from a state on a character
is computed once and kept; what is kept is bounded, so memory is too. While nothing has begun to match the automaton is
idle, and a possible beginning is looked for at the speed of the standard library.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Final, Literal

from nacre.regex.literals import Fixed, literal_prefix, needed
from nacre.regex.syntax import Accept, Assert, Split, Take, assemble, flags_of, parse

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


class Budget:
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
    """An expression, ready to be searched for in lines, or, with flags, in a whole text that holds newlines."""

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
        self._budget = Budget()
        self._skip = self._skipper(literal_prefix(tree))
        self._hint = _finder(needed(tree))

    @property
    def begin(self) -> State:
        """The state at the beginning of a line."""
        return self._state(self._start, "start")

    def scan(self, state: State, text: str, pos: int = 0, *, budget: Budget | None = None) -> tuple[State, int]:
        """Go on over `text`; stop behind the first match and return its end, or -1 when there is none.

        Raises:
            RegexWorkError: the budget of the search is spent; without one, that of a single search.
        """
        self._budget = Budget() if budget is None else budget
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
        """Whether there is a match if the text ends here: `$` is then true."""
        return state.matched or self._resolve(state, None)[1]

    def find(self, text: str, pos: int = 0, *, budget: Budget | None = None) -> int:
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
        return "word" if character.isalnum() or character == "_" else "other"

    def _closure(self, places: Iterable[int]) -> frozenset[int]:
        """Follow the forks, up to what needs a character or an anchor."""
        found: set[int] = set()
        seen: set[int] = set()
        todo = list(places)
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            one = self._program[place]
            if isinstance(one, Split):
                todo.extend(one.targets)
            else:
                found.add(place)
        return frozenset(found)

    def _resolve(self, state: State, following: str | None) -> tuple[set[int], bool]:
        """Follow the anchors too: the places that take a character, and whether the expression is matched here."""
        takers: set[int] = set()
        seen: set[int] = set()
        todo = list(state.places)
        matched = False
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            one = self._program[place]
            if isinstance(one, Accept):
                matched = True
            elif isinstance(one, Take):
                takers.add(place)
            elif isinstance(one, Split):
                todo.extend(one.targets)
            elif self._holds(one, state.before, following):
                todo.append(place + 1)
        return takers, matched

    def _holds(self, one: Assert, before: Before, following: str | None) -> bool:
        if one.anchor == "^":
            return before == "start"
        if one.anchor == "$":
            return following is None or (following == "\n" and self._every_line)
        word_follows = following is not None and (following.isalnum() or following == "_")
        return ((before == "word") != word_follows) == (one.anchor == "b")

    def _takes(self, place: int, character: str) -> bool:
        matcher = self._classes[place]
        return matcher is not None and matcher(character) is not None

    def _accepts(self, places: frozenset[int]) -> bool:
        return any(isinstance(self._program[place], Accept) for place in places)

    def _skipper(self, prefix: str) -> Finder:
        """How to find where a match could begin."""
        edge = len(prefix) - 1
        if edge > 0:

            def skip_to_prefix(text: str, pos: int, size: int) -> int:
                found = text.find(prefix, pos, size)
                # At the end of the text there may be a beginning of it.
                return found if found >= 0 else max(pos, size - edge)

            return skip_to_prefix
        takers, matched = self._first()
        if matched:
            return lambda text, pos, size: pos
        firsts = [one for place in sorted(takers) if isinstance(one := self._program[place], Take)]
        sources = dict.fromkeys(f"(?i:{one.source})" if one.ignore_case else one.source for one in firsts)
        search = re.compile("|".join(sources) or "(?!)").search

        def skip_to_first(text: str, pos: int, size: int) -> int:
            found = search(text, pos, size)
            return -1 if found is None else found.start()

        return skip_to_first

    def _first(self) -> tuple[set[int], bool]:
        """The places that can take the first character, and whether anchors alone could be a match."""
        places = set(self._start)
        todo = list(places)
        while todo:
            place = todo.pop()
            if isinstance(self._program[place], Assert):
                more = self._closure([place + 1]) - places
                places |= more
                todo.extend(more)
        return {place for place in places if isinstance(self._program[place], Take)}, self._accepts(frozenset(places))


def _finder(literals: tuple[Fixed, ...]) -> Finder | None:
    """How to find any of these texts; None when there is none to look for."""
    if not literals:
        return None
    if len(literals) == 1 and not literals[0].ignore_case:
        wanted = literals[0].text
        return lambda text, pos, size: text.find(wanted, pos, size)
    spelled = (f"(?i:{re.escape(one.text)})" if one.ignore_case else re.escape(one.text) for one in literals)
    search = re.compile("|".join(spelled)).search

    def find(text: str, pos: int, size: int) -> int:
        found = search(text, pos, size)
        return -1 if found is None else found.start()

    return find


def _class(one: Take) -> Callable[[str], re.Match[str] | None]:
    return re.compile(one.source, re.IGNORECASE if one.ignore_case else 0).fullmatch


def shortened(source: str) -> str:
    """An expression as a message quotes it."""
    return source if len(source) <= SHOWN_CHARACTERS else f"{source[:SHOWN_CHARACTERS]}…"


SHOWN_CHARACTERS: Final = 100
_KEPT: Final = 16


@functools.lru_cache(maxsize=_KEPT)
def compiled(source: str) -> Regex:
    """The expression; what was worked out about a recent one is used again."""
    return Regex(source)
