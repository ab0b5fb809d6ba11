"""What the session's shell has defined, taken over into the scope as far as a text names it."""

from typing import TYPE_CHECKING, Final

from nacre.bash.reader import read
from nacre.guard.interpret.alphabet import clean
from nacre.guard.interpret.scope import Function
from nacre.guard.interpret.shell_state import IDENTIFIERS, WORDS

if TYPE_CHECKING:
    from nacre.guard.interpret.walk import Walk

# A longer function is not an agent's; as one of the user's own it is taken for a program.
_MAX_FUNCTION: Final = 20_000


def take_over_state(walk: "Walk", source: str) -> None:
    """Prepare the scope for a script: its positional parameters, and the definitions that it names."""
    state = walk.state
    if state is None:
        return
    # `cd -` and every word that is split need variables that are not named.
    usual = "\\t\\n" in state.variables.get("IFS", "\\t\\n")
    take_over(walk, f"{source}{'' if usual else ' IFS'}{' OLDPWD' if 'cd -' in source else ''} BASH_ENV ENV")
    if state.arguments:
        walk.walk(read(f"set -- {clean(state.arguments)}", walk.budget))
        walk.found.clear()
    else:
        walk.scope.positional = ((),)


def take_over(walk: "Walk", text: str) -> None:
    """Define what the text names and the session has defined, and what these definitions name in turn."""
    state = walk.state
    if state is None:
        return
    texts = [text]
    while texts:
        text = texts.pop()
        for name in {*IDENTIFIERS.findall(text), *WORDS.findall(text)} - walk.taken:
            variable, function, alias = (of.get(name) for of in (state.variables, state.functions, state.aliases))
            if variable is None and function is None and alias is None:
                continue
            walk.taken.add(name)
            if variable is not None:
                found = len(walk.found)
                walk.walk(read(clean(variable), walk.budget))
                del walk.found[found:]
            if function is not None and len(function) <= _MAX_FUNCTION:
                program = read(clean(function), walk.budget)
                # The definition itself is the first and the last step.
                walk.scope.functions[name] = (Function(program, 1, max(len(program.steps) - 1, 1)),)
            if alias is not None:
                walk.scope.aliases[name] = alias
            texts += [definition[:_MAX_FUNCTION] for definition in (variable, function, alias) if definition]
