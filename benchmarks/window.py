"""What keeping an output costs beyond reading it: the window alone in memory, and the whole of it on a pipe.

The bare `os.readv` loop and ours run interleaved on the same producers; the ratio is what counts.
Usage: python benchmarks/window.py [ROUNDS]
"""

from __future__ import annotations

import fcntl
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from nacre.artifacts.spill import Spill
from nacre.artifacts.store import ArtifactStore
from nacre.output.window import Window

MIB = 1024 * 1024
SIZE = 1024 * MIB
# Half of a usual level-two cache, so that counting and writing find the bytes where reading left them.
BUFFER = 256 * 1024
PIPE = MIB

PRODUCERS = {
    "yes | head -c 1G": ["sh", "-c", f"yes | head -c {SIZE}"],
    "dd /dev/zero bs=1M": ["dd", "if=/dev/zero", "bs=1M", "count=1024", "status=none"],
    "yes": ["sh", "-c", "exec yes 2>/dev/null"],
    "seq (all lines differ)": ["seq", "1", "1000000000"],
}


def from_pipe(command: list[str], feed: Callable[[bytearray, int], None] | None) -> float:
    """Read one gigabyte of the command's output; return the seconds it took."""
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, PIPE)
    buffer = bytearray(BUFFER)
    producer = subprocess.Popen(command, stdout=writer)
    os.close(writer)
    seen, start = 0, time.perf_counter()
    while seen < SIZE and (n := os.readv(reader, [buffer])):
        if feed is not None:
            feed(buffer, n)
        seen += n
    took = time.perf_counter() - start
    os.close(reader)
    producer.kill()
    producer.wait()
    return took


def with_artifact(command: list[str], root: Path) -> float:
    store = ArtifactStore(root)
    stream = Spill(Window(4096, 4096, whole_bytes=128 * 1024), lambda: store.create("bash"))
    took = from_pipe(command, stream.feed)
    start = time.perf_counter()
    result = stream.finish()
    took += time.perf_counter() - start
    assert result.artifact is not None
    store.remove(result.artifact.id)
    return took


def in_memory(chunk: bytearray) -> float:
    window, rounds = Window(4096, 4096, whole_bytes=128 * 1024), SIZE // len(chunk)
    start = time.perf_counter()
    for _ in range(rounds):
        window.feed(chunk, len(chunk))
    return time.perf_counter() - start


def speed(seconds: list[float]) -> float:
    return SIZE / statistics.median(seconds) / 1e9


def main(rounds: int) -> None:
    print("Window.feed alone, GB/s")
    numbers = b"".join(b"%d\n" % n for n in range(200_000))
    for name, data in {
        "yes": b"y\n",
        "no newline": b"x",
        "80-byte lines": b"x" * 79 + b"\n",
        "numbers": numbers,
    }.items():
        for size in (64 * 1024, BUFFER, MIB):
            chunk = bytearray((data * (size // len(data) + 1))[:size])
            print(f"  {name:<14} {size // 1024:>5} KiB chunks  {speed([in_memory(chunk) for _ in range(rounds)]):6.2f}")
    print(f"\n1 GiB from a pipe of {PIPE // 1024} KiB, buffer {BUFFER // 1024} KiB, GB/s")
    with tempfile.TemporaryDirectory() as root:
        for name, command in PRODUCERS.items():
            bare, window, spill = [], [], []
            for _ in range(rounds):
                bare.append(from_pipe(command, None))
                window.append(from_pipe(command, Window(4096, 4096, whole_bytes=128 * 1024).feed))
                spill.append(with_artifact(command, Path(root)))
            base = speed(bare)
            print(
                f"  {name:<24} bare {base:5.2f}"
                f"   window {speed(window):5.2f} ({speed(window) / base:.2f}x)"
                f"   window + artifact {speed(spill):5.2f} ({speed(spill) / base:.2f}x)"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
