"""Replaces the forms of a table in one text of a stream, and tells how much of its end may be the beginning of one.

A line break inside an occurrence does not hide it (wrapped base64), unless it comes within the first bytes, so that a
finished line is never held for its last letter. Terminal control inside an occurrence does not hide it, nor do NULs, so
UTF-16 does not either (`broken.py`).
"""

from __future__ import annotations

from nacre.output.redaction.form_table import Form, FormTable, flat_text, skip_breaks, skip_bytes

# The control that a stream is searched without: looking for every kind would cost a third of the search for values.
SIGNS = b"\0\b\x1b\x7f"

_EACH_SIGN = tuple(bytes([sign]) for sign in SIGNS)

TYPE_CHECKING = False
if TYPE_CHECKING:
    Counts = dict[str, int]


def redact(
    table: FormTable, text: bytes, counts: Counts, *, final: bool = False, control: bytes = SIGNS
) -> tuple[bytes, bytes]:
    """Return what can be shown of a text, and its end that is held back; add the replacements to `counts`."""
    if any(sign in text for sign in _EACH_SIGN) or (
        control is not SIGNS and len(text.translate(None, control)) != len(text)
    ):
        # Not for every program with values to hide: most output has no such text.
        from nacre.output.redaction.broken import redact_broken

        return redact_broken(table, text, counts, final=final, control=control)
    flat = flat_text(text)
    occurrences = table.occurrences(flat)
    cut = len(text) if final else len(text) - table.held(text, flat)
    if not occurrences:
        return text[:cut], text[cut:]
    return _replace(table, text, flat, occurrences, cut, counts)


def _replace(
    table: FormTable, text: bytes, flat: bytes, occurrences: list[tuple[int, int, Form]], cut: int, counts: Counts
) -> tuple[bytes, bytes]:
    """Replace leftmost, longest occurrences up to where the text may be unfinished."""
    shown: list[bytes] = []
    # `done` and `flat_done` are one place, as are `at` and `flat_at`: in the text, and without its line breaks.
    done = flat_done = at = flat_at = 0
    for place, _, form in occurrences:
        if place < flat_done:
            continue
        at, flat_at = skip_breaks(text, skip_bytes(text, at, place - flat_at)), place
        if at >= cut:
            break
        end = at + len(form.flat)
        if not text.startswith(form.flat, at):
            end = skip_bytes(text, at, len(form.flat))
            if not form.allows(text[at:end], len(form.flat)):
                continue
        shown += (text[done:at], form.replacement)
        counts[form.name] = counts.get(form.name, 0) + 1
        done = at = end
        flat_done = flat_at = place + len(form.flat)
        if done > cut:
            cut = len(text) - table.held(text[done:], flat[flat_done:])
    return b"".join((*shown, text[done:cut])), text[cut:]
