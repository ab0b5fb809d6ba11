"""Which node gets the next command."""

from __future__ import annotations

import pytest

from nacre.cluster.placement import NodeLoads
from nacre.errors import BackendUnavailableError, InvalidRequestError


def test_spread_takes_the_node_with_the_fewest() -> None:
    loads = NodeLoads("spread", 4)
    loads.running |= {"a": 2, "b": 1, "c": 1}
    assert loads.choose(["a", "b", "c"]) == "b"


def test_pack_fills_one_node_after_another() -> None:
    loads = NodeLoads("pack", 3)
    loads.running |= {"a": 3, "b": 2, "c": 0}
    assert loads.choose(["a", "b", "c"]) == "b"
    loads.running["b"] = 3
    assert loads.choose(["a", "b", "c"]) == "c"
    loads.running["c"] = 3
    assert loads.choose(["a", "b", "c"]) == "a"


def test_sessions_are_spread_like_commands() -> None:
    loads = NodeLoads("spread", 4)
    loads.running |= {"a": 0, "b": 0, "c": 1}
    assert loads.choose(["a", "b", "c"], ["a"]) == "b"
    assert loads.choose(["a", "b", "c"], ["a", "b", "b"]) == "a"
    assert loads.choose(["a", "b", "c"]) == "a"


def test_no_node_and_no_such_placement_are_errors() -> None:
    with pytest.raises(BackendUnavailableError, match="every node"):
        NodeLoads("spread", 1).choose([])
    with pytest.raises(InvalidRequestError, match="'random' is neither spread nor pack"):
        NodeLoads("random", 1)  # type: ignore[arg-type]
