"""A list of hosts is read exactly, or refused by the entry that is wrong."""

from __future__ import annotations

import pytest

from nacre.network_hosts import Host, hosts_of


def test_hosts_ports_patterns_and_addresses() -> None:
    text = "Host.test, *.example.org:8443,10.0.0.5:80,[::1]:9000,[2606::1],localhost."
    assert hosts_of(text) == (
        Host("host.test"),
        Host("*.example.org", 8443),
        Host("10.0.0.5", 80),
        Host("::1", 9000),
        Host("2606::1"),
        Host("localhost"),
    )
    assert ",".join(map(str, hosts_of("a.org:1,[::1]:2,b.org"))) == "a.org:1,[::1]:2,b.org"


@pytest.mark.parametrize(
    "text",
    ["", ",", "a b", "http://a.org", "a.org:0", "a.org:65536", "a.org:x", "a..b", "*", "*.", "::1", "[x]", "[::1]9"],
)
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"host|port|HOST|address"):
        hosts_of(text)
