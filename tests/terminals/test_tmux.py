"""The driver itself: keys arrive, the screen is read, the end is known."""

from __future__ import annotations

from terminals.tmux import Tmux


def test_what_is_typed_arrives_and_the_screen_is_read(tmux: Tmux) -> None:
    pane = tmux.start('read -r line; echo "got $line"; read -rn 1 key; exit 3')
    pane.type("a 'b' $c; Enter")
    pane.send("Enter")
    pane.wait_for("got a 'b' $c; Enter")
    pane.send("q")
    assert pane.exit_code() == 3


def test_a_program_is_told_the_new_size(tmux: Tmux) -> None:
    pane = tmux.start(
        "bash -c 'trap \"stty size\" WINCH; echo ready; while :; do read -rt 1; done'", columns=70, rows=20
    )
    pane.wait_for("ready")
    pane.resize(100, 30)
    pane.wait_for("30 100")


def test_terminals_stand_side_by_side(tmux: Tmux) -> None:
    first, second = tmux.start("echo one; cat"), tmux.start("printf '\\033[?1049h'; echo two; cat")
    assert "one" in first.wait_for("one")
    assert "one" not in second.wait_for("two")
    assert (first.fact("alternate_on"), second.fact("alternate_on")) == ("0", "1")
