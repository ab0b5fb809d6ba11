"""The values of `$x` and of `${x…}` with all its operators.

Every operand is expanded, also where its text is not used: `${x//$(rm -rf /)/}` runs its substitution.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from nacre.bash.backslashes import decode
from nacre.bash.tree import Parameter, Word
from nacre.guard.interpret import patterns
from nacre.guard.interpret.alphabet import HERE, HOME, OUTSIDE, PWD, UNKNOWN, is_known, is_opaque, plain
from nacre.guard.interpret.scope import MAX_ALTERNATIVES, ScriptScope, Value

if TYPE_CHECKING:
    from nacre.guard.interpret.words import ScriptRunner

_LISTS: Final = frozenset(("@", "*"))


def parameter_values(part: Parameter, runner: "ScriptRunner") -> list[tuple[Value, bool]]:
    """Return the values of the expansion, each with a flag that it stands for a list of fields."""
    operands = _operand_texts(part.operand, runner)
    index = plain(_operand_texts(part.index, runner)[0]) if part.index is not None else None
    values, many = _stored(part.name, index, runner.scope)
    if part.operator.startswith("!"):
        values, many = _indirect(part, values, runner.scope)
        operator = part.operator[1:]
    else:
        operator = part.operator
    if not operator:
        return [(value, many) for value in values]
    assigned = part.name in runner.scope.variables or part.name in ("HOME", "PWD", "IFS", "BASH", "0")
    results: list[Value] = []
    for operand in operands:
        for value in values:
            results.extend(_applied(operator, value, operand, assigned=assigned, first=int(part.name in _LISTS)))
    if operator in (":=", "=") and results:
        runner.scope.assign(part.name, tuple(dict.fromkeys(results)))
    unique = list(dict.fromkeys(results))[:MAX_ALTERNATIVES]
    return [(value, many and not isinstance(value, str)) for value in unique]


def _operand_texts(word: Word | None, runner: "ScriptRunner") -> list[str]:
    if word is None:
        return [""]
    # Imported here because words and parameters expand each other.
    from nacre.guard.interpret.words import expand_text

    return expand_text(word, runner)


def _stored(name: str, index: str | None, scope: ScriptScope) -> tuple[list[Value], bool]:
    if name in _LISTS:
        return list(scope.positional), name == "@"
    if name == "#":
        return [str(len(p)) if OUTSIDE not in p else UNKNOWN for p in scope.positional], False
    if name.isdigit() and name != "0":
        return [_nth_argument(p, int(name)) for p in scope.positional], False
    if index is not None and index not in _LISTS:
        single = scope.variables.get(f"{name}[{index}]")
        if single is not None:
            return list(single), False
    values: list[Value] = []
    for value in scope.lookup(name):
        if index in _LISTS:
            values.append((value,) if isinstance(value, str) else value)
        elif isinstance(value, str):
            values.append(value if index in (None, "0") else OUTSIDE if is_opaque(value) else "")
        elif index is None or _is_number(index):
            values.append(_item(value, index))
        else:
            # `${a[n-1]}`: arithmetic is not followed, so it may be any of them.
            keyed = (kept for key, kept in scope.variables.items() if key.startswith(name + "["))
            values.extend([*value, *(item for kept in keyed for item in kept)][:MAX_ALTERNATIVES] or (UNKNOWN,))
    return values, index == "@"


def _is_number(index: str) -> bool:
    return index.strip().removeprefix("-").isdecimal()


def _nth_argument(arguments: Value, number: int) -> str:
    if isinstance(arguments, str):
        return arguments
    if OUTSIDE in arguments[:number]:
        return OUTSIDE
    if UNKNOWN in arguments[:number]:
        return UNKNOWN
    return arguments[number - 1] if number <= len(arguments) else ""


def _item(array: tuple[str, ...], index: str | None) -> str:
    try:
        number = int(index or "0")
        return array[number] if -len(array) <= number < len(array) else ""
    except ValueError:
        return UNKNOWN


def _indirect(part: Parameter, values: list[Value], scope: ScriptScope) -> tuple[list[Value], bool]:
    found: list[Value] = []
    for value in values:
        if isinstance(value, str) and value and is_known(value):
            name = value.partition("[")[0]
            if value.endswith("[@]"):
                found.extend(scope.lookup(name))
            elif value.isdigit():
                found.extend(_nth_argument(p, int(value)) for p in scope.positional)
            else:
                found.extend(v if isinstance(v, str) else _item(v, None) for v in scope.lookup(name))
        else:
            found.append(UNKNOWN)
    return found, False


def _applied(operator: str, value: Value, operand: str, *, assigned: bool, first: int) -> list[Value]:
    """Apply an operator to one value; several results where they depend on the environment."""
    if operator.lstrip(":") in ("-", "=", "+", "?"):
        return _defaulted(operator, value, operand, assigned=assigned)
    if isinstance(value, str):
        return [_changed(operator, value, operand)]
    if operator == "#":
        return [str(len(value))]
    if operator == ":":
        return [_sliced_list(value, plain(operand), first)]
    return [tuple(_changed(operator, item, operand) for item in value)]


def _defaulted(operator: str, value: Value, operand: str, *, assigned: bool) -> list[Value]:
    kind = operator[-1]
    from_outside = value in (OUTSIDE, (OUTSIDE,)) or not assigned
    empty = value in ("", ()) or value == ("",)
    if kind == "?":
        return [UNKNOWN if from_outside and OUTSIDE in value else value]
    if kind == "+":
        return ["", operand] if from_outside else [operand if not empty or operator == "+" else ""]
    if from_outside:
        return [UNKNOWN if OUTSIDE in value else value, operand]
    return [operand if empty and operator[0] == ":" else value]


def _changed(operator: str, text: str, operand: str) -> str:
    if is_opaque(text):
        return OUTSIDE if text == OUTSIDE else UNKNOWN
    if operator == "#" and not operand:
        return str(len(text)) if is_known(text) else UNKNOWN
    change = _CHANGES.get(operator)
    if change is None:
        return text
    if text in (HOME, PWD) and (operator, operand) == ("%", "/*"):
        return text + "/.."
    if text == PWD and (operator, operand) == ("##", "*/"):
        return HERE
    changed = change(text, operand)
    if operator in ("#", "##") and (HOME in text or PWD in text) and changed == text:
        # The path behind the mark has slashes, which the pattern would match.
        return UNKNOWN if "/" in operand else text
    return changed


def _replaced(text: str, operand: str, *, every: bool) -> str:
    mode = "//" if every else "/"
    if not every and operand[:1] in ("#", "%"):
        mode, operand = "/" + operand[0], operand[1:]
    cut = operand.find("/", 1)
    pattern, new = (operand, "") if cut < 0 else (operand[:cut], operand[cut + 1 :])
    return patterns.replace(text, pattern, new, mode=mode)


def _slice(operand: str, size: int, first: int = 0) -> slice:
    """Return what `:offset:length` picks; raises ValueError where that is arithmetic."""
    offset, _, length = operand.partition(":")
    start = int(offset.strip() or "0")
    # `${@:1}` counts from one, `${a[@]:0}` from zero.
    start = max(start - first, 0) if start >= 0 else max(size + start, 0)
    count = int(length) if length.strip() else size
    return slice(start, start + count if count >= 0 else size + count)


def _sliced(text: str, operand: str) -> str:
    try:
        return text[_slice(plain(operand), len(text))]
    except ValueError:
        return UNKNOWN


def _sliced_list(items: tuple[str, ...], operand: str, first: int) -> tuple[str, ...]:
    try:
        return items[_slice(operand, len(items), first)]
    except ValueError:
        return (UNKNOWN,)


def _transformed(text: str, operand: str) -> str:
    match operand:
        case "E" | "P":
            return decode(text)
        case "U":
            return text.upper()
        case "L":
            return text.lower()
        case _:
            return text


_CHANGES: Final[dict[str, Callable[[str, str], str]]] = {
    "#": lambda text, pattern: patterns.strip_prefix(text, pattern, longest=False),
    "##": lambda text, pattern: patterns.strip_prefix(text, pattern, longest=True),
    "%": lambda text, pattern: patterns.strip_suffix(text, pattern, longest=False),
    "%%": lambda text, pattern: patterns.strip_suffix(text, pattern, longest=True),
    "/": lambda text, operand: _replaced(text, operand, every=False),
    "//": lambda text, operand: _replaced(text, operand, every=True),
    "^": lambda text, _: text[:1].upper() + text[1:],
    "^^": lambda text, _: text.upper(),
    ",": lambda text, _: text[:1].lower() + text[1:],
    ",,": lambda text, _: text.lower(),
    ":": _sliced,
    "@": _transformed,
}
