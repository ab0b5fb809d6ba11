"""A policy says what a back end must enforce for it."""

from __future__ import annotations

import pytest

from nacre.network_hosts import Host
from nacre.sandbox.sandbox_policy import policy_of
from nacre.settings import SandboxSettings

ALWAYS = {"hidden", "processes", "sight", "calls"}
FILES = {"files", "temporary", "attributes"}


@pytest.mark.parametrize(
    ("settings", "needs"),
    [
        (SandboxSettings(), ALWAYS | FILES | {"protected", "network"}),
        (SandboxSettings(access="read-only"), ALWAYS | FILES | {"network"}),
        (SandboxSettings(access="full", network="on"), ALWAYS),
        (SandboxSettings(access="full", network="host.test"), ALWAYS | {"hosts"}),
    ],
)
def test_what_is_needed(settings: SandboxSettings, needs: set[str]) -> None:
    assert set(policy_of(settings).needs) == needs


def test_the_network_is_spelled_as_it_was_set() -> None:
    policy = policy_of(SandboxSettings(network="host.test, a.org:1"))
    assert (policy.network, policy.hosts) == ("hosts", (Host("host.test"), Host("a.org", 1)))
    assert policy.network_text == "host.test,a.org:1"
    assert policy_of(SandboxSettings(network="on")).network_text == "on"
