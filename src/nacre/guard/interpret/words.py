"""From a word as written to the fields a program would receive.

Expansion never guesses: what the script does not spell out becomes a mark of the alphabet, and a word that
may have several values yields each of them. Quoted text is shielded, so a quoted star is never mistaken for a glob.
"""

from typing import Final, Protocol, TypeAlias

from nacre.bash.budget import TimeBudget
from nacre.bash.tree import Arithmetic, Open, Parameter, Part, Program, Substitution, Text, UnreadableError, Word
from nacre.guard.interpret.alphabet import HOME, OUTSIDE, PWD, UNKNOWN, plain, revived, shield, shield_tilde
from nacre.guard.interpret.braces import expand_braces, has_braces
from nacre.guard.interpret.parameters import parameter_values
from nacre.guard.interpret.scope import MAX_ALTERNATIVES, ScriptScope, Value

Fields: TypeAlias = tuple[str, ...]
_Partial: TypeAlias = tuple[Fields, str | None]
"""The finished fields, and the one being built (None: none begun)."""

_MAX_TEXT: Final = 4_000_000
# Further branches that print are not told apart.
_MAX_WAYS: Final = 8
DEFAULT_IFS: Final = " \t\n"


class ScriptRunner(Protocol):
    """What the expansion of words needs from the walk."""

    scope: ScriptScope
    budget: TimeBudget

    def substitute(self, program: Program) -> str:
        """Return what `$(program)` would print, trailing newlines removed."""

    def process_file(self, program: Program, form: str) -> str:
        """Return the path that `<(program)` would become."""


def expand(word: Word, runner: ScriptRunner) -> list[Fields]:
    """Return every list of fields that the word may become."""
    if word.fixed is not None:
        return [(word.fixed,)]
    if not has_braces(word.parts):
        return _expand_parts(word.parts, runner)
    combined: list[Fields] = [()]
    for parts in expand_braces(word.parts):
        alternatives = _expand_parts(parts, runner)
        combined = [(*before, *after) for before in combined for after in alternatives][:MAX_ALTERNATIVES]
    return combined


def expand_words(words: list[Word] | tuple[Word, ...], runner: ScriptRunner) -> list[Fields]:
    """Return every argument list that the words may become together."""
    lists: list[list[str]] = [[]]
    for word in words:
        if word.fixed is not None:
            for fields in lists:
                fields.append(word.fixed)
            continue
        alternatives = expand(word, runner)
        if len(alternatives) == 1:
            for fields in lists:
                fields.extend(alternatives[0])
        elif len(lists) * len(alternatives) > MAX_ALTERNATIVES:
            # Vary this word against the first list only: every value is still seen once.
            varied = [[*lists[0], *alternative] for alternative in alternatives[1:]]
            lists = [*([*fields, *alternatives[0]] for fields in lists), *varied][: 2 * MAX_ALTERNATIVES]
        else:
            lists = [[*before, *after] for before in lists for after in alternatives]
    return [tuple(fields) for fields in lists]


def expand_text(word: Word, runner: ScriptRunner) -> list[str]:
    """Return every text the word may become where no splitting happens: assignments, here-documents, redirections."""
    if word.fixed is not None:
        return [word.fixed]
    texts: list[list[str]] = [[]]
    for position, part in enumerate(word.parts):
        pieces: list[str]
        if isinstance(part, Text):
            text = part.text
            if not part.quoted and position == 0:
                text = expand_tilde(text)
            pieces = [shield(text) if part.quoted else text]
        else:
            pieces = [value if isinstance(value, str) else " ".join(value) for value, _ in _part_values(part, runner)]
            if part.quoted:
                pieces = [shield(piece) for piece in pieces]
        if len(pieces) == 1:
            for collected in texts:
                collected.append(pieces[0])
        else:
            texts = [[*before, piece] for before in texts for piece in pieces][:MAX_ALTERNATIVES]
    _bounded(sum(map(len, texts[0])))
    return ["".join(collected) for collected in texts]


