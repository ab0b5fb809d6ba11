"""A command that asks for a terminal gets one in the foreground while a browser shows the page, and only then."""

from __future__ import annotations

from pathlib import Path

import nacre
from nacre.web.person_presence import PersonPresence
from web.serving import page_server


async def test_a_terminal_is_given_while_a_browser_shows_the_page() -> None:
    async with page_server() as page, nacre.Tool("workspace") as tool:
        assert "not a tty" in (await tool.call({"command": "tty", "pty": True})).text
        async with page.follow() as first:
            await first.until("settled")
            async with page.follow() as second:
                await second.until("settled")
            assert "/dev/pts/" in (await tool.call({"command": "tty", "pty": True})).text
            await first.until("card", state="exit 0")


async def test_the_announcement_is_taken_back_with_the_last_browser(home: Path) -> None:
    presence = PersonPresence(str(home))
    presence.begin()
    presence.begin()
    presence.end()
    assert [name.name.endswith("-person") for name in (home / "feed").iterdir()] == [True]
    presence.end()
    assert not (home / "feed").exists()
    presence.begin()
    presence.end()
    await presence.aclose()
    assert not (home / "feed").exists()
