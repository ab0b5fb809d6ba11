"""A simulation of many commands on many nodes, with cut links and dead nodes, on a virtual clock.

It plays the rules of `nacre.warden.remote_protocol` (numbered calls, leases, heartbeats, no second `open`) for
messages, leases and losses; it runs no command and is not the engine. `python -m benchmarks.scale` prints what
docs/scale.md has.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from nacre.cluster.placement import PATIENCE_SECONDS
from nacre.warden.remote_protocol import BEAT_SECONDS, SILENT_SECONDS

# Measured on the real parts (docs/scale.md): bytes of the frames of one short command, and memory of the driver.
BYTES = {"open": 256, "opened": 66, "output": 25, "closed": 62, "exited": 167, "forget": 45, "beat": 14, "attach": 70}
DRIVER_BYTES_PER_CALL = 8 * 1024
# Not measured: the buffers of one link at most, while nothing floods.
DRIVER_BYTES_PER_LINK = 64 * 1024


@dataclass(frozen=True)
class World:
    """What is simulated."""

    nodes: int = 1000
    commands: int = 100_000
    per_node: int = 8
    """Commands that run on one node at a time."""
    mean_seconds: float = 5.0
    cuts_per_node_hour: float = 2.0
    cut_seconds: float = 2.0
    """The mean length of a cut."""
    silent_cuts: float = 0.3
    """The share of cuts that only the heartbeat finds."""
    deaths_per_node_hour: float = 0.2
    seed: int = 1


@dataclass
class Call:
    """A command: on its node it runs until it ends or its lease does; the driver knows one end of it."""

    number: int
    node: int
    ends_at: float
    over_there: bool = False
    told: str | None = None


@dataclass
class Node:
    alive: bool = True
    linked: bool = True
    """Whether messages pass."""
    usable: bool = True
    """Whether the driver gives it commands."""
    calls: dict[int, Call] = field(default_factory=dict)
    cut: int = 0
    """Counts the cuts, so that an event of an earlier one is known."""


@dataclass
class Report:
    """What came of it."""

    exited: int = 0
    lost: int = 0
    starts: Counter[int] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)
    deaths: int = 0
    cuts: int = 0
    seconds: float = 0.0
    most_running: int = 0
    orphan_seconds: float = 0.0
    """The longest that a command ran on after the link of its node was cut for good."""
    loss_told_seconds: float = 0.0
    """The longest from the death of a node, or the cut of its link, to the word that its commands are lost."""

    @property
    def bytes(self) -> int:
        return sum(BYTES[kind] * count for kind, count in self.messages.items())


class Simulation:
    """One run of a world; events happen in the order of the virtual clock."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.report = Report()
        self.now = 0.0
        self._random = random.Random(world.seed)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._nodes = [Node() for _ in range(world.nodes)]
        self._free = [(0, number) for number in range(world.nodes)]
        heapq.heapify(self._free)
        self._waiting = list(range(world.commands))
        self._calls: dict[int, Call] = {}
        self._running = 0

    def run(self) -> Report:
        for number, node in enumerate(self._nodes):
            self._later_at_rate(self.world.cuts_per_node_hour, lambda number=number, node=node: self._cut(number, node))  # type: ignore[misc]
            self._later_at_rate(
                self.world.deaths_per_node_hour,
                lambda number=number, node=node: self._die(number, node),  # type: ignore[misc]
            )
        self._start_waiting()
        while self._events and self.report.exited + self.report.lost < self.world.commands:
            self.now, _, act = heapq.heappop(self._events)
            act()
        self.report.seconds = self.now
        links = sum(1 for node in self._nodes if node.alive)
        self.report.messages["beat"] += round(2 * links * self.now / BEAT_SECONDS)
        return self.report

    # Time.

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + seconds, next(self._order), act))

    def _later_at_rate(self, per_hour: float, act: Callable[[], None]) -> None:
        if per_hour:
            self._later(self._random.expovariate(per_hour / 3600), act)

    # Commands.

    def _start_waiting(self) -> None:
        while self._waiting and self._free:
            load, number = heapq.heappop(self._free)
            node = self._nodes[number]
            if not node.usable or load != len(node.calls):
                continue
            self._start(self._waiting.pop(), number, node)
            self._offer(number, node)

    def _offer(self, number: int, node: Node) -> None:
        if node.usable and len(node.calls) < self.world.per_node:
            heapq.heappush(self._free, (len(node.calls), number))

    def _start(self, command: int, number: int, node: Node) -> None:
        duration = self._random.expovariate(1 / self.world.mean_seconds)
        call = self._calls[command] = Call(command, number, self.now + duration)
        node.calls[command] = call
        self.report.messages["open"] += 1
        self._running += 1
        self.report.most_running = max(self.report.most_running, self._running)
        if not (node.alive and node.linked):
            # The request is on its way; whether it arrived is not known, and it is not sent again.
            return
        self.report.starts[command] += 1
        self.report.messages["opened"] += 1
        self._later(duration, lambda: self._ended_there(call))

    def _ended_there(self, call: Call) -> None:
        node = self._nodes[call.node]
        if call.over_there or call.told is not None or not node.alive:
            return
        call.over_there = True
        if node.linked:
            self._deliver(call)

    def _deliver(self, call: Call) -> None:
        """The events of the end arrive."""
        self.report.messages.update(("output", "closed", "exited", "forget"))
        self._tell(call, "exited")

    def _tell(self, call: Call, how: str) -> None:
        assert call.told is None, "a command ended twice for the driver"
        call.told = how
        node = self._nodes[call.node]
        del node.calls[call.number]
        self._running -= 1
        if how == "exited":
            self.report.exited += 1
        else:
            self.report.lost += 1
        self._offer(call.node, node)
        self._start_waiting()

    # Failures.

    def _cut(self, number: int, node: Node) -> None:
        self._later_at_rate(self.world.cuts_per_node_hour, lambda: self._cut(number, node))
        if not (node.alive and node.linked):
            return
        self.report.cuts += 1
        node.linked = False
        node.cut += 1
        cut, began = node.cut, self.now
        silent = self._random.random() < self.world.silent_cuts
        noticed = self._random.uniform(SILENT_SECONDS - BEAT_SECONDS, SILENT_SECONDS) if silent else 0.0
        length = self._random.expovariate(1 / self.world.cut_seconds)
        running = list(node.calls.values())
        # The service counts the lease from the moment at which it sees the cut, and so does the driver.
        self._later(noticed + PATIENCE_SECONDS, lambda: self._lease_ends(node, cut, running, began))
        self._later(max(noticed, length), lambda: self._joined(number, node, cut))

    def _joined(self, number: int, node: Node, cut: int) -> None:
        """The link is there again in time: what was missed is sent, and nothing is opened again."""
        if not node.alive or node.linked or node.cut != cut:
            return
        node.linked = node.usable = True
        for call in list(node.calls.values()):
            self.report.messages["attach"] += 1
            if call.over_there:
                self._deliver(call)
            elif call.number not in self.report.starts:
                # Its request was never taken: the service does not know the number.
                self._tell(call, "lost")
        self._offer(number, node)
        self._start_waiting()

    def _lease_ends(self, node: Node, cut: int, running: list[Call], began: float) -> None:
        if node.linked or node.cut != cut:
            return
        for call in running:
            call.over_there = True
            if call.told is None:
                self.report.orphan_seconds = max(self.report.orphan_seconds, self.now - began)
        # No command is given to it until it answers.
        node.usable = False
        self._lose(node, began)

    def _die(self, number: int, node: Node) -> None:
        self._later_at_rate(self.world.deaths_per_node_hour, lambda: self._die(number, node))
        if not node.alive:
            return
        self.report.deaths += 1
        node.alive = node.linked = False
        node.cut += 1
        began = self.now
        # Ray tells of a dead actor after two to five seconds.
        self._later(self._random.uniform(2.0, 5.0) + PATIENCE_SECONDS, lambda: self._dead(node, began))
        self._later(60.0, lambda: self._replaced(number, node))

    def _dead(self, node: Node, began: float) -> None:
        node.usable = False
        self._lose(node, began)

    def _lose(self, node: Node, began: float) -> None:
        self.report.loss_told_seconds = max(self.report.loss_told_seconds, self.now - began)
        for call in list(node.calls.values()):
            self._tell(call, "lost")

    def _replaced(self, number: int, node: Node) -> None:
        """Another machine takes the place of the dead one."""
        node.alive = node.linked = node.usable = True
        self._offer(number, node)
        self._start_waiting()


def table(worlds: list[World]) -> list[str]:
    """The rows of docs/scale.md."""
    rows = [
        "| nodes | commands | at once | virtual time | exited | lost | messages | MB of messages | driver memory |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for world in worlds:
        report = Simulation(world).run()
        memory = report.most_running * DRIVER_BYTES_PER_CALL + world.nodes * DRIVER_BYTES_PER_LINK
        cells = [
            f"{world.nodes:,}",
            f"{world.commands:,}",
            f"{report.most_running:,}",
            f"{report.seconds:,.0f} s",
            f"{report.exited:,}",
            f"{report.lost:,}",
            f"{sum(report.messages.values()):,}",
            f"{report.bytes / 1e6:,.0f}",
            f"{memory / 1e6:,.0f} MB",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    worlds = [
        World(nodes=1, commands=1000, seed=seed),
        World(nodes=100, commands=10_000, seed=seed),
        World(nodes=1000, commands=100_000, seed=seed),
        World(nodes=10_000, commands=400_000, seed=seed),
    ]
    print("\n".join(table(worlds)))


if __name__ == "__main__":
    main()
