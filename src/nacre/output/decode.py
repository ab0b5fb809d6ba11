"""Bytes to text: UTF-8, anything invalid shown as U+FFFD, no cut through a character.

Every cut says exactly how many source bytes it kept, so that counts of what is omitted stay exact although text and
bytes differ in length. Pure; escapes and lines are elsewhere.
"""

from __future__ import annotations

import codecs

# No UTF-8 character is longer.
CHARACTER_BYTES = 4

# Fitted in steps of this size, so that the exact search at the end walks over few bytes.
STEP_BYTES = 1024

# Decodes a stream chunk by chunk, with `"replace"` as `decode` does.
IncrementalDecoder = codecs.getincrementaldecoder("utf-8")


def decode(data: bytes) -> str:
    """Return the text of `data`; invalid sequences become U+FFFD."""
    return data.decode("utf-8", "replace")


def trim_head(data: bytes) -> bytes:
    """Return `data` without the beginning of a character that its end cuts off."""
    for back in range(1, min(CHARACTER_BYTES, len(data) + 1)):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            return data[:-back] if _character_length(byte) > back else data
    return data


def trim_tail(data: bytes) -> bytes:
    """Return `data` without the end of a character that its beginning cuts off."""
    start = 0
    while start < min(CHARACTER_BYTES - 1, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


def fit_head(data: bytes, limit_bytes: int) -> tuple[str, int]:
    """Return the beginning of `data` as text of at most `limit_bytes`, and how many bytes of `data` it stands for."""
    piece = data if len(data) <= limit_bytes else trim_head(data[:limit_bytes])
    text = decode(piece)
    if len(text.encode()) <= limit_bytes:
        return text, len(piece)
    kept, _ = _advance(piece, limit_bytes)
    return decode(piece[:kept]), kept


def fit_tail(data: bytes, limit_bytes: int) -> tuple[str, int]:
    """Return the end of `data` as text of at most `limit_bytes`, and how many bytes of `data` it stands for."""
    piece = data if len(data) <= limit_bytes else trim_tail(data[len(data) - limit_bytes :])
    text = decode(piece)
    excess = len(text.encode()) - limit_bytes
    if excess <= 0:
        return text, len(piece)
    # The text of a beginning and the text of the rest add up to all text, so a beginning of at least the excess leaves
    # no more than the limit. One step of the decoder may straddle the excess: then it goes too.
    budget = excess
    skipped, length = _advance(piece, budget)
    while length < excess:
        budget += 1
        skipped, length = _advance(piece, budget)
    return decode(piece[skipped:]), len(piece) - skipped


def _character_length(lead: int) -> int:
    if 0xC2 <= lead <= 0xDF:
        return 2
    if 0xE0 <= lead <= 0xEF:
        return 3
    return 4 if 0xF0 <= lead <= 0xF4 else 1


def _advance(data: bytes, budget: int) -> tuple[int, int]:
    """Return the longest beginning of `data` whose text takes at most `budget` bytes: its length and its text's."""
    decoder = IncrementalDecoder("replace")
    consumed = emitted = 0
    for step in (STEP_BYTES, 1):
        while consumed < len(data):
            before = decoder.getstate()
            piece = data[consumed : consumed + step]
            text = decoder.decode(piece, final=consumed + step >= len(data))
            length = len(text.encode())
            if emitted + length > budget:
                decoder.setstate(before)
                break
            consumed += len(piece)
            emitted += length
    pending, _ = decoder.getstate()
    return consumed - len(pending), emitted
