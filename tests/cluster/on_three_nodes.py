"""Runs in a network namespace of its own, whose only interface is loopback: a real cluster of three nodes on it.

Prints one line of JSON with what was seen; `test_cluster_backend.py` judges it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

import nacre
from nacre.cluster.cluster_backend import ClusterBackend, join_cluster
from nacre.remote.link_thread import links
from nacre.testing.backend_contract import CHECKS
from nacre.warden import children

BREACHED = "breached"


async def contract(backend: ClusterBackend) -> dict[str, str]:
    seen = {}
    for check in CHECKS:
        try:
            async with asyncio.timeout(30):
                await check(backend)
            seen[check.__name__] = "held"
        except (AssertionError, nacre.NacreError, TimeoutError) as error:
            seen[check.__name__] = f"{BREACHED}: {error!r}"
    return seen


async def thousand(backend: ClusterBackend) -> int:
    results = await asyncio.gather(*(nacre.run(f"echo $(({n} * 7))", backend=backend) for n in range(1000)))
    return sum(result.text == f"{n * 7}\n" for n, result in enumerate(results))


async def cancelled(backend: ClusterBackend, directory: Path) -> bool:
    task = asyncio.create_task(nacre.run("echo $$ >cancelled; exec sleep 1000", backend=backend, cwd=directory))
    pid = await _number_in(directory / "cancelled")
    task.cancel()
    await asyncio.wait([task])
    return children.state(pid) in ("X", "Z")


async def pinned(backend: ClusterBackend) -> int:
    hosts = {(await nacre.run("echo $PPID", backend=backend.pinned("mine"))).ok for _ in range(3)}
    return len({id(backend.pinned("mine")) for _ in range(5)}) if hosts == {True} else 0


async def sessions(backend: ClusterBackend, directory: Path) -> dict[str, Any]:
    """Two sessions keep their states, each on a node of its own."""
    names = ("one", "two")
    said = {}
    for name in names:
        async with nacre.Tool("workspace", backend=backend, cwd=directory, session=name) as tool:
            await tool.call({"command": f"cd / && x={name}; f() {{ echo f $x; }}; alias a='echo alias'"})
            await tool.call({"command": "shopt -s expand_aliases; (exit 5)"})
            reply = await tool.call({"command": "echo $?; f; a; pwd"})
            said[name] = reply.text.split("\n\nWall time")[0]
    return {"said": said, "nodes": len({backend._pinned[f"named {name}"] for name in names})}


async def session_of_killed_node(backend: ClusterBackend, shell: nacre.Session) -> dict[str, Any]:
    """What a session says whose node was killed: the first command may find out."""
    first = await shell.run("echo $x")
    after = first if not isinstance(first.outcome, nacre.Lost) else await shell.run("echo $x")
    return {"text": after.text, "notices": list(after.notices)}


async def worker_killed(backend: ClusterBackend, directory: Path) -> dict[str, Any]:
    """Kill the worker process of an agent, as the kernel does for memory: the commands on its node go on."""
    node = min(backend.running)
    place = backend.on(node)
    agent = (await backend._dialers[node].facts())["pid"]
    task = asyncio.create_task(
        nacre.run("echo x >>worker; until [ -e on ]; do sleep 0.05; done; echo on", backend=place, cwd=directory)
    )
    await _text_in(directory / "worker")
    os.kill(agent, signal.SIGKILL)
    (directory / "on").touch()
    result = await task
    return {
        "outcome": type(result.outcome).__name__,
        "text": result.text,
        "ran": (directory / "worker").read_text(encoding="utf-8"),
    }


async def node_killed(cluster: Cluster, victim: Any, backend: ClusterBackend, directory: Path) -> dict[str, Any]:
    script = "echo $NUMBER >>ran; until [ -e end ]; do sleep 0.1; done; echo done"
    tasks = [
        asyncio.create_task(nacre.run(script, backend=backend, cwd=directory, env={"NUMBER": str(n)}))
        for n in range(150)
    ]
    while len(await _text_in(directory / "ran")) < sum(len(str(n)) + 1 for n in range(150)):
        await asyncio.sleep(0.05)
    there = backend.running[victim.node_id]
    began = time.monotonic()
    cluster.remove_node(victim, allow_graceful=False)
    lost: list[float] = []

    def ended(task: asyncio.Task[nacre.ShellResult]) -> None:
        if isinstance(task.result().outcome, nacre.Lost):
            lost.append(time.monotonic() - began)
            if len(lost) == there:
                (directory / "end").touch()

    for task in tasks:
        task.add_done_callback(ended)
    results = await asyncio.gather(*tasks)
    counts = Counter((directory / "ran").read_text(encoding="utf-8").split())
    return {
        "there": there,
        "outcomes": dict(Counter(type(result.outcome).__name__ for result in results)),
        "causes": sorted({result.cause for result in results if isinstance(result.outcome, nacre.Lost)}),
        "lastSeconds": max(lost),
        "ranTwice": [number for number, count in counts.items() if count != 1],
        "after": (await nacre.run("echo on", backend=backend)).text,
    }


def killed_map(address: str, directory: Path) -> dict[str, Any]:
    """A map of 2,000 commands, killed in the middle and started again."""
    jobs, results = directory / "tasks.jsonl", directory / "results.sqlite"
    command = 'echo "$N" >>"$OUT/ran-$((N % 16))"'
    lines = [{"id": f"t{n}", "command": command, "env": {"N": str(n), "OUT": str(directory)}} for n in range(2000)]
    jobs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = [sys.executable, "-m", "nacre", "cluster", "map", "--address", address, "--jobs", str(jobs)]
    words += ["--results", str(results), "--json", "--at-once", "32"]
    first = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while sum(len(file.read_text(encoding="utf-8").split()) for file in directory.glob("ran-*")) < 400:
        time.sleep(0.02)
    first.kill()
    first.wait()
    second = subprocess.run(words, capture_output=True, text=True, check=False)
    told = json.loads(second.stdout)
    ran = Counter(number for file in directory.glob("ran-*") for number in file.read_text(encoding="utf-8").split())
    unknown = {name.removeprefix("t") for name in told["unknownIds"]}
    return {
        "told": {name: told[name] for name in ("total", "succeeded", "failed", "unknown", "skipped")},
        "ranTwice": [number for number, count in ran.items() if count > 1],
        "neverRan": [str(n) for n in range(2000) if str(n) not in ran and str(n) not in unknown],
        "unknown": len(unknown),
    }


async def _text_in(path: Path) -> str:
    while not path.exists() or not path.read_text(encoding="utf-8"):
        await asyncio.sleep(0.02)
    return path.read_text(encoding="utf-8")


async def _number_in(path: Path) -> int:
    return int(await _text_in(path))


async def main(directory: Path) -> dict[str, Any]:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    try:
        nodes = [cluster.add_node(num_cpus=2, resources={"special": 1.0}), cluster.add_node(num_cpus=2)]
        seen: dict[str, Any] = {}
        backend = await join_cluster(cluster.address)
        seen["nodes"] = [node["alive"] for node in await backend.health()]
        seen["contract"] = await contract(backend)
        seen["thousand"] = await thousand(backend)
        seen["cancelled"] = await cancelled(backend, directory)
        seen["pinned"] = await pinned(backend)
        seen["worker"] = await worker_killed(backend, directory)
        seen["sessions"] = await sessions(backend, directory)
        async with nacre.Session(backend=backend, cwd=directory) as shell:
            # Where the node will be killed.
            backend._pinned[shell._key] = nodes[1].node_id
            await shell.run("x=kept")
            await shell.run("true")
            seen["node"] = await node_killed(cluster, nodes[1], backend, directory)
            seen["sessionOfNode"] = await session_of_killed_node(backend, shell)
        await backend.aclose()
        special = await join_cluster(cluster.address, resource="special")
        seen["special"] = list(special.running) == [nodes[0].node_id]
        await special.aclose()
        links.end()
        seen["map"] = await asyncio.to_thread(killed_map, cluster.address, directory)
        return seen
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
