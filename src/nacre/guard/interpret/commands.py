"""Walking a simple command: its redirections, assignments and alias, then every argument list it may have."""

from typing import TYPE_CHECKING, Final

from nacre.bash.tree import SimpleCommand
from nacre.guard.interpret.alphabet import MADE, UNKNOWN, plain
from nacre.guard.interpret.argument_list import execute
from nacre.guard.interpret.builtins import BUILTINS, DECLARING
from nacre.guard.interpret.effects import assign_all, open_redirects, write_file
from nacre.guard.interpret.invocation import Call, Invocation
from nacre.guard.interpret.scope import Alternatives, Value
from nacre.guard.interpret.words import expand_words
from nacre.guard.programs.known_programs import NOT_RUNNING_OTHERS

if TYPE_CHECKING:
    from nacre.guard.interpret.walk import Walk

_SETTING_NOTHING: Final = NOT_RUNNING_OTHERS - BUILTINS.keys() - {"tee", "cp", "mv", "ln", "install"}


def run_command(walk: "Walk", command: SimpleCommand) -> None:
    """Record a command and all it would run; what it prints goes to the pipe or to the output."""
    isolated = (command.pipe_in or command.pipe_out) and _may_set(walk, command)
    outer, outer_stdin = walk.scope, walk.stdin
    if isolated:
        walk.scope = outer.copy()
    if command.pipe_in:
        # Substitutions among the words read from the pipe as well.
        walk.stdin = walk.piped
    text = _run(walk, command, walk.upstream if command.pipe_in else ())
    walk.stdin = outer_stdin
    if isolated:
        outer.files.update(walk.scope.files)
        walk.scope = outer
    if text in (UNKNOWN, MADE):
        text += "\n"
    if command.pipe_out:
        walk.piped, walk.upstream = text, walk.last_argv
    elif text:
        walk.output.append(text)


def _may_set(walk: "Walk", command: SimpleCommand) -> bool:
    """True if the command could change the scope, so that a pipeline must keep it apart."""
    name = command.words[0].fixed if command.words else None
    if name is None or command.assignments or command.redirects:
        return True
    return name not in _SETTING_NOTHING or name in walk.scope.functions or name in walk.scope.aliases


def _run(walk: "Walk", command: SimpleCommand, upstream: tuple[str, ...]) -> str:
    span = walk.span if walk.span is not None else (command.start, command.end)
    stdin, scope, words = walk.stdin, walk.scope, command.words
    targets: tuple[tuple[str, str], ...] = ()
    sink: tuple[str, str] | None = None
    if command.redirects:
        given, targets, sink = open_redirects(walk, command.redirects)
        stdin = given if given is not None else stdin
    if not words:
        assign_all(walk, command.assignments)
        if targets:
            walk.found.append(Invocation((), span, targets=targets, directory=scope.directory))
        # `$(<file)` gives the file's text.
        reads = len(command.redirects) == 1 and command.redirects[0].operator == "<" and not command.assignments
        return stdin if reads and stdin is not None else ""
    environment: tuple[tuple[str, str], ...] = ()
    kept: dict[str, Alternatives | None] = {}
    if command.assignments:
        if words[0].fixed not in DECLARING:
            kept = {item.name: scope.variables.get(item.name) for item in command.assignments}
        assign_all(walk, command.assignments)
        environment = tuple((item.name, _scalar(scope.lookup(item.name)[0])) for item in command.assignments)
    call = Call(span, stdin, upstream, targets, environment, walk.via)
    output = ""
    first_word = words[0].fixed
    if first_word is not None and first_word in scope.aliases and first_word not in walk.calling:
        output = _run_alias(walk, first_word, command, call)
    for position, argv in enumerate(dict.fromkeys(expand_words(words, walk))):
        printed = execute(walk, argv, call) if argv else ""
        output = printed if position == 0 and not output else output
        walk.last_argv = argv
    for name, before in kept.items():
        if before is None:
            walk.scope.variables.pop(name, None)
        else:
            walk.scope.variables[name] = before
    if sink is not None:
        write_file(walk, sink[1], output, append=sink[0] == ">>")
        return ""
    return output


def _run_alias(walk: "Walk", name: str, command: SimpleCommand, call: Call) -> str:
    aliases, words = walk.scope.aliases, command.words[1:]
    text = aliases[name]
    # `alias sudo='sudo '`: behind a blank the next word may be an alias too.
    while text.endswith((" ", "\t")) and words and (words[0].fixed or "") in aliases:
        text, words = text + aliases[words[0].fixed or ""], words[1:]
    rest = " ".join(_requoted(word) for word in expand_words(words, walk)[0])
    walk.calling.append(name)
    output = walk.run_text(f"{text} {rest}", call, wrapper="alias")
    walk.calling.pop()
    return output


def _scalar(value: Value) -> str:
    return value if isinstance(value, str) else " ".join(value)


def _requoted(word: str) -> str:
    """A field as source text again: shielded characters get their quotes back."""
    text = plain(word)
    if text == word and not any(char in text for char in " \t\n;|&()<>'\"\\$`"):
        return text or "''"
    return "'" + text.replace("'", "'\\''") + "'"
