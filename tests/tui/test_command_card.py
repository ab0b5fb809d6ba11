"""The widgets work in a program of someone else's: the example agent shows its commands as cards."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from tests.tui.pilots import screen_text, until

from nacre.tui.command_card import CommandCard

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "textual_agent.py"


def example() -> Any:
    spec = importlib.util.spec_from_file_location("textual_agent", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_example_agent_shows_each_command_and_unfolds_its_output() -> None:
    app = example().SmallAgent()
    async with app.run_test(size=(80, 40)) as pilot:
        await until(pilot, lambda: "✗ $ ls /nonexistent" in screen_text(app))
        screen = screen_text(app)
        assert "✓ $ uname -sr" in screen
        assert "No such file" in screen
        assert "(o shows them)" in screen
        cards = list(app.query(CommandCard))
        assert [card.card.exit_code for card in cards] == [0, 0, 2]
        cards[1].focus()
        await pilot.press("o")
        await until(pilot, lambda: cards[1].size.height > 100)


async def test_every_name_of_the_package_can_be_imported() -> None:
    import nacre.tui

    assert all(hasattr(nacre.tui, name) for name in nacre.tui.__all__)
