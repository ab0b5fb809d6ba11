"""Reads kept output for the `job` and `read` tools: by offset, by last lines, or by expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nacre.artifacts.excerpt import LIMIT_BYTES, Excerpt, Matches, read_tail, read_window, search
from nacre.artifacts.stored import Stored
from nacre.contracts.contract import Reply
from nacre.contracts.fields import number_of
from nacre.errors import InvalidRequestError
from nacre.output.sizes import human_size
from nacre.regex.automaton import RegexWorkError, compiled
from nacre.until import regex_problem
from nacre.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """The part of an output that a call reads."""

    offset: int | None = None
    limit: int = LIMIT_BYTES
    tail: int | None = None
    grep: str | None = None

    @property
    def is_plain(self) -> bool:
        """True if the call names no place."""
        return self.offset is None and self.tail is None and self.grep is None


def decode_selector(fields: Mapping[str, Any]) -> Selector:
    """Return the part that the model asks for; raises InvalidRequestError."""
    grep = fields.get("grep")
    if grep is not None and (problem := regex_problem(grep)) is not None:
        raise InvalidRequestError(f"field 'grep' {problem}", field="grep")
    tail = number_of(fields, "tail", least=1)
    if tail is not None and (grep is not None or fields.get("offset") is not None):
        raise InvalidRequestError("field 'tail' cannot be combined with offset or grep; leave one out", field="tail")
    limit = number_of(fields, "limit", least=1)
    return Selector(
        offset=number_of(fields, "offset", least=0),
        limit=LIMIT_BYTES if limit is None else min(limit, LIMIT_BYTES),
        tail=tail,
        grep=grep,
    )


async def read(
    stored: Stored,
    selector: Selector,
    *,
    growing: bool,
    again: Callable[[int], str],
    plainly: Literal["beginning", "end"],
    notices: tuple[str, ...] = (),
) -> Reply:
    """Answer a call; `again` spells the call that continues at an offset, `plainly` is the place if none is given."""
    if selector.grep is not None:
        try:
            found = await search(stored, compiled(selector.grep), selector.offset or 0, selector.limit)
        except RegexWorkError as error:
            raise InvalidRequestError(f"field 'grep': {error}", field="grep") from error
        return _matches(found, growing=growing, again=again, notices=notices)
    if selector.tail is not None or (selector.is_plain and plainly == "end"):
        excerpt = read_tail(stored, selector.tail, selector.limit, growing=growing)
    else:
        excerpt = read_window(stored, selector.offset or 0, selector.limit, growing=growing)
    return _excerpt(excerpt, growing=growing, again=again, notices=notices)


def _excerpt(excerpt: Excerpt, *, growing: bool, again: Callable[[int], str], notices: tuple[str, ...]) -> Reply:
    said = [*notices, *excerpt.notices]
    whole = excerpt.offset == 0 and not excerpt.more
    if not whole or growing:
        said.append(_place("bytes", excerpt, growing=growing, again=again))
    nothing = "(no output)" if not excerpt.total_bytes else "(nothing new)"
    return Reply(
        text=_with(excerpt.text.rstrip("\n") if excerpt.text.strip() else nothing, said),
        is_error=False,
        details=_details(excerpt, growing=growing, notices=(*notices, *excerpt.notices)),
    )


def _matches(found: Matches, *, growing: bool, again: Callable[[int], str], notices: tuple[str, ...]) -> Reply:
    text = "\n".join(f"{one.offset}:{one.text}" for one in found.found) or "(no match)"
    count = len(found.found)
    said = [*notices, *found.notices, f"{counted(count, 'matching line')}, as offset:line"]
    said.append(_place("searched bytes", found, growing=growing, again=again))
    details = _details(found, growing=growing, notices=(*notices, *found.notices))
    matches = [{"offset": one.offset, "text": one.text} for one in found.found]
    return Reply(text=_with(text, said), is_error=False, details=details | {"matches": matches})


def _place(what: str, part: Excerpt | Matches, *, growing: bool, again: Callable[[int], str]) -> str:
    so_far = " so far" if growing else ""
    place = f"{what} {part.offset}-{part.next_offset} of {part.total_bytes}{so_far} ({human_size(part.total_bytes)})"
    return f"{place}; go on with {again(part.next_offset)}" if part.more or growing else place


def _details(part: Excerpt | Matches, *, growing: bool, notices: tuple[str, ...]) -> dict[str, Any]:
    details: dict[str, Any] = {"offset": part.offset, "totalBytes": part.total_bytes}
    if part.more or growing:
        details["nextOffset"] = part.next_offset
    if part.skipped_bytes:
        details["droppedBytes"] = part.skipped_bytes
    if notices:
        details["notices"] = list(notices)
    return details


def _with(text: str, said: list[str]) -> str:
    return "\n".join([text, *(f"[{one}]" for one in said)])
