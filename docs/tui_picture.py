"""Draws docs/tui.svg, the picture of `nacre tui`: `python docs/tui_picture.py`. The clock and the calls are fixed."""

from __future__ import annotations

import asyncio
import html
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

PICTURE = Path(__file__).with_name("tui.svg")
SIZE = (100, 30)


def events(now: float) -> list[dict[str, Any]]:
    """A test run that fails, a server as a job, a question: what a person sees of an agent's minute."""
    common = {"surface": "mcp", "session": "one", "project": "/project", "pid": 1}
    tests = "".join(f"tests/test_{name}.py ....... [{part}%]\n" for name, part in (("api", 12), ("auth", 25)))
    tests += "".join(f"tests/test_{number}.py ........ [{number}%]\n" for number in range(30, 99, 7))
    tests += "FAILED tests/test_auth.py::test_login - assert 401 == 200\n1 failed, 103 passed in 12.40s\n"
    question = {
        "question": "q",
        "rule": "no_dangerous_rm",
        "message": "this rm could delete critical data",
        "span": [13, 28],
        "deadline": now + 51.5,
    }

    def call(number: int, kind: str, **facts: Any) -> dict[str, Any]:
        return {"call": f"call-{number}", "event": kind, "time": now, "startedAt": now, **common, **facts}

    return [
        call(1, "start", command="pytest -q", env={"CI": "1"}, timeout=300),
        call(1, "output", text=tests),
        call(1, "end", outcome="exited", exitCode=1, durationMs=12400, artifacts=[7]),
        call(2, "start", command="npm run dev", cwd="/project/web", timeout=3600),
        call(2, "output", text="  Local: http://127.0.0.1:5173/\n"),
        call(2, "job", jobId="bg_1"),
        call(3, "start", command="git add . && rm -rf build ..", timeout=300),
        call(3, "approval", **question),
    ]


async def draw() -> str:
    """Return the picture."""
    from nacre.tui.application import NacreApp

    app = NacreApp()
    async with app.run_test(size=SIZE) as pilot:
        await app.calls.following.wait()
        for event in events(time.time()):
            card = app.calls.transcript.feed(event)
            app.show_call(card, str(event["event"]), lambda: None)
        app.transcript.draw_changes()
        app.show_head()
        await pilot.pause()
        return app.export_screenshot(title="nacre tui")


def words(picture: str) -> list[str]:
    """Return the texts of a picture, without the times: what a newer version of the drawing library leaves as it is."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    plain = html.unescape(" ".join(texts)).replace("\xa0", " ")
    return re.sub(r"\d+(\.\d+)?( ?s|m\d+s)\b", "_", plain).split()


def main() -> str:
    """Draw in a directory of no user."""
    with tempfile.TemporaryDirectory() as place:
        project = Path(place) / "project"
        project.mkdir()
        os.environ |= {"HOME": place, "NACRE_HOME": f"{place}/state", "NACRE_SNAPSHOT": "false"}
        os.chdir(project)
        try:
            return asyncio.run(draw())
        finally:
            os.chdir("/")


if __name__ == "__main__":
    PICTURE.write_text(main(), encoding="utf-8")
