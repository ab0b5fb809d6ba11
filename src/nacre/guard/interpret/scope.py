"""What a script is known to have set: variables, functions, aliases, files it wrote, its directory.

A variable maps to every value it may have at this point. Code that may not run adds to the alternatives
(`merge`), code that does run replaces them. A name that is absent has the value the environment gives it.
"""

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from nacre.bash.tree import Program
from nacre.bash.word_table import names
from nacre.guard.interpret.alphabet import HOME, OUTSIDE, PWD, TOPLEVEL, UNKNOWN, is_opaque, plain

Value: TypeAlias = str | tuple[str, ...]
"""A scalar, or an array."""
Alternatives: TypeAlias = tuple[Value, ...]

# Each alternative multiplies the work, and many of them say no more than "unknown" does.
MAX_ALTERNATIVES: Final = 24

_GIVEN: Final[dict[str, Alternatives]] = {
    **dict.fromkeys(
        names("USER LOGNAME UID EUID HOSTNAME RANDOM SECONDS PATH PPID BASHPID LINENO ? $ ! - _"), (UNKNOWN,)
    ),
    "HOME": (HOME,),
    "PWD": (PWD,),
    "IFS": (" \t\n",),
    "SHELL": ("/bin/bash",),
    "BASH": ("/bin/bash",),
    "0": ("bash",),
}
_OUTSIDE: Final[Alternatives] = (OUTSIDE,)


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """The body of a function: a stretch of a program."""

    program: Program
    first: int
    last: int


@dataclass(slots=True)
class ScriptScope:
    """Everything the script has set so far."""

    variables: dict[str, Alternatives] = field(default_factory=dict)
    functions: dict[str, tuple[Function, ...]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    git_aliases: dict[str, str] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    """Names that stand for other names (`declare -n`)."""
    links: dict[str, str] = field(default_factory=dict)
    """Symbolic links that the script makes."""
    positional: Alternatives = ((OUTSIDE,),)
    directory: str = ""
    """Where the script has gone with `cd`; empty for where it began."""
    environment: dict[str, str] = field(default_factory=dict)
    """What the caller says the environment holds."""
    inherited: frozenset[str] = frozenset()
    """Functions of the parent shell; in a child shell their names may mean programs."""

    def copy(self) -> "ScriptScope":
        return ScriptScope(
            dict(self.variables),
            dict(self.functions),
            dict(self.aliases),
            dict(self.files),
            dict(self.git_aliases),
            dict(self.references),
            dict(self.links),
            self.positional,
            self.directory,
            self.environment,
            self.inherited,
        )

    def define(self, name: str, body: Function) -> None:
        """Define a function."""
        self.functions[name] = (body,)
        self.inherited -= {name}

    def lookup(self, name: str) -> Alternatives:
        """Return the values a variable may have."""
        name = self.references.get(name, name)
        found = self.variables.get(name)
        if found is not None:
            return found
        if name in self.environment:
            return (self.environment[name],)
        return _GIVEN.get(name, _OUTSIDE)

    def file(self, path: str) -> str | None:
        """Return the text the script wrote to this path, None when it did not."""
        return self.files.get(path.removeprefix(PWD + "/").removeprefix("./"))

    def keep_file(self, path: str, text: str) -> None:
        self.files[path.removeprefix(PWD + "/").removeprefix("./")] = text

    def enter(self, path: str) -> None:
        """Go to a directory; `-` is the one before."""
        path = plain(self.linked(path + "/"))[:-1] or "/"
        before = self.lookup("OLDPWD")[0] if path == "-" else path
        path = before if isinstance(before, str) else UNKNOWN
        if is_opaque(path.replace(TOPLEVEL, "")) or path.startswith(("-", "+")):
            self.directory = UNKNOWN
        elif path.startswith("/") or not path.isascii() or not self.directory:
            self.directory = path
        else:
            self.directory = self.directory.rstrip("/") + "/" + path

    def linked(self, path: str) -> str:
        """Replace a directory of the path that is a symbolic link of the script by its target."""
        if not self.links:
            return path
        path = path.removeprefix("./")
        ends = (end for end, char in enumerate(path) if char == "/" and path[:end] in self.links)
        return next((self.links[path[:end]].rstrip("/") + path[end:] for end in ends), path)

    def assign(self, name: str, values: Alternatives) -> None:
        if len(values) > MAX_ALTERNATIVES:
            values = (*values[: MAX_ALTERNATIVES - 1], UNKNOWN)
        self.variables[self.references.get(name, name)] = values

    def append(self, name: str, values: Alternatives) -> None:
        old = self.lookup(name) if name in self.variables else ("",)
        self.assign(name, tuple(_joined(a, b) for a in old for b in values))

    def unset(self, name: str) -> None:
        self.variables[name] = ("",)


def _joined(first: Value, second: Value) -> Value:
    if isinstance(first, str) and isinstance(second, str):
        return first + second
    left = (first,) if isinstance(first, str) else first
    right = (second,) if isinstance(second, str) else second
    return tuple(item for item in (*left, *right))


def merge(scopes: list[ScriptScope]) -> ScriptScope:
    """Return the scope after one of several branches, without knowing which."""
    first, *others = scopes
    merged = first.copy()
    for other in others:
        for name in merged.variables.keys() | other.variables.keys():
            mine, theirs = merged.lookup(name), other.lookup(name)
            if mine is not theirs:
                merged.assign(name, tuple(dict.fromkeys((*mine, *theirs))))
        for name, bodies in other.functions.items():
            merged.functions[name] = tuple(dict.fromkeys((*merged.functions.get(name, ()), *bodies)))
        merged.aliases.update(other.aliases)
        merged.files.update(other.files)
        merged.links.update(other.links)
        merged.git_aliases.update(other.git_aliases)
        if other.positional != merged.positional:
            merged.positional = tuple(dict.fromkeys((*merged.positional, *other.positional)))[:MAX_ALTERNATIVES]
        if merged.directory != other.directory:
            # A relative path is judged as written and against a known directory; keep the one that is known.
            merged.directory = other.directory or merged.directory
    return merged
