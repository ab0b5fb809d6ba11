"""A failure is told as the sandbox's doing where its output points there, and nowhere else."""

from __future__ import annotations

import pytest

from nacre.sandbox.denial_explanation import explain

FACTS = {"backend": "bubblewrap", "access": "workspace-write", "network": "off", "writable": ["/w"]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("touch: cannot touch '/etc/x': Read-only file system", "only /w, /tmp can be written"),
        ("mv: cannot move '.git': Device or resource busy", "sandbox.writable"),
        ("OSError: [Errno 30] EROFS", "sandbox.writable"),
        ("curl: (6) Could not resolve host: host.test", "the network is off"),
        ("connect: Network is unreachable", "sandbox.network"),
        ("mount: permission denied.", "mounts and UNIX sockets are shut"),
    ],
)
def test_what_points_to_the_sandbox(text: str, words: str) -> None:
    assert words in (explain(text, FACTS) or "")


def test_what_does_not() -> None:
    assert explain("AssertionError: 1 != 2", FACTS) is None
    assert explain("Could not resolve host: x", {**FACTS, "network": "on"}) is None
    assert explain("Read-only file system", {**FACTS, "access": "full"}) is None
    assert "reaches only host.test" in (explain("could not resolve host", {**FACTS, "network": "host.test"}) or "")
