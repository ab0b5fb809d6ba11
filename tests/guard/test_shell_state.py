"""The guard judges a command with what its shell has defined before: variables, functions, aliases, arguments."""

import shutil
import subprocess
from dataclasses import dataclass

import pytest
from policies import MODES

from nacre.guard.prefilter import needs_review
from nacre.guard.review import review
from nacre.guard.runtime_guard import runtime_guard
from nacre.guard.verdict import Verdict


@dataclass(frozen=True)
class State:
    """What a shell has defined."""

    variables: dict[str, str]
    functions: dict[str, str]
    aliases: dict[str, str]
    arguments: str = ""

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*self.functions, *self.aliases))


HOME, CWD = "/home/u", "/home/u/project"
# What a shell has defined, as bash itself prints it: kind, name and text, with NULs between.
_PRINT = r"""
__i=$(declare -p IFS); IFS=$' \t\n'; printf 'variable\0IFS\0%s\0' "$__i"
for __n in $(compgen -v); do case $__n in __?|IFS|BASH|BASH_[!E]*|BASHOPTS|BASHPID|PWD|OLDPWD) ;; *)
  printf 'variable\0%s\0%s\0' "$__n" "$(declare -p "$__n" 2>/dev/null)" ;; esac; done
for __n in $(compgen -A function); do printf 'function\0%s\0%s\0' "$__n" "$(declare -f "$__n")"; done
for __n in "${!BASH_ALIASES[@]}"; do printf 'alias\0%s\0%s\0' "$__n" "${BASH_ALIASES[$__n]}"; done
printf 'arguments\0\0%s\0' "$(printf '%q ' "$@")"
"""


def known(definitions: str) -> State:
    """The state of a real bash after some definitions; nothing but definitions may be given here."""
    bash = shutil.which("bash") or "bash"
    done = subprocess.run(
        [bash, "--norc", "-c", definitions + _PRINT], stdout=subprocess.PIPE, check=True, env={"HOME": HOME}
    )
    fields = done.stdout.decode().split("\0")
    state: dict[str, dict[str, str]] = {"variable": {}, "function": {}, "alias": {}, "arguments": {}}
    for kind, name, text in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        state[kind][name] = text
    return State(state["variable"], state["function"], state["alias"], state["arguments"].get("", "").strip())


def judged(definitions: str, command: str) -> Verdict:
    return review(command, MODES, state=known(definitions), environment={"HOME": HOME}, cwd=CWD, home=HOME)


@pytest.mark.parametrize(
    ("definitions", "command", "rule"),
    [
        ("R='rm -rf'", "$R .git", "no_dangerous_rm"),
        ("R=rm F=-rf", '"$R" "$F" /', "no_dangerous_rm"),
        ("T=/", 'rm -rf "$T"', "no_dangerous_rm"),
        ("T='/ x'", "rm -rf $T", "no_dangerous_rm"),
        ("T=/etc/passwd", 'rm -rf "${T%/*}"', "no_dangerous_rm"),
        ("T=$HOME", 'rm -rf "$T"', "no_dangerous_rm"),
        ("export T=/", "bash -c 'rm -rf $T'", "no_dangerous_rm"),
        ("T=$'/\\t'", "rm -rf $T", "no_dangerous_rm"),
        ("T='a\"b$c' U=/", 'rm -rf "$T" "$U"', "no_dangerous_rm"),
        ("N=T T=/", 'rm -rf "${!N}"', "no_dangerous_rm"),
        ("declare -n N=T; T=/", 'rm -rf "$N"', "no_dangerous_rm"),
        ("a=(rm -rf /)", '"${a[@]}"', "no_dangerous_rm"),
        ("a=(x '/' y)", 'rm -rf "${a[1]}"', "no_dangerous_rm"),
        ("declare -A d=([top]=/ [other]=x)", 'rm -rf "${d[top]}"', "no_dangerous_rm"),
        ("IFS=,; T=a,/", "rm -rf $T", "no_dangerous_rm"),
        ("set -- rm -rf /", '"$@"', "no_dangerous_rm"),
        ("set -- 'x y' /", 'rm -rf "$2"', "no_dangerous_rm"),
        ("set -- 'x y' /", 'for d; do rm -rf "$d"; done', "no_dangerous_rm"),
        ('ga() { git add "$@"; }', "ga -A", "no_blind_git_add"),
        ('ga() { git add "$@"; }', "g=ga; $g -A", "no_blind_git_add"),
        ('ga() { git add "$@"; }', 'x=$(printf g%s a); "$x" -A', "no_blind_git_add"),
        ('ga() { git add "$@"; }', "bash -c 'ga .'", "no_blind_git_add"),
        ('function ga { if true; then git add "$1"; fi; }', "ga .", "no_blind_git_add"),
        ('gp() { git push "$@"; }', "gp --force origin main", "no_force_push"),
        ('inner() { rm -rf "$1"; }; outer() { inner "$1"; }', "outer /", "no_dangerous_rm"),
        ('clean() { rm -rf "$TARGET"; }', "TARGET=/ clean", "no_dangerous_rm"),
        ('clean() { rm -rf "$TARGET"; }; TARGET=/', "clean", "no_dangerous_rm"),
        ('rm() { command rm -v "$@"; }', "rm -rf /", "no_dangerous_rm"),
        ("rm() { echo none; }", "unset -f rm; rm -rf /", "no_dangerous_rm"),
        ("rm() { echo none; }", "command rm -rf /", "no_dangerous_rm"),
        ("rm() { echo none; }", "\\rm() { :; }; /bin/rm -rf /", "no_dangerous_rm"),
        ("alias ga='git add'", "ga -A", "no_blind_git_add"),
        ("alias gaa='git add --all'", "gaa", "no_blind_git_add"),
        ("alias g=git", "g push -f", "no_force_push"),
        ("alias a=b b='rm -rf'", "a /", "no_dangerous_rm"),
        ("BASH_ENV=e", "echo 'rm -rf /' > e; bash x.sh", "no_dangerous_rm"),
    ],
)
def test_what_an_earlier_command_defined_is_seen(definitions: str, command: str, rule: str) -> None:
    verdict = judged(definitions, command)
    assert (verdict.decision, verdict.rule) == ("deny", rule)
    assert verdict.span is not None
    assert 0 <= verdict.span[0] < verdict.span[1] <= len(command)


