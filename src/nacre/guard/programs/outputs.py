"""What a text program prints, where that follows from its arguments and its input alone.

Only programs that people use to spell a command in pieces: echo, printf, base64 and a few filters. None means that
the output is not known; the empty string means that it is known to be nothing.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from nacre.bash.backslashes import decode, decode_echo
from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import EVERYTHING, HERE, HOME, NETWORK, PWD, TOPLEVEL, UNKNOWN, is_opaque, plain
from nacre.guard.programs.filters import FILTERS
from nacre.guard.programs.finds import find_call

Argv: TypeAlias = tuple[str, ...]
_DIRECTIVE: Final = re.compile(r"%(?:%|[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?([a-zA-Z])|\([^)]*\)T)")
_PRINTED: Final = re.compile(r"(?:print|puts|say|echo|printf|log|write)\s*\(?\s*(['\"])(.*?)(?<!\\)\1")
# Longer texts are not hidden commands.
_MAX_FILTERED: Final = 100_000


def literal_output(argv: Argv, stdin: str | None, files: Mapping[str, str]) -> str | None:
    """Return the output of the program, None when it cannot be known."""
    name = plain(argv[0]).rsplit("/", 1)[-1]
    if name in _SILENT:
        return ""
    if name in _NETWORK:
        return NETWORK
    printer = _PRINTERS.get(name)
    if printer is not None:
        return printer(tuple(plain(word) for word in argv[1:]))
    if name in _UNPACKERS and stdin is not None and NETWORK in stdin:
        return stdin
    if name in ("awk", "gawk", "mawk"):
        words = tuple(plain(word) for word in argv[1:])
        narrowed = not re.match(r"(?:-F.? ?\S+ )?\{ ?print [^{}]*\}$", " ".join(words))
        whole = stdin is not None and (NETWORK in stdin or (EVERYTHING in stdin and not narrowed))
        return stdin if whole else _awk(words, stdin)
    transform = FILTERS.get(name)
    if transform is None:
        return None
    words = tuple(plain(word) for word in argv[1:])
    text = _input(words, stdin, files, name)
    if text is None:
        return None
    if NETWORK in text:
        return text
    if EVERYTHING in text:
        # A filter keeps the list of all names, unless it selects: grep, head, tail, a sed that is no `s/…/`.
        narrowed = name in ("head", "tail") or (name == "grep" and not any(re.match(r"-\w*v", word) for word in words))
        return UNKNOWN if narrowed or (name == "sed" and not re.match(r"(?:-[Ere]+ )*s\W", " ".join(words))) else text
    if is_opaque(text) and name not in ("cat", "tee", "head", "tail", "sort", "uniq", "grep"):
        return None
    return None if len(text) > _MAX_FILTERED else transform(text, words)


def _input(words: Argv, stdin: str | None, files: Mapping[str, str], name: str) -> str | None:
    takes_program = name in names("sed tr grep tee base64 cut awk openssl head tail fold xxd")
    operands = [word for word in words if not word.startswith("-") or word == "-"]
    if not takes_program or name in ("base64", "xxd"):
        named = [files[word] for word in operands if word in files]
        if named:
            return "".join(named)
        if operands and operands != ["-"] and name != "base64" and "/dev/stdin" not in operands:
            return None
    return stdin


def echo(words: Argv) -> str:
    """Return what `echo` prints."""
    newline, escapes, index = "\n", False, 0
    while index < len(words) and re.fullmatch(r"-[neE]+", words[index]):
        for flag in words[index][1:]:
            newline = "" if flag == "n" else newline
            escapes = flag == "e" or (escapes and flag != "E")
        index += 1
    text = " ".join(words[index:])
    return (decode_echo(text) if escapes else text) + newline


def printf(words: Argv) -> str | None:
    """Return what `printf` prints."""
    if words[:1] == ("--",):
        words = words[1:]
    if not words:
        return ""
    form, arguments = decode(words[0]), list(words[1:])
    out: list[str] = []
    for _ in range(64):
        before = len(arguments)
        out.append(_DIRECTIVE.sub(lambda match: _converted(match, arguments), form))
        if not arguments or len(arguments) == before:
            break
    return "".join(out)


def _converted(match: re.Match[str], arguments: list[str]) -> str:
    if match.group() == "%%":
        return "%"
    kind = match.group(1)
    value = arguments.pop(0) if arguments else ""
    if kind in ("s", "q", "Q", "b", "c"):
        return decode_echo(value) if kind == "b" else value[:1] if kind == "c" else value
    if kind not in ("d", "i", "u", "o", "x", "X") or len(match.group()) > 6:
        return UNKNOWN
    try:
        number = ord(value[1]) if value[:1] in ("'", '"') and value[1:] else int(value or "0", 0)
        return match.group().replace("u", "d").replace("i", "d") % number
    except (ValueError, TypeError):
        return UNKNOWN


def _git(words: Argv) -> str | None:
    if "rev-parse" in words and ("--show-toplevel" in words or "--show-cdup" in words):
        return TOPLEVEL + "\n"
    if "rev-parse" in words and any(word.endswith(("git-dir", "git-common-dir")) for word in words):
        return ".git\n"
    if words[-1:] == ("ls-files",) or words[-2:] == ("ls-files", "-z"):
        return EVERYTHING + "\n"
    others = any(re.fullmatch(r"--others|-[a-z]*o[a-z]*", word) for word in words)
    short = any(re.fullmatch(r"--porcelain.*|--short|-[a-z]*s[a-z]*", word) for word in words)
    if ("ls-files" in words and others) or ("status" in words and short):
        return EVERYTHING + "\n"
    return None


def _containers(words: Argv) -> str | None:
    """Return the lists of docker and its like, unless they are narrowed."""
    asked = " ".join(word for word in words if not word.startswith("-"))
    lists = re.fullmatch(r"ps|images|(?:container|image|volume) (?:ls|ps|list)", asked)
    narrowed = any(re.fullmatch(r"--(?:filter|last|latest).*|-\w*[fnl]\w*", word) for word in words)
    return EVERYTHING + "\n" if lists and not narrowed else None


def _kubectl(words: Argv) -> str | None:
    narrowed = any(re.fullmatch(r"-l.*|--selector.*|--field-selector.*", word) for word in words)
    names = re.search(r"(?:-o|--output)[ =]?(?:name|jsonpath)", " ".join(words))
    return EVERYTHING + "\n" if "get" in words and names and not narrowed else None


def _redis(words: Argv) -> str | None:
    asked = [word.lower() for word in words[-2:]]
    return EVERYTHING + "\n" if asked == ["keys", "*"] or asked[-1:] == ["--scan"] else None


def _interpreter(words: Argv) -> str | None:
    """Return the texts that a one-line program prints, as far as they are literals."""
    code = " ".join(words)
    found = _PRINTED.findall(code)
    return "\n".join(text for _, text in found) + "\n" if found else None


def _jq(words: Argv) -> str | None:
    """Return the literals of a jq without input, joined as `+` joins them."""
    alone = any(re.fullmatch(r"-[a-zA-Z]*n[a-zA-Z]*|--null-input", word) for word in words)
    found = re.findall(r'"((?:[^"\\]|\\.)*)"', " ".join(words)) if alone else []
    return "".join(found) + "\n" if found else None


def _awk(words: Argv, stdin: str | None) -> str | None:
    """Return the fields that an awk of one `print` gives, else the literals it prints."""
    separator = None
    if words and re.fullmatch(r"-F.", words[0]):
        separator, words = words[0][2], words[1:]
    program = " ".join(words).strip()
    if stdin is None or is_opaque(stdin) or len(stdin) > _MAX_FILTERED:
        return _interpreter(words)
    if re.fullmatch(r"1|NF|\{ ?print(?: \$0)?;? ?\}", program):
        return stdin
    if re.fullmatch(r"\{ ?print to(?:low|upp)er\(\$0\);? ?\}", program):
        return stdin.lower() if "tolower" in program else stdin.upper()
    printed = re.fullmatch(r"""\{ ?print ((?:"[^"]*"|\$\d{1,3}|[, ])+);? ?\}""", program)
    if printed is None:
        return _interpreter(words)
    items = re.findall(r"""("[^"]*"|\$\d+|,)""", printed.group(1))
    return "".join(_fields(line, items, separator) + "\n" for line in stdin.splitlines())


def _fields(line: str, items: list[str], separator: str | None) -> str:
    parts = dict(enumerate([line, *line.split(separator)]))
    return "".join(
        " " if item == "," else item[1:-1] if item[0] == '"' else parts.get(int(item[1:]), "") for item in items
    )


def _ls(words: Argv) -> str | None:
    operands = [word for word in words if not word.startswith("-")]
    if all(word in (".", "./", "*") for word in operands) and "-d" not in words:
        return EVERYTHING + "\n"
    if not any(re.fullmatch(r"-\w*d\w*|--directory", word) for word in words):
        return None
    if operands and all(word in ("*", "*/", "./*", "./*/", ".*") for word in operands):
        return EVERYTHING + "\n"
    return None if any(char in word for word in operands for char in "*?[") else "\n".join(operands or ["."]) + "\n"


def _find(words: Argv) -> str | None:
    call = find_call(("find", *words))
    if call.limited or call.acts:
        return None
    itself = re.search(r"-maxdepth 0\b", " ".join(words))
    return "".join(plain(root) + "\n" if itself else f"{plain(root).rstrip('/')}/{EVERYTHING}\n" for root in call.roots)


def downloaded_files(argv: Argv) -> list[str]:
    """Return the files that a curl or wget would write."""
    words = [plain(word) for word in argv]
    option = re.compile(r"-\w*[oO]|--output|--output-document")
    names = [words[i + 1] for i, word in enumerate(words[:-1]) if option.fullmatch(word)]
    names += [word.partition("=")[2] for word in words if word.startswith(("--output=", "--output-document="))]
    if "wget" in words[0]:
        folder = next((words[i + 1] for i, word in enumerate(words[:-1]) if word in ("-P", "--directory-prefix")), "")
        addresses = [word for word in words[1:] if "/" in word and not word.startswith("-") and word != folder]
        saved = [address.rstrip("/").rsplit("/", 1)[-1].split("?")[0] for address in addresses]
        names += [f"{folder.rstrip('/')}/{name}" for name in saved] if folder else saved
    elif any(re.fullmatch(r"-\w*O\w*|--remote-name", word) for word in words):
        names += [word.rstrip("/").rsplit("/", 1)[-1].split("?")[0] for word in words if "://" in word]
    return [name for name in names if name not in ("-", "/dev/null", "/dev/stdout")]


def _realpath(words: Argv) -> str | None:
    operands = [word for word in words if not word.startswith("-")]
    if len(operands) != 1:
        return None
    return (PWD if operands[0] in (".", "./") else operands[0]) + "\n"


def _which(words: Argv) -> str | None:
    operands = [word for word in words if not word.startswith("-")]
    return "".join(f"/usr/bin/{word}\n" for word in operands) or None


def _dirname(words: Argv) -> str | None:
    if len(words) != 1 or words[0] in (HOME, PWD):
        return None if len(words) != 1 else words[0] + "/..\n"
    return (words[0].rstrip("/").rpartition("/")[0] or ("/" if words[0].startswith("/") else ".")) + "\n"


def _basename(words: Argv) -> str | None:
    if not words or is_opaque(words[0]) or words[0] in (HOME, PWD):
        return HERE + "\n" if words[:1] == (PWD,) else None
    return words[0].rstrip("/").rpartition("/")[2] + "\n"


def _command(words: Argv) -> str | None:
    return _which(words[1:]) if words[:1] in (("-v",), ("-V",)) else None


_PRINTERS: Final[dict[str, Callable[[Argv], str | None]]] = {
    **dict.fromkeys(("echo", "print"), echo),
    "printf": printf,
    "pwd": lambda words: PWD + "\n",
    "git": _git,
    "ls": _ls,
    "find": _find,
    **dict.fromkeys(("realpath", "readlink"), _realpath),
    "printenv": lambda words: {"HOME": HOME + "\n", "PWD": PWD + "\n"}.get(" ".join(words)),
    **dict.fromkeys(("which", "type"), _which),
    "command": _command,
    "dirname": _dirname,
    "basename": _basename,
    "yes": lambda words: (" ".join(words) or "y") + "\n",
    "jq": _jq,
    **dict.fromkeys(("docker", "podman", "nerdctl"), _containers),
    **dict.fromkeys(("kubectl", "oc"), _kubectl),
    **dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli"), _redis),
    **dict.fromkeys(("python", "python3", "perl", "ruby", "node", "php"), _interpreter),
}
_UNPACKERS: Final = frozenset(
    ("gunzip", "zcat", "gzip", "xz", "unxz", "xzcat", "bunzip2", "bzcat", "zstd", "zstdcat", "gpg", "iconv")
)
_NETWORK: Final = frozenset(("curl", "wget", "fetch", "aria2c", "http", "https", "lynx", "nc", "ncat", "axel"))
_SILENT: Final = frozenset(
    """
    true false : test [ cd mkdir touch rm rmdir chmod chown cp mv ln sleep wait export unset set shopt alias unalias
    trap read shift exit return kill umask
    """.split()  # noqa: SIM905 (a table of words reads better as text)
)
