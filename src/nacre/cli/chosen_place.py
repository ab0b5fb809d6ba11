"""`--on PLACE`: commands of this program run on another machine."""

from __future__ import annotations

import asyncio
import os

from nacre import place
from nacre.errors import BackendUnavailableError


def choose_place() -> None:
    """Reach the machine that `--on`, or the variable NACRE_ON, names, and have every command run there.

    Raises:
        ConfigError: it names no place.
        BackendUnavailableError: it cannot be reached, or a library for it is missing.
    """
    name = os.environ["NACRE_ON"]
    try:
        if name.startswith("ray://"):
            from nacre.cluster.cluster_backend import address_in, join_cluster

            place.chosen = asyncio.run(join_cluster(address_in(name)))
        else:
            from nacre.remote.remote_backend import connect

            place.chosen = asyncio.run(connect(name))
    except ModuleNotFoundError as error:
        extra = {"asyncssh": "ssh", "ray": "ray"}.get(error.name or "")
        if extra is None:
            raise
        raise BackendUnavailableError(
            f"--on {name} needs the package {error.name}; pip install 'nacre-shell[{extra}]'"
        ) from error
