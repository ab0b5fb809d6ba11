"""One argument list: looked up as function, builtin, shell, wrapper or git, and recorded.

Everything found is recorded as an `Invocation`; what it would run in turn is executed here again, one wrapper deeper.
Gives the text the command would print, where that is known.
"""

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from nacre.bash.tree import UnreadableError
from nacre.bash.word_table import names
from nacre.guard.interpret import builtins as shell_builtins
from nacre.guard.interpret.alphabet import NETWORK, OUTSIDE, UNKNOWN, is_opaque, plain
from nacre.guard.interpret.definitions import take_over
from nacre.guard.interpret.effects import write_file
from nacre.guard.interpret.invocation import Call, Invocation
from nacre.guard.interpret.patterns import matches
from nacre.guard.interpret.words import is_unset
from nacre.guard.programs.git_words import aliased, git_call, inner_scripts, stored_alias
from nacre.guard.programs.inner import Inner, basename, split_words
from nacre.guard.programs.known_programs import NOT_RUNNING_OTHERS
from nacre.guard.programs.outputs import downloaded_files, literal_output
from nacre.guard.programs.shells import INTERPRETERS, SHELLS, shell_call
from nacre.guard.programs.wrappers import unwrap

if TYPE_CHECKING:
    from nacre.guard.interpret.walk import Walk

# Programs that are looked for among the words of an unknown program.
_SOUGHT: Final = frozenset(("rm", "git")) | SHELLS

# Without a command these start a shell, which reads its script from standard input.
_STARTS_SHELL: Final = frozenset(
    ("sudo", "su", "doas", "chroot", "unshare", "nsenter", "runuser", "fakeroot", "script", "newgrp", "parallel")
)
# Variables whose text programs hand to a shell: editors, pagers, prompts.
_SHELL_VARIABLES: Final = frozenset(
    names(
        "GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS EDITOR VISUAL PAGER "
        "MANPAGER SYSTEMD_PAGER LESSOPEN PROMPT_COMMAND BASH_ENV ENV PS0 PS1 PS4"
    )
)
# Some expressions for options take quadratic time.
_MAX_OPTION: Final = 2_000
Lookup: TypeAlias = Literal["all", "builtins", "programs"]
"""What a name may stand for: functions too, builtins and programs, or programs only."""
_LOOKUPS: Final[dict[str, Lookup]] = {
    **dict.fromkeys(("command", "builtin", "exec"), "builtins"),
    **dict.fromkeys(("coproc", "then", "do", "else", "!", "noglob", "nocorrect"), "all"),
}


def execute(walk: "Walk", argv: tuple[str, ...], call: Call, *, lookup: Lookup = "all") -> str:
    """Record a command and all it would run; give what it would print."""
    if len(argv) > 1 and is_unset(argv[0]):
        # `$SUDO rm x`: with the variable unset the next word is the program.
        execute(walk, argv[1:], call, lookup=lookup)
    walk.budget.look()
    if any(len(word) > _MAX_OPTION and word.startswith("-") for word in argv):
        raise UnreadableError("an option is too long")
    name = plain(argv[0]).replace(OUTSIDE, "")
    scope = walk.scope
    if walk.state is not None and name not in walk.taken:
        take_over(walk, name)
    if "/" in name and any(char in argv[0] for char in "*?["):
        # `/bin/r?`: the glob would be replaced by the programs it finds.
        for known in (known for known in _SOUGHT if matches(basename(argv[0]), known)):
            execute(walk, (known, *argv[1:]), call, lookup="programs")
    if lookup == "all" and name in scope.functions:
        output = walk.call_function(name, argv, call)
        if name not in scope.inherited:
            return output
    program = scope.files.get("\0program:" + name)
    if program is not None:
        argv, name = (program, *argv[1:]), program
    script = None
    base = basename(argv[0]).replace(OUTSIDE, "")
    if base in SHELLS:
        shell = shell_call(argv)
        if shell is not None:
            script = {"text": shell.script, "stdin": call.stdin, "file": scope.file(shell.script)}[shell.source]
    elif name in ("source", ".") and len(argv) > 1:
        script = scope.file(plain(argv[1]))
    elif "/" in name:
        script = scope.file(name)
    elif base in INTERPRETERS:
        operands = (plain(word) for word in argv[1:] if not word.startswith("-"))
        script = scope.file(next(operands, ""))
    walk.found.append(
        Invocation(
            tuple(map(scope.linked, argv)) if scope.links else argv,
            call.span,
            _listed_paths(walk, argv) or call.stdin,
            call.upstream,
            call.targets,
            call.environment,
            scope.directory,
            call.via,
            script,
        )
    )
    builtin = None if lookup == "programs" else shell_builtins.BUILTINS.get(name)
    if builtin is not None:
        return builtin(walk, argv, call) or ""
    if call.environment or base in SHELLS or base == "git" or "/" in name:
        _before(walk, base, argv, call)
    if base in SHELLS:
        return _shell(walk, argv, script, call)
    if "/" in name and script is not None:
        return walk.run_text(script, call, wrapper=name, isolated=True, positional=argv[1:])
    inner = unwrap(argv)
    if inner is not None:
        return _wrapped(walk, argv, inner, call)
    if base == "git" or base.startswith("git-") or base == "hub":
        return _git(walk, argv, call)
    _side_effects(walk, base, argv, call)
    if base not in NOT_RUNNING_OTHERS:
        _behind_unknown(walk, argv, call)
    printed = literal_output(argv, call.stdin, scope.files)
    return walk.unfollowed(argv, call.stdin) if printed in (None, UNKNOWN) else printed