def _expand_parts(parts: tuple[Part, ...], runner: ScriptRunner) -> list[Fields]:
    states: list[_Partial] = [((), None)]
    for position, part in enumerate(parts):
        if isinstance(part, Text):
            text = shield(part.text) if part.quoted else expand_tilde(part.text) if position == 0 else part.text
            states = [(done, text if current is None else current + text) for done, current in states]
            continue
        runner.budget.tick()
        values = _part_values(part, runner)
        quoted = part.quoted
        states = [
            _spliced(state, value, runner, quoted=quoted, many=many) for state in states for value, many in values
        ]
        del states[MAX_ALTERNATIVES:]
        _bounded(len(states[0][1] or ""))
    if len(parts) == 1 and isinstance(parts[0], Text):
        return [done if current is None else (*done, current) for done, current in states]
    return [tuple(map(revived, done if current is None else (*done, current))) for done, current in states]


def _part_values(part: Part, runner: ScriptRunner) -> list[tuple[Value, bool]]:
    """Return the values of an expansion, each with a flag that it is a list of fields."""
    match part:
        case Parameter():
            return parameter_values(part, runner)
        case Substitution(form="value"):
            return [(text, False) for text in _printed(part.program, runner)]
        case Substitution():
            return [(runner.process_file(part.program, part.form), False)]
        case Arithmetic():
            text = plain(expand_text(part.content, runner)[0]).strip()
            return [(text if text.isdigit() else UNKNOWN, False)]
        case Text():
            return [(part.text, False)]


def _printed(program: Program, runner: ScriptRunner) -> list[str]:
    """Return what `$(program)` may print: one of several branches runs, so each line may be the whole output."""
    text = runner.substitute(program)
    if "\n" not in text:
        return [text]
    several = any(isinstance(step, Open) and step.block.kind in ("chain", "if", "case") for step in program.steps)
    return [text, *text.splitlines()[:_MAX_WAYS]] if several else [text]


def _spliced(state: _Partial, value: Value, runner: ScriptRunner, *, quoted: bool, many: bool) -> _Partial:
    done, current = state
    items = (value,) if isinstance(value, str) else value
    if quoted and not many:
        return done, (current or "") + shield(_separator(runner).join(items))
    first = True
    for item in items:
        if not first:
            if current is not None:
                done = (*done, current)
            current = None
        first = False
        if quoted:
            current = (current or "") + shield(item)
        else:
            done, current = _split(done, current, shield_tilde(item), runner)
    return done, current


def _separator(runner: ScriptRunner) -> str:
    """Return what `"$*"` puts between its items: the first character of IFS."""
    ifs = runner.scope.lookup("IFS")[0]
    return ifs[:1] if isinstance(ifs, str) else " "


def _split(done: Fields, current: str | None, text: str, runner: ScriptRunner) -> _Partial:
    """Split an unquoted value into fields at the characters of IFS."""
    ifs = runner.scope.lookup("IFS")[0]
    separators = ifs if isinstance(ifs, str) else DEFAULT_IFS
    if not any(char in text for char in separators):
        return done, (current or "") + text if text else current
    run: list[str] = []
    for char in text:
        if char not in separators:
            run.append(char)
            continue
        if run or current is not None:
            done = (*done, (current or "") + "".join(run))
        elif char not in DEFAULT_IFS:
            done = (*done, "")
        current, run = None, []
    return done, (current or "") + "".join(run) if run else current


def _bounded(size: int) -> None:
    # A row of `x=$x$x` doubles the value each time; ordinary values stay near the size of the script.
    if size > _MAX_TEXT:
        raise UnreadableError("values grow too large")


def expand_tilde(text: str) -> str:
    """Expand a leading `~`, `~+`, `~-` or `~name`."""
    if not text.startswith("~"):
        return text
    name, slash, rest = text[1:].partition("/")
    known = {"": HOME, "+": PWD, "-": UNKNOWN, "root": "/root"}.get(name)
    if known is None:
        # The place of another user's home is not known, but any home is critical.
        known = "/home/" + name
    return known + slash + rest


def is_unset(text: str) -> bool:
    """True if the text is nothing but the value of variables the script never set."""
    return bool(text) and not text.strip(OUTSIDE)
