"""Commands on a Ray cluster of three local nodes, by nacre and as plain Ray tasks: `python -m benchmarks.cluster`.

Both run in one cluster, one after the other, so that the ratios hold on a busy machine too. The cluster is in a network
and a process namespace of its own, which needs root; nothing of it is left behind. docs/scale.md has the figures, and
with `--check` the program fails where they are not as promised.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Any

import nacre
from nacre.api import PROFILE, run_with
from nacre.backend import Backend
from nacre.engine.observers import Observers
from nacre.warden import children

# Inside the namespaces, where the cluster is.
INSIDE = "NACRE_BENCHMARK_INSIDE"
TOGETHER, ALONE, CANCELLED = 300, 60, 10
WARM = 12
# What issue and documentation promise: the median of the first byte, and the slowest cancel.
FIRST_BYTE_MS, CANCEL_SECONDS = 15.0, 2.0
GONE = ("X", "Z")


def milliseconds(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "median": round(statistics.median(ordered) * 1000, 2),
        "p95": round(ordered[int(len(ordered) * 0.95)] * 1000, 2),
        "max": round(ordered[-1] * 1000, 2),
    }


async def alone(call: Callable[[], Awaitable[float]], times: int) -> dict[str, float]:
    """The times of calls that are made one after another."""
    for _ in range(WARM):
        await call()
    return milliseconds([await call() for _ in range(times)])


async def rate(call: Callable[[int], Awaitable[bool]], times: int) -> float:
    """Calls a second of so many that are made at once."""
    await asyncio.gather(*(call(number) for number in range(WARM)))
    began = time.perf_counter()
    right = await asyncio.gather(*(call(number) for number in range(times)))
    took = time.perf_counter() - began
    if not all(right):
        raise RuntimeError(f"{right.count(False)} of {times} commands have a wrong answer")
    return round(times / took, 1)


async def of_nacre(backend: Backend) -> dict[str, Any]:
    async def whole() -> float:
        began = time.perf_counter()
        await nacre.run("echo hi", backend=backend)
        return time.perf_counter() - began

    async def first_byte() -> float:
        began = time.perf_counter()
        seen: list[float] = []
        observers = Observers(passthrough=lambda _, __: seen.append(time.perf_counter()))
        await run_with("echo hi; sleep 0.05", PROFILE, backend=backend, observers=observers)
        return seen[0] - began

    async def together(number: int) -> bool:
        return (await nacre.run(f"echo $(({number} * 7))", backend=backend)).text == f"{number * 7}\n"

    async def cancel() -> float:
        """From the cancel to the moment at which the caller has it back; its process must be gone by then."""
        said: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        observers = Observers(passthrough=lambda _, data: said.set_result(int(bytes(data))))
        task = asyncio.create_task(run_with("echo $$; exec sleep 1000", PROFILE, backend=backend, observers=observers))
        pid = await said
        began = time.perf_counter()
        task.cancel()
        await asyncio.wait([task])
        took = time.perf_counter() - began
        if children.state(pid) not in GONE:
            raise RuntimeError(f"process {pid} of a cancelled command is alive")
        return took

    return {
        "whole": await alone(whole, ALONE),
        "first byte": await alone(first_byte, ALONE),
        "rate": await rate(together, TOGETHER),
        "cancel": milliseconds([await cancel() for _ in range(CANCELLED)]),
    }


async def of_ray() -> dict[str, Any]:
    """The same as tasks of Ray that run bash; a task has no output before its end unless it is a generator."""
    import ray

    def shell(command: str) -> bytes:
        return subprocess.run(["bash", "-c", command], capture_output=True, check=False).stdout

    def stream(command: str) -> Any:
        with subprocess.Popen(["bash", "-c", command], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            # Ray sends into its generators, which a file does not take.
            for line in process.stdout:  # noqa: UP028
                yield line

    # As many at once as nacre runs: without this, a node runs two.
    task = ray.remote(num_cpus=0.02)(shell)
    generator = ray.remote(num_cpus=0.02, num_returns="streaming")(stream)

    async def whole() -> float:
        began = time.perf_counter()
        await task.remote("echo hi")
        return time.perf_counter() - began

    async def first_byte() -> float:
        began = time.perf_counter()
        seen = 0.0
        async for piece in generator.remote("echo hi; sleep 0.05"):
            await piece
            seen = seen or time.perf_counter()
        return seen - began

    async def together(number: int) -> bool:
        return bool(await task.remote(f"echo $(({number} * 7))") == f"{number * 7}\n".encode())

    return {
        "whole": await alone(whole, ALONE),
        "first byte": await alone(first_byte, ALONE),
        "rate": await rate(together, TOGETHER),
    }


async def measure() -> dict[str, Any]:
    from ray.cluster_utils import Cluster

    from nacre.cluster.cluster_backend import join_cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=2)
        async with await join_cluster(cluster.address) as backend:
            return {"ray": await of_ray(), "nacre": await of_nacre(backend)}
    finally:
        cluster.shutdown()


def run_inside() -> dict[str, Any]:
    """Run this program in namespaces of its own, with a short scratch directory for Ray's sockets."""
    if os.getuid() != 0 or shutil.which("unshare") is None:
        raise SystemExit("the cluster needs a network namespace of its own, which needs root and unshare")
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="nacre-") as scratch:
        words = f'ip link set lo up; exec "{sys.executable}" -m benchmarks.cluster'
        done = subprocess.run(
            ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", words],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env={
                **os.environ,
                INSIDE: "yes",
                "NACRE_HOME": f"{scratch}/state",
                "RAY_USAGE_STATS_ENABLED": "0",
                "TMPDIR": scratch,
                "RAY_TMPDIR": scratch,
            },
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def table_of(found: dict[str, Any]) -> str:
    ours, theirs = found["nacre"], found["ray"]

    def times(name: str, spelled: str) -> str:
        mine, other = ours[name], theirs[name]
        return (
            f"| {spelled} | {mine['median']:.1f} ms (p95 {mine['p95']:.1f}) | {other['median']:.1f} ms "
            f"(p95 {other['p95']:.1f}) | {mine['median'] / other['median']:.2f} |"
        )

    cancel = ours["cancel"]
    return "\n".join(
        [
            "| one after another, warm | nacre | plain Ray task | nacre / Ray |",
            "|---|--:|--:|--:|",
            times("first byte", "first byte of `echo hi; sleep 0.05`"),
            times("whole", "`echo hi`, whole"),
            f"| commands a second, {TOGETHER} at once | {ours['rate']:.0f} | {theirs['rate']:.0f} "
            f"| {ours['rate'] / theirs['rate']:.2f} |",
            f"| cancel until the process is gone | {cancel['median']:.0f} ms (max {cancel['max']:.0f}) | – | – |",
        ]
    )


def main() -> int:
    if os.environ.get(INSIDE):
        print(json.dumps(asyncio.run(measure())))
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when a promise of docs/scale.md is not kept")
    options = parser.parse_args()
    found = run_inside()
    print(table_of(found))
    first, cancel = found["nacre"]["first byte"]["median"], found["nacre"]["cancel"]["max"] / 1000
    broken = first > FIRST_BYTE_MS or cancel > CANCEL_SECONDS
    if options.check and broken:
        print(f"broken: first byte {first} ms (≤ {FIRST_BYTE_MS}), slowest cancel {cancel:.2f} s (≤ {CANCEL_SECONDS})")
    return 1 if options.check and broken else 0


if __name__ == "__main__":
    sys.exit(main())
