"""What assignments and redirections do: values stored, texts opened, files written.

These change the scope; finding commands is not done here.
"""

import re
from typing import TYPE_CHECKING, Final

from nacre.bash.tree import Assignment, Heredoc, Redirect
from nacre.guard.interpret.alphabet import UNKNOWN, is_opaque, plain, settled
from nacre.guard.interpret.scope import Alternatives
from nacre.guard.interpret.words import expand, expand_text, expand_words

if TYPE_CHECKING:
    from nacre.guard.interpret.walk import Walk

# The key of an item in `name=([key]=value …)`.
_KEY: Final = re.compile(r"^\[[^\]]*\]=")


def assign_all(walk: "Walk", assignments: list[Assignment]) -> None:
    for item in assignments:
        values: Alternatives
        if item.values is not None:
            lists = expand_words(item.values, walk)
            _assign_keys(walk, item.name, lists[0])
            values = tuple(tuple(settled(_KEY.sub("", part)) for part in fields) for fields in lists)
        elif item.value is not None:
            values = tuple(plain(text) for text in expand_text(item.value, walk))
        else:
            values = ("",)
        name = item.name
        if item.index is not None:
            index = plain(expand_text(item.index, walk)[0])
            walk.scope.assign(f"{name}[{index}]", values)
            walk.scope.append(name, tuple((v,) if isinstance(v, str) else v for v in values))
        elif item.append:
            walk.scope.append(name, values)
        else:
            walk.scope.assign(name, values)


def _assign_keys(walk: "Walk", name: str, fields: tuple[str, ...]) -> None:
    """`name=([key]=value …)`."""
    for text in fields:
        key, equals, value = plain(text).partition("]=")
        if equals and key.startswith("["):
            walk.scope.assign(f"{name}[{key[1:]}]", (value,))


def open_redirects(
    walk: "Walk", redirects: list[Redirect]
) -> tuple[str | None, tuple[tuple[str, str], ...], tuple[str, str] | None]:
    """Return the input text, all targets, and where standard output goes."""
    stdin: str | None = None
    targets: list[tuple[str, str]] = []
    sink: tuple[str, str] | None = None
    for redirect in redirects:
        target = redirect.target
        if isinstance(target, Heredoc):
            text = plain(expand_text(target.body, walk)[0]) if target.body is not None else ""
            stdin = _input(walk, redirect.descriptor, text, stdin)
            continue
        fields = expand(target, walk)[0] if redirect.operator != "<<<" else ()
        text = fields[0] if fields else expand_text(target, walk)[0]
        match redirect.operator:
            case "<<<":
                stdin = _input(walk, redirect.descriptor, plain(text) + "\n", stdin)
            case "<" | "<>":
                content = walk.scope.file(plain(text))
                stdin = _input(walk, redirect.descriptor, UNKNOWN if content is None else content, stdin)
                if redirect.operator == "<>":
                    targets.append((redirect.operator, text))
            case "<&":
                stdin = walk.scope.file("/dev/fd/" + plain(text)) or stdin
            case _:
                targets.append((redirect.operator, text))
                to_file = redirect.operator in (">", ">>", ">|", "&>", "&>>")
                if to_file and redirect.descriptor in ("", "1"):
                    sink = (redirect.operator, text)
    return stdin, tuple(targets), sink


def _input(walk: "Walk", descriptor: str, text: str, stdin: str | None) -> str | None:
    """Open a text for reading: on standard input, or on another descriptor that is read later."""
    if descriptor in ("", "0"):
        return text
    walk.scope.keep_file("/dev/fd/" + descriptor, text)
    return stdin


def write_file(walk: "Walk", path: str, text: str, *, append: bool = False) -> None:
    """Remember what the script wrote to a file, and feed it to `>(…)`."""
    path = plain(path)
    if path in walk.consumers:
        walk.captured(walk.consumers[path], text)
    elif not is_opaque(path) and path not in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
        before = (walk.scope.file(path) or "") if append else ""
        walk.scope.keep_file(path, before + text)
