"""Tables of words, written as text."""


def names(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())