@pytest.mark.parametrize(
    ("definitions", "command"),
    [
        ("X=build", 'rm -rf "$X"/*'),
        ("X=build", 'rm -rf "/srv/app/$X"'),
        ("R='rm -rf'", "$R build"),
        ("R='rm -rf /'", 'echo "$R"'),
        ("set -- build dist", 'rm -rf "$@"'),
        ("a=(build dist)", 'rm -rf "${a[@]}"'),
        ('ga() { git add "$@"; }', "ga src"),
        ('ga() { git add "$@"; }', "echo ga -A"),
        ("rm() { echo none; }", "rm -rf /"),
        ("git() { echo none; }", "git add -A"),
        ("alias ga='git add'", "ga README.md"),
        ("alias ls='ls --color=auto'", "ls -la"),
        ('T=/; clean() { local T=build; rm -rf "$T"; }', "clean"),
        ("d=/tmp/x", 'rm -rf "$d"'),
        ("T=/", "T=build; rm -rf $T"),
    ],
)
def test_what_an_earlier_command_defined_makes_nothing_harmless_refused(definitions: str, command: str) -> None:
    assert judged(definitions, command) == Verdict("allow")


def test_without_the_state_an_unset_variable_is_refused_and_with_it_its_value_is_judged() -> None:
    assert review('rm -rf "$X"/*').decision == "deny"
    assert judged("X=build", 'rm -rf "$X"/*').decision == "allow"
    assert judged("Y=build", 'rm -rf "$X"/*').decision == "deny"


def test_a_word_that_is_a_function_or_an_alias_needs_a_review() -> None:
    names = known("ga() { git add .; }; alias st=status").names
    assert names == {"ga", "st"}
    assert not needs_review("ga -A")
    assert needs_review("ga -A", names)
    assert needs_review("ls && (st)", names)
    assert needs_review('"ga" -A', names)
    assert not needs_review("ls ga.txt", names)


def test_a_function_of_the_users_that_is_too_long_to_be_an_agents_is_a_program() -> None:
    body = "".join(f"echo {number};" for number in range(5000))
    assert judged(f"nvm() {{ {body} }}", "nvm use 18").decision == "allow"


def test_many_definitions_that_are_not_named_cost_nothing() -> None:
    functions = {f"f{number}": f"f{number} () \n{{ \n    rm -rf /\n}}\n" for number in range(20_000)}
    state = State({f"v{number}": f'declare -- v{number}="/"\n' for number in range(20_000)}, functions, {})
    assert review('echo "$HOME"; rm -rf build', state=state, seconds=0.2).decision == "allow"
    assert review("f7", state=state).rule == "no_dangerous_rm"


@pytest.mark.parametrize("command", ['bash -c "rm -rf .git"', "sudo sh -c 'rm -rf .git'", "echo rm -rf .git | bash"])
def test_a_function_does_not_hide_a_program_from_a_child_shell(command: str) -> None:
    assert judged('rm() { echo "not removed: $*"; }', command).rule == "no_dangerous_rm"
    assert runtime_guard('bash -c "rm -rf $PWD/.gi*"', known("rm() { :; }")) is not None


def test_an_exported_function_is_followed_in_a_child_shell() -> None:
    assert judged("clean() { rm -rf /; }; export -f clean", "bash -c clean").rule == "no_dangerous_rm"


def test_a_definition_that_names_itself_ends() -> None:
    state = known('a=a; f() { f "$a"; }; alias x=y y=x')
    assert review('f "$a"; x', state=state).decision == "allow"


def test_what_the_session_makes_of_a_removal_is_watched_while_it_runs() -> None:
    assert runtime_guard('$R "$X"') is None
    assert runtime_guard('$R "$X"', known("R='rm -rf'")) is not None
    assert runtime_guard('clean "$X"', known('clean() { rm -rf "$1"; }')) is not None
