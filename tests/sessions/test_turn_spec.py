"""What a turn asks of its shell, from the command's text and the shell's last known state."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from nacre.command import Command
from nacre.sessions.checkpoint import Checkpoint
from nacre.sessions.turn_spec import TurnSpec, turn_spec

STATE = Checkpoint(
    directory="/work",
    umask="umask 0022\n",
    shopt="shopt -u extglob\n",
    options="set +o xtrace\n",
    arguments="",
    function_texts="f () \n{ \n    cd /\n}\n",
    function_names="declare -f f\n",
    alias_texts="",
    traps="",
    variable_texts='declare -x OLDPWD="/before"\n',
)


def spec(
    script: str,
    state: Checkpoint | None = STATE,
    *,
    cwd: str = "/work",
    prologue: str = "",
    env: Mapping[str, str] | None = None,
    stays: bool = False,
    debug: str = "",
) -> TurnSpec:
    command = Command(script=script, cwd=cwd, env={}, timeout=None, grace=5.0, prologue=prologue, stages=True)
    return turn_spec(command, state, cwd="/work", env=env, here=False, stays=stays, previous=7, debug=debug)


def test_a_script_of_programs_keeps_the_state() -> None:
    assert spec("ls | wc -l") == TurnSpec("ls | wc -l", keeps_state=True, stages=True)


@pytest.mark.parametrize("script", ["cd /", "x=1", "f", "ls; f"])
def test_a_script_that_may_change_its_shell_saves_the_state_at_an_exit(script: str) -> None:
    found = spec(script)
    assert not found.keeps_state
    assert found.saves_exit


@pytest.mark.parametrize(
    "found",
    [
        spec("ls", None),
        spec("ls", prologue="guard"),
        spec("ls", debug="echo"),
        spec("ls", cwd="/elsewhere", stays=True),
        spec("ls", dataclasses.replace(STATE, traps="trap -- 'cd /' USR1\n")),
        spec("ls", dataclasses.replace(STATE, options="set -o verbose\n")),
        spec("ls", dataclasses.replace(STATE, variable_texts='declare -- BASH_XTRACEFD="9"\n')),
    ],
)
def test_what_runs_beside_a_script_may_change_its_shell(found: TurnSpec) -> None:
    assert not found.keeps_state


def test_a_directory_of_one_call_is_left_again() -> None:
    found = spec("ls", cwd="/elsewhere")
    assert (found.enter, found.back, found.back_before) == ("/elsewhere", "/work", '"/before"')
    assert found.keeps_state
    assert spec("ls", cwd="/elsewhere", stays=True).back is None


def test_the_status_before_is_given_to_a_script_that_may_read_it() -> None:
    assert spec("echo $?").previous == 7
    assert spec("echo").previous == 0


def test_a_script_that_lists_its_traps_does_not_meet_ours() -> None:
    found = spec("trap a EXIT; trap -p")
    assert (found.saves_exit, found.exit_traps) == (False, ())
    assert len(spec("trap a EXIT").exit_traps) == 1
    assert spec("set -x; trap a EXIT").exit_traps == ()


@pytest.mark.parametrize("script", ["x=1; cat <<E", "x=1; a |", "set -v; a | b"])
def test_no_line_is_put_after_a_script_that_would_take_or_show_it(script: str) -> None:
    assert spec("x=1; a | b").stages
    assert not spec(script).stages
