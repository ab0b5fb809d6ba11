"""Options and operands, told apart as GNU getopt does: clusters, abbreviations, values, `--`."""

from collections.abc import Collection, Iterable

from nacre.guard.interpret.alphabet import OUTSIDE, plain


def getopt(
    words: Iterable[str], *, letters: str = "", long: Collection[str] = (), values: Collection[str] = ()
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options in their order, each with its value, and the operands.

    Args:
        letters: single-letter options that take a value.
        long: long options that may be abbreviated; the first that fits is meant.
        values: long options that take a value.
    """
    options: list[tuple[str, str]] = []
    operands: list[str] = []
    rest = iter(words)
    for word in rest:
        text = plain(word).replace(OUTSIDE, "")
        if not text.startswith("-") or text == "-":
            operands.append(word)
        elif text == "--":
            operands.extend(rest)
        elif text.startswith("--"):
            name, equals, value = text.partition("=")
            name = name if name in long else next((option for option in long if option.startswith(name)), name)
            options.append((name, next(rest, "") if name in values and not equals else value))
        else:
            for at, letter in enumerate(text[1:], 1):
                if letter in letters:
                    options.append(("-" + letter, text[at + 1 :] or next(rest, "")))
                    break
                options.append(("-" + letter, ""))
    return options, operands
