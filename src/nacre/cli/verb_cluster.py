"""`nacre cluster`: the nodes of a Ray cluster, a command on one of them, and many commands on all of them."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.cli.frame import complain, say
from nacre.cli.interruption import Interruption
from nacre.cli.parser import subcommand
from nacre.errors import BackendUnavailableError

if TYPE_CHECKING:
    from nacre.cluster.cluster_backend import ClusterBackend
    from nacre.cluster.placement import Placement
    from nacre.cluster.task_map import Tally
    from nacre.cluster.task_results import TaskResults

EPILOG = """\
map runs each line of a JSON-lines file, {"command": …, "id"?, "timeout"?, "cwd"?, "env"?}, at most once. Started again
with the same results, it goes on with what was not started; a task whose end is not known is named, and run again only
with --retry-unknown. Exit code: 0 if every task succeeded, 1 if not.

examples:
  nacre cluster status --address auto
  nacre cluster run --address head:6379 -- nvidia-smi
  nacre cluster map --address auto --jobs tasks.jsonl --results results.sqlite --at-once 200
"""

BAR, MOST_BARS = 30, 8
# How often the progress of a map is drawn.
DRAW_SECONDS = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="action", required=True, metavar="status|run|map")
    status = subcommand(verbs, "status", "show the nodes of the cluster")
    run = subcommand(verbs, "run", "run a command on one node")
    run.add_argument(
        "--node", help="the node, by its id or the beginning of it (default: the one with the fewest commands)"
    )
    run.add_argument("--timeout", type=float, metavar="S", help="seconds until everything is ended (default: 300)")
    run.add_argument("command", nargs="+", help="a script, or a command and its arguments; put -- before it")
    many = subcommand(verbs, "map", "run many commands, each at most once, and keep what became of each")
    many.add_argument("--jobs", required=True, type=Path, metavar="FILE", help="the tasks, as JSON lines")
    many.add_argument(
        "--results", type=Path, metavar="FILE", help="where results are kept: .sqlite or .jsonl (default: FILE.sqlite)"
    )
    many.add_argument("--at-once", type=int, default=64, metavar="N", help="how many run at a time (default: 64)")
    many.add_argument(
        "--retry-unknown", action="store_true", help="run tasks again whose end is not known; they may run twice"
    )
    for one in (status, run, many):
        one.add_argument(
            "--address", default="auto", help="of the cluster: auto, HOST:PORT of its head, or local (default: auto)"
        )
        one.add_argument("--resource", help="only nodes that have this resource")
    for one in (run, many):
        one.add_argument("--placement", choices=("spread", "pack"), default="spread", help="how nodes are chosen")


def main(namespace: argparse.Namespace) -> int:
    try:
        return asyncio.run(_act(namespace))
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise BackendUnavailableError("a cluster needs the package ray; pip install 'nacre-shell[ray]'") from error


async def _act(namespace: argparse.Namespace) -> int:
    from nacre.cluster.cluster_backend import join_cluster

    address = None if namespace.address == "local" else namespace.address
    placement: Placement = getattr(namespace, "placement", "spread")
    async with await join_cluster(address, placement=placement, resource=namespace.resource) as cluster:
        if namespace.action == "status":
            return await _status(namespace, cluster)
        if namespace.action == "run":
            return await _run(namespace, cluster)
        return await _map(namespace, cluster)


async def _status(namespace: argparse.Namespace, cluster: ClusterBackend) -> int:
    nodes = await cluster.health()
    if namespace.json:
        print(json.dumps(nodes))
        return 0
    for node in nodes:
        cpus = node["resources"].get("CPU", 0)
        load = f"load {node['load']:.1f}" if "load" in node else node.get("error", "")
        state = "alive" if node["alive"] else "dead"
        print(f"{node['id'][:12]}  {state:<5}  {cpus:>4g} CPU  {node['host'] or '-':<20}  {load}".rstrip())
    return 0


async def _run(namespace: argparse.Namespace, cluster: ClusterBackend) -> int:
    from nacre.api import PROFILE, run_with
    from nacre.cli.verb_run import as_object, command_of, exit_code
    from nacre.engine.observers import Observers

    interruption = Interruption()
    result = await interruption.guard(
        run_with(
            command_of(namespace.command),
            PROFILE,
            timeout=namespace.timeout,
            backend=cluster if namespace.node is None else cluster.on(namespace.node),
            observers=Observers(passthrough=None if namespace.json else interruption.pass_through),
        )
    )
    if namespace.json:
        print(json.dumps(as_object(result)))
    for notice in () if namespace.json else result.notices:
        complain(notice)
    return exit_code(result)


async def _map(namespace: argparse.Namespace, cluster: ClusterBackend) -> int:
    from nacre.cluster.task_map import map_tasks, read_tasks
    from nacre.cluster.task_results import open_results

    tasks = read_tasks(namespace.jobs)
    path = namespace.results or namespace.jobs.with_suffix(".sqlite")
    results = open_results(path)
    progress = Progress()
    try:
        tally = await Interruption().guard(
            map_tasks(
                tasks,
                cluster,
                results,
                at_once=max(1, namespace.at_once),
                retry_unknown=namespace.retry_unknown,
                told=progress.draw,
            )
        )
        progress.end()
        unknown = [one.id for one in results.known() if one.state == "unknown"]
        if namespace.json:
            print(json.dumps({**tally._asdict(), "unknownIds": unknown, "results": str(path)}))
        else:
            print(summary_of(tally, results, unknown, path))
    finally:
        results.close()
    return 0 if tally.failed == tally.unknown == 0 else 1


class Progress:
    """The line on a terminal that shows how far a map is."""

    def __init__(self) -> None:
        self._drawn_at = 0.0
        self._began = time.monotonic()
        self._shows = sys.stderr.isatty()

    def draw(self, tally: Tally) -> None:
        now = time.monotonic()
        if not self._shows or (now < self._drawn_at + DRAW_SECONDS and tally.ended < tally.total):
            return
        self._drawn_at = now
        filled = round(BAR * tally.ended / tally.total) if tally.total else BAR
        rate = (tally.ended - tally.skipped) / max(now - self._began, 0.001)
        sys.stderr.write(
            f"\r[{'#' * filled}{' ' * (BAR - filled)}] {tally.ended}/{tally.total}  {tally.failed} failed  "
            f"{tally.unknown} unknown  {rate:.0f}/s "
        )
        sys.stderr.flush()

    def end(self) -> None:
        if self._shows:
            say("")


def summary_of(tally: Tally, results: TaskResults, unknown: list[str], path: Path) -> str:
    """What became of a map, with a plot of how long its tasks took."""
    lines = [
        f"{tally.total} tasks: {tally.succeeded} succeeded, {tally.failed} failed, {tally.unknown} unknown, "
        f"{tally.skipped} finished before; results in {path}"
    ]
    if unknown:
        shown = ", ".join(unknown[:10]) + (f", and {len(unknown) - 10} more" if len(unknown) > 10 else "")
        lines.append(f"not known how they ended, and not run again: {shown}")
    times = sorted(float(one.facts["wallTimeMs"]) for one in results.known() if one.facts.get("wallTimeMs") is not None)
    return "\n".join([*lines, *plot_of(times)])


def plot_of(times: list[float]) -> list[str]:
    """How many of these durations, in milliseconds, are in each of a few ranges that double."""
    if not times:
        return []
    counts: dict[float, int] = {}
    for milliseconds in times:
        limit = 10.0
        while milliseconds > limit and len(counts) < 64:
            limit *= 4
        counts[limit] = counts.get(limit, 0) + 1
    most = max(counts.values())
    rows = sorted(counts.items())[:MOST_BARS]
    return [
        f"  ≤ {_duration(limit):>6}  {count:>6}  {'█' * max(1, round(BAR * count / most))}" for limit, count in rows
    ]


def _duration(milliseconds: float) -> Any:
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.0f} s"
