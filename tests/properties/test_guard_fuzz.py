"""The guard on arbitrary text: it answers, always, and quoting or wrapping does not change what a command means."""

from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.bash.command_shape import is_single_simple_command, lift_cd, trailing_window
from nacre.bash.fragments import fragments
from nacre.guard.interceptor import compile_rules, intercept
from nacre.guard.policy import Policy
from nacre.guard.review import review
from nacre.guard.runtime_guard import runtime_guard

# fmt: off
PIECES = st.sampled_from(
    [
        'rm', '-rf', '/', '~', '*', 'git', 'add', 'push', '-f', '.', '$x', '${x:-/}', '$(', ')', '`', '"', "'",
        '\\', '\n', ' ', ';', '&&', '||', '|', '&', '(', '{', '}', '<<E', '\nE\n', '<<<', '>', 'if', 'then', 'fi',
        'for', 'in', 'do', 'done', 'case', 'esac', 'x=', '((', '))', "$'", '\\x', 'function', 'f()', '[[', ']]',
        'sudo', 'bash -c ', 'eval ', 'xargs ', '#', '!', '{a,b}', '\r', '\x00', 'é', "\ud800", '\uf8ff',
    ]
)
# fmt: on
SCRIPTS = st.one_of(
    st.lists(PIECES, max_size=40).map("".join), st.lists(PIECES, max_size=25).map(" ".join), st.text(max_size=80)
)


@settings(max_examples=400)
@given(SCRIPTS)
def test_every_text_gets_a_verdict_and_no_reader_fails(script: str) -> None:
    for profile in (Policy(), Policy("strict")):
        verdict = review(script, profile)
        assert verdict.decision in ("allow", "deny")
        assert "checker failed" not in verdict.message
    runtime_guard(script)
    lift_cd(script)
    trailing_window(script)
    is_single_simple_command(script)
    fragments(script)
    intercept(script, compile_rules(), tools={"read", "write", "edit", "grep", "glob"})


@st.composite
def spelled(draw: st.DrawFn, word: str) -> str:
    """The word in some spelling that means the same to the shell."""
    style = draw(st.sampled_from(["plain", "single", "double", "ansi", "escaped", "split", "hex", "variable"]))
    match style:
        case "single":
            return f"'{word}'"
        case "double":
            return f'"{word}"'
        case "ansi":
            return f"$'{word}'"
        case "escaped":
            return "".join("\\" + char for char in word)
        case "split":
            at = draw(st.integers(0, len(word)))
            return word[:at] + draw(st.sampled_from(["''", '""', "$''"])) + word[at:]
        case "hex":
            return "$'" + "".join(f"\\x{ord(char):02x}" for char in word) + "'"
        case "variable":
            return "${__unset:+}" + word if not word.startswith("~") else word
        case _:
            return word


@st.composite
def dangerous(draw: st.DrawFn) -> tuple[str, str]:
    words, rule = draw(
        st.sampled_from(
            [
                (("rm", "-rf", "/"), "no_dangerous_rm"),
                (("rm", "-r", ".git"), "no_dangerous_rm"),
                (("rm", "--recursive", "/etc/"), "no_dangerous_rm"),
                (("git", "add", "."), "no_blind_git_add"),
                (("git", "add", "--all"), "no_blind_git_add"),
                (("git", "push", "--force"), "no_force_push"),
                (("mkfs.ext4", "/dev/sda"), "no_device_write"),
                (("dd", "if=x", "of=/dev/sda"), "no_device_write"),
                (("chmod", "-R", "777", "/"), "no_system_permissions"),
                (("git", "push", "origin", "+main"), "no_force_push"),
            ]
        )
    )
    command = " ".join(draw(spelled(word)) for word in words)
    for _ in range(draw(st.integers(0, 3))):
        wrapper = draw(
            st.sampled_from(
                ["sudo {}", "({})", "if {}; then :; fi", "x=$( {})", "{} | cat", "true && {}", "env A=1 {}", "c"]
            )
        )
        if wrapper == "c":
            command = "bash -c '" + command.replace("'", "'\\''") + "'"
        elif wrapper[0] in "se" and command[0] in "(ixt":
            command = f"({command})"
        else:
            command = wrapper.replace("{}", command)
    return command, rule


@settings(max_examples=400)
@given(dangerous())
def test_no_spelling_and_no_wrapper_hides_a_dangerous_command(case: tuple[str, str]) -> None:
    command, rule = case
    verdict = review(command, Policy(decisions=(("no_blind_git_add", "deny"),)))
    assert (verdict.decision, verdict.rule) == ("deny", rule)
