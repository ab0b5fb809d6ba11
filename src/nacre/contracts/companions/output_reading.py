"""Reads kept output for the `job` and `read` tools: by offset, by lines, by last lines, or by expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nacre.artifacts.excerpt import Excerpt, Matches, read_lines, read_tail, read_window, search
from nacre.artifacts.stored import Stored, line_range
from nacre.contracts.contract import Reply
from nacre.contracts.fields import number_of
from nacre.errors import InvalidRequestError, shown
from nacre.output.sizes import human_size
from nacre.regex.automaton import RegexWorkError, compiled
from nacre.until import regex_problem
from nacre.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """The part of an output that a call reads."""

    offset: int | None = None
    limit: int
    lines: tuple[int, int | None] | None = None
    tail: int | None = None
    grep: str | None = None

    @property
    def is_plain(self) -> bool:
        """True if the call names no place."""
        return self.offset is None and self.tail is None and self.grep is None


def decode_selector(fields: Mapping[str, Any], most: int) -> Selector:
    """Return the part that the model asks for, at most so many bytes; raises InvalidRequestError."""
    grep = fields.get("grep")
    if grep is not None and (problem := regex_problem(grep)) is not None:
        raise InvalidRequestError(f"field 'grep' {problem}", field="grep")
    tail = number_of(fields, "tail", least=1)
    if tail is not None and (grep is not None or fields.get("offset") is not None):
        raise InvalidRequestError("field 'tail' cannot be combined with offset or grep; leave one out", field="tail")
    lines = _lines_of(fields.get("lines"))
    if lines is not None and (tail is not None or grep is not None or fields.get("offset") is not None):
        raise InvalidRequestError("field 'lines' cannot be combined with tail, grep or offset", field="lines")
    limit = number_of(fields, "limit", least=1)
    return Selector(
        offset=number_of(fields, "offset", least=0),
        limit=most if limit is None else min(limit, most),
        lines=lines,
        tail=tail,
        grep=grep,
    )


def _lines_of(value: object) -> tuple[int, int | None] | None:
    if value is None:
        return None
    lines = line_range(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    if lines is None or (lines[1] is not None and lines[1] < lines[0]):
        raise InvalidRequestError(
            f"field 'lines' must be a range of lines such as \"100:150\", got {shown(value)}", field="lines"
        )
    return lines


async def read(
    stored: Stored,
    selector: Selector,
    *,
    growing: bool,
    plainly: Literal["beginning", "end"],
    notices: tuple[str, ...] = (),
) -> Reply:
    """Answer a call; `plainly` is the place if none is given."""
    if selector.grep is not None:
        try:
            found = await search(stored, compiled(selector.grep), selector.offset or 0, selector.limit)
        except RegexWorkError as error:
            raise InvalidRequestError(f"field 'grep': {error}", field="grep") from error
        return _matches(found, growing=growing, notices=notices)
    if selector.lines is not None:
        excerpt = await read_lines(stored, *selector.lines, selector.limit, growing=growing)
        return _line_excerpt(excerpt, selector.lines[1], growing=growing, notices=notices)
    if selector.tail is not None or (selector.is_plain and plainly == "end"):
        excerpt = read_tail(stored, selector.tail, selector.limit, growing=growing)
    else:
        excerpt = read_window(stored, selector.offset or 0, selector.limit, growing=growing)
    return _excerpt(excerpt, growing=growing, notices=notices)


def _excerpt(excerpt: Excerpt, *, growing: bool, notices: tuple[str, ...]) -> Reply:
    said = [*notices, *excerpt.notices]
    whole = excerpt.offset == 0 and not excerpt.more
    if not whole or growing:
        said.append(_place("bytes", excerpt, growing=growing))
    nothing = "(no output)" if not excerpt.total_bytes else "(nothing new)"
    return Reply(
        text=_with(excerpt.text.rstrip("\n") if excerpt.text.strip() else nothing, said),
        is_error=False,
        details=_details(excerpt, growing=growing, notices=(*notices, *excerpt.notices)),
    )


def _line_excerpt(excerpt: Excerpt, last: int | None, *, growing: bool, notices: tuple[str, ...]) -> Reply:
    said = [*notices, *excerpt.notices]
    details = _details(excerpt, growing=growing, notices=tuple(said))
    if excerpt.lines is not None:
        first, until = excerpt.lines
        details["lines"] = [first, until]
        place = f"lines {first}-{until}, {_span('bytes', excerpt, growing=growing)}"
        if excerpt.next_line is not None:
            details["nextLine"] = excerpt.next_line
            rest = f"{excerpt.next_line}:{last or ''}"
            place += f'; go on with lines "{rest}"'
        elif excerpt.more and (last is None or until < last):
            place += f"; go on with offset {excerpt.next_offset}"
        said.append(place)
    text = excerpt.text.rstrip("\n") if excerpt.lines is not None else "(no such line)"
    return Reply(text=_with(text, said), is_error=False, details=details)


def _matches(found: Matches, *, growing: bool, notices: tuple[str, ...]) -> Reply:
    text = "\n".join(f"{one.line}:{one.text}" for one in found.found) or "(no match)"
    count = len(found.found)
    said = [*notices, *found.notices, f"{counted(count, 'matching line')}, as number:line"]
    if found.offset or found.more or growing:
        said.append(_place("searched bytes", found, growing=growing))
    details = _details(found, growing=growing, notices=(*notices, *found.notices))
    matches = [{"line": one.line, "offset": one.offset, "text": one.text} for one in found.found]
    return Reply(text=_with(text, said), is_error=False, details=details | {"matches": matches})


def _place(what: str, part: Excerpt | Matches, *, growing: bool) -> str:
    place = _span(what, part, growing=growing)
    return f"{place}; go on with offset {part.next_offset}" if part.more or growing else place


def _span(what: str, part: Excerpt | Matches, *, growing: bool) -> str:
    so_far = " so far" if growing else ""
    return f"{what} {part.offset}-{part.next_offset} of {part.total_bytes}{so_far} ({human_size(part.total_bytes)})"


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
