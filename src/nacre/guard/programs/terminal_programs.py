"""Programs that run a command in a terminal of its own, or again and again: tmux, xterm, watch, entr, hyperfine.

Most of them take the command as one text for a shell, some as words, some as either.
"""

from functools import partial

from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import plain
from nacre.guard.programs.inner import Inner, option_end, peeled
from nacre.guard.programs.wrapper_table import WRAPPERS, options


def _texts_after(marks: tuple[str, ...], argv: tuple[str, ...]) -> Inner:
    """Return the words after one of the options, as a command and, if it is one word, as a script."""
    at = next((i for i, word in enumerate(argv[:-1]) if plain(word) in marks), None)
    if at is None:
        return Inner()
    rest = argv[at + 1 :]
    return Inner((rest,), (plain(rest[0]),))


terminal = partial(_texts_after, ("-e", "-x", "--", "--command"))
with_script = partial(_texts_after, ("-c",))


def on_change(argv: tuple[str, ...]) -> Inner:
    inner = _texts_after(("-x", "--exec"), argv)
    return inner if inner.commands else peeled(argv, WRAPPERS["nodemon"])


def each_script(argv: tuple[str, ...]) -> Inner:
    return Inner(scripts=tuple(plain(word) for word in argv[1:] if not word.startswith("-")))


def hyperfine(argv: tuple[str, ...]) -> Inner:
    row = options("-wmMrpcS --warmup --runs --prepare --cleanup --setup --shell --export-json")
    index, values = option_end(argv, row)
    extra = [plain(values[name]) for name in ("-p", "-c", "--prepare", "--cleanup", "--setup") if values.get(name)]
    return Inner(scripts=(*(plain(word) for word in argv[index:]), *extra))


def tmux(argv: tuple[str, ...]) -> Inner:
    verbs = names(
        "new new-session new-window neww split-window splitw run run-shell send-keys send respawn-pane if-shell"
    )
    at = next((i for i, word in enumerate(argv) if plain(word) in verbs), None)
    if at is None:
        return Inner()
    index, _ = option_end(argv, options("-cenFstxy"), at + 1)
    rest = [plain(word) for word in argv[index:]]
    keys = [word for word in rest if word not in ("Enter", "C-m")]
    scripts = (*keys, " ".join(keys)) if plain(argv[at]).startswith("send") or len(rest) != 1 else tuple(rest)
    return Inner(scripts=scripts)


def screen(argv: tuple[str, ...]) -> Inner:
    if "stuff" in argv[:-1]:
        return Inner(scripts=(plain(argv[-1]),))
    index, _ = option_end(argv, options("-cehpStTX"))
    return Inner((argv[index:],) if argv[index:] else ())
