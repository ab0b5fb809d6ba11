"""`python -m benchmarks.page`: how soon a key is answered in a terminal of `nacre web` that floods, in a real Chromium.

The program writes lines at full speed, all equal (`yes`) or all different, answers each key by one line, and goes on at
the next key. All times are since the key's event in the browser.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FLOOD_SECONDS = 20.0
MOST_KEY_MS = 100.0
PATIENCE_SECONDS = 30.0
SCREEN = "document.getElementById('terminal-screen').innerText"
STEPS = {
    "sent": "the request leaves the browser",
    "read": "the program has read it",
    "accepted": "the request is answered",
    "drawn": "the program's line is in the page",
    "painted": "the next frame is painted",
}
FLOOD = """
import os, sys, threading, time, tty
tty.setraw(0)
calm = threading.Event()

def keys():
    while key := os.read(0, 1):
        now = time.time()
        with open("keys", "a") as file:
            print(key.decode(), now, file=file)
        calm.set()
        os.write(1, b"\\x1b[2J\\x1b[Hanswered " + key)
        if key == b"q":
            os._exit(0)
        os.read(0, 1)
        calm.clear()

BLOCKS = {
    "equal": b"y\\r\\n" * 2000,
    "different": b"".join(b"%d %s\\r\\n" % (number, b"=" * (number % 97)) for number in range(2000)),
}
at = 0
threading.Thread(target=keys, daemon=True).start()
while True:
    if calm.is_set():
        time.sleep(0.005)
    else:
        block = BLOCKS[sys.argv[1]]
        os.write(1, block[: len(block) // 8] if at % 2 else block)
        at += 1
"""
# Notes the times in the page itself: a question from outside would be one more thing to wait for.
NOTING = """
(() => {
  const input = document.getElementById("terminal-input"), screen = document.getElementById("terminal-screen");
  const real = window.fetch;
  window.times = {};
  input.addEventListener("keydown", (event) => {
    const { key, timeStamp } = event;
    if (key !== " ") window.times[key] = { pressed: performance.timeOrigin + timeStamp, key };
    window.latest = event.key;
  }, true);
  const mine = () => window.times[window.latest];
  window.fetch = async (...given) => {
    const key = mine();
    if (key) key.sent ??= performance.timeOrigin + performance.now();
    const answer = await real(...given);
    if (key) key.accepted ??= performance.timeOrigin + performance.now();
    return answer;
  };
  new MutationObserver(() => {
    const key = mine();
    if (!key || key.drawn || !screen.textContent.includes(`answered ${key.key}`)) return;
    key.drawn = performance.timeOrigin + performance.now();
    requestAnimationFrame(() => setTimeout(() => { key.painted = performance.timeOrigin + performance.now(); }));
  }).observe(screen, { childList: true, subtree: true, characterData: true });
})()
"""


async def pressed(window: Any, place: Path, key: str) -> dict[str, float]:
    """Press a key; return its times in milliseconds since it was pressed."""
    (place / "keys").write_text("", encoding="ascii")
    await window.type(key)
    await window.until(f"!!window.times[{json.dumps(key)}]?.painted")
    found = await window.run(f"window.times[{json.dumps(key)}]")
    read = 1000 * float((place / "keys").read_text(encoding="ascii").split()[1])
    await window.run(f"delete window.times[{json.dumps(key)}]")
    await window.type(" ")
    await window.until(f"!{SCREEN}.includes('answered')")
    start = found["pressed"]
    return {"read": read - start} | {name: found[name] - start for name in ("sent", "accepted", "drawn", "painted")}


async def flooded(place: Path, address: str) -> list[dict[str, float]]:
    chromium = importlib.import_module("web.chromium").chromium
    async with chromium() as browser:
        window = await browser.window()
        await window.open(address)
        await window.press_button("Terminal", "#jobs")
        await window.until(f"{SCREEN}.trim() !== ''")
        await window.run(NOTING)
        took: list[dict[str, float]] = []
        loop = asyncio.get_running_loop()
        end = loop.time() + FLOOD_SECONDS
        while loop.time() < end:
            took.append(await pressed(window, place, "abcdefghijklmnop"[len(took) % 16]))
            # The flood is on again for longer than a frame.
            await asyncio.sleep(0.1)
        await window.type("q")
        await window.until("document.getElementById('terminal-state').textContent === 'exit code 0'")
    return took


def measure(place: Path, lines: str) -> list[dict[str, float]]:
    """Serve the page of a state directory of its own, with a program that floods its terminal."""
    environment = {**os.environ, "HOME": str(place), "NACRE_HOME": f"{place}/state", "NACRE_SNAPSHOT": "false"}
    (place / "flood.py").write_text(FLOOD, encoding="ascii")
    nacre = [sys.executable, "-m", "nacre"]
    server = subprocess.Popen([*nacre, "web"], stdout=subprocess.PIPE, text=True, env=environment, cwd=place)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        call = json.dumps({"command": f"{sys.executable} flood.py {lines}", "pty": True, "async": True})
        subprocess.run(
            [*nacre, "call", "workspace", call], stdout=subprocess.DEVNULL, env=environment, cwd=place, check=True
        )
        return asyncio.run(flooded(place, address))
    finally:
        server.terminate()
        server.wait()


def main() -> int:
    sys.path.insert(0, str(ROOT / "tests"))
    good = True
    for lines in ("equal", "different"):
        with tempfile.TemporaryDirectory() as name:
            took = measure(Path(name), lines)
        print(f"{len(took)} keys in a flood of {lines} lines; milliseconds: median, 95th percentile, slowest")
        for name, words in STEPS.items():
            values = sorted(one[name] for one in took)
            print(
                f"  {words:36}{statistics.median(values):6.0f}{values[int(len(values) * 0.95)]:6.0f}{values[-1]:6.0f}"
            )
        good = good and statistics.median(one["painted"] for one in took) <= MOST_KEY_MS
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
