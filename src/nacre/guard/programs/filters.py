"""What a filter makes of a known text: base64, tr, sed, cut and the like.

Each takes the text and the words after the program's name; None means that the result is not known. Nothing here may
take longer than the text is long: patterns with repetitions are not followed.
"""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Final, TypeAlias

from nacre.bash.backslashes import decode
from nacre.guard.interpret.alphabet import UNKNOWN
from nacre.guard.interpret.patterns import CLASSES

_MAX_SCRIPT: Final = 2_000
Argv: TypeAlias = tuple[str, ...]


def _padded(text: str) -> str:
    return text + "=" * (-len(text) % 4)


def _base64(text: str, words: Argv) -> str | None:
    if not any(re.fullmatch(r"-[a-zA-Z]*[dD][a-zA-Z]*|--decode|--d\w*", word) for word in words):
        return None
    try:
        return base64.b64decode(_padded(re.sub(r"[^A-Za-z0-9+/]", "", text))).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return UNKNOWN


def _xxd(text: str, words: Argv) -> str | None:
    if not any("r" in word for word in words if word.startswith("-")):
        return None
    try:
        return bytes.fromhex(re.sub(r"\s|\\x", "", text)).decode("utf-8", "replace")
    except ValueError:
        return UNKNOWN


def _openssl(text: str, words: Argv) -> str | None:
    if "-d" in words and ("base64" in words or "-base64" in words or "-a" in words):
        return _base64(text, ("-d",))
    return None


def _character_set(text: str) -> list[str]:
    text = decode(text)
    for name, members in CLASSES.items():
        text = text.replace(f"[:{name}:]", members)
    return list(re.sub(r"(.)-(.)", _range, text, flags=re.DOTALL))


def _range(match: re.Match[str]) -> str:
    first, last = ord(match[1]), ord(match[2])
    return "".join(map(chr, range(first, min(last, first + 300) + 1))) if first <= last else match[0]


def _tr(text: str, words: Argv) -> str | None:
    flags = "".join(word[1:] for word in words if re.fullmatch(r"-[cCdst]+", word))
    sets = [_character_set(word) for word in words if not re.fullmatch(r"-[cCdst]+", word)]
    if not sets:
        return None
    if "c" in flags.lower():
        return "".join(char for char in text if char in sets[0]) if "d" in flags else UNKNOWN
    if "d" in flags:
        return "".join(char for char in text if char not in sets[0])
    if len(sets) < 2:
        return text
    last = sets[1][-1:] or [""]
    table = {ord(a): b for a, b in zip(sets[0], sets[1] + last * len(sets[0]), strict=False)}
    return text.translate(table)


def _sed(text: str, words: Argv) -> str | None:
    scripts = [word for word in words if not word.startswith("-")]
    quiet = any(re.fullmatch(r"-[a-zA-Z]*n[a-zA-Z]*|--quiet|--silent", word) for word in words)
    if not scripts or quiet or len(scripts[0]) > _MAX_SCRIPT:
        return None
    for script in re.split(r";(?=s)", scripts[0]):
        match = re.fullmatch(r"s(.)(.*?)(?<!\\)\1(.*?)(?<!\\)\1([gIi0-9]*)", script, re.DOTALL)
        if match is None:
            return None
        _, pattern, new, flags = match.groups()
        pattern = pattern.replace("[[:space:]]", r"\s").replace("[[:blank:]]", r"[ \t]").replace("[[:digit:]]", r"\d")
        if "[[" in pattern or re.search(r"[*+{(]", pattern):
            # No repetitions: a pattern written to take for ever must not stop the guard.
            return UNKNOWN
        try:
            replacement = re.sub(r"\\(\d)", r"\\g<\1>", new.replace("&", "\\g<0>"))
            if not {"-E", "-r"} & set(words):
                pattern = re.sub(r"\\([(){}|+?])", r"\1", re.sub(r"(?<!\\)([(){}|+?])", r"\\\1", pattern))
            count = 0 if "g" in flags else 1
            text = "\n".join(re.sub(pattern, replacement, line, count=count) for line in text.split("\n"))
        except (re.error, IndexError):
            return UNKNOWN
    return text


def _cut(text: str, words: Argv) -> str | None:
    joined = " ".join(words)
    found = re.search(r"(?:-([fcb])|--(?:(fields)|characters|bytes)=)\s?(\d+)(-?)(\d*)(?:\s|$)", joined)
    if found is None:
        return None
    start = int(found[3]) - 1
    part = slice(start, int(found[5]) if found[5] else None if found[4] else start + 1)
    if found[1] != "f" and not found[2]:
        return "\n".join(line[part] for line in text.split("\n"))
    delimiter = re.search(r"(?:-d|--delimiter=)\s?(\S| )", joined)
    separator = delimiter.group(1) if delimiter is not None else "\t"
    return "\n".join(separator.join(line.split(separator)[part]) for line in text.split("\n"))


FILTERS: Final[dict[str, Callable[[str, Argv], str | None]]] = {
    **dict.fromkeys(("cat", "tee", "head", "tail", "sort", "uniq", "grep"), lambda text, _: text),
    "rev": lambda text, _: "\n".join(line[::-1] for line in text.split("\n")),
    "tac": lambda text, _: "\n".join(reversed(text.rstrip("\n").split("\n"))) + "\n",
    "base64": _base64,
    "xxd": _xxd,
    "openssl": _openssl,
    "tr": _tr,
    "sed": _sed,
    "cut": _cut,
    "paste": lambda text, words: text.rstrip("\n").replace("\n", " ") + "\n",
}
