"""A host is reached by its listed name and port, and never on this machine or a private network by another's name."""

from __future__ import annotations

import pytest

from nacre.warden.allowed_hosts import AllowedHosts, is_public

LIST = AllowedHosts([["example.org", None], ["*.host.test", 443], ["10.0.0.5", 8000], ["localhost", 9000]])


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("example.org", 80, True),
        ("example.org", 443, True),
        ("example.org", 22, False),
        ("www.example.org", 443, False),
        ("badexample.org", 443, False),
        ("example.org.evil.net", 443, False),
        ("files.host.test", 443, True),
        ("a.b.host.test", 443, True),
        ("host.test", 443, False),
        ("evilhost.test", 443, False),
        ("files.host.test", 80, False),
        ("93.184.216.34", 443, False),
        ("10.0.0.5", 8000, True),
        ("::1", 443, False),
    ],
)
def test_names_and_ports_are_compared_whole(host: str, port: int, allowed: bool) -> None:
    assert LIST.allows(host, port) is allowed


def test_a_name_that_leads_to_this_machine_leads_nowhere() -> None:
    assert AllowedHosts([["ip6-localhost", 80], ["127.0.0.2", 81]]).addresses("127.0.0.1", 80) == []
    assert LIST.addresses("localhost", 9000)
    assert [address[0] for _, address in LIST.addresses("10.0.0.5", 8000)] == ["10.0.0.5"]


PRIVATE = """
127.0.0.1 10.1.2.3 192.168.0.1 172.16.0.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1
::1 fe80::1%eth0 fc00::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 none
"""


@pytest.mark.parametrize("address", PRIVATE.split())
def test_private_addresses_are_known(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_known(address: str) -> None:
    assert is_public(address)
