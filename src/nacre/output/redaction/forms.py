"""The spellings in which a secret value can appear in output.

Raw, line by line, base64 (at the three alignments, both alphabets), URL-encoded, JSON-escaped and shell-quoted. Only
spellings that differ from the value are listed. Built once per environment in the main process; what leaves is plain
bytes, so that a job's runner needs nothing of this. Not a boundary: ``rev`` or ``xxd`` defeat any such list.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping

# Shorter texts occur by chance.
SHORTEST = 8
# A wrapped base64 text may break in its first bytes; what follows the break is then recognised without them.
UNWRAPPED_START = 8
SHORTEST_AFTER_BREAK = 17

PATH = re.compile(
    r"(?:~|\.{1,2})?/(?:(?:home|Users|root|etc|var|usr|opt|tmp|run|mnt|srv|data|app|workspace|nix|proc|dev|private|Library)"
    r"(?:/[^\n]*)?|[a-z0-9._/@+-]*|\S*\.[A-Za-z0-9]{1,5})|[A-Za-z]:\\[^\n]*"
)
UNRESERVED = re.compile(r"[A-Za-z0-9._~-]*")
ARMOUR = re.compile(r"-----(?:BEGIN|END) [A-Z0-9 ]+-----")
# Defaults of images and tutorials, and words any log may contain.
PLAIN_WORDS_TEXT = """
    password passwords passw0rd password1 password123 changeme changeit change-me changethis placeholder undefined
    username postgres postgresql mysqladmin rabbitmq rootroot rootpassword adminadmin administrator testtest testing
    test-token testpass development production staging localhost default-token anonymous bitnami minioadmin
    insecure internal external disabled enabled required optional anything something everything notasecret
    not-a-secret your-api-key your_api_key example-key example-token secretsecret supersecret topsecret
"""
PLAIN_WORDS = frozenset(PLAIN_WORDS_TEXT.split())


def is_worth_hiding(value: str) -> bool:
    """Tell whether redacting a value helps: not when it is short, a path, a common word or a small number."""
    if len(value) < SHORTEST or value.lower() in PLAIN_WORDS or not value.strip():
        return False
    if value.isdigit() and len(value) < 12:
        return False
    return not PATH.fullmatch(value)


def all_forms(secrets: Mapping[str, str | tuple[str, ...]]) -> list[tuple[str, bytes]]:
    """List every spelling of every value worth hiding, with the name of its variable; the first name of a form wins."""
    forms: dict[bytes, str] = {}
    for name, values in secrets.items():
        for value in (values,) if isinstance(values, str) else values:
            if is_worth_hiding(value):
                for form in value_forms(value):
                    forms.setdefault(form, name)
    return [(name, form) for form, name in forms.items()]


def value_forms(value: str) -> Iterable[bytes]:
    """The spellings of one value."""
    text = value.strip("\r\n")
    for spelling in dict.fromkeys([text, *secret_lines(text), *url_forms(text), *json_forms(text), *shell_forms(text)]):
        yield encode(spelling)
    yield from base64_forms(encode(text))


def secret_lines(value: str) -> list[str]:
    """The lines of a longer value that are worth hiding alone; the frame of a key block is no secret."""
    if "\n" not in value:
        return []
    lines = (line.strip() for line in value.splitlines())
    return [line for line in lines if is_worth_hiding(line) and not ARMOUR.fullmatch(line)]


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def base64_forms(raw: bytes) -> Iterable[bytes]:
    """Encodings of a value anywhere inside a longer encoded text.

    Only the characters that the value alone decides are sure; where the text ends with the value, or with the newline
    that ``echo`` adds, the last character is known too and must not stay behind.
    """
    for offset in range(3):
        first = -(-offset * 8 // 6)
        sure = (offset + len(raw)) * 8 // 6
        filled = bytes(offset) + raw
        for spelled in both_alphabets(base64.b64encode(filled + bytes(3))[first:sure]):
            yield spelled
            if len(spelled) >= UNWRAPPED_START + SHORTEST_AFTER_BREAK:
                yield spelled[UNWRAPPED_START:]
        for ending in (b"", b"\n"):
            ended = base64.b64encode(filled + ending)[first:]
            for spelled in both_alphabets(ended):
                yield spelled
                yield spelled.rstrip(b"=")


def both_alphabets(encoded: bytes) -> set[bytes]:
    return {encoded, encoded.replace(b"+", b"-").replace(b"/", b"_")}


def url_forms(text: str) -> Iterable[str]:
    if UNRESERVED.fullmatch(text):
        return
    for safe in (b"-._~/", b"-._~", b"-._~!*'()"):
        quoted = percent_encoded(text, safe)
        yield quoted
        yield quoted.replace("%20", "+")
        yield re.sub("%[0-9A-F]{2}", lambda escape: escape[0].lower(), quoted)


def percent_encoded(text: str, safe: bytes) -> str:
    unsafe = rb"[^A-Za-z0-9%s]" % re.escape(safe)
    return re.sub(unsafe, lambda byte: b"%%%02X" % ord(byte[0]), encode(text)).decode("ascii")


def json_forms(text: str) -> Iterable[str]:
    escaped = json.dumps(text)[1:-1]
    yield escaped
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield escaped.replace("/", "\\/")


def shell_forms(text: str) -> Iterable[str]:
    """As printed by ``set -x``, ``declare -p``, ``printf %q`` and by hand."""
    yield text.replace("'", "'\\''")
    yield text.replace("'", "'\"'\"'")
    yield re.sub(r'([\\"$`])', r"\\\1", text)
    yield re.sub(r'([\\"$`!])', r"\\\1", text)
    # bash spares # and ~ inside a word; others escape whatever is not a letter.
    yield re.sub(r"([^A-Za-z0-9_%+./:=@#~\x80-\U0010ffff-]|^[#~])", r"\\\1", text)
    yield re.sub(r"([^A-Za-z0-9_%+,./:=@\x80-\U0010ffff-])", r"\\\1", text)
    ansi = text.replace("\\", "\\\\").replace("'", "\\'")
    yield ansi.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
