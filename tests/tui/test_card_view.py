"""A card shows its command whole and folds its output as a person expects it (people: density, keys, whole outputs)."""

from __future__ import annotations

from pathlib import Path

from rich.style import Style

from nacre.artifacts.store import ArtifactStore
from nacre.feed.card import Card, Question
from nacre.tui.card_styles import CARD_CLASSES
from nacre.tui.card_view import CardView

PALETTE = {name.removeprefix("card--"): Style() for name in CARD_CLASSES}
RISK = Style(bold=True, reverse=True)


def card(command: str = "make", text: str = "", **facts: object) -> Card:
    made = Card(call="c-1", command=command, outcome="exited", exit_code=0, seconds=0.5, **facts)  # type: ignore[arg-type]
    made.tail.add(text)
    return made


def rows(view: CardView, width: int = 40) -> list[str]:
    height = view.lay_out(width, PALETTE)
    return [view.strip(row, PALETTE).text.rstrip() for row in range(height)]


def lines(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


def test_the_output_is_folded_to_its_last_ten_visual_lines_and_names_its_key() -> None:
    """W124, X219."""
    shown = rows(CardView(card(text=lines(30))))
    assert shown[1:3] == ["▎  … 20 earlier lines (o shows them)", "▎  line 21"]
    assert shown[11] == "▎  line 30"


def test_long_lines_count_as_the_rows_that_they_take() -> None:
    shown = rows(CardView(card(text="x" * 37 * 12 + "\nend\n")), 40)
    assert len([row for row in shown if "xxx" in row]) == 9
    assert "▎  … 3 earlier lines (o shows them)" in shown


def test_nothing_is_folded_to_hide_one_line() -> None:
    shown = rows(CardView(card(text=lines(11))))
    assert "earlier" not in "".join(shown)
    assert "▎  line 1" in shown


def test_a_person_s_command_shows_its_last_twenty_lines_of_at_most_4000_characters() -> None:
    """X233, X234: the last 20 logical lines, 4,000 characters a line."""
    view = CardView(card(text=lines(29) + "y" * 5000 + "\n", by="person"))
    shown = "".join(row.removeprefix("▎  ") for row in rows(view, 120))
    assert "10 earlier lines (o shows them)" in shown
    assert shown.count("y") - shown.count("only") <= 4000 + len("yes")
    assert "[1000 more characters]" in shown.replace(",", "")


def test_the_whole_command_is_shown_however_long_it_is() -> None:
    command = "echo " + " ".join(f"word{number}" for number in range(100)) + "\nsecond line"
    shown = rows(CardView(card(command)))
    joined = "".join(row[5:] if row.startswith("▎") else row for row in shown)
    assert "word99" in joined
    assert "second line" in joined


def test_command_and_output_fold_separately() -> None:
    view = CardView(card("a\nb\nc\nd", lines(30)))
    view.fold_command()
    shown = rows(view)
    assert shown[:2] == ["▎✓ $ a", "▎  … 3 more rows of the command (c unfolds it)"]
    assert "… 20 earlier lines (o shows them)" in shown[2]
    view.fold()
    shown = rows(view)
    assert "▎  … 3 more rows of the command (c unfolds it)" in shown
    assert "▎  line 1" in shown
    view.fold_command()
    assert "▎    d" in rows(view)


def test_unfolding_shows_the_whole_output_from_its_artifact(tmp_path: Path) -> None:
    """X220, X226: unlike a view of the text at hand, every line is there."""
    store = ArtifactStore(tmp_path)
    writer = store.create("output")
    writer.write(lines(100_000).encode())
    writer.close()
    view = CardView(card(text=lines(30)), lambda: store.open(writer.id))
    view.fold()
    view.lay_out(40, PALETTE)
    while view.advance():
        pass
    assert view.height > 100_000
    assert view.strip(2, PALETTE).text.rstrip() == "▎  line 1"
    assert view.strip(100_001, PALETTE).text.rstrip() == "▎  line 100000"
    view.fold()
    assert "▎  … 20 earlier lines (o shows them)" in rows(view)
    view.close()


def test_cancelled_error_and_exit_are_marked_apart() -> None:
    """X236: by sign and word, not by colour alone."""
    endings = {
        ("exited", 0): "✓",
        ("exited", 3): "✗",
        ("stopped", None): "■",
        ("timedOut", None): "◔",
        ("denied", None): "⊘",
        ("notStarted", None): "!",
    }
    seen = set()
    for (outcome, code), sign in endings.items():
        shown = rows(CardView(Card(call="c", command="make", outcome=outcome, exit_code=code, seconds=1.0)))
        assert shown[0] == f"▎{sign} $ make"
        seen.add(shown[1].split(" · ")[0])
    assert seen == {
        "▎  exit 0",
        "▎  exit 3",
        "▎  cancelled",
        "▎  timed out",
        "▎  denied",
        "▎  not started",
    }


def test_status_time_timeout_notices_artifact_and_variables_are_on_the_card() -> None:
    """X221, X222, X235: the limit and the artifact stand below the output."""
    view = CardView(
        card(
            text="out\n",
            env={"CI": "1", "A": 'x "y"'},
            cwd="/p/web",
            project="/p",
            timeout=30.0,
            requested_timeout=7200.0,
            artifacts=["12"],
            notices=["a stage failed"],
        )
    )
    shown = "\n".join(rows(view, 100))
    assert '✓ $ cd web && A="x \\"y\\"" CI="1" make' in shown
    assert "! a stage failed" in shown
    assert "exit 0 · 0.5s · timeout 30 s (7200 s asked for) · artifact 12" in shown


def test_the_risky_part_is_marked_and_not_what_stands_before_it() -> None:
    palette = PALETTE | {"risk": RISK}
    asking = Card(call="c", command="cd build && rm -rf ..", cwd="/p/x", project="/p", env={"A": "1"})
    asking.question = Question("q", "no_dangerous_rm", "this could delete", (12, 21), 0.0)
    view = CardView(asking)
    view.lay_out(100, palette)
    marked = [segment.text for segment in view.strip(0, palette) if segment.style == RISK]
    assert marked == ["rm -rf .."]


def test_a_call_that_is_still_being_written_shows_its_command_and_variables() -> None:
    """W158."""
    view = CardView(Card(call="c", command="make te", env={"CI": "1"}, is_preview=True))
    shown = rows(view)
    assert shown[0] == '▎◌ $ CI="1" make te'
    assert shown[1].startswith("▎  being written")


def test_control_characters_never_reach_the_screen() -> None:
    shown = rows(CardView(card("echo \x1b[2J\x07", notices=["\x1b[31mred"], error="\x9b2J")))
    assert not any(one < " " or "\x7f" <= one < "\xa0" for row in shown for one in row)


def test_density_shows_commands_only_or_everything() -> None:
    view = CardView(card(text=lines(30)))
    view.density = "count"
    view.change()
    assert len(rows(view)) == 3
    view.density = "all"
    view.change()
    assert "▎  line 1" in rows(view)
