"""Draws docs/picture.svg, a terminal with what the tour really prints: `python docs/picture.py`."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from tour import play, typed

COLUMNS = 96
WIDTH, LINE, LEFT, TOP = 860, 20, 24, 58
TITLE, TYPED, OUTPUT, NOTICE = "#8ab4f8", "#ffffff", "#c8ccd4", "#f2c46d"
# The last step only shows the same kind of line again.
SHOWN_STEPS = 5


def rows() -> Iterator[tuple[str, str]]:
    """Yield each line of the picture and its colour."""
    for number, (step, shown, _) in enumerate(play()):
        if number < SHOWN_STEPS:
            if number:
                yield "", OUTPUT
            yield f"# {step.title}", TITLE
            yield f"$ {typed(step)}", TYPED
            # Where Python is on this machine says nothing to a reader.
            for line in re.sub(r"/\S*/(?=python3 )", "", shown).splitlines():
                colour = NOTICE if line.startswith(("nacre: ", "[")) and line != "[]" else OUTPUT
                for part in textwrap.wrap(line, COLUMNS, subsequent_indent="    ") or [""]:
                    yield part, colour


def draw(lines: Iterable[tuple[str, str]]) -> str:
    """Return the picture."""
    texts = [
        f'<text x="{LEFT}" y="{TOP + LINE * number}" fill="{colour}" xml:space="preserve">{escape(line)}</text>'
        for number, (line, colour) in enumerate(lines)
    ]
    height = TOP + LINE * len(texts)
    dots = "".join(
        f'<circle cx="{LEFT + 8 + 20 * number}" cy="22" r="6" fill="{colour}"/>'
        for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
            ' font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.5">',
            "<title>What nacre prints for a server, a flood, a secret, a hidden failure and a deletion</title>",
            f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#1d2027"/>{dots}',
            *texts,
            "</svg>\n",
        ]
    )


def main() -> int:
    Path(__file__).with_name("picture.svg").write_text(draw(rows()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
