"""A headless Chromium, driven by the DevTools protocol over two pipes: no driver and no websocket is needed."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE_SECONDS = 30.0
POLL_SECONDS = 0.02
# Chromium's own sandbox needs rights that containers do not give; it opens nothing but the page of the test.
OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--no-first-run",
    "--no-default-browser-check",
    "--remote-debugging-pipe",
    "--font-render-hinting=none",
]
# What DevTools wants to know of a key beside its name.
KEYS = {
    "Backspace": 8,
    "F2": 113,
    "Enter": 13,
    "Escape": 27,
    "Tab": 9,
    "ArrowUp": 38,
    "ArrowDown": 40,
    "ArrowLeft": 37,
    "ArrowRight": 39,
}

Point = tuple[float, float]


def button(text: str, inside: str = "body") -> str:
    """Return an expression that gives a button that is seen."""
    return (
        f"[...document.querySelector({json.dumps(inside)}).querySelectorAll('button')]"
        f".find(e => e.textContent === {json.dumps(text)} && e.checkVisibility())"
    )


class Window:
    """One tab."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        self.problems: list[str] = []
        """Errors of scripts, and what the content security policy has blocked."""

    async def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        return await self._browser.ask(method, session=self._session, **parameters)

    def heard(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.problems.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")

    async def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        found = await self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"]["exception"].get("description"))
        return found["result"].get("value")

    async def until(self, script: str) -> Any:
        """Wait until an expression is true; returns its value."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not (value := await self.run(script)):
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            text = await self.run("document.body.innerText")
            raise AssertionError(f"{script} is not so; problems: {self.problems}; the page:\n{text}") from None
        return value

    async def shows(self, *texts: str) -> str:
        """Wait until all texts are on the page."""
        conditions = " && ".join(f"document.body.innerText.includes({json.dumps(text)})" for text in texts)
        await self.until(conditions)
        return str(await self.run("document.body.innerText"))

    async def open(self, url: str) -> None:
        await self.ask("Page.navigate", url=url)
        await self.until("document.readyState === 'complete'")

    async def click(self, script: str) -> None:
        """Press the element that an expression gives, with the mouse, once it stands still and nothing covers it."""
        await self.release(await self.press(script))

    async def press(self, script: str) -> Point:
        """Put the mouse down on an element; it is released where it was pressed."""
        box = await self.until(
            f"(async () => {{ const e = {script}; if (!e || e.disabled) return null;"
            " e.scrollIntoView({block: 'center'});"
            " const look = () => new Promise(done => requestAnimationFrame(() => {"
            " const r = e.getBoundingClientRect(); done([r.x + r.width / 2, r.y + r.height / 2]); }));"
            " const first = await look(), second = await look();"
            " const still = first[0] === second[0] && first[1] === second[1];"
            " return still && e.contains(document.elementFromPoint(...second)) ? second : null; })()"
        )
        await self.mouse("mousePressed", (box[0], box[1]))
        return box[0], box[1]

    async def release(self, point: Point) -> None:
        await self.mouse("mouseReleased", point)

    async def mouse(self, kind: str, point: Point, **facts: Any) -> None:
        given = {"button": "left", "clickCount": 1, **facts}
        await self.ask("Input.dispatchMouseEvent", type=kind, x=point[0], y=point[1], **given)

    async def press_button(self, text: str, inside: str = "body") -> None:
        await self.click(button(text, inside))

    async def type(self, text: str) -> None:
        """Type characters, each as a key."""
        for one in text:
            await self.ask("Input.dispatchKeyEvent", type="keyDown", text=one, key=one)
            await self.ask("Input.dispatchKeyEvent", type="keyUp", key=one)

    async def key(self, name: str, *, ctrl: bool = False) -> None:
        facts: dict[str, Any] = {"key": name, "code": name, "modifiers": 2 if ctrl else 0}
        if name in KEYS:
            facts["windowsVirtualKeyCode"] = KEYS[name]
        if name == "Enter":
            facts["text"] = "\r"
        await self.ask("Input.dispatchKeyEvent", type="keyDown" if "text" in facts else "rawKeyDown", **facts)
        facts.pop("text", None)
        await self.ask("Input.dispatchKeyEvent", type="keyUp", **facts)

    async def paste(self, text: str) -> None:
        """Paste into the terminal."""
        await self.run(
            f"(() => {{ const data = new DataTransfer(); data.setData('text/plain', {json.dumps(text)});"
            " document.getElementById('terminal-input').dispatchEvent("
            "new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})); })()"
        )

    async def set_view(
        self, width: int, height: int, *, dark: bool = False, phone: bool = False, scale: int = 1
    ) -> None:
        await self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone
        )
        await self.ask("Emulation.setScrollbarsHidden", hidden=True)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.ask("Emulation.setEmulatedMedia", features=[scheme])

    async def picture(self) -> bytes:
        return base64.b64decode((await self.ask("Page.captureScreenshot", format="png"))["data"])


class Browser:
    """A running Chromium."""

    def __init__(self, reader: asyncio.StreamReader, write: Callable[[bytes], None], kill: Callable[[], None]) -> None:
        self._kill = kill
        self.killed = False
        self._reader = reader
        self._write = write
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._windows: dict[str, Window] = {}

    def kill(self) -> None:
        """End it at once, as a crash does."""
        self.killed = True
        self._kill()

    async def listen(self) -> None:
        while True:
            message = json.loads((await self._reader.readuntil(b"\0"))[:-1])
            if "id" in message:
                self._waiting.pop(message["id"]).set_result(message)
            elif (window := self._windows.get(message.get("sessionId", ""))) is not None:
                window.heard(message["method"], message["params"])

    async def ask(self, method: str, *, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._write(json.dumps(message).encode() + b"\0")
        async with asyncio.timeout(PATIENCE_SECONDS):
            found = await answer
        if "error" in found:
            raise AssertionError(f"{method}: {found['error']}")
        result: dict[str, Any] = found["result"]
        return result

    async def window(self, width: int = 1280, height: int = 900, **view: Any) -> Window:
        """Open a tab."""
        target = await self.ask("Target.createTarget", url="about:blank")
        attached = await self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        window = self._windows[attached["sessionId"]] = Window(self, attached["sessionId"])
        for domain in ("Page", "Runtime", "Log"):
            await window.ask(f"{domain}.enable")
        await window.set_view(width, height, **view)
        return window


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Start Chromium with a profile of its own, and end it."""
    assert PROGRAM is not None
    with tempfile.TemporaryDirectory(prefix="chromium-", dir="/tmp", ignore_cleanup_errors=True) as profile:
        loop = asyncio.get_running_loop()
        child_reads, we_write = os.pipe()
        we_read, child_writes = os.pipe()
        try:
            # DevTools listens on descriptor 3 and answers on 4.
            process = await asyncio.create_subprocess_exec(
                "bash", "-c", f'exec "$@" 3<&{child_reads} 4>&{child_writes}', "bash",
                PROGRAM, *OPTIONS, f"--user-data-dir={profile}",
                pass_fds=(child_reads, child_writes), stderr=asyncio.subprocess.DEVNULL,
                env={**os.environ, "HOME": profile, "TMPDIR": profile},
            )  # fmt: skip
        finally:
            os.close(child_reads)
            os.close(child_writes)
        reader = asyncio.StreamReader(limit=1 << 28)
        reading, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader),
            Path(f"/proc/self/fd/{we_read}").open("rb"),  # noqa: SIM115
        )
        os.close(we_read)
        browser = Browser(reader, lambda data: _write_all(we_write, data), process.kill)
        listening = asyncio.create_task(browser.listen())
        try:
            yield browser
        finally:
            if not browser.killed:
                with contextlib.suppress(AssertionError, TimeoutError, OSError):
                    await browser.ask("Browser.close")
            listening.cancel()
            with contextlib.suppress(asyncio.CancelledError, asyncio.IncompleteReadError):
                await listening
            reading.close()
            os.close(we_write)
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
