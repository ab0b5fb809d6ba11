"""The environment of a command on a terminal."""

from __future__ import annotations

from nacre.planning.terminal_variables import terminal_environment


def test_the_size_of_another_terminal_is_not_inherited() -> None:
    """Programs believe COLUMNS and LINES, and do not ask their own terminal then."""
    env = {"COLUMNS": "80", "LINES": "24", "HOME": "/h"}
    assert terminal_environment(env, env, None, watched=True) == {"HOME": "/h", "TERM": "xterm-256color"}
    own = {"COLUMNS": "132"}
    assert terminal_environment(env | own, env, own, watched=False)["COLUMNS"] == "132"
