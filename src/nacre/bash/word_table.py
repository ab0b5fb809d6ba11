"""Tables of words, written as text."""


def names(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())