def _listed_paths(walk: "Walk", argv: tuple[str, ...]) -> str | None:
    """Return the text of the file that `--pathspec-from-file=…` names, as far as the script wrote it."""
    words = " ".join(plain(word) for word in argv) if "--pathspec-from-file" in " ".join(argv) else ""
    option = re.search(r" --pathspec-from-file[= ](\S+)", words)
    return None if option is None else walk.scope.file(option.group(1))


def _deeper(call: Call, name: str) -> Call:
    if len(call.via) >= 8:
        raise UnreadableError("more than 8 commands inside commands")
    return replace(call, via=(*call.via, name))


def _shell(walk: "Walk", argv: tuple[str, ...], script: str | None, call: Call) -> str:
    shell = shell_call(argv)
    if shell is None or script is None:
        return UNKNOWN
    inner = _deeper(call, basename(argv[0]))
    if shell.source == "stdin":
        inner = replace(inner, stdin=None)
    outer = walk.scope.inherited
    walk.scope.inherited = frozenset(walk.scope.functions)
    printed = walk.run_text(script, inner, wrapper=shell.name, isolated=True, positional=shell.arguments)
    walk.scope.inherited = outer
    return printed


def _before(walk: "Walk", base: str, argv: tuple[str, ...], call: Call) -> None:
    """Return the texts that a program takes from its variables and start-up files and hands to a shell."""
    outer = walk.scope.variables
    given = {name: value for name in outer.keys() & _SHELL_VARIABLES if isinstance(value := outer[name][0], str)}
    given |= {name: value for name, value in call.environment if name in _SHELL_VARIABLES}
    files = [value for name, value in given.items() if name in ("BASH_ENV", "ENV")]
    files += [argv[i + 1] for i, word in enumerate(argv[:-1]) if plain(word) in ("--rcfile", "--init-file")]
    texts: list[str | None] = [plain(value).removeprefix("|") for value in given.values() if value not in files]
    texts += [walk.scope.file(plain(path)) for path in files]
    if not any(texts):
        return
    # The programs that such a text starts get the variables too; following them again would not end.
    walk.scope.variables = {name: values for name, values in outer.items() if name not in _SHELL_VARIABLES}
    for text in filter(None, texts):
        walk.run_text(text, replace(_deeper(call, base), environment=()), wrapper=base, isolated=True)
    walk.scope.variables = outer


def _wrapped(walk: "Walk", argv: tuple[str, ...], inner: Inner, call: Call) -> str:
    name = basename(argv[0])
    deeper = _deeper(call, name)
    assigned = tuple((plain(word).partition("=")[0], plain(word).partition("=")[2]) for word in inner.assignments)
    deeper = replace(deeper, environment=(*call.environment, *assigned))
    kept = walk.scope.variables
    if assigned:
        walk.scope.variables = {**kept, **{key: (value,) for key, value in assigned}}
    outside = walk.scope.directory
    if inner.directory:
        walk.scope.enter(inner.directory)
    printed: str | None = None
    arguments = walk.scope.file(inner.source) if inner.source else call.stdin
    for command in _with_input(inner, arguments):
        # `command cd x` and `builtin eval …` still reach builtins, but no function; a real program reaches neither.
        text = execute(walk, command, deeper, lookup=_LOOKUPS.get(name, "programs"))
        printed = text if printed is None else printed
    for script in inner.scripts:
        text = walk.run_text(script, deeper, wrapper=name, isolated=True)
        printed = text if printed is None else printed
    # `builtin cd x` goes there.
    walk.scope.variables, walk.scope.directory = kept, outside if inner.directory else walk.scope.directory
    if printed is None and call.stdin is not None and name in _STARTS_SHELL and not argv[0].startswith("."):
        return walk.run_text(call.stdin, replace(deeper, stdin=None), wrapper=name, isolated=True)
    if printed is None:
        printed = literal_output(argv, call.stdin, walk.scope.files)
    unknown_input = inner.reads_arguments and arguments is None
    return UNKNOWN if printed is None or unknown_input else printed


