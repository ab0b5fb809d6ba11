"""Draws the pictures of `nacre tui` in the documents: `python docs/tui_picture.py`. The calls are fixed."""

from __future__ import annotations

import asyncio
import html
import os
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PICTURES = {name: HERE / f"{name}.svg" for name in ("tui", "tui-light", "tui-jobs", "tui-console", "tui-help")}

SERVER = "echo '  Local: http://127.0.0.1:5173/'; echo '  press h to show help'; exec sleep 600"
ASKS = "read -rsp 'Password for deploy@staging: ' word; exec sleep 600"
DEPLOY = (
    "printf 'Release 2.4.1, 3 services, 41 migrations\\n\\n'; for one in api worker web; do "
    "printf '  \\033[32m✓\\033[0m %-8s image built\\n' $one; done; echo; read -rp 'Deploy to production? [y/N] ' answer"
)


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


@asynccontextmanager
async def _console(size: tuple[int, int], *, dark: bool = True) -> AsyncIterator[tuple[Any, Any]]:
    from textual.widgets import Input

    from nacre.tui.application import NacreApp

    app = NacreApp(dark=dark)
    async with app.run_test(size=size) as pilot:
        await app.calls.following.wait()
        for entry in app.query(Input):
            entry.cursor_blink = False
        yield app, pilot


def _show_calls(app: Any) -> None:
    for event in events(time.time()):
        card = app.calls.transcript.feed(event)
        app.show_call(card, str(event["event"]), lambda: None)
    app.transcript.draw_changes()
    app.show_head()


async def _until(app: Any, pilot: Any, *texts: str) -> None:
    def shown() -> str:
        return "\n".join(strip.text for strip in app.screen._compositor.render_strips())

    async with asyncio.timeout(30):
        while not all(text in shown() for text in texts):
            await pilot.pause(0.02)


async def transcript(*, dark: bool = True) -> str:
    """The agents' calls, with a question."""
    async with _console((100, 30), dark=dark) as (app, pilot):
        _show_calls(app)
        await pilot.pause()
        return str(app.export_screenshot(title="nacre tui"))


async def keys() -> str:
    """The page of keys."""
    async with _console((100, 36)) as (app, pilot):
        await pilot.press("f1")
        await _until(app, pilot, "Esc closes")
        return str(app.export_screenshot(title="nacre tui"))


async def jobs() -> str:
    """The jobs, one of which waits for a password, which is being typed."""
    import nacre

    async with _console((120, 20)) as (app, pilot), nacre.Tool("workspace") as tool:
        for command, pty in ((SERVER, False), ("make lint; exit 2", False), ("git fetch || true", False), (ASKS, True)):
            await tool.call({"command": command, "async": True, "pty": pty})
        await tool.call({"command": "make lint; exit 2 # the same in the foreground"})
        await pilot.press("f2")
        await _until(app, pilot, "▸ bg_4", "✗ bg_2", "✓ bg_3", "i answers", "waits for hidden input", "exit 2 ·")
        await pilot.press("i", *"hunter2")
        await _until(app, pilot, "•" * 7)
        picture = str(app.export_screenshot(title="nacre tui"))
        for job in app._engine.jobs.list().jobs:
            if job.running:
                app._engine.jobs.stop(job.id)
        while any(job.running for job in app._engine.jobs.list().jobs):
            await pilot.pause(0.05)
    return picture


async def a_console() -> str:
    """A command of an agent on a terminal, which asks."""
    import nacre

    async with _console((90, 20)) as (app, pilot), nacre.Tool("workspace") as tool:
        call = asyncio.create_task(tool.call({"command": DEPLOY, "pty": True}))
        await call
        await _until(app, pilot, "Console [running]", "[y/N]")
        picture = str(app.export_screenshot(title="nacre tui"))
        await pilot.press("escape")
        while any(job.running for job in app._engine.jobs.list().jobs):
            await pilot.pause(0.05)
    return picture


DRAW: dict[str, Callable[[], Any]] = {
    "tui": transcript,
    "tui-light": lambda: transcript(dark=False),
    "tui-jobs": jobs,
    "tui-console": a_console,
    "tui-help": keys,
}


def painted(picture: str) -> list[tuple[str, str]]:
    """Return the texts of a picture with their colours, without times: what a newer drawing library leaves as it is."""
    fills = dict(re.findall(r"\.terminal-\d+-(r\d+) \{ fill: (#\w+)", picture))
    found = re.findall(r'<text[^>]*class="terminal-\d+-(r\d+)"[^>]*>([^<]*)</text>', picture)
    texts = [(html.unescape(text).replace("\xa0", " "), fills[look]) for look, text in found]
    changing = r"\d+(\.\d+)?( ?s|m\d+s)\b *"
    return [(re.sub(changing, "_", text).strip(), fill) for text, fill in texts if text.strip()]


@asynccontextmanager
async def _nowhere() -> AsyncIterator[None]:
    """Draw in a directory of no user."""
    with tempfile.TemporaryDirectory() as place:
        project = Path(place) / "project"
        project.mkdir()
        os.environ |= {"HOME": place, "NACRE_HOME": f"{place}/state", "NACRE_SNAPSHOT": "false"}
        os.chdir(project)
        try:
            yield
        finally:
            os.chdir("/")


async def main() -> None:
    """Draw all pictures."""
    for name, path in PICTURES.items():
        async with _nowhere():
            path.write_text(await DRAW[name](), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
