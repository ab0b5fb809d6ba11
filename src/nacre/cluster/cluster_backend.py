"""The nodes of a Ray cluster as one place: each command runs on the node that the placement chooses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

from nacre.backend import Ending, Listener, Process
from nacre.cluster.placement import PATIENCE_SECONDS, NodeLoads, Placement
from nacre.command import Command, NewJob
from nacre.errors import BackendUnavailableError, InvalidRequestError, NacreError
from nacre.remote import ray_wire
from nacre.remote.ray_wire import RayDialer
from nacre.remote.remote_backend import RemoteBackend, connect
from nacre.sessions.live_bash import LiveBash, StartBash


class Node(NamedTuple):
    """A node as the cluster lists it."""

    id: str
    host: str
    alive: bool
    resources: dict[str, float]


def address_in(name: str) -> str | None:
    """The address in `ray://ADDRESS`, as Ray takes it: `auto`, `HOST:PORT` of its head; None for `ray://local`.

    Raises:
        InvalidRequestError: there is none.
    """
    address = name.removeprefix("ray://").rstrip("/")
    if not address:
        raise InvalidRequestError("ray:// has no address; it is ray://auto, ray://HOST:PORT or ray://local", field="on")
    return None if address == "local" else address


async def join_cluster(
    address: str | None = None, *, placement: Placement = "spread", resource: str | None = None, most_on_one: int = 32
) -> ClusterBackend:
    """Join a Ray cluster, or start a local one; close the backend afterwards.

    Args:
        address: of the cluster: `auto`, or `HOST:PORT` of its head; None starts one on this machine.
        placement: `spread` puts a command on the node with the fewest, `pack` fills one node after another.
        resource: only nodes that have this resource.
        most_on_one: how many commands `pack` puts on one node.

    Raises:
        BackendUnavailableError: there is no such cluster, or it has no such node.
    """
    await asyncio.to_thread(ray_wire.join, address)
    backend = ClusterBackend(ray_wire.address(), placement=placement, resource=resource, most_on_one=most_on_one)
    await backend.refresh()
    return backend


class ClusterBackend:
    """Commands on the nodes of a cluster; made by `join_cluster`.

    A third of its methods are those of a backend that is closed; the others ask the nodes, whose links it holds.
    """

    notice: str | None = None
    keeps = True
    terminals = True
    """Whether a command may have a terminal."""
    has_shells = True
    """Whether the commands of a session share a shell, on one node."""

    def __init__(self, address: str, *, placement: Placement, resource: str | None, most_on_one: int) -> None:
        self.address = address
        self._resource = resource
        self._loads = NodeLoads(placement, most_on_one)
        self._places: dict[str, RemoteBackend] = {}
        self._dialers: dict[str, RayDialer] = {}
        self._pinned: dict[str, str] = {}
        self._refreshing = asyncio.Lock()
        self.environ: Any = None
        """The variables of a login on the nodes, by the first of them."""
        self.cwd: str = "/"
        """Where commands begin unless they say otherwise, by the first node."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def running(self) -> Mapping[str, int]:
        """How many commands of this program run on each node."""
        return self._loads.running

    async def nodes(self) -> list[Node]:
        """Every node of the cluster, dead ones too."""
        found = await asyncio.to_thread(ray_wire.nodes)
        return [
            Node(one["NodeID"], one.get("NodeManagerHostname", ""), bool(one["Alive"]), dict(one.get("Resources", {})))
            for one in found
        ]

    async def health(self) -> list[dict[str, Any]]:
        """What each node says: whether it is alive, its load, and how many commands of this program run there."""
        found = await self.nodes()

        async def look(node: Node) -> dict[str, Any]:
            facts: Mapping[str, Any] = {}
            if node.alive and node.id in self._dialers:
                try:
                    facts = await self._dialers[node.id].facts()
                except BackendUnavailableError as error:
                    facts = {"error": str(error)}
            return {
                "id": node.id,
                "host": node.host,
                "alive": node.alive,
                "running": self.running.get(node.id, 0),
                "resources": node.resources,
                **facts,
            }

        return list(await asyncio.gather(*map(look, found)))

    async def quiesce(self) -> list[dict[str, Any]]:
        """Stop what finished commands have left running on the nodes, and return it: pid and argv of each."""
        left = await asyncio.gather(*(place.quiesce() for place in self._places.values()))
        return [one for found in left for one in found]

    async def refresh(self) -> None:
        """Reach the nodes that have joined since, and forget those that are gone.

        Raises:
            BackendUnavailableError: no node can be reached.
        """
        async with self._refreshing:
            usable = {
                node.id
                for node in await self.nodes()
                if node.alive and (self._resource is None or self._resource in node.resources)
            }
            for gone in self._places.keys() - usable:
                del self._places[gone]
            new = sorted(usable - self._places.keys())
            reached = await asyncio.gather(*(self._reach(node) for node in new), return_exceptions=True)
            problems = [one for one in reached if isinstance(one, BaseException)]
            if not self._places:
                wanted = f" with the resource {self._resource!r}" if self._resource else ""
                reason = str(problems[0]) if problems else f"it has no living node{wanted}"
                raise BackendUnavailableError(f"the cluster {self.address} cannot be used: {reason}")
            first = self._places[min(self._places)]
            self.environ, self.cwd = first.environ, first.cwd

    async def _reach(self, node: str) -> None:
        dialer = RayDialer(node, self.address)
        self._places[node] = await connect(dialer, lease=PATIENCE_SECONDS)
        self._dialers[node] = dialer
        self._loads.running.setdefault(node, 0)

    def on(self, node: str) -> RemoteBackend:
        """The one node of that id, or of its beginning."""
        found = [place for known, place in self._places.items() if known.startswith(node)]
        if len(found) != 1:
            raise InvalidRequestError(f"{len(found)} nodes have an id that begins with {node!r}", field="node")
        return found[0]

    def pinned(self, session: str) -> RemoteBackend:
        """The node of a session: chosen at the first call, the same in every later one.

        Raises:
            BackendUnavailableError: that node is gone; the session's files are gone with it.
        """
        node = self._pinned.get(session)
        if node is None:
            node = self._pinned[session] = self._loads.choose(self._places, self._pinned.values())
        if node not in self._places:
            raise BackendUnavailableError(f"node {node[:8]} of the session {session!r} is gone")
        return self._places[node]

    def shells_for(self, session: str) -> StartBash:
        """Return what starts the shells of a session: on one node while that is there, then on another."""

        async def start(command: Command, restoring: tuple[str, ...], deadline: float | None) -> LiveBash:
            while True:
                if self._pinned.get(session) not in self._places:
                    self._pinned.pop(session, None)
                place = self.pinned(session)
                try:
                    return await place.shells_for(session)(command, restoring, deadline)
                except BackendUnavailableError:
                    # Until `refresh` finds it alive.
                    del self._places[self._pinned[session]]

        return start

    def start(self, command: Command, listener: Listener, *, job: NewJob | None = None) -> Process:
        node = self._loads.choose(self._places)
        self._loads.running[node] += 1
        counted = _Counted(listener, lambda usable: self._ended(node, usable=usable))
        process = self._places[node].start(command, counted, job=job)
        process.when_released = counted.released
        return process

    def _ended(self, node: str, *, usable: bool = True) -> None:
        self._loads.running[node] -= 1
        if not usable:
            # Until `refresh` finds it alive.
            self._places.pop(node, None)

    async def aclose(self) -> None:
        """End what runs in the foreground, the links and this program's agents."""
        places, self._places = self._places, {}
        await asyncio.gather(*(place.aclose() for place in places.values()))
        for dialer in self._dialers.values():
            dialer.end()
        await asyncio.to_thread(ray_wire.leave)


class _Counted:
    """Passes everything on, and tells once when the command is over."""

    def __init__(self, listener: Listener, ended: Callable[[bool], None]) -> None:
        self._listener = listener
        self._ended = ended
        self.output = listener.output
        self.closed = listener.closed
        self.started = listener.started

    def exited(self, ending: Ending) -> None:
        self._once(usable=ending.lost is None)
        self._listener.exited(ending)

    def failed(self, error: NacreError) -> None:
        self._once(usable=not isinstance(error, BackendUnavailableError))
        self._listener.failed(error)

    def released(self) -> None:
        self._once(usable=True)

    def _once(self, *, usable: bool) -> None:
        ended, self._ended = self._ended, lambda _: None
        ended(usable)