def _with_input(inner: Inner, stdin: str | None) -> list[tuple[str, ...]]:
    """Return the commands of a wrapper, with the arguments that xargs would add."""
    if not inner.reads_arguments:
        return [command for command in inner.commands if command]
    if stdin is None or is_opaque(stdin):
        words: list[str] = [UNKNOWN]
        if stdin is not None:
            words = _arguments(stdin, inner.separator) or words
    else:
        words = _arguments(stdin, inner.separator)
    commands: list[tuple[str, ...]] = []
    for command in filter(None, inner.commands):
        if inner.placeholder and any(inner.placeholder in word for word in command):
            lines = stdin.splitlines() if stdin is not None and not is_opaque(stdin) else words
            commands += [
                tuple(part.replace(inner.placeholder, line.strip()) for part in command) for line in lines[:64]
            ]
        else:
            commands.append((*command, *words))
            if stdin is None:
                # With nothing to read xargs runs the command once as it is.
                commands.append(command)
    return commands


def _arguments(text: str, separator: str | None) -> list[str]:
    if separator is None:
        return [word.strip("'\"") for word in text.split()]
    return [word for word in text.removesuffix("\n").split(separator) if word]


def _git(walk: "Walk", argv: tuple[str, ...], call: Call) -> str:
    git = git_call(argv, call.environment)
    if git is None:
        return UNKNOWN
    stored = stored_alias(git)
    if stored is not None:
        walk.scope.git_aliases[stored[0]] = stored[1]
    deeper = _deeper(call, "git")
    text = aliased(git, walk.scope.git_aliases)
    alias = "git " + git.subcommand
    if text is not None and alias not in walk.calling:
        walk.calling.append(alias)
        if text.startswith("!"):
            rest = " ".join("'" + plain(word).replace("'", "'\\''") + "'" for word in git.arguments)
            walk.run_text(f"{text[1:]} {rest}", deeper, wrapper="git", isolated=True)
        else:
            execute(walk, ("git", *split_words(text), *git.arguments), deeper, lookup="programs")
        walk.calling.pop()
        return UNKNOWN
    scripts, commands = inner_scripts(git)
    for script in scripts:
        walk.run_text(script, deeper, wrapper="git", isolated=True)
    for command in commands:
        execute(walk, command, deeper, lookup="programs")
    printed = literal_output(argv, call.stdin, walk.scope.files)
    return UNKNOWN if printed is None else printed


def _side_effects(walk: "Walk", base: str, argv: tuple[str, ...], call: Call) -> None:
    """Files and programs that the script makes for itself."""
    operands = [plain(word) for word in argv[1:] if not word.startswith("-")]
    if base == "tee" and call.stdin is not None:
        for path in operands:
            write_file(walk, path, call.stdin, append="-a" in argv)
    elif base in ("cp", "ln", "mv", "install") and len(operands) == 2:
        source, target = operands
        if base == "ln":
            walk.scope.links[target.removeprefix("./")] = source
        text = walk.scope.file(source)
        if text is not None:
            walk.scope.keep_file(target, text)
        elif basename(source) in _SOUGHT:
            for path in (target, "./" + target, target.rsplit("/", 1)[-1]):
                walk.scope.files["\0program:" + path] = source
    elif base in ("curl", "wget", "aria2c", "fetch"):
        for path in downloaded_files(argv):
            walk.scope.keep_file(path, NETWORK)


def _behind_unknown(walk: "Walk", argv: tuple[str, ...], call: Call) -> None:
    """An unknown program may be a wrapper: look for a command among its words."""
    for index, word in enumerate(argv[1:], 1):
        if basename(word) in _SOUGHT and index + 1 < len(argv):
            execute(walk, argv[index:], _deeper(call, basename(argv[0])), lookup="programs")
            return
