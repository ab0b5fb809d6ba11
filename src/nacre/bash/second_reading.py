"""tree-sitter-bash, behind this one file: the second reading of text that our own reader found damaged.

Why second: measured on tree-sitter-bash 0.25, valid scripts are misread without an error node (`cmd >out arg` loses
the argument, `cat <<EOF | sh && x` groups wrongly, backquotes in here-documents and `$"…"` are not seen). Our
reader follows bash's grammar; where the text breaks it, this independent grammar says what it still takes for a
command, and everything either of the two sees is judged.
"""

import threading
from typing import TYPE_CHECKING, Final

from nacre.bash.tree import UnreadableError

if TYPE_CHECKING:
    from tree_sitter import Parser

    from nacre.bash.budget import TimeBudget

# The parser cannot be interrupted and takes up to 0.8 s for a megabyte; this keeps the whole check under a second.
_MAX_DAMAGED: Final = 250_000
_per_thread = threading.local()


def _parser() -> "Parser":
    parser: Parser | None = getattr(_per_thread, "parser", None)
    if parser is None:
        # Imported on first need: most scripts are not damaged, and importing nacre must stay cheap.
        import tree_sitter
        import tree_sitter_bash

        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
        _per_thread.parser = parser
    return parser


def second_reading(source: str, budget: "TimeBudget") -> list[tuple[int, int]]:
    """Return the spans, in characters, of everything tree-sitter takes for a simple command."""
    if len(source) > _MAX_DAMAGED:
        raise UnreadableError("a long script that is not valid shell")
    encoded = source.encode("utf-8", "replace")
    is_ascii = len(encoded) == len(source)
    spans: list[tuple[int, int]] = []
    stack = [_parser().parse(encoded).root_node]
    while stack:
        budget.tick()
        node = stack.pop()
        if node.type in ("command", "declaration_command", "unset_command") or (node.is_error and node.child_count):
            start, end = node.start_byte, node.end_byte
            if not is_ascii:
                start = len(encoded[:start].decode("utf-8", "replace"))
                end = start + len(encoded[node.start_byte : end].decode("utf-8", "replace"))
            spans.append((start, end))
        stack.extend(reversed(node.children))
    return spans
