"""The simulation of many nodes: every command ends once for the driver, none runs twice, leases bound what runs on."""

from __future__ import annotations

import pytest
from benchmarks.scale import Simulation, World

from nacre.cluster.placement import PATIENCE_SECONDS
from nacre.warden.remote_protocol import SILENT_SECONDS


@pytest.mark.slow
def test_a_hundred_thousand_commands_on_a_thousand_nodes_with_failures() -> None:
    report = Simulation(World()).run()
    assert report.exited + report.lost == 100_000
    assert max(report.starts.values()) == 1
    assert (report.deaths, report.cuts) > (0, 0)
    assert 0 < report.lost < 1000
    assert report.orphan_seconds <= SILENT_SECONDS + PATIENCE_SECONDS


@pytest.mark.parametrize("seed", range(5))
def test_a_bad_network_costs_commands_and_never_runs_one_twice(seed: int) -> None:
    world = World(nodes=20, commands=2000, cuts_per_node_hour=600, deaths_per_node_hour=60, cut_seconds=5.0, seed=seed)
    report = Simulation(world).run()
    assert report.exited + report.lost == 2000
    assert max(report.starts.values()) == 1
    assert report.lost > 0
    assert report.orphan_seconds <= SILENT_SECONDS + PATIENCE_SECONDS


def test_without_failures_nothing_is_lost() -> None:
    report = Simulation(World(nodes=10, commands=500, cuts_per_node_hour=0, deaths_per_node_hour=0)).run()
    assert (report.exited, report.lost) == (500, 0)
    messages = dict(report.messages)
    del messages["beat"]
    assert messages == dict.fromkeys(("open", "opened", "output", "closed", "exited", "forget"), 500)
