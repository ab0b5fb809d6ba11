"""`nacre cluster`: the nodes of a Ray cluster, a command on one of them, and many commands on all of them."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nacre.cli.frame import complain, say
from nacre.cli.interruption import Interruption
from nacre.cli.parser import subcommand
from nacre.errors import BackendUnavailableError
from nacre.wording import counted

if TYPE_CHECKING:
    from nacre.cluster.cluster_backend import ClusterBackend
    from nacre.cluster.placement import Placement
    from nacre.cluster.task_map import Tally, Task
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

BAR = 30
# The summary names so many tasks.
MOST_NAMES = 10
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
    many.description = (
        'Run many commands, each at most once: the lines of a file, {"command": …, "id"?, "timeout"?, "cwd"?, '
        '"env"?}. Started again with the same results, it goes on with what was not started.'
    )
    many.add_argument("--jobs", required=True, type=Path, metavar="FILE", help="the tasks, as JSON lines")
    many.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help="where results are kept: .sqlite or .jsonl (default: that of --jobs, as .sqlite)",
    )
    many.add_argument("--at-once", type=_count, default=64, metavar="N", help="how many run at a time (default: 64)")
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


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


async def _act(namespace: argparse.Namespace) -> int:
    if namespace.action == "map":
        # A mistake in a file is told before a cluster is waited for.
        with _files_of(namespace) as files:
            async with await _joined(namespace) as cluster:
                return await _map(namespace, cluster, files)
    async with await _joined(namespace) as cluster:
        return await (_status if namespace.action == "status" else _run)(namespace, cluster)


async def _joined(namespace: argparse.Namespace) -> ClusterBackend:
    from nacre.cluster.cluster_backend import join_cluster

    address = None if namespace.address == "local" else namespace.address
    placement: Placement = getattr(namespace, "placement", "spread")
    try:
        return await join_cluster(address, placement=placement, resource=namespace.resource)
    except BackendUnavailableError as error:
        if address is None:
            raise
        raise BackendUnavailableError(
            f"{error}; --address takes HOST:PORT of a cluster's head, or local to start one on this machine"
        ) from error


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


class MapFiles(NamedTuple):
    """What a map reads and writes."""

    tasks: list[Task]
    results: TaskResults
    path: Path


@contextlib.contextmanager
def _files_of(namespace: argparse.Namespace) -> Iterator[MapFiles]:
    from nacre.cluster.task_map import read_tasks
    from nacre.cluster.task_results import open_results

    tasks = read_tasks(namespace.jobs)
    path = namespace.results or namespace.jobs.with_suffix(".sqlite")
    results = open_results(path)
    try:
        yield MapFiles(tasks, results, path)
    finally:
        results.close()


async def _map(namespace: argparse.Namespace, cluster: ClusterBackend, files: MapFiles) -> int:
    from nacre.cluster.task_map import map_tasks

    progress = Progress()
    try:
        tally = await Interruption().guard(
            map_tasks(
                files.tasks,
                cluster,
                files.results,
                at_once=namespace.at_once,
                retry_unknown=namespace.retry_unknown,
                told=progress.draw,
            )
        )
    except BaseException:
        progress.end()
        complain(f"the map was ended early: {progress.standing}; the same command goes on with what was not started")
        raise
    progress.end()
    ends = ends_of(files.results, {task.id for task in files.tasks})
    if namespace.json:
        ids = {"failedIds": list(ends.failed), "unknownIds": ends.unknown}
        print(json.dumps({**tally._asdict(), **ids, "results": str(files.path)}))
    else:
        print(summary_of(tally, ends, files.path))
    # Those of an earlier map count too.
    return 0 if not ends.failed and not ends.unknown else 1


class Ends(NamedTuple):
    """What became of the tasks of a map, of this and of earlier ones."""

    failed: dict[str, str]
    """By id, in a few words."""
    unknown: list[str]
    times: list[float]
    """How long they took, in milliseconds."""


def ends_of(results: TaskResults, ids: Set[str]) -> Ends:
    """Read the ends of these tasks."""
    found = [one for one in results.known() if one.id in ids]
    failed = {one.id: why for one in found if one.state == "done" and (why := _failure_of(one.facts))}
    times = [float(one.facts["wallTimeMs"]) for one in found if one.facts.get("wallTimeMs") is not None]
    return Ends(failed, [one.id for one in found if one.state == "unknown"], times)


def _failure_of(facts: Mapping[str, Any]) -> str | None:
    match facts.get("outcome"):
        case "exited":
            return f"exit code {facts['exitCode']}" if facts["exitCode"] else None
        case "timedOut":
            return "timed out"
        case "notStarted":
            return "not started"
        case outcome:
            return str(outcome)


class Progress:
    """The line on a terminal that shows how far a map is."""

    def __init__(self) -> None:
        self._drawn_at = 0.0
        self._began = time.monotonic()
        self._shows = sys.stderr.isatty()
        self.standing = "nothing was started"
        """How far the map is, in words."""

    def draw(self, tally: Tally) -> None:
        now = time.monotonic()
        self.standing = f"{tally.ended} of {tally.total} tasks have ended"
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


def summary_of(tally: Tally, ends: Ends, path: Path) -> str:
    """What became of a map, with a plot of how long its tasks took."""
    lines = [
        f"{counted(tally.total, 'task')}: {tally.succeeded} succeeded, {tally.failed} failed, {tally.unknown} unknown, "
        f"{tally.skipped} finished before; results in {path}"
    ]
    if ends.failed:
        lines.append(f"failed: {_some([f'{task} ({why})' for task, why in ends.failed.items()])}")
    if ends.unknown:
        lines.append(f"not known how they ended, and not run again without --retry-unknown: {_some(ends.unknown)}")
    return "\n".join([*lines, *plot_of(ends.times)])


def _some(names: list[str]) -> str:
    return ", ".join(names[:MOST_NAMES]) + (f", and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def plot_of(times: list[float]) -> list[str]:
    """How many of these durations, in milliseconds, are in each of a few ranges, each four times the last."""
    counts: dict[float, int] = {}
    for milliseconds in times:
        limit = 10.0
        while milliseconds > limit:
            limit *= 4
        counts[limit] = counts.get(limit, 0) + 1
    most = max(counts.values(), default=0)
    return [
        f"  ≤ {_duration(limit):>6}  {count:>6}  {'█' * max(1, round(BAR * count / most))}"
        for limit, count in sorted(counts.items())
    ]


def _duration(milliseconds: float) -> str:
    seconds = milliseconds / 1000
    if seconds < 1:
        return f"{milliseconds:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
