"""Completion scripts for bash, zsh and fish, made from the tree of the command line. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nacre.cli.command_tree import Entry, Option

PROGRAMS = ("nacre", "nacre-shell")
HELP = Option(("-h", "--help"), None, (), "show help")

_BASH = """\
# Completions for nacre, made by `nacre completions bash`.
_nacre() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} key= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} == -- ]] && return
  done
  ((COMP_CWORD > 1)) && key=${{COMP_WORDS[1]}}
  case $key in {parents}) ((COMP_CWORD > 2)) && key+=" ${{COMP_WORDS[2]}}" ;; esac
  case "$key $prev" in
{values}
  esac
  case $key in
{keys}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _nacre {programs}
"""

_ZSH = """\
#compdef {programs}
# Completions for nacre, made by `nacre completions zsh`.
_nacre() {{
  local key= previous=${{words[CURRENT-1]}} dashes=${{words[(i)--]}}
  local -a found
  # What follows -- is a command line of its own.
  (( dashes < CURRENT )) && {{ words=("${{(@)words[dashes+1,-1]}}"); (( CURRENT -= dashes )); _normal; return }}
  (( CURRENT > 2 )) && key=${{words[2]}}
  case $key in ({parents}) (( CURRENT > 3 )) && key+=" ${{words[3]}}" ;; esac
  case "$key $previous" in
{values}
  esac
  case $key in
{keys}
  esac
  _describe nacre found || _files
}}
_nacre "$@"
"""


def bash(tree: Sequence[Entry]) -> str:
    """Return the script for bash."""
    keys = [f"    '') words={_quoted(' '.join(_verbs(tree)))} ;;"]
    keys += [f"    {_quoted(' '.join(entry.words))}) words={_quoted(' '.join(_words(entry)))} ;;" for entry in tree]
    values = [
        f"    {' | '.join(_quoted(key) for key in found)}) words={_quoted(' '.join(choices))}; "
        'COMPREPLY=($(compgen -W "$words" -- "$cur")); return ;;'
        for found, choices in _values(tree)
    ]
    return _BASH.format(
        parents="|".join(_parents(tree)),
        values="\n".join(values),
        keys="\n".join(keys),
        programs=" ".join(PROGRAMS),
    )


def zsh(tree: Sequence[Entry]) -> str:
    """Return the script for zsh."""
    verbs = [(entry.words[0], entry.summary) for entry in tree if len(entry.words) == 1]
    keys = [f"    ('') found=({_described(verbs)}) ;;"]
    for entry in tree:
        options = [(name, option.help) for option in (*entry.options, HELP) for name in option.names]
        choices = [(choice, "") for argument in entry.arguments for choice in argument.choices]
        words = [*entry.subcommands, *choices, *options]
        keys.append(f"    ({_quoted(' '.join(entry.words))}) found=({_described(words)}) ;;")
    values = [
        f"    ({'|'.join(_quoted(key) for key in found)}) compadd -- {' '.join(choices)}; return ;;"
        for found, choices in _values(tree)
    ]
    return _ZSH.format(
        parents="|".join(_parents(tree)),
        values="\n".join(values),
        keys="\n".join(keys),
        programs=" ".join(PROGRAMS),
    )


def fish(tree: Sequence[Entry]) -> str:
    """Return the script for fish."""
    lines = ["# Completions for nacre, made by `nacre completions fish`."]
    for entry in tree:
        if len(entry.words) == 1:
            lines.append(_fish("__fish_use_subcommand", f"-f -a {entry.words[0]}", entry.summary))
        when = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in entry.words)
        names = [name for name, _ in entry.subcommands]
        for name, summary in entry.subcommands:
            lines.append(
                _fish(f"{when}; and not __fish_seen_subcommand_from {' '.join(names)}", f"-f -a {name}", summary)
            )
        for argument in entry.arguments:
            if argument.choices:
                lines.append(_fish(when, f"-f -a {_quoted(' '.join(argument.choices))}", argument.help))
        for option in entry.options:
            spelled = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            taken = "" if option.value is None else " -r"
            choices = f" -f -a {_quoted(' '.join(option.choices))}" if option.choices else ""
            lines.append(_fish(when, f"{spelled}{taken}{choices}", option.help))
    return "\n".join(lines) + "\ncomplete -c nacre-shell -w nacre\n"


def _fish(when: str, what: str, text: str) -> str:
    return f"complete -c nacre -n {_quoted(when)} {what} -d {_quoted(text)}"


def _verbs(tree: Iterable[Entry]) -> list[str]:
    return [entry.words[0] for entry in tree if len(entry.words) == 1]


def _parents(tree: Iterable[Entry]) -> list[str]:
    return [entry.words[0] for entry in tree if entry.subcommands]


def _words(entry: Entry) -> list[str]:
    """Return what may follow the words of an entry."""
    choices = [choice for argument in entry.arguments for choice in argument.choices]
    options = [name for option in (*entry.options, HELP) for name in option.names]
    return [*(name for name, _ in entry.subcommands), *choices, *options]


def _values(tree: Iterable[Entry]) -> list[tuple[list[str], tuple[str, ...]]]:
    """Return the values of each option that has a list of them, by the words before them."""
    return [
        ([f"{' '.join(entry.words)} {name}" for name in option.names], option.choices)
        for entry in tree
        for option in entry.options
        if option.choices
    ]


def _described(words: Iterable[tuple[str, str]]) -> str:
    return " ".join(_quoted(f"{name}:{text}" if text else name) for name, text in words)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
