"""The way to a node of a Ray cluster, by the agent on it. The only file that imports ray.

An agent is never restarted and no call of it is tried again by Ray, so that nothing is done twice. A worker that is
killed costs the link, not the commands: the far side is no child of it that Ray would end, and the next link finds it.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Mapping
from typing import Any

import ray
from ray import cloudpickle
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from nacre.errors import BackendUnavailableError
from nacre.remote import node_agent
from nacre.remote.node_agent import NodeAgent
from nacre.remote.wire import Wire

MOST_CALLS_AT_ONCE = 1000
# How long a node may take to start its agent: Ray starts a worker process for it.
START_SECONDS = 60.0
NAMESPACE = "nacre"
_numbers = itertools.count(1)


def join(address: str | None) -> None:
    """Join a cluster by its address, or start a local one; raises BackendUnavailableError."""
    if ray.is_initialized():
        return
    options: dict[str, Any] = {"address": address} if address else {"include_dashboard": False}
    try:
        ray.init(namespace=NAMESPACE, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, OSError, RuntimeError, ValueError, RayError) as error:
        raise BackendUnavailableError(
            f"the cluster {address or 'on this machine'} cannot be joined: {error}"
        ) from error


def leave() -> None:
    """Leave the cluster; a local one that `join` started ends."""
    ray.shutdown()


def address() -> str:
    """The address by which another process joins the same cluster."""
    return str(ray.get_runtime_context().gcs_address)


def nodes() -> list[dict[str, Any]]:
    """Every node that the cluster knows, dead ones too."""
    found: list[dict[str, Any]] = ray.nodes()
    return found


def is_alive(node: str) -> bool:
    return any(one["NodeID"] == node and one["Alive"] for one in nodes())


class RayDialer:
    """Reaches one node; programs that dial the same node share its agent."""

    def __init__(self, node: str, cluster: str) -> None:
        self.node = node
        self.name = f"node {node[:8]}"
        self._cluster = cluster
        self._agent: Any = None

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> RayDialer:
        join(description["cluster"])
        return cls(description["node"], description["cluster"])

    def describe(self) -> dict[str, object]:
        return {"kind": "ray", "node": self.node, "cluster": self._cluster}

    async def open(self, text: str) -> Wire:
        if not await asyncio.to_thread(is_alive, self.node):
            raise BackendUnavailableError(f"{self.name} is gone")
        number = next(_numbers)
        try:
            agent = self._agent = self._agent or _agent_on(self.node)
            async with asyncio.timeout(START_SECONDS):
                await agent.open.remote(number, text)
        except (RayError, TimeoutError) as error:
            self._agent = None
            raise BackendUnavailableError(f"{self.name} cannot be reached: {_reason(error)}") from error
        return RayWire(agent, number)

    async def facts(self) -> dict[str, Any]:
        """What the agent says about its node."""
        self._agent = self._agent or _agent_on(self.node)
        try:
            async with asyncio.timeout(START_SECONDS):
                found: dict[str, Any] = await self._agent.facts.remote()
        except (RayError, TimeoutError) as error:
            self._agent = None
            raise BackendUnavailableError(f"{self.name} cannot be reached: {_reason(error)}") from error
        return found

    def end(self) -> None:
        """End this program's agent on the node."""
        agent, self._agent = self._agent, None
        if agent is not None:
            ray.kill(agent)


def _agent_on(node: str) -> Any:
    # By value: nodes need not have nacre.
    cloudpickle.register_pickle_by_value(node_agent)
    return (
        ray.remote(NodeAgent)
        .options(
            num_cpus=0,
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=MOST_CALLS_AT_ONCE,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node, soft=False),
        )
        .remote()
    )


def _reason(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


class RayWire:
    """The streams of one program on the node."""

    def __init__(self, agent: Any, number: int) -> None:
        self._agent = agent
        self._number = number
        self._places = itertools.count()
        self._closed = asyncio.Event()

    async def read(self, size: int) -> bytes:
        reading = asyncio.ensure_future(_awaited(self._agent.read.remote(self._number)))
        closed = asyncio.ensure_future(self._closed.wait())
        try:
            await asyncio.wait([reading, closed], return_when=asyncio.FIRST_COMPLETED)
            return reading.result() if reading.done() else b""
        except RayError:
            return b""
        finally:
            closed.cancel()
            if not reading.done():
                reading.cancel()

    def write(self, data: bytes) -> None:
        if not self._closed.is_set():
            self._agent.write.remote(self._number, next(self._places), data)

    async def read_errors(self, size: int) -> bytes:
        """Nothing: only a far side without Python has one, and a node has Python."""
        return b""

    async def complaint(self) -> str:
        try:
            said: bytes = await self._agent.complaint.remote(self._number)
        except RayError as error:
            return _reason(error)
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    async def close(self) -> None:
        if not self._closed.is_set():
            self._closed.set()
            # An agent that is gone has closed it.
            self._agent.close.remote(self._number)


async def _awaited(reference: Any) -> bytes:
    data: bytes = await reference
    return data
