"""The import of a framework: one that is missing is an error that names what to install."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class FrameworkMissingError(ModuleNotFoundError):
    """The framework of an adapter is not installed."""


@contextlib.contextmanager
def framework(extra: str) -> Iterator[None]:
    """Import the framework of an extra inside this.

    Raises:
        FrameworkMissingError: it, or a part of it, is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "nacre":
            raise
        raise FrameworkMissingError(
            f"nacre.adapters.{extra.replace('-', '_')} needs the package {error.name.partition('.')[0]}, which is not "
            f"installed; pip install 'nacre-shell[{extra}]'",
            name=error.name,
            path=error.path,
        ) from error
