"""What is remembered of a shell is what it wrote, and what is said about it is true."""

from __future__ import annotations

import subprocess

from nacre.sessions.checkpoint import DUMP, MOST_BYTES
from nacre.sessions.lost_shell import BEFORE_LAST, IN_PART, RESTORED, TOO_LARGE, WITHOUT_VARIABLES
from nacre.sessions.remembered_state import RememberedState
from nacre.sessions.turn_spec import TurnSpec


def dump(script: str) -> bytes:
    return subprocess.run(["bash", "-c", f"{script}\n{DUMP}"], stdout=subprocess.PIPE, check=True, cwd="/").stdout


def test_a_whole_dump_is_the_state() -> None:
    state = RememberedState("/")
    state.keep_dump(dump("cd /usr; x=1; f() { echo f; }"))
    assert state.checkpoint is not None
    assert (state.checkpoint.directory, state.kept, state.notices) == ("/usr", RESTORED, [])
    assert state.checkpoint.variables["x"] == 'declare -- x="1"\n'


def test_a_dump_that_breaks_off_in_the_variables_keeps_those_of_before() -> None:
    state = RememberedState("/")
    state.keep_dump(dump("x=1"))
    later = dump("cd /usr; x=2")
    state.keep_dump(later[: later.index(b"declare -- x") + 5])
    assert state.checkpoint is not None
    assert (state.checkpoint.directory, state.kept) == ("/usr", WITHOUT_VARIABLES)
    assert state.checkpoint.variables["x"] == 'declare -- x="1"\n'


def test_a_dump_that_cannot_be_used_changes_nothing() -> None:
    state = RememberedState("/")
    state.keep_dump(dump("x=1"))
    before = state.checkpoint
    for data in (b"", b"/\n\0umask", dump("x=2").replace(b"umask 0", b"umask $(touch x) 0")):
        state.keep_dump(data)
        assert (state.checkpoint, state.kept) == (before, BEFORE_LAST)


def test_a_state_that_is_too_large_keeps_the_exports_and_says_so() -> None:
    state = RememberedState("/")
    state.keep_dump(dump(f"export E=1; y=2; printf -v big %{MOST_BYTES}s x"))
    assert state.checkpoint is not None
    assert (state.kept, state.notices) == (IN_PART, [TOO_LARGE])
    assert "E" in state.checkpoint.variables
    assert not {"y", "big"} & set(state.checkpoint.variables)


def test_an_exit_takes_nothing_of_its_one_call_along() -> None:
    state = RememberedState("/")
    state.keep_dump(dump("A=before; find() { echo mine; }"))
    written = b"stages 0\n\0trap -- 'echo d' DEBUG\n\0" + dump("cd /usr; A=once; x=1; find() { echo guard; }")
    assert state.keep_exit(written, TurnSpec("", env={"A": "once"}, enter="/usr", back="/", prologue="guard"))
    assert state.checkpoint is not None
    assert (state.checkpoint.directory, state.debug) == ("/", "echo d")
    assert state.checkpoint.variables["A"] == 'declare -- A="before"\n'
    assert "x" in state.checkpoint.variables
    assert "mine" in state.checkpoint.functions["find"]
    assert not state.keep_exit(b"stages 0\n\0", TurnSpec(""))


def test_a_forgotten_state_is_not_restored() -> None:
    state = RememberedState("/")
    state.keep_dump(dump("x=1"))
    assert any("x=" in text for text in state.restoring({}))
    state.forget()
    assert state.restoring({}) == ()
