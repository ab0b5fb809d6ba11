"""The automaton: on what it accepts, it finds a line exactly when `re` does, also in pieces."""

import re

import atheris
from harness import instrumented, start

with instrumented():
    from nacre.output.regex_watch import RegexWatch
    from nacre.regex.automaton import Regex
    from nacre.regex.syntax import RegexSyntaxError

ATOMS = ("a", "b", "c", ".", "[ab]", "[^a]", r"\d", r"\w", r"\s", "ö", "A", " ", "1", r"\.", "-", "[a-c1]")
ANCHORS = ("^", "$", r"\b", r"\B")
REPEATS = ("", "", "", "*", "+", "?", "{2}", "{1,2}", "{,2}", "*?", "+?")
LETTERS = "aAbBcö \n.1-"


def expression(provider: atheris.FuzzedDataProvider, depth: int = 0) -> str:
    """A pattern without nested repeats of repeats, on which `re` itself stays quick."""
    out = []
    for _ in range(provider.ConsumeIntInRange(1, 4)):
        kind = provider.ConsumeIntInRange(0, 9)
        if kind == 0:
            out.append(ANCHORS[provider.ConsumeIntInRange(0, 3)])
        elif kind == 1 and depth < 2:
            opening = ("(", "(?:", "(?i:")[provider.ConsumeIntInRange(0, 2)]
            out.append(
                f"{opening}{expression(provider, depth + 1)}){('', '?', '{2}')[provider.ConsumeIntInRange(0, 2)]}"
            )
        elif kind == 2:
            out.append("|")
        else:
            atom = ATOMS[provider.ConsumeIntInRange(0, len(ATOMS) - 1)]
            out.append(atom + REPEATS[provider.ConsumeIntInRange(0, len(REPEATS) - 1)])
    return "".join(out)


def one_input(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    source = ("", "(?i)")[provider.ConsumeBool()] + expression(provider)
    size = provider.ConsumeIntInRange(1, 5)
    text = "".join(LETTERS[byte % len(LETTERS)] for byte in provider.ConsumeBytes(24))
    try:
        pattern = re.compile(source)
        regex = Regex(source)
    except (re.error, RegexSyntaxError):
        return
    doubled = 2 ** source.count("){2}")
    optional = source.count("?") - source.count("(?") + source.count("{1,2}") + source.count("{,2}")
    if (source.count("*") + source.count("+")) * doubled > 4 or optional * doubled > 12:
        # Here `re`, which we compare with, may go back and forth for minutes.
        return
    lines = text.split("\n")
    if r"\B" in source and "" in lines:
        # Before Python 3.14 `re` finds no \B in an empty line, against its own documentation.
        return
    expected = any(pattern.search(line) for line in lines)
    assert (regex.find(text) >= 0) == expected, (source, text)
    watch, raw = RegexWatch(source), text.encode()
    found = any(watch.feed(raw[at : at + size]) for at in range(0, len(raw), size)) or watch.pause()
    assert found == expected, (source, text, size)


if __name__ == "__main__":
    start(one_input)
