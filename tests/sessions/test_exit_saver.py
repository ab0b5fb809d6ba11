"""A script's own EXIT trap, rewritten to save the state first, is still the script's own."""

from __future__ import annotations

import subprocess

import pytest

from nacre.sessions.exit_saver import ExitSaver
from nacre.sessions.exit_traps import trap_use

SAVER = ExitSaver(55, ">&2")
SCRIPTS = [
    "trap 'echo bye $?' EXIT; (exit 3)",
    'trap "echo it\\\'s $?" EXIT; true',
    'x=5; trap "echo $x \\$?" EXIT INT; trap -p INT; false',
    "trap 'echo gone' EXIT; trap - EXIT",
    "trap '' EXIT; exit 4",
    "set -e; trap 'echo $?; false; echo no' EXIT; (exit 7); echo never",
]


def bash(script: str) -> tuple[str, int]:
    # The descriptor that the state is saved to.
    done = subprocess.run(
        ["bash", "-c", f"exec 55>/dev/null; {script}"], stdout=subprocess.PIPE, text=True, check=False
    )
    return done.stdout, done.returncode


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_rewritten_script_comes_to_the_same(script: str) -> None:
    rewritten = SAVER.rewritten(script, trap_use(script, None).exit_traps, switched=False)
    assert rewritten != script
    assert bash(rewritten) == bash(script)


@pytest.mark.parametrize("switched", [False, True])
def test_the_own_part_of_an_action_is_found(switched: bool) -> None:
    script = SAVER.rewritten(
        "trap 'echo \"own\"' EXIT", trap_use("trap 'echo \"own\"' EXIT", None).exit_traps, switched=switched
    )
    listed, _ = bash(f"{script}; trap -p EXIT >&2; trap - EXIT")
    assert listed == ""
    action = subprocess.run(
        ["bash", "-c", f'{script}; a=$(trap -p EXIT); trap - EXIT; eval set -- "$a"; printf %s "$3"'],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    assert bash(SAVER.own_action(action)) == ("own\n", 0)


@pytest.mark.parametrize("traced", [False, True])
def test_our_trap_has_no_own_part(traced: bool) -> None:
    assert SAVER.own_action(SAVER.trap(traced=traced)) == ""


def test_an_action_that_was_not_rewritten_is_the_scripts() -> None:
    assert SAVER.own_action("echo mine") == "echo mine"
