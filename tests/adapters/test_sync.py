"""A tool that is called without an event loop, from several threads and inside a running loop."""

from __future__ import annotations

import threading

from nacre import Tool
from nacre.adapters.sync import SyncTool


def test_threads_share_the_shell_one_after_another() -> None:
    sync = SyncTool(Tool("anthropic"))
    sync.call({"command": "x=0"})
    calls = [threading.Thread(target=sync.call, args=[{"command": "x=$((x + 1))"}]) for _ in range(8)]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert sync.call({"command": "echo $x"}).text == "8\n"
    sync.close()


async def test_the_shell_is_the_same_inside_a_running_event_loop() -> None:
    sync = SyncTool(Tool("anthropic"))
    sync.call({"command": "x=5"})
    assert sync.call({"command": "echo $x"}).text == "5\n"
    sync.close()
    assert sync.call({"command": "echo x is $x"}).text == "x is\n"
    sync.close()
