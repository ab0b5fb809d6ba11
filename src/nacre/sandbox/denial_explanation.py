"""Why a command failed in its sandbox, in words for the reader of its result. Pure.

The output is only a hint that a sandbox has refused something; so the words say what holds, not what happened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_WRITING = re.compile(r"read-only file system|EROFS", re.IGNORECASE)
_RIGHTS = re.compile(r"operation not permitted|permission denied|EPERM|EACCES", re.IGNORECASE)
_NETWORK = re.compile(
    r"network is unreachable|could not resolve|name resolution|name or service not known|nodename nor servname"
    r"|no route to host|ENETUNREACH|EAI_AGAIN|getaddrinfo|unable to resolve",
    re.IGNORECASE,
)
_BUSY = re.compile(r"device or resource busy|EBUSY", re.IGNORECASE)


def explain(text: str, facts: Mapping[str, Any]) -> str | None:
    """What the sandbox may have to do with a failure; None if nothing points to it."""
    reasons = []
    if facts["network"] != "on" and _NETWORK.search(text):
        allowed = "is off" if facts["network"] == "off" else f"reaches only {facts['network']}"
        reasons.append(f"the network {allowed} (to allow more: --network, sandbox.network)")
    if facts["access"] != "full" and (_WRITING.search(text) or _BUSY.search(text)):
        reasons.append(f"{_writable_words(facts)} (to allow more: --access, sandbox.writable)")
    elif _RIGHTS.search(text):
        reasons.append(f"{_writable_words(facts)}; credential files, other processes, mounts and UNIX sockets are shut")
    if not reasons:
        return None
    said = "; ".join(reasons)
    return f"this may be the sandbox's doing, not a fault of the command: {said}. Only nacre's user can change it"


def _writable_words(facts: Mapping[str, Any]) -> str:
    if facts["access"] == "full":
        return "a command has no capabilities"
    places = [*facts["writable"], "/tmp" if facts["backend"] == "bubblewrap" else "TMPDIR"]
    return f"only {', '.join(places)} can be written, and protected names there not"
